"""Rows from sentence embeddings: what is taken off, what is added, and what an embedder may not give."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from builders.clustering import asking, in_full
from vocabgap.clustering.blending import (
    blended_rows,
    centred,
    drawn_nearer,
    embedded,
)
from vocabgap.clustering.grouping import cluster
from vocabgap.clustering.wordings import points_of
from vocabgap.errors import InvalidInputError
from vocabgap.linkage import neighbours


class Fixed:
    """Gives the vectors it was made with, and keeps what it was asked for."""

    name = "fixed"

    def __init__(self, vectors: object) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - anything may come
        self.asked += texts
        return self.vectors


def directions(seed: int, count: int, dimensions: int = 12) -> np.ndarray:
    """Rows of unit length that mostly point one way."""
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)) + 1.0
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def by_hand(embeddings: np.ndarray) -> np.ndarray:
    """The rows by their definition, one pair after the other."""
    count = len(embeddings)
    centred = embeddings - count / (count + 5.0) * embeddings.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    rows = []
    for own, row in enumerate(centred):
        near = sorted(
            (-float(row @ other), place) for place, other in enumerate(centred) if place != own
        )
        weights = {place: max(-distance, 0.0) ** 3 for distance, place in near[:6]}
        drawn = sum(weight * centred[place] for place, weight in weights.items())
        rows.append(row + drawn / (0.2 + sum(weights.values())))
    return np.asarray(np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True))


def dense_rows(embeddings: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return drawn_nearer(centred(embeddings))


@pytest.mark.parametrize(
    "copies", [(1,), (1,) * 2, (1,) * 12, (1,) * 120, (1, 1, 30), (3, 12, 1, 5), (2,) * 7 + (9,)]
)
def test_rows_are_centred_and_averaged_with_their_nearest_and_equal_texts_count(
    copies: tuple[int, ...],
) -> None:
    embeddings = np.repeat(directions(len(copies), len(copies)), copies, axis=0)

    np.testing.assert_allclose(dense_rows(embeddings), by_hand(embeddings), atol=1e-9)


@pytest.mark.parametrize("cells", [1, 613])
def test_the_size_of_the_blocks_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    embeddings = directions(4, 90)
    whole = dense_rows(embeddings)

    monkeypatch.setattr(neighbours, "BLOCK_CELLS", cells)

    np.testing.assert_array_equal(dense_rows(embeddings), whole)


def test_what_all_texts_have_in_common_says_nothing() -> None:
    common = np.array([[10.0, 1.0, 0.0], [10.0, 0.0, 1.0]] * 40)
    embeddings = common / np.linalg.norm(common, axis=1, keepdims=True)

    rows = dense_rows(embeddings)

    assert embeddings[0] @ embeddings[1] > 0.98
    assert rows[0] @ rows[1] < 0.0
    assert rows[0] @ rows[2] == pytest.approx(1.0)


def test_a_surface_is_embedded_in_its_plainest_wording_and_once_more_as_its_need() -> None:
    records = asking(
        "No way to reed-mask", "no way to reed mask", "no way to reed mask", "tilt shift"
    )
    embedder = Fixed(directions(2, 4))

    rows = blended_rows(points_of(records).with_texts(), embedder)

    assert embedder.asked == ["no way to reed mask", "tilt shift", "reed mask", "tilt shift"]
    assert in_full(rows).shape[0] == 2
    np.testing.assert_allclose(in_full(rows).power(2).sum(axis=1), 1.0)


def test_words_are_their_share_of_a_row() -> None:
    points = points_of(asking("reed mask", "tilt shift")).with_texts()

    rows = blended_rows(points, Fixed(directions(3, 4)))

    share = 0.4 / (2.0 + 0.35 + 0.4)
    np.testing.assert_allclose(rows.plain_terms().power(2).sum(axis=1), share)


def test_opposites_are_moved_apart() -> None:
    """All embeddings are the same here: nothing but the words and their poles tells the needs apart."""
    alike, opposite = (
        blended_rows(points_of(asking(*phrases)).with_texts(), Fixed(np.ones((4, 3)))).dense
        for phrases in (("insert a reed", "add a reed"), ("remove a reed", "add a reed"))
    )

    assert alike is not None
    assert opposite is not None
    assert opposite[0] @ opposite[1] < alike[0] @ alike[1]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones(3), r"shape \(3,\) for 2 texts"),
        (np.ones((3, 4)), r"shape \(3, 4\) for 2 texts"),
        ([[1.0, 0.0], [0.0, 0.0]], "zero or not finite"),
        ([[1.0, 0.0], [np.nan, 1.0]], "zero or not finite"),
        ([[1.0, 0.0], [np.inf, 1.0]], "zero or not finite"),
    ],
)
def test_what_is_no_vector_a_text_is_refused(vectors: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        embedded(Fixed(vectors), ["reed mask", "tilt shift"])


@pytest.mark.parametrize("named", [3, np.zeros(2)])
def test_what_is_no_embedder_is_refused(named: Any) -> None:  # noqa: ANN401 - anything may come
    with pytest.raises(
        InvalidInputError, match="embedder: expected an object with a name and embed"
    ):
        cluster(asking("reed mask", "tilt shift"), embedder=named)


class Opposite(Fixed):
    """Gives what has a sky in it one direction, and all else the other one."""

    def embed(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - as above
        return np.vstack([np.eye(1, 12) * (1.0 if "sky" in text else -1.0) for text in texts])


def test_groups_that_point_away_from_each_other_have_no_likeness() -> None:
    found = cluster(asking("sky mask", "crop ratio"), embedder=Opposite(()), threshold=0.1)

    assert found.nearness([0, 1]) == pytest.approx(np.eye(2))
    assert found.nearness([0, 1]).min() == 0.0
