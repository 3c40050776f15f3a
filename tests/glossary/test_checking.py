"""Checking: what is open about a term, and what a text says against a definition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glossary.builders import sense
from vocabgap.glossary.conflicts import check, contradictions
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.senses import ConflictType, ExtractedTerm, TermSurface

UNIT = "A unit of work with specifications"


def term(surface: str, confidence: float = 0.8) -> ExtractedTerm:
    return ExtractedTerm(
        TermSurface(surface), "quoted_phrase", confidence, surface, "step input: prompt field"
    )


def test_an_old_sense_does_not_hide_that_an_output_contradicts_the_active_one() -> None:
    senses = [sense("feature", UNIT), sense("feature", "a plugin", status="deprecated")]
    output = "The feature refers to a plugin or extension module."

    (conflict,) = check([term("feature")], Glossary(senses), output=output)

    assert conflict.conflict_type is ConflictType.INCONSISTENT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The feature is not a unit of work.", True),
        ("The feature isn't much.", True),
        ("The feature isn’t much.", True),
        ("This is not a feature.", True),
        ("Unlike a feature, it has no end.", True),
        ("Contrary to feature work, it has no end.", True),
        ("A feature, which is not one unit, ends.", True),
        ("The feature refers to a plugin or extension module.", True),
        ("A feature means a plugin.", True),
        ("A feature is a unit of work with specifications.", False),
        ("A FEATURE IS A UNIT of work, as its specification says.", False),
        ("The features are not a unit.", False),
        ("Nothing is not a unit.", False),
        ("A feature. " + "x" * 60 + " It is not a unit.", False),
        ("", False),
    ],
)
def test_what_contradicts_a_definition(text: str, expected: bool) -> None:
    assert any(contradictions(text, "feature", UNIT)) is expected


def test_a_term_of_several_words_and_marks_is_found_in_an_output() -> None:
    assert any(
        contradictions(
            "The focus\nstack (c++) refers to a heap", "focus stack (c++)", "several images, merged"
        )
    )
    assert not any(
        contradictions("focus stacking refers to a heap", "focus stack", "several images, merged")
    )


@settings(max_examples=25)
@given(st.text(), st.text(min_size=1), st.text())
def test_any_text_can_be_looked_at(text: str, name: str, definition: str) -> None:
    assert list(contradictions(text, name.lower(), definition)) is not None
