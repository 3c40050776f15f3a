""""""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.linkage import FloatArray, Rows
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.tables import LINKAGE

Item = TypeVar("Item", bound=Hashable)


def asking(*phrases: str | None) -> pl.DataFrame:
    """Records that ask for the given phrases, one each."""
    rows = [{"missing_capability": phrase} for phrase in phrases]
    return pl.DataFrame(rows, schema=dict.fromkeys(PHRASE_FIELDS, pl.String))


def groups(
    *phrases: str, threshold: float = 0.7, stop_words: Sequence[str] = ()
) -> set[frozenset[str]]:
    """The groups that some phrases fall into, each as its set of phrases."""
    found = cluster(asking(*phrases), threshold=threshold, stop_words=stop_words)
    return partition(found.wordings["wording"].to_list(), found.wordings["cluster"].to_list())


def grouped_wordings(found: Clusters) -> set[frozenset[str]]:
    return partition(found.wordings["wording"].to_list(), found.wordings["cluster"].to_list())


def random_rows(seed: int, count: int) -> sparse.csr_array:
    """Sparse rows of unit length, all positive, of which no two are orthogonal or equal."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((count, 30)) < 0.3, rng.random((count, 30)), 0.0)
    values[:, 0] = rng.uniform(0.2, 0.6, count)  # shared by all, so that no distance is exactly 1
    return sparse.csr_array(values / np.linalg.norm(values, axis=1, keepdims=True))


def mixed_rows(rng: np.random.Generator, count: int, spelt: int, *, coarse: bool) -> Rows:
    """Rows of which some are equal and some are zeros; coarse values make ties.

    The last terms, as many as are to be spelt, are spread over five grams.
    """
    terms = int(rng.integers(spelt + 1, 60))
    values = rng.integers(1, 4, (count, terms)) if coarse else rng.random((count, terms)) + 0.05
    weights = values * (rng.random((count, terms)) < rng.uniform(0.02, 0.9))
    for _ in range(int(rng.uniform(0, 0.6) * count)):
        weights[rng.integers(count)] = weights[rng.integers(count)]
    grams = rng.random((spelt, 5)) * (rng.random((spelt, 5)) < 0.5) + 1e-3
    grams /= np.linalg.norm(grams, axis=1, keepdims=True)
    plain = np.hstack([weights[:, : terms - spelt], weights[:, terms - spelt :] @ grams])
    length = np.linalg.norm(plain, axis=1, keepdims=True)
    return Rows(
        sparse.csr_array(weights / np.where(length > 0, length, 1.0)), sparse.csr_array(grams)
    )


def in_full(rows: Rows) -> sparse.csr_array:
    """Rows with all their terms and dimensions, shape (points, own + grams + dimensions)."""
    terms = rows.plain_terms()
    if rows.dense is None:
        return terms
    dense = rows.dense[rows.dense_rows_of(np.arange(terms.shape[0]))]
    return sparse.csr_array(sparse.hstack([terms, sparse.csr_array(dense)], format="csr"))


def expanded(distances: FloatArray, weights: Sequence[int]) -> FloatArray:
    """Distances of a corpus that holds each point as often as its weight says, zero on the diagonal."""
    finite = distances.copy()
    np.fill_diagonal(finite, 0.0)
    copies = np.repeat(np.arange(len(weights)), weights)
    return finite[np.ix_(copies, copies)]


def linkage(*merges: tuple[int, int, float, int]) -> pl.DataFrame:
    """Table `linkage` of some merges."""
    return pl.DataFrame(merges, schema=LINKAGE.schema, orient="row")


def partition(items: Sequence[Item], labels: Sequence[int]) -> set[frozenset[Item]]:
    """The sets of items that carry the same label."""
    found: dict[int, set[Item]] = {}
    for item, label in zip(items, labels, strict=True):
        found.setdefault(label, set()).add(item)
    return {frozenset(members) for members in found.values()}
