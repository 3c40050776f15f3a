"""`clusters list` and `show`: the groups as found, at other cuts, and one from inside."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

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
from vocabgap.text import carried, excerpt

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.clustering.grouping import Clusters
    from vocabgap.doors.cli.calls import Call
    from vocabgap.ingest.scanning import Scan

_SHOWN: Final = 5  # groups to name
_AS_FOUND: Final = "these are the groups as found, before decisions"
_SETTINGS: Final = ("ingest", "cluster")
# Of a dendrogram:
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES: Final = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the four directions that a line leaves in
_PLAIN: Final = str.maketrans(_LINES, " |||-+++-+++-+++")
_CUT, _PLAIN_CUT = "…", "..."  # behind a wording that is cut
_SCALE: Final = "cosine distance"
_TEXT_WIDTH: Final = 48  # cells for the lines, and at most as many for a wording


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


class _Join(NamedTuple):
    """A merge in the drawing: two horizontal lines that end at one upright line."""

    height: float  # of the upright line
    ends: tuple[tuple[float, float], tuple[float, float]]  # row and height at which the two lines begin
    row: float  # from which the line of the whole goes on


def text_dendrogram(surfaces: "pl.DataFrame", linkage: "pl.DataFrame", *, encoding: str = "utf-8") -> str:
    """Draw the dendrogram of a group as text, a line for each surface, from table `linkage` of the group.

    ASCII characters draw the lines if the encoding has no others.
    """
    from rich.cells import cell_len

    wordings, mentions = surfaces["wording"].to_list(), surfaces["mentions"].to_list()
    order, joins = _laid_out(mentions, linkage)
    is_plain = any(carried(line, encoding) != line for line in (_LINES, _CUT))
    names = [carried(excerpt(wordings[number]), encoding) for number in order]
    width = min(max(map(cell_len, [*names, _SCALE] if joins else names)), _TEXT_WIDTH)
    counts = [f"{mentions[number]:,}" for number in order]
    wide = max(map(len, counts))
    grid = _drawn(len(order), joins)
    lines = []
    for name, count, marks in zip(names, counts, grid, strict=True):
        drawn = "".join(_LINES[mark] for mark in marks).rstrip()
        if is_plain:
            drawn = drawn.translate(_PLAIN)
        lines.append(f"{_fitted(name, width, _PLAIN_CUT if is_plain else _CUT)}  {count:>{wide}} {drawn}")
    if joins:
        top = f"{joins[-1].height:.2f}"
        lines.append(f"{_SCALE:<{width}}  {'':>{wide}} 0{top:>{_TEXT_WIDTH - 1}}")
    return "\n".join(line.rstrip() for line in lines)


def _laid_out(mentions: Sequence[int], linkage: "pl.DataFrame") -> tuple[list[int], list[_Join]]:
    """Return the surfaces from top to bottom, so that no lines cross, and the merges between them.

    SciPy's `dendrogram(no_plot=True)` calls itself at every merge: a chain of 1,000 wordings ends it.
    """
    count = len(mentions)
    merges = linkage.select("left", "right", "height").rows()
    first = list(range(count))
    weight = [*mentions]
    sides: list[tuple[int, int]] = []
    for left, right, _ in merges:
        # The more mentioned side comes first; the surfaces sort as their numbers do.
        upper, lower = sorted((left, right), key=lambda side: (-weight[side], first[side]))
        sides.append((upper, lower))
        weight.append(weight[left] + weight[right])
        first.append(min(first[left], first[right]))
    order: list[int] = []
    waiting = [count + len(merges) - 1]
    while waiting:
        node = waiting.pop()
        if node < count:
            order.append(node)
        else:
            waiting += reversed(sides[node - count])
    row: list[float] = [0.0] * count
    for position, number in enumerate(order):
        row[number] = position
    height = [0.0] * count
    joins = []
    for (upper, lower), (_, _, meeting) in zip(sides, merges, strict=True):
        ends = ((row[upper], height[upper]), (row[lower], height[lower]))
        join = _Join(meeting, ends, (row[upper] + row[lower]) / 2)
        joins.append(join)
        row.append(join.row)
        height.append(meeting)
    return order, joins


def _drawn(rows: int, joins: Sequence[_Join]) -> list[list[int]]:
    """Return, for each cell of the text, the directions in which lines leave it."""
    grid = [[0] * _TEXT_WIDTH for _ in range(rows)]
    top = joins[-1].height if joins else 0.0

    def column(height: float) -> int:
        return 1 + round((_TEXT_WIDTH - 3) * height / top) if top else 1

    for join in joins:
        x = column(join.height)
        (first, since), (second, other) = join.ends
        for row, height in ((int(first), since), (int(second), other)):
            start = column(height) if height else 0
            for cell in range(start, x):
                grid[row][cell] |= _RIGHT
                grid[row][cell + 1] |= _LEFT
        for row in range(int(first), int(second)):
            grid[row][x] |= _DOWN
            grid[row + 1][x] |= _UP
    if joins:
        grid[int(joins[-1].row)][column(joins[-1].height)] |= _RIGHT
    return grid


def _fitted(name: str, width: int, cut: str) -> str:
    from rich.cells import cell_len, set_cell_size

    is_long = cell_len(name) > width
    return set_cell_size(name, width - len(cut)) + cut if is_long else set_cell_size(name, width)
