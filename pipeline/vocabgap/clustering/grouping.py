"""The clustering stage: records in, groups of wordings out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Final

import numpy as np
import polars as pl

from vocabgap.clustering.arrays import IntArray
from vocabgap.clustering.constraints import Origin, regrouped
from vocabgap.clustering.cutting import SENTENCE_CUT, cuts, flat_groups, sentenceness
from vocabgap.clustering.describing import Labeller, cohesion, members_of, similarity, weakest_links
from vocabgap.clustering.embeddings import TextEmbedder, blended_rows
from vocabgap.clustering.linkage import average_linkage, below
from vocabgap.clustering.vectorizing import Rows, vectorize
from vocabgap.clustering.wordings import NO_SYNONYMS, Points, points_of
from vocabgap.errors import InvalidInputError, NotFoundError, require_kind, unusable, whole_number
from vocabgap.schema import CLUSTERS, PHRASE_FIELDS, RECORDS, SWEEP, WORDINGS, Constraint
from vocabgap.text import count

SWEEP_CUTS: Final = tuple(round(0.30 + 0.05 * step, 2) for step in range(14))  # 0.30 to 0.95
SWEEP_TOP: Final = 10


@dataclass(frozen=True, repr=False)
class Clusters:
    """Groups of wordings that ask for the same thing.

    Attributes:
        wordings: One row a distinct phrase, with its surface and cluster (table `wordings`).
        clusters: One row a group, with its label, cohesion and weakest link (table `clusters`).
        linkage: The dendrogram over the sorted surfaces (table `linkage`).
        threshold: The cosine distance at which merging stopped; None where that went by the wordings.
        reach: The linkage holds every merge below this cosine distance.
        origins: Where people's decisions were followed: of each group what it was before. Else empty.
    """

    wordings: pl.DataFrame
    clusters: pl.DataFrame
    linkage: pl.DataFrame
    threshold: float | None
    reach: float
    _points: Points
    _rows: Rows
    _labels: IntArray
    origins: tuple[Origin, ...] = ()

    def __repr__(self) -> str:
        """How many groups there are of how many wordings, in one line."""
        mentions = int(self.clusters["mentions"].sum())
        of = f"{count(self.wordings.height, 'wording')}, {count(mentions, 'mention')}"
        cut = "by wording" if self.threshold is None else f"at {self.threshold}"
        return f"Clusters({count(self.clusters.height, 'group')} of {of}, cut {cut})"

    def constrained(self, constraints: Iterable[Constraint]) -> "Clusters":
        """The groups that also respect what people decided about their surfaces.

        The linkage stays what it is; `weakest_link` is of the merges in it, not of what people united.

        Args:
            constraints: Which surfaces belong together and which apart, in the order in which it was decided.

        Raises:
            InvalidInputError: One names a surface that is not there, or two cannot both be followed.
        """
        constraints = list(constraints)
        if not constraints:
            unchanged = tuple(Origin(number, None) for number in range(self.clusters.height))
            return replace(self, origins=unchanged)
        position = {name: point for point, name in enumerate(self._points.surfaces["surface"])}
        named = [
            (label, position[surface])
            for label, surface in self.clusters.select("label", "label_surface").iter_rows()
        ]
        found = regrouped(self._labels, named, self._points, self._rows, constraints)
        made = _described(found.labels, found.named, self._points, self._rows, self.linkage)
        return replace(made, threshold=self.threshold, reach=self.reach, origins=found.origins)

    def at(self, threshold: float | None) -> "Clusters":
        """The groups at another cut, from the same merges: nothing is clustered again.

        Args:
            threshold: Cosine distance at which merging stops; None for that which suits the wordings.

        Raises:
            InvalidInputError: It is no cosine distance, or beyond the reach.
        """
        threshold = self._reached(threshold)
        return _cut(self._points, self._rows, self.linkage, threshold, self.reach)

    def _reached(self, threshold: float | None) -> float | None:
        threshold = _cut_of(threshold)
        farthest = _farthest(threshold)
        if farthest > self.reach:
            raise InvalidInputError(
                f"merges are known below a distance of {self.reach}, not to {farthest}",
                hint=f"cluster again with reach={farthest}",
            )
        return threshold

    def sweep(self, thresholds: Iterable[float | None] | None = None) -> pl.DataFrame:
        """What each of several cuts would give (table `sweep`).

        Args:
            thresholds: Cosine distances, None for that which suits the wordings. By default the cut in force
                and fixed ones from 0.30 to 0.95, as far as the linkage reaches.

        Raises:
            InvalidInputError: One is no cosine distance, or beyond the reach.
        """
        if thresholds is None:
            fixed = sorted({*SWEEP_CUTS, *([] if self.threshold is None else [self.threshold])})
            every = [*([None] if self.threshold is None else []), *fixed]
            thresholds = [each for each in every if _farthest(each) <= self.reach]
        require_kind(
            "thresholds", thresholds, Iterable, "several cosine distances", hint="such as [0.5, 0.7]"
        )
        reached = [self._reached(threshold) for threshold in thresholds]
        labeller = Labeller(self._points)
        rows = [self._swept(threshold, labeller) for threshold in reached]
        return pl.DataFrame(rows, schema=SWEEP.schema, orient="row")

    def members(self, cluster: int) -> IntArray:
        """The points of a group, by their place in the sorted surfaces.

        Raises:
            InvalidInputError: It is no number of a group.
            NotFoundError: There is no such group.
        """
        cluster = whole_number("cluster", cluster, hint="see column `cluster` of .clusters")
        found = np.flatnonzero(self._labels == cluster)
        if not len(found):
            raise NotFoundError(f"there is no cluster {cluster}", hint=f"there are {self.clusters.height}")
        return found

    def dendrogram(self, cluster: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The tree below one group.

        Args:
            cluster: Its number.

        Returns:
            The surfaces of the group, in order (columns `wording`, the most used one of each, `surface`,
            `mentions` and `similarity`), and table `linkage` of these alone.

        Raises:
            NotFoundError: There is no such group.
        """
        members = self.members(cluster)
        similar = dict(self.wordings.select("surface", "similarity").iter_rows())
        leaves = self._points.surfaces[members].select(
            pl.Series("wording", [self._points.spoken[member] for member in members]),
            "surface",
            "mentions",
            pl.col("surface").replace_strict(similar, return_dtype=pl.Float64).alias("similarity"),
        )
        return leaves, below(self.linkage, self._points.surfaces.height, members)

    def _swept(self, threshold: float | None, labeller: Labeller) -> dict[str, object]:
        weights = self._points.weights
        labels = _groups(self._points, self.linkage, threshold)
        mentions = np.bincount(labels, weights)
        surfaces = np.bincount(labels)
        groups = members_of(labels)
        # Ties in mentions go to the group whose first surface sorts first, as their numbers do.
        top = np.argsort(-mentions, kind="stable")[:SWEEP_TOP].tolist()
        return {
            "threshold": threshold,
            "groups": len(groups),
            "singletons": int((surfaces == 1).sum()),
            "singleton_mentions": int(mentions[surfaces == 1].sum()),
            "largest": int(surfaces.max(initial=0)),
            "top": [
                {"label": labeller.label(groups[number].tolist())[0], "mentions": int(mentions[number])}
                for number in top
            ],
        }


def cluster(
    records: pl.DataFrame,
    *,
    threshold: float | None = None,
    stop_words: Iterable[str] = (),
    synonyms: Mapping[str, Iterable[str]] = NO_SYNONYMS,
    reach: float = 0.0,
    embedder: TextEmbedder | None = None,
) -> Clusters:
    """Group the needs of some records, however they were worded.

    TF-IDF of the distinct surfaces, weighted by their mentions, then average-linkage agglomerative
    clustering on cosine distance. The dendrogram, and so the partition at one distance, is that of
    scikit-learn's `AgglomerativeClustering` on one row a mention, up to ties. With an embedder half of a
    row is TF-IDF of words and half the embedding of the surface's most used wording.

    Args:
        records: Table `records`, at least the three columns that a phrase is taken from.
        threshold: Cosine distance, 0 to 1, at which merging stops; the comparison is strict. By default it
            is the one that suits the wordings of each group: sentences are held together by less.
        stop_words: Words to ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it.
        reach: Cosine distance up to which other cuts are to be looked at. Small corpora have them all.
        embedder: What gives sentence embeddings, such as `vocabgap.Embedder`.

    Returns:
        The groups. They do not depend on the order of the records.

    Raises:
        InvalidInputError: An argument cannot be used; the error names it.
    """
    RECORDS.require(records, PHRASE_FIELDS)
    threshold = _cut_of(threshold)
    reach = max(_farthest(threshold), _distance("reach", reach))
    points = points_of(records, stop_words, synonyms)
    if embedder is None:
        rows = vectorize(points.contents, points.weights, sentenceness(points.shares))
    else:
        rows = blended_rows(points, embedder)
    linkage, reach = average_linkage(rows, points.weights, reach)
    return _cut(points, rows, linkage, threshold, reach)


def _groups(points: Points, linkage: pl.DataFrame, threshold: float | None) -> IntArray:
    at = cuts(linkage, points.weights, points.shares) if threshold is None else threshold
    return flat_groups(linkage, len(points.contents), at)


def _cut(
    points: Points, rows: Rows, linkage: pl.DataFrame, threshold: float | None, reach: float
) -> Clusters:
    labels = _groups(points, linkage, threshold)
    labeller = Labeller(points)
    named = [labeller.label(group.tolist()) for group in members_of(labels)]
    return replace(_described(labels, named, points, rows, linkage), threshold=threshold, reach=reach)


def _described(
    labels: IntArray, named: Sequence[tuple[str, int]], points: Points, rows: Rows, linkage: pl.DataFrame
) -> Clusters:
    """A partition with what is said of its groups; `named` has the label of each, and its point."""
    label_points = np.array([point for _, point in named], np.int64)
    names = points.surfaces["surface"]
    placed = points.surfaces.select(
        "surface",
        pl.Series("cluster", labels),
        pl.Series("similarity", similarity(rows, label_points[labels]), pl.Float64),
    )
    clusters = pl.DataFrame(
        {
            "cluster": np.arange(len(named)),
            "label": [label for label, _ in named],
            "label_surface": names[label_points],
            "surfaces": np.bincount(labels, minlength=len(named)),
            "mentions": np.bincount(labels, points.weights, minlength=len(named)).astype(np.int64),
            "cohesion": cohesion(rows, labels),
            "weakest_link": weakest_links(linkage, labels),
        },
        schema=CLUSTERS.schema,
    )
    wordings = points.wordings.join(placed, on="surface", how="left", maintain_order="left")
    return Clusters(wordings.select(WORDINGS.names), clusters, linkage, None, 0.0, points, rows, labels)


def _farthest(threshold: float | None) -> float:
    """The largest distance at which a cut may merge."""
    return SENTENCE_CUT if threshold is None else threshold


def _cut_of(threshold: object) -> float | None:
    return None if threshold is None else _distance("threshold", threshold)


def _distance(name: str, value: Any) -> float:  # noqa: ANN401 - anything may come
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= 1.0:
        raise unusable(name, "a cosine distance from 0 to 1", value, hint="for example 0.7")
    return float(value)
