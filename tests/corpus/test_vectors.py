"""Vectors of wordings in few dimensions: near what the rows say, and the same in every corpus."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.clustering.vectorizing import FloatArray, vectorize
from vocabgap.clustering.wordings import points_of
from vocabgap.corpus.backups import DECIMALS, WordingVectors, terms_of

WORDINGS = ["sky mask", "mask the sky", "film grain overlay", "grain", "lift shadows", "??", "Ünder water"]

texts = st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=8)


def records(*wordings: str) -> pl.DataFrame:
    """Records that ask with these wordings."""
    return pl.DataFrame(
        {"missing_capability": wordings, "description": None, "intent": None},
        schema=dict.fromkeys(("missing_capability", "description", "intent"), pl.String),
    )


def rows(*wordings: str) -> FloatArray:
    """The vectors that the clustering compares, dense."""
    points = points_of(records(*wordings))
    vectors = vectorize(points.contents, points.weights, np.zeros(len(points.contents)))
    return np.asarray(vectors.plain().toarray())


@given(texts)
def test_terms_are_the_dimensions_in_order(wordings: list[str]) -> None:
    points = points_of(records(*wordings))
    vectors = vectorize(points.contents, points.weights, np.zeros(len(points.contents))).plain().toarray()

    terms = terms_of(points.contents)

    assert len(terms) == vectors.shape[1]
    for row, content in zip(vectors, points.contents, strict=True):
        own = set(terms_of([content]))
        dimensions = {terms[at] for at in np.flatnonzero(row)}
        assert {kind for kind, _ in own - dimensions} <= {"word", "pair"}  # only the heaviest are kept
        assert {kind for kind, _ in dimensions - own} <= {"word"}  # topic words


def test_dot_products_are_kept_nearly() -> None:
    exact = rows(*WORDINGS)
    order = points_of(records(*WORDINGS)).wordings.sort("surface")["wording"]

    vectors = WordingVectors(records(*WORDINGS), 2048).of(order)

    assert np.abs(vectors @ vectors.T - exact @ exact.T).max() < 0.15
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)


def test_vector_does_not_depend_on_the_order_of_records() -> None:
    one = WordingVectors(records(*WORDINGS), 64).of(WORDINGS)
    other = WordingVectors(records(*reversed(WORDINGS)), 64).of(WORDINGS)

    assert np.array_equal(one, other)


def test_wordings_of_one_surface_have_one_vector() -> None:
    vectors = WordingVectors(records("sky mask", "Sky-Masks"), 64).of(["sky mask", "Sky-Masks"])

    assert np.array_equal(vectors[0], vectors[1])


def test_other_texts_have_zero_vectors() -> None:
    vectors = WordingVectors(records("sky mask"), 8).of([None, "never said"])

    assert not vectors.any()


def test_nothing_at_all_has_no_vector() -> None:
    assert WordingVectors(records(), 8).of([]).shape == (0, 8)


def test_numbers_are_short() -> None:
    vectors = WordingVectors(records(*WORDINGS), 16).of(WORDINGS)

    assert np.array_equal(vectors, np.round(vectors, DECIMALS))
    assert not np.signbit(vectors[vectors == 0.0]).any()
