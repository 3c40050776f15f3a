"""Capabilities from run to run: their identifiers, people's decisions about them, and their lineage."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count as numbers_from
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.model.tables import (
    CAPABILITY_PREFIX,
    CONTINUED,
    GONE,
    GROUPS,
    IDENTITIES,
    LINEAGE,
    MERGED,
    NEW,
    OPEN,
    PRESENT,
    PREVIOUS,
    SPLIT,
)
from vocabgap.ranking.effect import NO_EFFECTS
from vocabgap.ranking.statuses import STATUS_OF, decisions_by_group, status_events, with_ends
from vocabgap.text import surface_of

ID_DIGITS: Final = 12
_Pair = tuple[str | None, str | None]  # capabilities of the earlier and the later run
_SIDES: Final = ("previous", "present")


class Grouping(Protocol):
    """A clustering as the ranking needs it; `vocabgap.cluster` returns one."""

    @property
    def wordings(self) -> pl.DataFrame:
        """Table `wordings`."""

    @property
    def clusters(self) -> pl.DataFrame:
        """Table `clusters`."""

    @property
    def origins(self) -> Sequence[tuple[int | None, str | None, str | None]]:
        """For each group: the proposed one that it continues, else the decision that split it off.

        The third value is the identifier that a merge named, if any.
        """


class Identified(NamedTuple):
    """Tables `identities` and `groups` of a run, without ranks, and the events of `status_events`."""

    identities: pl.DataFrame
    groups: pl.DataFrame
    events: pl.DataFrame


def identify(
    proposed: Grouping,
    clusters: Grouping,
    *,
    baseline: pl.DataFrame | None = None,
    verdicts: pl.DataFrame | None = None,
    effects: pl.DataFrame = NO_EFFECTS,
) -> Identified:
    """Identify the capability of each group.

    The proposed groups, before people's decisions, take over the identifiers of the run before (`baseline`).
    The matching with the most shared mentions wins; a surface in both runs counts with its smaller number of
    mentions. A group without a counterpart gets an identifier from its label's surface. United groups keep
    the identifier that was named first, unless another group has it. A split-off group gets one from the
    decision. So an undo restores both.

    The last event gives the status, see `statuses`; `effects` are those of the authored groups. Without an
    event, a capability is `new` if the run before had none of its surfaces, and `open` otherwise.
    """
    about = with_ends(decisions_by_group(clusters.wordings, verdicts), effects)
    events = status_events(about)
    raw = _group_ids(proposed, baseline)
    ids = dict(raw.select("cluster", "group_id").iter_rows())
    surfaces = (
        clusters.wordings.select("wording", "surface", "mentions", "cluster")
        .join(proposed.wordings.select("wording", proposed="cluster"), on="wording")
        .group_by("surface", "cluster", "proposed")
        .agg(pl.col("mentions").sum())
        .join(raw.rename({"cluster": "proposed", "label_surface": "group_surface"}), on="proposed")
    )
    own_ids = [
        derived_id(split or "") if cluster is None else ids[cluster] for cluster, split, _ in clusters.origins
    ]
    for number, (_, _, named) in enumerate(clusters.origins):
        if named is not None and named not in own_ids:  # the grouping united both by itself
            own_ids[number] = named
    table = clusters.clusters.select("cluster", capability_id=pl.Series(own_ids, dtype=pl.String))
    known_clusters = surfaces.group_by("cluster").agg(pl.col("known").any())
    otherwise = pl.when(pl.col("known") | pl.lit(baseline is None)).then(pl.lit(OPEN)).otherwise(pl.lit(NEW))
    identities = (
        table.join(known_clusters, on="cluster", how="left")
        .join(_decided(about, effects, events), on="cluster", how="left")
        .with_columns(
            pl.coalesce("status", otherwise),
            pl.col("pinned").fill_null(value=False),
            pl.col("decisions", "outgrown").fill_null([]),
        )
        .sort("cluster")
        .select(IDENTITIES.names)
    )
    names = clusters.clusters.select("cluster", own="label").join(identities, on="cluster")
    groups = (
        surfaces.join(names.select("cluster", "capability_id", pl.coalesce("label", "own")), on="cluster")
        .with_columns(pl.lit(PRESENT).alias("run"), pl.lit(None, pl.Int64).alias("rank"))
        .sort("surface")
        .select(GROUPS.names)
    )
    return Identified(identities, groups, events)


def default_identities(clusters: pl.DataFrame) -> pl.DataFrame:
    """Return table `identities` without a history: identifiers from the labels' surfaces, all open."""
    ids = [derived_id(surface) for surface in clusters["label_surface"]]
    return clusters.select(
        "cluster",
        capability_id=pl.Series(ids, dtype=pl.String),
        status=pl.lit(OPEN),
        pinned=pl.lit(value=False),
        decisions=pl.lit([], pl.List(pl.String)),
    ).match_to_schema(IDENTITIES.schema, missing_columns="insert")


def derived_id(source: str) -> str:
    """Derive an identifier from a label's surface, or from the decision that made a capability."""
    return f"{CAPABILITY_PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:ID_DIGITS]}"


def _group_ids(proposed: Grouping, baseline: pl.DataFrame | None) -> pl.DataFrame:
    """Return columns `cluster`, `label_surface`, `group_id` and `known`: the run before had the group."""
    labels = proposed.clusters.select("cluster", "label_surface").sort("cluster")
    carried: dict[str, str] = {}
    continued, taken = set[str](), set[str]()
    if baseline is not None:
        of_cluster = proposed.wordings.group_by("surface", "cluster").agg(pl.col("mentions").sum())
        surfaces = of_cluster.sort("surface").join(labels, on="cluster")
        previous = baseline.select("surface", "mentions", key="group_id", label="group_surface")
        pairs = (
            overlaps(previous, surfaces.with_columns(key="label_surface"))
            .join(previous.select(previous="key", label="label").unique(), on="previous")
            .with_columns(preferred=pl.col("label") == pl.col("present"))
        )
        carried = {label: group_id for group_id, label in matched(pairs)}
        continued, taken = {*pairs["present"]}, {*baseline["group_id"]}
    ids = []
    for label in labels["label_surface"]:
        numbered = (label if number == 1 else f"{label}\n{number}" for number in numbers_from(1))
        unused = (name for name in map(derived_id, numbered) if name not in taken)
        ids.append(carried.get(label) or next(unused))
        taken.add(ids[-1])
    known = pl.col("label_surface").is_in([*continued])
    return labels.with_columns(known.alias("known"), group_id=pl.Series(ids, dtype=pl.String))


def _decided(about: pl.DataFrame, effects: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Return one row per group that a decision mentions, with columns of table `identities`.

    The label is null without a `rename`; the status is null if no decision gives one.
    """
    why = "{} – no longer holds: the group has outgrown it, with {} of {} mentions in the same words"
    back = pl.format("{} – came back on {}", "told", pl.col("came_back").dt.to_string("%Y-%m-%d"))
    ended = pl.when("ended").then(pl.format(why, "told", "carried", "whole"))
    in_words = pl.coalesce(ended, back, "told")
    is_pin = pl.col("action") == "pin"
    last = events.group_by("cluster").agg(
        pl.col("kind").last().replace_strict(STATUS_OF).alias("status"),
        pl.col("moment").last().alias("status_since"),
        pl.col("by").last().alias("status_by"),
    )
    authored = effects.join(about.filter(~pl.col("ended")), on=["cluster", "decision_id"], how="semi")
    since = authored.group_by("cluster").agg(pl.col("decided").max().alias("since"))
    return (
        about.group_by("cluster", maintain_order=True)
        .agg(
            pl.col("label").drop_nulls().last(),
            is_pin.any().alias("pinned"),
            pl.col("actor").filter(is_pin).last().alias("pinned_by"),
            in_words.alias("decisions"),
            pl.col("decision_id").filter("ended").alias("outgrown"),
        )
        .join(last, on="cluster", how="left")
        .join(since, on="cluster", how="left")
    )


@dataclass(frozen=True, repr=False)
class Lineage:
    """The origin of the capabilities of a run."""

    relations: pl.DataFrame  # table `lineage`; empty without a run before
    groups: pl.DataFrame  # table `groups`: the surfaces of this run, and of the one that it was compared with


def trace(groups: pl.DataFrame, ranked: pl.DataFrame, baseline: pl.DataFrame | None = None) -> Lineage:
    """Compare the capabilities of a run with those of the run before."""
    present = (
        groups.drop("rank")
        .join(ranked.select("capability_id", "rank"), on="capability_id", how="left", maintain_order="left")
        .select(GROUPS.names)
    )
    if baseline is None:
        return Lineage(LINEAGE.empty(), present)
    previous = baseline.with_columns(pl.lit(PREVIOUS).alias("run")).sort("surface").select(GROUPS.names)
    return Lineage(relations(previous, present), pl.concat([previous, present]))


def relations(previous: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """Relate the capabilities of two runs.

    A capability is *continued* if both runs have its identifier. In independent runs, the capability that
    shares most with it continues it. A capability that disappeared was *merged* into one that has some of its
    surfaces. A capability that appeared was *split* off one that had some of its surfaces. Without a shared
    surface it is *gone* or *new*. A surface that moved between two continued capabilities is no relation.
    People *decided* a merge or split if the grouping before decisions did not change: it joins both sides in
    both runs, or in neither. Rows are sorted by the rank in the later run, then in the earlier run.
    """
    left, right = (side.with_columns(key="capability_id") for side in (previous, present))
    before, now = {*previous["capability_id"]}, {*present["capability_id"]}
    pairs = overlaps(left, right)
    strangers = pairs.filter(~pl.col("previous").is_in(now), ~pl.col("present").is_in(before))
    counterpart = {name: name for name in before & now}
    counterpart |= dict(matched(strangers.with_columns(preferred=pl.lit(value=False))))
    continued = set(counterpart.values())
    rows: list[tuple[str, str | None, str | None]] = []
    for one, other in pairs.select("previous", "present").iter_rows():
        if one in counterpart and other in continued:
            continue
        rows.append((SPLIT if one in counterpart else MERGED, other, one))
    rows += [(CONTINUED, other, one) for one, other in counterpart.items()]
    rows += [(NEW, name, None) for name in now - continued - {*pairs["present"]}]
    rows += [(GONE, None, name) for name in before - {*counterpart} - {*pairs["previous"]}]
    columns = ("relation", "capability_id", "previous_id")
    decided = _decided_relations(previous, present, rows)
    return (
        pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
        .with_columns(pl.Series("decided", decided, pl.Boolean))
        .join(_capabilities(present), on="capability_id", how="left")
        .join(
            _capabilities(previous).select(pl.all().name.prefix("previous_")),
            left_on="previous_id",
            right_on="previous_capability_id",
            how="left",
        )
        .join(pairs, left_on=["capability_id", "previous_id"], right_on=["present", "previous"], how="left")
        .with_columns(shared_mentions=pl.col("shared").fill_null(0))
        .sort("rank", "previous_rank", "capability_id", "previous_id", nulls_last=True)
        .select(LINEAGE.names)
    )


def _decided_relations(
    previous: pl.DataFrame, present: pl.DataFrame, rows: Sequence[tuple[str, str | None, str | None]]
) -> list[bool | None]:
    """Tell for each relation whether people merged or split it; None without two sides."""
    spoken = pl.col("surface").map_elements(surface_of, pl.String)
    shared = previous.with_columns(spoken).join(present.with_columns(spoken), on="surface", suffix="_now")
    ends, kinds = ("capability_id", "capability_id_now"), ("group_id", "group_id_now")
    groups: dict[_Pair, tuple[set[str], set[str]]] = {}  # of the wordings that each pair shares, in both runs
    sides: defaultdict[tuple[str, str | None], list[_Pair]] = defaultdict(list)
    for old, new, were, are in shared.group_by(ends).agg(pl.col(kinds).unique()).iter_rows():
        groups[old, new] = {*were}, {*are}
        sides[SPLIT, old].append((old, new))
        sides[MERGED, new].append((old, new))
    are_decided: list[bool | None] = []
    for relation, new, old in rows:
        own = groups.get((old, new))
        alike = sides.get((relation, old if relation == SPLIT else new), ())
        others = [groups[pair] for pair in alike if pair != (old, new)]
        if own is None or not others:
            are_decided.append(None)
            continue
        were, are = (any(own[run] & other[run] for other in others) for run in (0, 1))
        are_decided.append(were == are)
    return are_decided


def _capabilities(surfaces: pl.DataFrame) -> pl.DataFrame:
    return surfaces.group_by("capability_id").agg(pl.col("label", "rank").first(), pl.col("mentions").sum())


def overlaps(previous: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of groups of two runs, with the mentions of the surfaces that both have."""
    spoken = pl.col("surface").map_elements(surface_of, pl.String)  # people may have separated its wordings
    one, other = (side.group_by("key", spoken).agg(pl.col("mentions").sum()) for side in (previous, present))
    return (
        one.rename({"key": "previous"})
        .join(other.rename({"key": "present", "mentions": "other"}), on="surface")
        .group_by("previous", "present")
        .agg(pl.min_horizontal("mentions", "other").sum().alias("shared"))
        .sort("previous", "present")
    )


def matched(pairs: pl.DataFrame) -> list[tuple[str, str]]:
    """Return the matching of the greatest weight; each group has at most one counterpart.

    Groups without a direct or indirect link are matched separately, so that new data elsewhere changes
    nothing here. Of matchings of equal weight, the one with more preferred pairs wins, in any order of pairs.
    The columns are `previous` and `present`, two keys; `shared`, the weight, a whole number above 0; and
    `preferred`, whether the pair wins a tie.
    """
    if pairs.is_empty():
        return []
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - a first run does not need it

    pairs = pairs.sort(*_SIDES)
    left, right = (pairs[side].unique().sort() for side in _SIDES)
    rows, columns = (
        pairs[side].replace_strict(keys, pl.int_range(len(keys), eager=True)).to_numpy()
        for side, keys in zip(_SIDES, (left, right), strict=True)
    )
    shape = (len(left) + len(right),) * 2
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns + len(left))), shape=shape)
    _, component = connected_components(graph, directed=False)
    parts: dict[int, list[tuple[Any, ...]]] = {}
    edges = pairs.select(*_SIDES, "shared", "preferred").iter_rows()
    for number, edge in zip(component[rows].tolist(), edges, strict=True):
        parts.setdefault(number, []).append(edge)
    return sorted(pair for part in parts.values() for pair in _matched_part(part))


def _matched_part(part: Sequence[tuple[Any, ...]]) -> list[tuple[str, str]]:
    """Match groups that are all linked, directly or not; a group may stay alone with weight 0."""
    ends = [(one, other) for one, other, _, _ in part]
    left, right = (sorted(set(side)) for side in zip(*ends, strict=True))
    # Preferred pairs only break ties: all of them together weigh less than one mention.
    mention = min(len(left), len(right)) + 1
    weights = [shared * mention + preferred for _, _, shared, preferred in part]
    if len(left) == 1 or len(right) == 1:
        return [ends[weights.index(max(weights))]]
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # noqa: PLC0415 - as above

    row = {name: number for number, name in enumerate(left)}
    column = {name: number for number, name in enumerate(right)}
    alone = np.arange(len(left))
    # Add 1 to every edge, because SciPy drops edges of weight 0. Each row takes exactly one edge.
    values = np.concatenate([np.array(weights, np.float64), np.zeros(len(left))]) + 1.0
    rows = np.concatenate([np.array([row[one] for one, _ in ends]), alone])
    columns = np.concatenate([np.array([column[other] for _, other in ends]), alone + len(right)])
    biadjacency = sparse.csr_array((values, (rows, columns)), shape=(len(left), len(right) + len(left)))
    chosen = zip(*min_weight_full_bipartite_matching(biadjacency, maximize=True), strict=True)
    return [(left[one], right[other]) for one, other in chosen if other < len(right)]
