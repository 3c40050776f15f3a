"""What terms, senses, scopes, conflicts and strictness are, and what they refuse to be."""

import math
from datetime import datetime

import msgspec
import pytest

from builders.glossary import sense
from vocabgap.errors import ExitCode, InvalidInputError
from vocabgap.glossary.conflicts import BlockedByConflictError, score_severity
from vocabgap.glossary.events import GenerationBlockedBySemanticConflict, event_of
from vocabgap.glossary.seeds import SeedFileValidationError, SeedProblem
from vocabgap.glossary.senses import (
    DEFAULT_SCOPES,
    ConflictType,
    ExtractedTerm,
    InvalidTermError,
    Provenance,
    ScopeStack,
    SemanticConflict,
    SenseRef,
    Severity,
    Strictness,
    TermSense,
    TermSource,
    TermSurface,
    source_confidence,
)
from vocabgap.glossary.session import AbortResumeError, DeferredToAsyncError

AGAIN = "7b1c2e0a-0000-4000-8000-000000000000"
NOW = datetime.fromisoformat("2026-04-01T10:00:00+00:00")


@pytest.mark.parametrize("text", ["", "   ", "Lift", " lift", "lift\n", "\u200b", "\ud800", 5, None])
def test_what_is_no_normal_surface_is_refused(text: object) -> None:
    with pytest.raises(InvalidTermError, match="surface must"):
        TermSurface(text)  # type: ignore[arg-type]


def test_a_refused_surface_is_an_invalid_input_and_a_value_error() -> None:
    with pytest.raises(ValueError, match="write 'lift'") as caught:
        TermSurface("Lift ")
    assert isinstance(caught.value, InvalidInputError)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, 5.0, math.nan, math.inf, True, "0.5", None])
def test_a_confidence_lies_between_nothing_and_one(confidence: float) -> None:
    with pytest.raises(InvalidTermError, match=r"0\.0-1\.0"):
        sense("lift", "raises the shadows", confidence=confidence)
    with pytest.raises(InvalidTermError, match=r"0\.0-1\.0"):
        SemanticConflict(TermSurface("lift"), ConflictType.UNKNOWN, Severity.LOW, confidence)
    with pytest.raises(InvalidTermError, match=r"0\.0-1\.0"):
        ExtractedTerm(TermSurface("lift"), "acronym", confidence)


@pytest.mark.parametrize("definition", ["", " \n ", "\u200b", "half \ud800", 3])
def test_a_definition_says_something(definition: str) -> None:
    with pytest.raises(InvalidTermError, match=r"[Dd]efinition"):
        sense("lift", definition)


def test_provenance_needs_an_actor_and_a_moment() -> None:
    with pytest.raises(InvalidTermError, match="actor_id"):
        Provenance(" ", NOW)
    with pytest.raises(InvalidTermError, match="timestamp"):
        Provenance("user:ann", "yesterday")  # type: ignore[arg-type]


def test_what_is_made_stays_as_it_is() -> None:
    made = sense("lift", "raises the shadows")
    with pytest.raises(AttributeError):
        made.confidence = 0.1  # type: ignore[misc]


def test_a_sense_is_the_same_after_a_way_through_json() -> None:
    made = sense("lift", "raises the shadows", "mission_local", confidence=0.7, status="deprecated")
    written = msgspec.json.encode(made)
    assert msgspec.json.decode(written, type=TermSense) == made
    assert msgspec.json.decode(written)["surface"] == {"surface_text": "lift"}
    assert msgspec.json.decode(written)["status"] == "deprecated"


def test_what_json_makes_is_checked_as_well() -> None:
    with pytest.raises(msgspec.ValidationError, match="surface must be normalized"):
        msgspec.json.decode(b'{"surface_text": "Lift"}', type=TermSurface)


def test_something_ambiguous_has_candidates() -> None:
    with pytest.raises(InvalidTermError, match="candidate_senses"):
        SemanticConflict(TermSurface("lift"), ConflictType.AMBIGUOUS, Severity.HIGH, 0.9)


def test_the_term_of_a_conflict_is_read_as_text_and_as_an_object() -> None:
    ref = {"surface": "lift", "scope": "team_domain", "definition": "raises", "confidence": 0.9}
    conflict = {
        "conflict_type": "ambiguous",
        "severity": "high",
        "confidence": 0.9,
        "candidate_senses": [ref],
    }
    names = dict.fromkeys(("step_id", "mission_id", "run_id"), "x")
    levels = dict.fromkeys(("strictness_mode", "effective_strictness"), "max")
    kind = {"event_type": "GenerationBlockedBySemanticConflict", "timestamp": "2026-04-01T10:00:00Z"}

    plain, nested = (
        event_of({**kind, **names, **levels, "conflicts": [{**conflict, "term": term}]})
        for term in ("lift", {"surface_text": "lift"})
    )

    assert isinstance(plain, GenerationBlockedBySemanticConflict)
    assert plain == nested
    assert plain.conflicts[0].candidate_senses == (SenseRef("lift", "team_domain", "raises", 0.9),)
    assert event_of(msgspec.to_builtins(plain)) == plain


SURE, LIKELY, WEAK = 0.8, 0.5, 0.49
SEVERITIES = [
    ("ambiguous", True, "high high high"),
    ("ambiguous", False, "medium medium medium"),
    ("unknown", True, "low medium high"),
    ("unknown", False, "low medium medium"),
    ("inconsistent", True, "low low low"),
    ("inconsistent", False, "low low low"),
    ("unresolved_critical", True, "high high high"),
    ("unresolved_critical", False, "high high high"),
]


@pytest.mark.parametrize(("kind", "critical", "expected"), SEVERITIES)
def test_how_bad_a_conflict_is(kind: str, critical: bool, expected: str) -> None:
    found = [
        score_severity(ConflictType(kind), confidence=confidence, critical=critical).value
        for confidence in (SURE, LIKELY, WEAK)
    ]
    assert found == expected.split()


def test_the_worst_conflict_comes_first() -> None:
    def conflict(term: str, severity: Severity, confidence: float) -> SemanticConflict:
        return SemanticConflict(TermSurface(term), ConflictType.UNKNOWN, severity, confidence)

    conflicts = [
        conflict("d", Severity.LOW, 1.0),
        conflict("c", Severity.MEDIUM, 0.5),
        conflict("b", Severity.MEDIUM, 0.8),
        conflict("a", Severity.HIGH, 0.3),
    ]
    assert [each.term.surface_text for each in sorted(conflicts, key=lambda each: each.place)] == list("abcd")


def test_scopes_have_an_order_and_other_names_come_last() -> None:
    stack = ScopeStack()
    assert [stack.precedence(name) for name in (*DEFAULT_SCOPES, "elsewhere")] == [0, 1, 2, 3, 4]
    assert (stack.local_scope, stack.authored_scope) == ("mission_local", "team_domain")


def test_scopes_can_be_called_otherwise() -> None:
    stack = ScopeStack(("ours", "theirs"), local="theirs")
    assert (stack.local_scope, stack.authored_scope, stack.precedence("theirs")) == ("theirs", "ours", 1)


@pytest.mark.parametrize("names", [("a", "a"), ("../up",), ("",), ("a\n",)])
def test_scopes_that_cannot_be_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidTermError, match="scope"):
        ScopeStack(names)


def test_a_scope_that_is_not_there_cannot_be_where_senses_go() -> None:
    with pytest.raises(InvalidTermError, match="not among"):
        ScopeStack(("ours",), authored="theirs")


def test_a_blocked_step_ends_with_the_exit_code_of_a_state() -> None:
    conflict = SemanticConflict(TermSurface("lift"), ConflictType.UNKNOWN, Severity.HIGH, 0.3)
    error = BlockedByConflictError([conflict, conflict], Strictness.MAX, retry_token=AGAIN)
    assert str(error).startswith("Generation blocked by 2 semantic conflict(s).")
    assert (error.exit_code, error.conflicts, error.strictness) == (
        ExitCode.STATE,
        (conflict, conflict),
        Strictness.MAX,
    )
    assert DeferredToAsyncError("c-1").conflict_id == "c-1"
    assert AbortResumeError("no").reason == "no"


def test_an_invalid_seed_file_tells_all_its_errors() -> None:
    error = SeedFileValidationError("team.yaml", [SeedProblem("surface", "is wrong", 0, "WP", 2)])
    assert str(error) == "1 validation error(s) in team.yaml:\n  line 2: term[0] 'WP' -> surface: is wrong"
    assert isinstance(error, ValueError)


def test_how_sure_a_find_is() -> None:
    found = [source_confidence(source) for source in TermSource]
    assert found == [1.0, 0.8, 0.8, 0.8, 0.8, 0.5, 0.3]
    assert source_confidence("something else") == 0.3
