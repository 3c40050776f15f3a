"""The clustering stage: records in, groups of wordings out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
import polars as pl

from vocabgap.clustering import cascading
from vocabgap.clustering.blending import TextEmbedder, blended_rows
from vocabgap.clustering.certainty import certainty
from vocabgap.clustering.constraints import Origin, regrouped
from vocabgap.clustering.contrasts import LEFT, leaving, parting_poles
from vocabgap.clustering.cutting import (
    MEANING_CUT,
    WORDS_CUT,
    Tree,
    below,
    cuts,
    members_of,
)
from vocabgap.clustering.describing import Labeller, cohesion, labels_of, nearness, similarity, weakest_links
from vocabgap.clustering.linkage import Space, average_linkage
from vocabgap.clustering.questions import Question, questions
from vocabgap.clustering.teaching import lessons, taught_shift
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows, vectorize
from vocabgap.clustering.wordings import Points, points_of
from vocabgap.displays import html_table
from vocabgap.errors import InvalidInputError, NotFoundError, converted, require_kind, whole_number
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.settings import BY_WORDING, DEFAULT_TOP, ClusterSettings, overridden
from vocabgap.model.tables import CLUSTERS, RECORDS, SWEEP, WORDINGS, Constraint
from vocabgap.text import count

SWEEP_CUTS: Final = tuple(round(0.30 + 0.05 * step, 2) for step in range(14))  # 0.30 to 0.95
SWEEP_TOP: Final = 10
HEAVIEST: Final = 100  # wordings that a group is compared with others by


def cluster(
    records: pl.DataFrame,
    settings: ClusterSettings | None = None,
    *,
    threshold: float | Literal["by wording"] | None = None,
    stop_words: Iterable[str] | None = None,
    synonyms: Mapping[str, Iterable[str]] | None = None,
    embedder: TextEmbedder | str | None = None,
    max_distance: float = 0.0,
    space: Space | None = None,
) -> "Clusters":
    """Group the needs of some records, however they were worded.

    Rows of the distinct surfaces, weighted by their mentions, then average-linkage agglomerative clustering
    on cosine distance. The dendrogram, and so the partition at one distance, is that of scikit-learn's
    `AgglomerativeClustering` on one row a mention, up to ties. With an embedder a row is what the wording and
    its records mean, beside their words and the contrasts at which they stand; without one, TF-IDF. With an
    embedder and more than 20,000 surfaces the dendrogram is another: those of nearly the same words are
    merged by these before one of each group is embedded, and both kinds of merges are put together. Where
    needs part, and how sure groups are, was fitted with `minilm`: another model may need a threshold.

    Args:
        records: Table `records`, at least the three columns that a phrase is taken from.
        settings: The settings in force; the defaults by default. A keyword that is given counts before them.
        threshold: Cosine distance, 0 to 1, at which merging stops; the comparison is strict. With `by
            wording` it is the one that suits each merge: large groups and sentences are held together by
            less, and what contrasts (add, remove) is not merged.
        stop_words: Words to ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it.
        embedder: What gives sentence embeddings, such as `vocabgap.Embedder`; or, as text, which one is
            loaded: `auto` (the known model, if it is installed), `minilm`, a model's folder, or `none`.
        max_distance: Cosine distance up to which other cuts are to be looked at. Small corpora have them all.
        space: Searches for neighbours by words elsewhere, as an engine does.

    Returns:
        The groups. They do not depend on the order of the records.

    Raises:
        InvalidInputError: An argument cannot be used; the error names it.
        VocabgapError: The embedder of the settings cannot be loaded.
    """
    RECORDS.require(records, PHRASE_FIELDS)
    settings = ClusterSettings() if settings is None else settings
    require_kind("settings", settings, ClusterSettings, "a ClusterSettings")
    named = embedder if isinstance(embedder, str) else None
    settings = overridden(
        settings, threshold=threshold, stop_words=stop_words, synonyms=synonyms, embedder=named
    )
    threshold = None if settings.threshold == BY_WORDING else settings.threshold
    max_distance = _distance("max_distance", max_distance)
    if embedder is None or isinstance(embedder, str):
        from vocabgap.clustering.embedding.embedder import load_embedder  # noqa: PLC0415 - loads a thread pool

        embedder = load_embedder(settings.embedder)
    points = points_of(records, settings.stop_words, settings.synonyms)
    poles = list(map(parting_poles, points.need_stems))
    cut = WORDS_CUT if embedder is None else MEANING_CUT
    max_distance = max(cut.farthest if threshold is None else threshold, max_distance)
    counted = None

    if embedder is not None and len(points.contents) > cascading.EMBEDDED_AT_MOST:
        rows, linkage, max_distance, counted = cascading.cascaded(
            points, poles, embedder, records, max_distance, space=space
        )
    else:
        if embedder is None:
            rows = vectorize(points.contents, points.weights, points.sentence_shares)
        else:
            rows = blended_rows(points.with_texts(records), embedder)
        linkage, max_distance = average_linkage(rows, points.weights, max_distance, space)
    at = cuts(linkage, points.weights, points.clause_shares, cut, counted=counted)
    sides = leaving(linkage, points.weights, poles)
    tree = Tree(linkage, at, sides, cut, len(points.contents), max_distance)
    return _clusters(points, rows, tree, threshold, 0.0)


@dataclass(frozen=True, repr=False)
class Clusters:
    """Groups of wordings that ask for the same thing.

    What is said of them is reckoned when it is first read: a review that asks about 60,000 surfaces reads
    little of it.

    Attributes:
        threshold: The cosine distance at which merging stopped; None where that went by the wordings.
        shift: How much further than the wordings say groups were let be apart; 0.0 where nobody said so.
        origins: Of each group what it was before people's decisions were followed.
        constraints: The decisions that were followed.
    """

    threshold: float | None
    shift: float
    _tree: Tree
    _points: Points
    _rows: Rows
    _labels: IntArray
    _labelled: Sequence[tuple[str, int]]  # of each group the wording that stands for it, and its point
    origins: tuple[Origin, ...]
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def wordings(self) -> pl.DataFrame:
        """One row a distinct phrase, with its surface and cluster (table `wordings`)."""
        placed = self._points.surfaces.select(
            "surface",
            pl.Series("cluster", self._labels),
            pl.Series("similarity", similarity(self._rows, self._label_points[self._labels]), pl.Float64),
        )
        wordings = self._points.wordings.join(placed, on="surface", how="left", maintain_order="left")
        return wordings.select(WORDINGS.names)

    @cached_property
    def clusters(self) -> pl.DataFrame:
        """One row a group, with its label, cohesion and weakest link (table `clusters`)."""
        labels, weights, groups = self._labels, self._points.weights, len(self._labelled)
        place = self._place
        spoken_of = {int(labels[place[name]]) for each in self.constraints for name in each.surfaces}
        near = cohesion(self._rows, labels)
        sure = certainty(
            labels,
            weights,
            near,
            self._tree,
            threshold=self.threshold,
            shift=self.shift,
            decided=spoken_of,
        )
        return pl.DataFrame(
            {
                "cluster": np.arange(groups),
                "label": labels_of([wording for wording, _ in self._labelled]),
                "label_surface": self._points.surfaces["surface"][self._label_points],
                "surfaces": np.bincount(labels, minlength=groups),
                "mentions": np.bincount(labels, weights, minlength=groups).astype(np.int64),
                "cohesion": near,
                "weakest_link": weakest_links(self.linkage, self._tree.leaving == LEFT, labels),
                **sure.to_dict(),
            },
            schema=CLUSTERS.schema,
        )

    @property
    def linkage(self) -> pl.DataFrame:
        """The dendrogram over the sorted surfaces (table `linkage`)."""
        return self._tree.linkage

    @property
    def max_distance(self) -> float:
        """The linkage holds every merge below this cosine distance."""
        return self._tree.max_distance

    @property
    def embedded(self) -> int | None:
        """How many surfaces were embedded for all, where there were too many; else null."""
        return self._rows.shared

    def __repr__(self) -> str:
        """How many groups there are of how many wordings, in one line."""
        mentions = int(self.clusters["mentions"].sum())
        of = f"{count(self.wordings.height, 'wording')}, {count(mentions, 'mention')}"
        cut = "by wording" if self.threshold is None else f"at {self.threshold}"
        return f"Clusters({count(self.clusters.height, 'group')} of {of}, cut {cut})"

    def _repr_html_(self) -> str:
        """The same, and the largest groups as a table."""
        largest = self.clusters.sort("mentions", "cluster", descending=[True, False]).head(DEFAULT_TOP)
        columns = ("label", "mentions", "surfaces", "cohesion")
        return html_table(repr(self), columns, largest.select(columns).iter_rows())

    def taught(self, constraints: Iterable[Constraint]) -> "Clusters":
        """The groups as found, at the cut that suits what people decided.

        They follow nothing of it yet; `constrained` does. Where the cut is one that somebody named it stays.

        Args:
            constraints: Which surfaces belong together and which apart.
        """
        shift = self.shift
        if self.threshold is None:
            shift = taught_shift(lessons(self._tree, self._place, constraints))
        if shift == self.shift and not self.constraints:
            return self
        return self.at(self.threshold, shift)

    def questions(self, top: int = DEFAULT_TOP, *, about_cut: bool = True) -> Iterator[Question]:
        """What to ask people about the groups: is this one need, or two? Nothing that was decided.

        Args:
            top: How many of the largest groups count; 0 for all.
            about_cut: Whether the first few are to say where needs part; at a named cut none is.

        Returns:
            The questions in the order of what their answers would change. Only the first is sure to be worth
            its answer: that changes the others.
        """
        top = whole_number("top", top) or len(self._labelled)
        return questions(
            self._tree,
            self._points,
            self._labels,
            self.constraints,
            shift=self.shift,
            top=top,
            about_cut=about_cut and self.threshold is None,
        )

    def constrained(self, constraints: Iterable[Constraint]) -> "Clusters":
        """The groups that also respect what people decided about their surfaces.

        The linkage stays what it is; `weakest_link` is of the merges in it, not of what people united.

        Args:
            constraints: Which surfaces belong together and which apart, in the order in which it was decided.

        Raises:
            InvalidInputError: One names a surface that is not there, or two cannot both be followed.
        """
        constraints = tuple(constraints)
        if not constraints:
            return self
        groups = regrouped(self._labels, self._labelled, self._points, self._rows, constraints)
        return replace(
            self,
            _labels=groups.labels,
            _labelled=groups.labelled,
            origins=groups.origins,
            constraints=constraints,
        )

    def at(self, threshold: float | None = None, shift: float = 0.0) -> "Clusters":
        """The groups at another cut, from the same merges: nothing is clustered again.

        Args:
            threshold: Cosine distance at which merging stops; None for that which suits the wordings.
            shift: With None, how much further than that groups may be apart; less where it is negative.

        Raises:
            InvalidInputError: It is no cosine distance, or beyond `max_distance`; or a shift beside one.
        """
        if threshold is not None and shift:
            raise InvalidInputError(
                f"shift: expected none beside a threshold, got {shift}", hint="name the one distance"
            )
        return _clusters(self._points, self._rows, self._tree, self._within(threshold), shift)

    def sweep(self, thresholds: Iterable[float | None] | None = None) -> pl.DataFrame:
        """What each of several cuts would give (table `sweep`).

        Args:
            thresholds: Cosine distances, None for that which suits the wordings. By default the cut in force
                and fixed ones from 0.30 to 0.95, as far as the linkage goes.

        Raises:
            InvalidInputError: One is no cosine distance, or beyond `max_distance`.
        """
        if thresholds is None:
            fixed = sorted({*SWEEP_CUTS, *([] if self.threshold is None else [self.threshold])})
            every = [*([None] if self.threshold is None else []), *fixed]
            thresholds = [each for each in every if self._farthest(each) <= self.max_distance]
        require_kind(
            "thresholds", thresholds, Iterable, "several cosine distances", hint="such as [0.5, 0.7]"
        )
        within = [self._within(threshold) for threshold in thresholds]
        labeller = Labeller(self._points)
        rows = [self._swept(threshold, labeller) for threshold in within]
        return pl.DataFrame(rows, schema=SWEEP.schema, orient="row")

    def members(self, cluster: int) -> IntArray:
        """The points of a group, by their place in the sorted surfaces.

        Raises:
            InvalidInputError: It is no number of a group.
            NotFoundError: There is no such group.
        """
        cluster = whole_number("cluster", cluster, hint="see column `cluster` of .clusters")
        members = np.flatnonzero(self._labels == cluster)
        if not len(members):
            raise NotFoundError(f"there is no cluster {cluster}", hint=f"there are {self.clusters.height}")
        return members

    def nearness(self, clusters: Sequence[int]) -> FloatArray:
        """How near some groups are to one another, by their most mentioned wordings.

        Args:
            clusters: Their numbers, one at least.

        Returns:
            Cosine similarities of their means, 0 to 1, shape (clusters, clusters).

        Raises:
            NotFoundError: There is no such group.
        """
        weights = self._points.weights
        members = [self.members(each) for each in clusters]
        heaviest = [each[np.argsort(-weights[each], kind="stable")[:HEAVIEST]] for each in members]
        return nearness(self._rows, heaviest, weights)

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
        return leaves, below(self.linkage, self._points.weights, members)

    @property
    def _label_points(self) -> IntArray:
        """Of each group the point whose surface its label is a wording of."""
        return np.array([point for _, point in self._labelled], np.int64)

    @property
    def _place(self) -> dict[str, int]:
        """The point of each surface."""
        return {name: point for point, name in enumerate(self._points.surfaces["surface"])}

    def _within(self, threshold: float | None) -> float | None:
        """A cut for which all merges are known."""
        threshold = None if threshold is None else _distance("threshold", threshold)
        farthest = self._farthest(threshold)
        if farthest > self.max_distance:
            raise InvalidInputError(
                f"merges are known below a distance of {self.max_distance}, not to {farthest}",
                hint=f"cluster again with max_distance={farthest}",
            )
        return threshold

    def _farthest(self, threshold: float | None) -> float:
        """The largest distance at which a cut may merge."""
        return self._tree.cut.farthest if threshold is None else threshold

    def _swept(self, threshold: float | None, labeller: Labeller) -> dict[str, object]:
        labels = self._tree.labels(threshold, self.shift)
        mentions = np.bincount(labels, self._points.weights)
        surfaces = np.bincount(labels)
        groups = members_of(labels)
        # Ties in mentions go to the group whose first surface sorts first, as their numbers do.
        top = np.argsort(-mentions, kind="stable")[:SWEEP_TOP].tolist()
        named = labels_of([labeller.label(groups[number].tolist())[0] for number in top])
        return {
            "threshold": threshold,
            "groups": len(groups),
            "singletons": int((surfaces == 1).sum()),
            "singleton_mentions": int(mentions[surfaces == 1].sum()),
            "largest": int(surfaces.max(initial=0)),
            "top": [
                {"label": label, "mentions": int(mentions[number])}
                for label, number in zip(named, top, strict=True)
            ],
        }


def _clusters(points: Points, rows: Rows, tree: Tree, threshold: float | None, shift: float) -> Clusters:
    labels = tree.labels(threshold, shift)
    labeller = Labeller(points)
    labelled = [labeller.label(group.tolist()) for group in members_of(labels)]
    origins = tuple(Origin(number, None) for number in range(len(labelled)))
    return Clusters(threshold, shift, tree, points, rows, labels, labelled, origins)


def _distance(name: str, value: float) -> float:
    distance: float = converted(value, Annotated[float, msgspec.Meta(ge=0, le=1)], name)
    return distance
