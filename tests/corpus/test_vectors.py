"""Vectors of texts in few dimensions, the same in every backup."""

import numpy as np

from vocabgap.corpus.backups import DECIMALS, vectors_of

WORDINGS = [
    "sky mask",
    "mask the sky",
    "film grain overlay",
    "grain",
    "lift shadows",
    "Ünder water",
]


def test_vector_of_a_text_does_not_depend_on_others_or_its_spelling() -> None:
    (alone,) = vectors_of(["Sky-Masks"], 64)

    assert np.array_equal(alone, vectors_of(WORDINGS, 64)[0])


def test_blank_text_has_zeros_and_numbers_are_short() -> None:
    vectors = vectors_of(["", " ", *WORDINGS], 16)

    assert not vectors[:2].any()
    assert np.array_equal(vectors, np.round(vectors, DECIMALS))
    assert not np.signbit(vectors[vectors == 0.0]).any()
