"""Checking: what is open about a term, and what a text says against a definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.glossary import sense
from vocabgap.glossary.conflicts import check, classify, contradictions, output_text, verdict
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.senses import (
    ConflictType,
    ExtractedTerm,
    ScopeStack,
    SemanticConflict,
    Severity,
    Strictness,
    TermSource,
    TermSurface,
    source_confidence,
)

UNIT = "A unit of work with specifications"


def term(surface: str, confidence: float = 0.8) -> ExtractedTerm:
    return ExtractedTerm(
        TermSurface(surface), "quoted_phrase", confidence, surface, "step input: prompt field"
    )


def test_the_example_of_a_workspace_with_two_senses() -> None:
    glossary = Glossary(
        [
            sense("workspace", "VS Code workspace configuration file", confidence=0.7),
            sense("workspace", "Git worktree directory for a work package", confidence=0.9),
        ]
    )
    (conflict,) = check([term("workspace", 0.9)], glossary, critical=True)
    assert (conflict.conflict_type, conflict.severity) == (ConflictType.AMBIGUOUS, Severity.HIGH)
    assert [each.confidence for each in conflict.candidate_senses] == [0.9, 0.7]
    assert conflict.context == "step input: prompt field"


def test_a_term_with_one_meaning_is_no_conflict() -> None:
    assert check([term("mask")], Glossary([sense("mask", "where an edit shows")])) == []


def test_the_same_meaning_in_two_scopes_is_none_either() -> None:
    senses = [sense("mask", "Where an edit shows."), sense("mask", "where  an edit shows", "mission_local")]
    glossary = Glossary(senses)
    assert check([term("mask")], glossary) == []
    assert glossary.resolve("mask")[0].scope == "mission_local"


def test_different_meanings_in_two_scopes_are() -> None:
    senses = [sense("mask", "a face cover", "audience_domain"), sense("mask", "where an edit shows")]
    (conflict,) = check([term("mask")], Glossary(senses))
    assert [each.scope for each in conflict.candidate_senses] == ["team_domain", "audience_domain"]
    assert check([term("mask")], Glossary(senses, ScopeStack(("audience_domain",)))) == []


@pytest.mark.parametrize("status", ["draft", "deprecated"])
def test_only_an_active_sense_answers(status: str) -> None:
    old = sense("mask", "a face cover", status=status)
    assert classify("mask", [old], 0.8) is ConflictType.UNKNOWN
    assert Glossary([old]).resolve("mask") == ()
    assert Glossary([old]).history("masks") == (old,)
    assert check([term("mask")], Glossary([old, sense("mask", "where an edit shows")])) == []


def test_an_old_sense_does_not_hide_that_an_output_contradicts_the_active_one() -> None:
    senses = [sense("feature", UNIT), sense("feature", "a plugin", status="deprecated")]
    kind = classify("feature", senses, 0.8, output="The feature refers to a plugin or extension module.")
    assert kind is ConflictType.INCONSISTENT


@pytest.mark.parametrize(
    ("confidence", "critical", "expected"),
    [
        (0.3, True, ConflictType.UNRESOLVED_CRITICAL),
        (0.5, True, ConflictType.UNKNOWN),
        (0.3, False, ConflictType.UNKNOWN),
    ],
)
def test_a_weak_find_in_a_critical_step_is_unresolved(
    confidence: float, critical: bool, expected: ConflictType
) -> None:
    assert classify("frob", [], confidence, critical=critical) is expected


def test_extraction_reaches_an_unresolved_critical_term() -> None:
    terms = extract([Field("prompt", "then apply the Frobnicator to it")], {})
    (conflict,) = check(terms, Glossary(), critical=True)
    assert (conflict.conflict_type, conflict.severity) == (ConflictType.UNRESOLVED_CRITICAL, Severity.HIGH)
    assert source_confidence(TermSource.CAPITALISED) < 0.5


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
    assert not any(contradictions("focus stacking refers to a heap", "focus stack", "several images, merged"))


@given(st.text(), st.text(min_size=1), st.text())
def test_any_text_can_be_looked_at(text: str, name: str, definition: str) -> None:
    assert list(contradictions(text, name.lower(), definition)) is not None


def conflict(severity: str, confidence: float) -> SemanticConflict:
    return SemanticConflict(TermSurface("mask"), ConflictType.UNKNOWN, Severity(severity), confidence)


@pytest.mark.parametrize(
    ("strictness", "found", "expected"),
    [
        ("medium", [], ("low", 1.0, "proceed", False)),
        ("max", [("low", 0.4), ("medium", 0.6)], ("medium", 0.6, "warn", True)),
        ("medium", [("low", 0.4), ("medium", 0.6)], ("medium", 0.6, "warn", False)),
        ("medium", [("high", 0.3), ("low", 0.9)], ("high", 0.9, "block", True)),
        ("off", [("high", 0.3)], ("high", 0.3, "block", False)),
    ],
)
def test_what_follows_from_conflicts(
    strictness: str, found: list[tuple[str, float]], expected: tuple[str, float, str, bool]
) -> None:
    assert tuple(verdict([conflict(*each) for each in found], Strictness(strictness))) == expected


def test_an_output_is_all_its_texts() -> None:
    assert output_text({"a": "one", "b": 2, "c": "three"}) == "one\nthree"
