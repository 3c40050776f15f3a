import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from vocabgap.clustering.linkage import FloatArray
from vocabgap.clustering.stopwords import FUNCTION_WORDS, content_words, ignored_stems
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.text import surface

CONTENTS = ["fog mask", "fog mask feather", "grain overlay", "film grain overlay strength", "???", "z"]
MENTIONS = [5, 1, 3, 2, 4, 1]

corpora = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["fog", "foggy", "mask", "grain", "x", "über", "4k", "!"]), min_size=1).map(
            " ".join
        ),
        st.integers(1, 6),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda entry: entry[0],
)


def word_half() -> TfidfVectorizer:
    return TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2))


def character_half() -> TfidfVectorizer:
    return TfidfVectorizer(analyzer="char_wb", lowercase=False, ngram_range=(3, 5))


def cosines_on_expanded_corpus(
    vectorizer: TfidfVectorizer, contents: list[str], mentions: list[int]
) -> FloatArray:
    vectorizer.fit(np.repeat(contents, mentions).tolist())
    rows = vectorizer.transform(contents)
    return np.asarray((rows @ rows.T).toarray(), dtype=np.float64)


@given(corpora)
@settings(deadline=None, max_examples=50)
def test_word_half_is_that_of_scikit_learn_on_the_expanded_corpus(corpus: list[tuple[str, int]]) -> None:
    contents, mentions = [text for text, _ in corpus], [count for _, count in corpus]
    words = len({*word_half().fit(contents).vocabulary_})

    rows = vectorize(contents, np.array(mentions, dtype=np.float64))[:, :words]

    expected = cosines_on_expanded_corpus(word_half(), contents, mentions)
    np.testing.assert_allclose(2.0 * (rows @ rows.T).toarray(), expected, atol=1e-12)


@given(corpora)
@settings(deadline=None, max_examples=50)
def test_character_half_is_that_of_scikit_learn_on_the_expanded_corpus(
    corpus: list[tuple[str, int]],
) -> None:
    contents, mentions = [text for text, _ in corpus], [count for _, count in corpus]
    words = len({*word_half().fit(contents).vocabulary_})

    rows = vectorize(contents, np.array(mentions, dtype=np.float64))[:, words:]

    expected = cosines_on_expanded_corpus(character_half(), contents, mentions)
    np.testing.assert_allclose(2.0 * (rows @ rows.T).toarray(), expected, atol=1e-12)


def test_similarity_is_the_mean_of_both_halves() -> None:
    rows = vectorize(CONTENTS, np.array(MENTIONS, dtype=np.float64))

    by_words = cosines_on_expanded_corpus(word_half(), CONTENTS, MENTIONS)
    by_characters = cosines_on_expanded_corpus(character_half(), CONTENTS, MENTIONS)
    np.testing.assert_allclose((rows @ rows.T).toarray(), (by_words + by_characters) / 2, atol=1e-12)


def test_mentions_change_what_counts_as_rare() -> None:
    once = vectorize(CONTENTS, np.ones(len(CONTENTS)))
    weighted = vectorize(CONTENTS, np.array(MENTIONS, dtype=np.float64))

    assert not np.allclose((once @ once.T).toarray(), (weighted @ weighted.T).toarray())


@given(corpora)
@settings(deadline=None, max_examples=50)
def test_rows_have_unit_length(corpus: list[tuple[str, int]]) -> None:
    rows = vectorize([text for text, _ in corpus], np.array([count for _, count in corpus], dtype=np.float64))

    np.testing.assert_allclose(rows.multiply(rows).sum(axis=1), 1.0, atol=1e-12)


def test_surface_of_only_function_words_is_not_a_zero_row() -> None:
    contents = [" ".join(content_words(each, ignored_stems())) for each in ("we need it", "fog mask")]

    rows = vectorize(contents, np.ones(2))

    np.testing.assert_allclose(rows.multiply(rows).sum(axis=1), 1.0)


def test_one_surface_can_be_vectorized() -> None:
    rows = vectorize(["fog mask"], np.array([7.0]))

    assert rows.shape[0] == 1


@pytest.mark.parametrize(
    ("surface_form", "expected"),
    [
        ("need a mask for fog", ["mask", "fog"]),
        ("fog", ["fog"]),
        ("we need it", ["we", "need", "it"]),
        ("fog fog", ["fog", "fog"]),
    ],
)
def test_content_words_leave_function_words_out_unless_nothing_else_is_left(
    surface_form: str, expected: list[str]
) -> None:
    assert content_words(surface_form, ignored_stems()) == expected


@pytest.mark.parametrize("word", sorted(FUNCTION_WORDS))
def test_every_function_word_is_ignored_in_its_surface(word: str) -> None:
    found = content_words(surface(f"fog {word}"), ignored_stems())

    assert found == ["fog"]


@pytest.mark.parametrize("negation", ["not", "no", "without", "never", "non"])
def test_negations_are_content(negation: str) -> None:
    found = content_words(surface(f"fog {negation} mask"), ignored_stems())

    assert surface(negation) in found


@pytest.mark.parametrize("stop_word", ["darkroom", "Darkrooms", "DARKROOM"])
def test_further_stop_words_are_ignored_however_they_are_inflected(stop_word: str) -> None:
    found = content_words(surface("darkrooms fog"), ignored_stems([stop_word]))

    assert found == ["fog"]


def test_stop_word_of_several_parts_is_ignored_part_by_part() -> None:
    found = content_words(surface("dark_room fog"), ignored_stems(["darkRoom"]))

    assert found == ["fog"]


def test_single_stop_word_may_be_given_as_it_is() -> None:
    assert ignored_stems("darkroom") == ignored_stems(["darkroom"])
