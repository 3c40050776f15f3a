"""`clusters show`: the wordings of one group."""

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final

from vocabgap.doors.verbs import (
    WHOSE,
    Answer,
    Event,
    OverRoots,
    Verbs,
    argument,
    filtered,
    selection_of,
    verb,
)
from vocabgap.errors import NotFoundError, expanded

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.clustering.grouping import Clusters
    from vocabgap.doors.cli.calls import Call

_AS_FOUND: Final = "name a wording of the group; only `vocabgap show` finds labels that people gave"


class ShowCluster(OverRoots, kw_only=True):
    """The request of `clusters show`."""

    label: Annotated[str, argument("Label of the group, or any of its wordings.")]


@verb(filtered(ShowCluster, *WHOSE), settings=("ingest", "cluster", "--decisions"))
def show(call: "Call", request: ShowCluster) -> Answer:
    """Show the wordings of a group, and the distance at which each joined the wordings above it."""
    from vocabgap.clustering.embedding import load_embedder
    from vocabgap.clustering.grouping import cluster
    from vocabgap.decisions.record import read_decisions
    from vocabgap.decisions.replay import followed
    from vocabgap.ingest.scanning import scan, unmatched
    from vocabgap.ranking.screening import screened
    from vocabgap.reporting.wording import phrase

    settings, roots, selection = call.settings, call.roots(request.roots), selection_of(request)
    decisions = read_decisions(expanded(settings.decisions.file))
    embedder = load_embedder(settings.cluster.embedder)  # fails before anything is read
    scanned = scan(roots, settings=settings.scan, **selection.owners)
    call.require_owners(scanned, selection)
    call.note_unread(scanned)
    if not scanned.summary.records:
        hint = "`vocabgap check` lists the bad lines and the file names that it looked for"
        raise NotFoundError(phrase("nothing", scanned.summary), hint=hint)
    scanned = replace(scanned, lines=screened(scanned.lines, settings.rules))
    clustering = cluster(scanned.records, settings.cluster, embedder=embedder)
    call.note_embeddings(embedder.use if embedder else None)
    _, clustering = followed(clustering, decisions)
    number = _named(clustering, request.label)
    surfaces, linkage = clustering.dendrogram(number)
    distances = joined(surfaces, linkage)
    places = {name: place for place, name in enumerate(distances)}
    wordings = clustering.wordings.filter(cluster=number).to_dicts()
    wordings.sort(key=lambda row: (places[row["surface"]], -row["mentions"], row["wording"]))
    return Answer(
        events=chain(
            (Event("wording", row) for row in wordings),
            (Event("merge", row) for row in linkage.iter_rows(named=True)),
        ),
        result={"cluster": clustering.clusters.filter(cluster=number).row(0, named=True)},
        view="clusters-show.txt.j2",
        shown={"wordings": wordings, "distances": distances},
        notes=unmatched(scanned.lines, selection),
    )


CLUSTERS: Final = Verbs(
    "clusters",
    "Look into groups.",
    (show,),
)


def _named(clustering: "Clusters", name: str) -> int:
    """Return the number of the group with a label or wording."""
    from vocabgap.model.lookup import Named, lookup

    wordings = clustering.wordings.group_by("cluster").agg("wording")
    groups = clustering.clusters.join(wordings, on="cluster", maintain_order="left")
    named = [Named("", *row) for row in groups.select("label", "wording").iter_rows()]
    return int(groups["cluster"][lookup(named, name, singular="group", plural="groups", hint=_AS_FOUND)])


def joined(surfaces: "pl.DataFrame", linkage: "pl.DataFrame") -> dict[str, float | None]:
    """Order the surfaces of a group so that similar surfaces are next to each other.

    Returns:
        Surface to the distance at which it joined the surfaces above. Null for the first surface, also of a
        part that only decisions united with the others.
    """
    mentions = surfaces["mentions"].to_list()
    parts = [[number] for number in range(len(mentions))]
    merged = set[int]()
    distances: list[float | None] = [None] * len(mentions)
    for left, right, height in linkage.select("left", "right", "height").iter_rows():
        upper, lower = sorted((parts[left], parts[right]), key=lambda part: (-mentions[part[0]], part[0]))
        distances[lower[0]] = height
        merged |= {left, right}
        parts.append(upper + lower)
    names = surfaces["surface"].to_list()
    united = (part for place, part in enumerate(parts) if place not in merged)
    return {names[number]: distances[number] for part in united for number in part}
