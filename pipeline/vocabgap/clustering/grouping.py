"""The clustering stage: group the wordings of records."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Literal

import msgspec
import numpy as np
import polars as pl

from vocabgap.clustering import blending
from vocabgap.clustering.blending import TextEmbedder, blended_rows, cascaded, unread
from vocabgap.clustering.constraints import Origin, regrouped
from vocabgap.clustering.contrasts import LEFT, in_doubt, leaving, parting_poles
from vocabgap.clustering.cutting import (
    MEANING_CUT,
    WORDS_CUT,
    Tree,
    average_linkage,
    below,
    certainty,
    cuts,
    members_of,
)
from vocabgap.clustering.describing import Labeller, cohesion, labels_of, similarity, weakest_links
from vocabgap.clustering.screens import Screen, Screens
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.clustering.wordings import Points, compared_text, points_of
from vocabgap.errors import InvalidInputError, NotFoundError, converted, require_kind, texts, whole_number
from vocabgap.files.parts import Parts
from vocabgap.linkage import FloatArray, IntArray, Rows
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.settings import (
    BY_WORDING,
    DEFAULT_TOP,
    ClusterSettings,
    Settings,
    overridden,
    settings_of,
)
from vocabgap.model.tables import CLUSTERS, LINKAGE, RECORDS, WORDINGS, Constraint
from vocabgap.text import count


def cluster(
    records: pl.DataFrame | Parts | list[str] | tuple[str, ...],
    settings: ClusterSettings | Settings | None = None,
    *,
    threshold: float | Literal["by wording"] | None = None,
    stop_words: Iterable[str] | None = None,
    synonyms: Mapping[str, Iterable[str]] | None = None,
    embedder: TextEmbedder | str | None = None,
    max_distance: float = 0.0,
) -> "Clusters":
    """Group the needs of some records, whatever their wording.

    A row represents a distinct surface, however often it is mentioned. Without an embedder, a row is TF-IDF.
    With one, it has the meaning, the words and the contrasts of the wording and its records. Average linkage
    on cosine distance groups the rows, as in scikit-learn's `AgglomerativeClustering`. If there are more than
    20,000 surfaces, an embedder gets one of each group of wordings with nearly the same words. The cut fits
    `minilm`; other models may need a threshold.

    Args:
        records: Table `records`, at least the columns `missing_capability`, `description` and `intent`;
            or the same in parts; or a list of needs. Rows of table `gaps` that do not count are left out.
        settings: The settings; the defaults by default. The keywords replace single settings.
        threshold: Cosine distance, 0 to 1, below which groups merge. `by wording` chooses it for each merge:
            large groups and sentences may be further apart, and opposites (add, remove) never merge.
        stop_words: Further words to ignore.
        synonyms: A word or phrase to its synonyms, which count as that word.
        embedder: An embedder such as `vocabgap.Embedder`; or its name: `auto` (the known model, if it is
            installed), `minilm`, a model's folder, or `none`.
        max_distance: The largest cosine distance of later cuts with `.at`. With few surfaces, `.at` takes any
            distance.

    Returns:
        The groups. They do not depend on the order of the records.

    Raises:
        InvalidInputError: An argument cannot be used; the error names it.
        VocabgapError: The embedder of the settings cannot be loaded.
    """
    if isinstance(records, list | tuple):
        needs = pl.DataFrame(
            {"missing_capability": texts("records", records)}, {"missing_capability": pl.String}
        )
        records = needs.with_columns(description=pl.lit(""), intent=pl.lit(""))
    if not isinstance(records, Parts):
        require_kind("records", records, pl.DataFrame, "a list of texts or a polars.DataFrame")
        RECORDS.require(records, PHRASE_FIELDS)
    records = Parts.of(records).then(_counted)
    settings = settings if isinstance(settings, ClusterSettings) else settings_of(settings).cluster
    named = embedder if isinstance(embedder, str) else None
    settings = overridden(
        settings, threshold=threshold, stop_words=stop_words, synonyms=synonyms, embedder=named
    )
    threshold = None if settings.threshold == BY_WORDING else settings.threshold
    max_distance = _distance("max_distance", max_distance)
    if embedder is None or isinstance(embedder, str):
        from vocabgap.clustering.embedder import load_embedder  # noqa: PLC0415 - loads a thread pool

        embedder = load_embedder(settings.embedder)
    points = points_of(records, settings.stop_words, settings.synonyms)
    alike = None if embedder is None else partial(blending.similarity, embedder)
    poles, doubts = parting_poles(points.need_stems(), list(points.needs()), alike)
    cut = WORDS_CUT if embedder is None else MEANING_CUT
    max_distance = max(cut.farthest if threshold is None else threshold, max_distance)
    counted = None

    if embedder is not None and len(points.contents) > blending.EMBEDDED_AT_MOST:
        rows, linkage, max_distance, counted = cascaded(points, poles, embedder, max_distance)
    else:
        if embedder is None:
            rows = vectorize(points.contents, points.sentence_shares)
        else:
            rows = blended_rows(points.with_texts(), embedder)
        linkage, max_distance = average_linkage(rows, max_distance)
    by_words = None if embedder is None else unread(points, embedder)
    at = cuts(linkage, points.clause_shares, cut, counted=counted, unread=by_words)
    sides = leaving(linkage, poles)
    tree = Tree(linkage, at, sides, cut, len(points.contents), max_distance, doubts)
    return _clusters(points, rows, tree, threshold)


def _counted(lines: pl.LazyFrame) -> pl.LazyFrame:
    return lines.filter("counted") if "counted" in lines.collect_schema().names() else lines


@dataclass(frozen=True, repr=False)
class Clusters:
    """Groups of wordings that ask for the same thing.

    Tables are computed when they are first read, because a review of 60,000 surfaces needs few of them.

    Attributes:
        threshold: The cosine distance of the cut; None if it depends on the wordings.
        origins: The state of each group before people's decisions.
        constraints: The decisions that the groups follow.
    """

    threshold: float | None
    _tree: Tree
    _points: Points
    _rows: Rows
    _labels: IntArray
    _labelled: Sequence[tuple[str, int]]  # the wording that represents each group, and its point
    _screens: Screens
    origins: tuple[Origin, ...]
    constraints: tuple[Constraint, ...] = ()
    _undecided: "Clusters | None" = None  # the groups before the decisions

    @cached_property
    def wordings(self) -> pl.DataFrame:
        """Table `wordings`: one row per distinct phrase, with its surface and cluster."""
        placed = self._points.surfaces.select(
            "surface",
            pl.Series("cluster", self._labels),
            pl.Series("similarity", similarity(self._rows, self._label_points[self._labels]), pl.Float64),
        )
        wordings = self._points.wordings.join(placed, on="surface", how="left", maintain_order="left")
        return wordings.select(WORDINGS.names)

    @cached_property
    def clusters(self) -> pl.DataFrame:
        """Table `clusters`: one row per group, with its label, cohesion and weakest link."""
        labels, weights, groups = self._labels, self._points.weights, len(self._labelled)
        near = cohesion(self._rows, labels)
        sizes = certainty(
            labels,
            weights,
            near,
            self._tree,
            threshold=self.threshold,
            opposite={int(labels[point]) for point, _ in self.doubtful_pairs},
            decided=self._decided,
        )
        return pl.DataFrame(
            {
                "cluster": np.arange(groups),
                "label": self._names,
                "label_surface": self._points.surfaces["surface"][self._label_points],
                "surfaces": np.bincount(labels, minlength=groups),
                "mentions": np.bincount(labels, weights, minlength=groups).astype(np.int64),
                "cohesion": near,
                "weakest_link": weakest_links(self.linkage, self._tree.leaving == LEFT, labels),
                **sizes.to_dict(),
            },
            schema=CLUSTERS.schema,
        )

    @cached_property
    def doubtful_pairs(self) -> list[tuple[int, int]]:
        """Pairs of points in one group that may be opposites, unless decisions name both, in order."""
        named = {self._points.places[name] for each in self.constraints for name in each.surfaces}
        pairs = in_doubt(self._tree.doubts, members_of(self._labels), self._points.weights)
        return [pair for pair in pairs if not named.issuperset(pair)]

    @property
    def linkage(self) -> pl.DataFrame:
        """The dendrogram over the sorted surfaces (table `linkage`)."""
        return self._tree.linkage

    @property
    def max_distance(self) -> float:
        """The cosine distance below which the linkage is complete."""
        return self._tree.max_distance

    @property
    def embedded(self) -> int | None:
        """The number of surfaces that were embedded; None if all or none were."""
        dense = self._rows.dense
        return None if dense is None or self._rows.dense_row is None else len(dense) - 1

    def __repr__(self) -> str:
        """Return the number of groups and wordings in one line."""
        mentions = int(self.clusters["mentions"].sum())
        of = f"{count(self.wordings.height, 'wording')}, {count(mentions, 'mention')}"
        cut = "by wording" if self.threshold is None else f"at {self.threshold}"
        return f"Clusters({count(self.clusters.height, 'group')} of {of}, cut {cut})"

    def screens(self, top: int = DEFAULT_TOP, about: Sequence[int] | None = None) -> list[Screen]:
        """Return screens of a review, the most valuable first; decisions that the groups follow are evidence.

        Args:
            top: How many of the largest groups matter; 0 for all.
            about: The groups of the screens, instead of the largest.
        """
        top = whole_number("top", top) or len(self._labelled)
        doubts = self._tree.doubts
        return self._screens.ranked(
            self._labels,
            self._names,
            self.constraints,
            top,
            about,
            doubtful=self.doubtful_pairs,
            poles=[doubts[point] for _, point in self._labelled] if doubts else (),
        )

    def standing(self, wording: str) -> tuple[int, int]:
        """Return the rank by mentions of the group of a wording, and the mentions."""
        (surface,) = self._points.wordings.filter(wording=wording)["surface"]
        sizes = np.bincount(self._labels, self._points.weights)
        mentions = int(sizes[self._labels[self._points.places[surface]]])
        return 1 + int((sizes > mentions).sum()), mentions

    @property
    def group_of(self) -> dict[str, int]:
        """The group of each surface."""
        return dict(zip(self._points.surfaces["surface"], self._labels.tolist(), strict=True))

    def names(self, separated: Collection[str] = ()) -> frozenset[str]:
        """Return the names that constraints may use: the surfaces, and separated forms of wordings."""
        return frozenset(self._points.separated(separated)[0].surfaces["surface"])

    def constrained(self, constraints: Iterable[Constraint], separated: Collection[str] = ()) -> "Clusters":
        """Apply people's decisions in the given order, and return the new groups.

        Args:
            constraints: The decisions; each names surfaces, or separated forms of wordings.
            separated: The forms (`vocabgap.text.own_form`) of wordings that leave their surface.

        Raises:
            InvalidInputError: A surface does not exist.
        """
        constraints = tuple(constraints)
        if not constraints:
            return self
        points, places = self._points.separated(separated)
        rows, tree = self._rows, self._tree
        if len(places) > tree.n_samples:
            rows, tree = rows.at(places), tree.with_copies(places)
        groups = regrouped(self._labels[places], points.labelled(self._labelled), points, rows, constraints)
        return replace(
            self,
            _points=points,
            _rows=rows,
            _tree=tree,
            _labels=groups.labels,
            _labelled=groups.labelled,
            _screens=self._screens if rows is self._rows else Screens(points, rows),
            origins=groups.origins,
            constraints=groups.followed,
            _undecided=self,
        )

    def at(self, threshold: float | None = None) -> "Clusters":
        """Return the groups at another cut of the same dendrogram.

        Args:
            threshold: Cosine distance of the cut; None to let it depend on the wordings.

        Raises:
            InvalidInputError: The threshold is no cosine distance, or is beyond `max_distance`.
        """
        if self._undecided is not None:
            return self._undecided.at(threshold)
        threshold = None if threshold is None else _distance("threshold", threshold)
        farthest = self._tree.cut.farthest if threshold is None else threshold
        if farthest > self.max_distance:
            raise InvalidInputError(
                f"the dendrogram ends at {self.max_distance}; {farthest} is beyond it",
                hint=f"cluster again with max_distance={farthest}",
            )
        return _clusters(self._points, self._rows, self._tree, threshold)

    def members(self, cluster: int) -> IntArray:
        """Return the points of a group, as places in the sorted surfaces; an unknown group is an error."""
        cluster = whole_number("cluster", cluster, hint="see column `cluster` of .clusters")
        members = np.flatnonzero(self._labels == cluster)
        if not len(members):
            raise NotFoundError(
                f"there is no cluster {cluster}",
                hint=f"clusters are numbered 0 to {self.clusters.height - 1}",
            )
        return members

    def nearness(self, clusters: Sequence[int]) -> FloatArray:
        """Return cosine similarities of the means of some groups, 0 to 1, shape (clusters, clusters)."""
        return self._screens.nearness(self._labels, clusters)

    def dendrogram(self, cluster: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the dendrogram of one group.

        Returns:
            The surfaces of the group (columns `wording`, the most used one, `surface`, `mentions` and
            `similarity`), and table `linkage` of them.

        Raises:
            NotFoundError: There is no such group.
        """
        members = self.members(cluster)
        similar = dict(self.wordings.select("surface", "similarity").iter_rows())
        leaves = self._points.surfaces[members].select(
            self._points.uses.wordings.gather(self._points.uses.starts[members]),
            "surface",
            "mentions",
            pl.col("surface").replace_strict(similar, return_dtype=pl.Float64).alias("similarity"),
        )
        return leaves, below(self.linkage, self._tree.n_samples, members)

    @property
    def _label_points(self) -> IntArray:
        return np.array([point for _, point in self._labelled], np.int64)

    @cached_property
    def _names(self) -> list[str]:
        """The label of each group; a group that no decision names keeps its label."""
        before = [] if self._undecided is None else self._undecided._names  # noqa: SLF001 - also Clusters
        kept = {
            number: before[origin.cluster]
            for number, origin in enumerate(self.origins)
            if before and origin.cluster is not None and number not in self._decided
        }
        return labels_of([compared_text(wording, self._points.shared) for wording, _ in self._labelled], kept)

    @cached_property
    def _decided(self) -> set[int]:
        """The groups that decisions name."""
        points = (self._points.places[name] for each in self.constraints for name in each.surfaces)
        return {int(self._labels[point]) for point in points}


def known_clusters(records: Parts, groups: Mapping[str, str], settings: ClusterSettings) -> Clusters:
    """Return the known groups of surfaces, with rows of words and without a dendrogram."""
    points = points_of(records, settings.stop_words, settings.synonyms)
    rows = vectorize(points.contents, points.sentence_shares)
    numbers: dict[str, int] = {}
    names = (groups.get(name, name) for name in points.surfaces["surface"])
    labels = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    nothing = np.zeros(0)
    tree = Tree(LINKAGE.empty(), nothing, nothing.astype(np.int8), WORDS_CUT, len(labels), 1.0)
    return _clusters(points, rows, tree, None, labels)


def _clusters(
    points: Points, rows: Rows, tree: Tree, threshold: float | None, labels: IntArray | None = None
) -> Clusters:
    labels = tree.labels(threshold) if labels is None else labels
    labeller = Labeller(points)
    labelled = [labeller.label(group.tolist()) for group in members_of(labels)]
    origins = tuple(Origin(number, None) for number in range(len(labelled)))
    return Clusters(threshold, tree, points, rows, labels, labelled, Screens(points, rows), origins)


def _distance(name: str, value: float) -> float:
    distance: float = converted(value, Annotated[float, msgspec.Meta(ge=0, le=1)], name)
    return distance
