"""`clusters list` and `show`: the groups as found, at other cuts, and one from inside."""

import sys
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final

from vocabgap.doors.verbs import (
    RUN,
    WHOSE,
    Answer,
    Event,
    OverRoots,
    Panel,
    Place,
    Verbs,
    argument,
    filtered,
    option,
    selection_of,
    verb,
)
from vocabgap.errors import NotFoundError, VocabgapError, expanded
from vocabgap.text import excerpt

if TYPE_CHECKING:
    from vocabgap.clustering.grouping import Clusters
    from vocabgap.doors.cli.calls import Call
    from vocabgap.ingest.scanning import Scan

_SHOWN: Final = 5  # groups to name
_AS_FOUND: Final = "these are the groups as found, before decisions"
_SETTINGS: Final = ("ingest", "cluster")


class ListClusters(OverRoots):
    """The request of `clusters list`."""

    threshold_sweep: Annotated[
        bool, option("Show the result of several cuts instead.", panel=Panel.GROUP)
    ] = False


@verb(filtered(ListClusters, *WHOSE), name="list", settings=(*_SETTINGS, "--top"))
def list_clusters(call: "Call", request: ListClusters) -> Answer:
    """List the groups, the most mentioned first, with the long tail in a line of its own."""
    scanned, clustering = _clusters(call, request, sweep=request.threshold_sweep)
    shared = {"threshold": clustering.threshold, "account": scanned.summary}
    if request.threshold_sweep:
        cuts = clustering.sweep()
        return Answer(
            events=(Event("cut", row) for row in cuts.iter_rows(named=True)),
            result={"cuts": cuts.height, **shared},
            view="clusters-sweep.txt.j2",
            shown={"rows": cuts.to_dicts()},
        )
    ordered = clustering.clusters.sort("mentions", "label", descending=[True, False])
    listed = ordered.head(call.settings.report.top or ordered.height)
    tail, several = ordered.filter(surfaces=1), ordered.filter(ordered["surfaces"] > 1)
    return Answer(
        events=(Event("cluster", row) for row in listed.iter_rows(named=True)),
        result={"clusters": ordered.height, "singletons": tail.height, **shared},
        view="clusters-list.txt.j2",
        shown={
            "rows": listed.to_dicts(),
            "several": several.height,
            "several_mentions": several["mentions"].sum(),
            "tail_mentions": tail["mentions"].sum(),
        },
    )


class ShowCluster(OverRoots, kw_only=True):
    """The request of `clusters show`."""

    label: Annotated[str, argument("The label of the group, or any wording in it.")]
    run: Annotated[Place | None, RUN] = None


@verb(filtered(ShowCluster, *WHOSE), settings=_SETTINGS)
def show(call: "Call", request: ShowCluster) -> Answer:
    """Show every wording of one group, and how they came together.

    If only the published run has the name, because of a merge or a new label, the error names its groups.
    """
    from vocabgap.reporting.dendrogram import text_dendrogram
    from vocabgap.reporting.wording import phrase

    scanned, clustering = _clusters(call, request)
    if not scanned.summary.records:
        hint = "`vocabgap check` lists the files that were looked for, and the bad lines"
        raise NotFoundError(phrase("nothing", scanned.summary), hint=hint)
    number = _named(clustering, request.label, request.run or call.settings.report.out)
    group = clustering.clusters.filter(cluster=number).row(0, named=True)
    by_mentions: dict[str, Any] = {"by": ["mentions", "wording"], "descending": [True, False]}
    wordings = clustering.wordings.filter(cluster=number).sort(**by_mentions).to_dicts()
    surfaces, linkage = clustering.dendrogram(number)
    encoding = sys.stdout.encoding or "utf-8"
    merges = (Event("merge", row) for row in linkage.iter_rows(named=True))
    return Answer(
        events=chain((Event("wording", row) for row in wordings), merges),
        result={"cluster": group},
        view="clusters-show.txt.j2",
        shown={
            "wordings": wordings,
            "dendrogram": text_dendrogram(surfaces, linkage, encoding=encoding) if linkage.height else "",
        },
    )


CLUSTERS: Final = Verbs(
    "clusters",
    "Look at the groups: all of them, at other cuts, or one from inside.\n\n"
    "Without a command the groups are listed, with the options of list (--threshold-sweep among them). "
    "A folder that is called show is written ./show. "
    "These are the groups as found, at the cut that decisions teach; only a report follows the decisions.",
    (list_clusters, show),
    unsaid="list",
)


def _clusters(call: "Call", request: OverRoots, *, sweep: bool = False) -> "tuple[Scan, Clusters]":
    """Return the records and their groups, with as many merges as a sweep needs."""
    from vocabgap.clustering.embedding import load_embedder
    from vocabgap.clustering.grouping import SWEEP_CUTS, cluster
    from vocabgap.decisions.record import read_decisions
    from vocabgap.decisions.replay import replay
    from vocabgap.ingest.scanning import scan
    from vocabgap.ranking.screening import screen

    settings, roots = call.settings, call.roots(request.roots)
    decisions = read_decisions(expanded(settings.decisions.file))
    embedder = load_embedder(settings.cluster.embedder)  # fails before anything is read
    selection = selection_of(request)
    scanned = scan(
        roots, settings=settings.scan, tenants=selection.tenants, repositories=selection.repositories
    )
    call.require_owners(scanned, selection)
    scanned = replace(scanned, gaps=screen(scanned.gaps, settings.rules))
    call.note_unread(scanned)
    clustering = cluster(
        scanned.records,
        settings.cluster,
        embedder=embedder,
        max_distance=max(SWEEP_CUTS) if sweep else 0.0,
    )
    call.note_embeddings(embedder.use if embedder else None)
    effective = replay(decisions, clustering.wordings["surface"].unique())
    return scanned, clustering.taught(effective.constraints)


def _named(clustering: "Clusters", name: str, run: str) -> int:
    """Return the number of the group that a label or a wording names."""
    from vocabgap.model.lookup import Named, lookup

    wordings = clustering.wordings.group_by("cluster").agg("wording")
    groups = clustering.clusters.join(wordings, on="cluster", maintain_order="left")
    known = [Named("", *row) for row in groups.select("label", "wording").iter_rows()]
    try:
        place = lookup(known, name, singular="group", plural="groups", hint="see `vocabgap clusters`")
    except NotFoundError as error:
        hint = f"{error.hint}; {_AS_FOUND}"
        if labels := _groups_of(clustering, name, run):
            more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
            listed = ", ".join(f"'{excerpt(label)}'" for label in labels[:_SHOWN])
            hint = f"{_AS_FOUND}; the capability of that name, in '{run}', consists of {listed}{more}"
        raise NotFoundError(error.message, hint=hint) from error
    return int(groups["cluster"][place])


def _groups_of(clustering: "Clusters", name: str, run: str) -> list[str]:
    """Return the labels of the groups in a published capability, the most mentioned first."""
    from vocabgap.model.lookup import find_capability
    from vocabgap.reporting.published_run import read_run

    try:
        (variants,) = find_capability(read_run(run, option="--run")[1], name)["variants"].to_list()
    except VocabgapError:
        return []
    wordings = [variant["wording"] for variant in variants]
    members = clustering.wordings.filter(clustering.wordings["wording"].is_in(wordings))
    groups = clustering.clusters.join(members, on="cluster", how="semi")
    return groups.sort("mentions", "label", descending=[True, False])["label"].to_list()
