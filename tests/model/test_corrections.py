"""Which notes correct the record that they name."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.model.corrections import corrected_in, without_corrections

HASH: Final = "0f" * 32
OTHER: Final = "7c" * 32

CORRECT: Final = [
    "HASH",
    "supersedes HASH, which I rated before the export",
    "replaces HASH",
    "too soft on paper; replaces the gap at HASH",
    "a correction of HASH",
    "Correction: HASH",
    "Correction - the print shows banding, so the rating is -1 (HASH)",
    "this record fixes the category of HASH",
    "record HASH: satisfaction was wrong",
    "`HASH` is superseded by this entry",
    "wrong rating in HASH",
    "SUPERSEDES: HASH",
    "logged to amend HASH",
    "erratum to record `HASH`, see below",
    "replacement for the earlier record HASH",
    "ersetzt HASH",
    "Korrektur zu HASH",
    "remplace l'entrée HASH",
    "corrige la entrada HASH",
]
NEAR_MISSES: Final = [
    "made with HASH",
    "a second mask fixes the crop, as in HASH",
    "fixes the crop at HASH",
    "replaces the water at HASH by fog",
    "no replacement for HASH",
    "never corrects HASH",
    "lens correction of HASH",
    "the correction at HASH is too strong",
    "HASH is the correct version",
    "HASH was corrected for haze",
    "the horizon at HASH was wrong",
    "wrong white balance, base HASH",
    "fixed by HASH",
    "superseded by HASH",
    "correct exposure: HASH",
    "ersetzt die Wolken in HASH",
    "corrige le ciel de HASH",
]


@pytest.mark.parametrize("notes", CORRECT)
def test_notes_correct_the_record_that_a_word_of_correcting_reaches(notes: str) -> None:
    assert corrected_in(notes.replace("HASH", HASH)) == [HASH]


@pytest.mark.parametrize("notes", NEAR_MISSES)
def test_notes_that_correct_something_else_correct_no_record(notes: str) -> None:
    assert corrected_in(notes.replace("HASH", HASH)) == []


def test_one_word_of_correcting_reaches_several_hashes() -> None:
    assert corrected_in(f"replaces {HASH}, {OTHER}") == [HASH, OTHER]
    assert corrected_in(f"replaces {HASH} and {OTHER}") == [HASH, OTHER]
    assert corrected_in(f"Correction: both were cut off ({HASH}, {OTHER})") == [HASH, OTHER]


@pytest.mark.parametrize(
    ("notes", "rest"),
    [
        (f"seen twice (replaces the gap at {HASH})", "seen twice"),
        (f"seen twice; see {HASH}", f"seen twice; see {HASH}"),
        (f"Correction: {HASH}, {OTHER} by the crew", "by the crew"),
    ],
)
def test_the_words_that_correct_can_be_left_out(notes: str, rest: str) -> None:
    assert without_corrections(notes).lstrip(", ") == rest


@pytest.mark.parametrize("between", [", ", " and ", " "])
@pytest.mark.parametrize("begin", ["replaces ", "this gap " * 200 + "correction of "])
def test_each_of_many_hashes_is_corrected(begin: str, between: str) -> None:
    assert corrected_in(begin + between.join([HASH] * 5_000)) == [HASH] * 5_000


@given(
    st.lists(st.sampled_from(["corrects", "not", "the", "mask", ",", ".", "(", HASH, OTHER, ""]))
)
def test_notes_without_corrections_correct_nothing_more(words: list[str]) -> None:
    notes = " ".join(words)

    assert set(corrected_in(notes)) <= {HASH, OTHER} & {*words}
    assert len(without_corrections(notes)) <= len(notes)
