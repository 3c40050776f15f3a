"""The clustering stage: records in, groups of wordings out."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.labelling import best_wording, representative
from vocabgap.clustering.linkage import FloatArray, IntVector, average_linkage, cosine_distances, cut
from vocabgap.clustering.phrases import surfaces_of, wordings_of
from vocabgap.clustering.stopwords import content_words, ignored_stems
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.config import DEFAULT_THRESHOLD
from vocabgap.errors import InvalidInputError
from vocabgap.schema import CLUSTERS, LINKAGE, PHRASE_FIELDS, RECORDS, WORDINGS

SHOWN_DIGITS: Final = 6  # of a similarity; what lies beyond is rounding


@dataclass(frozen=True)
class Clusters:
    """Groups of wordings that ask for the same thing.

    Attributes:
        wordings: One row a distinct phrase, with its surface and cluster (table `wordings`).
        clusters: One row a group, with its label and cohesion (table `clusters`).
        linkage: The dendrogram over the sorted surfaces, to look at other cuts (table `linkage`).
        threshold: The cosine distance at which merging stopped.
    """

    wordings: pl.DataFrame
    clusters: pl.DataFrame
    linkage: pl.DataFrame
    threshold: float


def cluster(
    records: pl.DataFrame, *, threshold: float = DEFAULT_THRESHOLD, stop_words: Iterable[str] = ()
) -> Clusters:
    """Group the needs of some records, however they were worded.

    TF-IDF of the distinct surfaces, weighted by their mentions, then average-linkage agglomerative
    clustering on cosine distance, cut at a distance. The partition is that of scikit-learn's
    `AgglomerativeClustering` on one row a mention, up to ties.

    Args:
        records: Table `records`, at least the three columns that a phrase is taken from.
        threshold: Cosine distance, 0 to 1, at which merging stops; the comparison is strict.
        stop_words: Words to ignore beside the function words.

    Returns:
        The groups. They do not depend on the order of the records.

    Raises:
        InvalidInputError: The frame or the threshold cannot be used, or there are too many surfaces.
    """
    RECORDS.require(records, PHRASE_FIELDS)
    if not 0.0 <= threshold <= 1.0:
        raise InvalidInputError(
            f"threshold {threshold} is not a cosine distance from 0 to 1", hint="for example 0.7"
        )
    wordings = wordings_of(records)
    surfaces = surfaces_of(wordings)
    if surfaces.is_empty():
        return Clusters(WORDINGS.empty(), CLUSTERS.empty(), LINKAGE.empty(), threshold)
    ignored = ignored_stems(stop_words)
    contents = [content_words(surface, ignored) for surface in surfaces["surface"]]
    weights = surfaces["mentions"].cast(pl.Float64).to_numpy()
    rows = vectorize([" ".join(content) for content in contents], weights)
    linkage = average_linkage(cosine_distances(rows), weights)
    labels = cut(linkage, surfaces.height, threshold)
    members = _members(labels)
    named = _labels(members, surfaces, wordings, [frozenset(content) for content in contents])
    similarity = _similarity(rows, np.array([named[number][1] for number in labels]))
    placed = surfaces.select(
        "surface", pl.Series("cluster", labels), pl.Series("similarity", similarity, dtype=pl.Float64)
    )
    return Clusters(
        wordings.join(placed, on="surface", how="left", maintain_order="left").select(WORDINGS.names),
        _describe(members, named, rows, surfaces),
        linkage,
        threshold,
    )


def _members(labels: IntVector) -> list[list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for position, label in enumerate(labels.tolist()):
        groups[label].append(position)
    return [groups[label] for label in range(len(groups))]


def _labels(
    members: list[list[int]], surfaces: pl.DataFrame, wordings: pl.DataFrame, contents: list[frozenset[str]]
) -> list[tuple[str, int]]:
    """The label of each group, and the position of the surface that it is a wording of."""
    names, mentions = surfaces["surface"].to_list(), surfaces["mentions"].to_list()
    position = {name: number for number, name in enumerate(names)}
    spelt: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for wording, count, surface in wordings.select("wording", "mentions", "surface").iter_rows():
        spelt[position[surface]].append((wording, count))
    labels = []
    for group in members:
        chosen = group[
            representative(
                [contents[i] for i in group], [mentions[i] for i in group], [names[i] for i in group]
            )
        ]
        alike = [member for member in group if contents[member] == contents[chosen]]
        where = {wording: member for member in alike for wording, _ in spelt[member]}
        label = best_wording(wording for member in alike for wording in spelt[member])
        labels.append((label, where[label]))
    return labels


def _similarity(rows: sparse.csr_array, others: IntVector) -> FloatArray:
    """Cosine similarity of each row to the row named beside it, shape (n,)."""
    products: FloatArray = np.asarray(rows.multiply(rows[others]).sum(axis=1))
    return np.clip(products.round(SHOWN_DIGITS), 0.0, 1.0)


def _describe(
    members: list[list[int]], named: list[tuple[str, int]], rows: sparse.csr_array, surfaces: pl.DataFrame
) -> pl.DataFrame:
    names, counts = surfaces["surface"].to_list(), surfaces["mentions"].to_list()
    described = [
        {
            "cluster": number,
            "label": label,
            "label_surface": names[position],
            "surfaces": len(group),
            "mentions": sum(counts[member] for member in group),
            "cohesion": _cohesion(rows, group),
        }
        for number, (group, (label, position)) in enumerate(zip(members, named, strict=True))
    ]
    return pl.DataFrame(described, schema=CLUSTERS.schema)


def _cohesion(rows: sparse.csr_array, group: list[int]) -> float:
    """Mean cosine similarity over the pairs of a group, from the length of its sum: no pair is made."""
    count = len(group)
    if count == 1:
        return 1.0
    total = rows[group].sum(axis=0)
    mean = (total @ total - count) / (count * (count - 1))
    return float(np.clip(mean.round(SHOWN_DIGITS), 0.0, 1.0))
