"""Average linkage of rows with a dense part: by blocks of products, against SciPy and by its definition."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from builders.clustering import asking, partition
from vocabgap.clustering import blending, linkage
from vocabgap.clustering.blending import BlendedNeighbours
from vocabgap.clustering.cutting import flat_groups
from vocabgap.clustering.grouping import cluster
from vocabgap.clustering.linkage import cosine_distances, in_order_of_height, reciprocal_merges
from vocabgap.clustering.vectorizing import FloatArray, Rows

MEANINGS = {"haze": "fog", "remove": "clear", "dehaze": "clear fog", "reed": "plant", "reeds": "plant"}


class ByMeaning:
    """Embeds a text as the sum of random vectors, one for each meaning of its words."""

    name = "by meaning"
    digest = "0" * 64

    def embed(self, texts: Sequence[str]) -> FloatArray:
        return np.array([self._vector(text) for text in texts])

    def _vector(self, text: str) -> FloatArray:
        meant = " ".join(MEANINGS.get(word, word) for word in text.casefold().split()).split()
        vectors = [np.random.default_rng(crc32(word.encode())).standard_normal(48) for word in meant]
        total = np.sum(vectors, axis=0) + 0.5
        return np.asarray(total / np.linalg.norm(total))


def blended(seed: int, count: int, dimensions: int = 16) -> Rows:
    """Rows about some centres: four sparse words each, and a direction near that of the centre."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, max(2, count // 8), count)
    words = np.zeros((count, 40))
    for row, at in enumerate(centre.tolist()):
        words[row, (at * 7 + rng.integers(0, 6, 4)) % 40] = rng.random(4) + 0.2
    dense = rng.standard_normal((count // 8 + 2, dimensions))[centre]
    dense += 0.7 * rng.standard_normal((count, dimensions))
    halves = [half / np.linalg.norm(half, axis=1, keepdims=True) * np.sqrt(0.5) for half in (words, dense)]
    return Rows(sparse.csr_array(halves[0]), sparse.csr_array((0, 0)), halves[1])


@pytest.mark.parametrize("count", [40, 900, pytest.param(3_000, marks=pytest.mark.slow)])
def test_the_partition_is_that_of_scipy(count: int) -> None:
    rows = blended(count, count)
    distances = cosine_distances(rows.plain())
    np.fill_diagonal(distances, 0.0)
    reference = hierarchy.linkage(squareform(distances, checks=False), "average")

    merges = reciprocal_merges(rows, np.ones(count), 0.8)

    ours = in_order_of_height(merges, np.ones(count))
    for threshold in (0.3, 0.5, 0.7, 0.8):
        found = flat_groups(ours, count, threshold).tolist()
        expected = hierarchy.fcluster(reference, np.nextafter(threshold, 0.0), "distance").tolist()
        assert partition(range(count), found) == partition(range(count), expected), threshold


def test_a_weight_counts_as_so_many_rows() -> None:
    rows = blended(5, 120)
    weights = np.random.default_rng(5).integers(1, 9, 120)
    copies = np.repeat(np.arange(120), weights)
    distances = cosine_distances(rows.plain(copies))
    np.fill_diagonal(distances, 0.0)
    reference = hierarchy.linkage(squareform(distances, checks=False), "average")

    merges = reciprocal_merges(rows, weights.astype(np.float64), 0.6)

    ours = in_order_of_height(merges, weights.astype(np.float64))
    found = flat_groups(ours, 120, 0.6)[copies].tolist()
    expected = hierarchy.fcluster(reference, np.nextafter(0.6, 0.0), "distance").tolist()
    assert partition(range(len(copies)), found) == partition(range(len(copies)), expected)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 120), floor=st.floats(0.0, 0.9))
def test_the_nearest_are_found_and_the_bound_holds(seed: int, count: int, floor: float) -> None:
    rows = blended(seed, count)
    similarity = (rows.plain() @ rows.plain().T).toarray()
    np.fill_diagonal(similarity, -np.inf)
    everyone = np.arange(count)

    found = BlendedNeighbours(rows, everyone, np.ones(count), floor).search(
        everyone, np.zeros((count, 0), np.int32), np.full(count, np.inf)
    )

    for row in range(count):
        listed = found.listed[row][found.listed[row] >= 0]
        best = similarity[row].max()
        assert found.similarity[row] == pytest.approx(max(best, floor), abs=1e-9)
        assert (len(listed) > 0) == (best > floor)
        unlisted = np.delete(similarity[row], [*listed.tolist(), row])
        assert unlisted.max(initial=-1.0) <= found.bound[row] + 1e-9


@pytest.mark.parametrize("spread", [1e-2, 1e-3, 1e-4])
def test_rows_that_float32_cannot_tell_apart_are_told_apart(spread: float) -> None:
    rng = np.random.default_rng(0)
    dense = rng.standard_normal(300) + spread * rng.standard_normal((200, 300))
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    rows = Rows(sparse.csr_array((200, 1)), sparse.csr_array((0, 0)), dense)
    similarity = dense @ dense.T
    np.fill_diagonal(similarity, -np.inf)
    everyone = np.arange(200)

    found = BlendedNeighbours(rows, everyone, np.ones(200), 0.0).search(
        everyone, np.zeros((200, 0), np.int32), np.full(200, np.inf)
    )

    np.testing.assert_allclose(found.similarity, similarity.max(axis=1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        similarity[everyone, found.listed[:, 0]], similarity.max(axis=1), rtol=0, atol=1e-11
    )
    np.put_along_axis(similarity, found.listed.clip(min=0).astype(np.int64), -np.inf, axis=1)
    assert (similarity.max(axis=1) <= found.bound + 1e-11).all()


def test_the_size_of_the_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = blended(9, 500)
    whole = reciprocal_merges(rows, np.ones(500), 0.8)

    monkeypatch.setattr(blending, "_BLOCK_CELLS", 1_500)
    monkeypatch.setattr(blending, "_PAIRS_AT_ONCE", 7)
    blocks = reciprocal_merges(rows, np.ones(500), 0.8)

    for name in ("keep", "drop", "height"):
        np.testing.assert_array_equal(getattr(blocks, name), getattr(whole, name))


def test_words_that_share_no_letter_meet() -> None:
    found = cluster(asking("dehaze", "remove haze", "reed mask", "tilt shift"), embedder=ByMeaning())

    group = dict(found.wordings.select("wording", "cluster").iter_rows())
    assert group["dehaze"] == group["remove haze"]
    assert len(set(group.values())) == 3


def test_few_and_many_are_grouped_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    acts, things = ("mask", "brighten", "sharpen", "blur"), ("reed", "reeds", "sky", "haze", "fog", "hull")
    records = asking(*(f"{act} {thing}" for act in acts for thing in things))
    few = cluster(records, embedder=ByMeaning())

    monkeypatch.setattr(linkage, "DENSE_LIMIT", 5)
    many = cluster(records, embedder=ByMeaning())

    assert many.wordings.equals(few.wordings)
    assert many.clusters.equals(few.clusters)


def test_the_order_of_the_records_changes_nothing() -> None:
    phrases = ["dehaze", "remove haze", "reed mask", "mask reeds", "tilt shift", "shift tilt"]

    one = cluster(asking(*phrases), embedder=ByMeaning())
    other = cluster(asking(*reversed(phrases)), embedder=ByMeaning())

    assert one.wordings.equals(other.wordings)
    assert one.clusters.equals(other.clusters)


def test_other_cuts_are_had_from_the_same_merges() -> None:
    found = cluster(asking("dehaze", "remove haze", "reed mask", "tilt shift"), embedder=ByMeaning())

    assert found.at(0.01).clusters.height == 4
    assert found.sweep([0.01, 0.9])["groups"].to_list()[0] == 4
