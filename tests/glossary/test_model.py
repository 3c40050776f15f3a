"""What terms, senses, scopes, conflicts and strictness are, and what they refuse to be."""

from datetime import datetime

import msgspec
import pytest

from glossary.builders import NOW, sense
from vocabgap.errors import ExitCode
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import GenerationBlockedBySemanticConflict, event_of
from vocabgap.glossary.seeds import SeedFileValidationError, SeedProblem
from vocabgap.glossary.senses import (
    ConflictType,
    InvalidTermError,
    Provenance,
    ScopeStack,
    SemanticConflict,
    SenseRef,
    Severity,
    Strictness,
    TermSense,
    TermSurface,
)

AGAIN = "7b1c2e0a-0000-4000-8000-000000000000"


def test_a_sense_is_the_same_after_a_way_through_json() -> None:
    made = sense("lift", "raises the shadows", "mission_local", confidence=0.7, status="deprecated")
    written = msgspec.json.encode(made)
    assert msgspec.json.decode(written, type=TermSense) == made
    assert msgspec.json.decode(written)["surface"] == {"surface_text": "lift"}
    assert msgspec.json.decode(written)["status"] == "deprecated"


@pytest.mark.parametrize(("actor", "when", "told"), [("", NOW, "actor_id"), ("user:ann", None, "timestamp")])
def test_a_sense_names_who_gave_it_and_when(actor: str, when: datetime | None, told: str) -> None:
    with pytest.raises(InvalidTermError, match=told):
        Provenance(actor, when, "authored")


def test_the_term_of_a_conflict_is_read_as_text_and_as_an_object() -> None:
    ref = {"surface": "lift", "scope": "team_domain", "definition": "raises", "confidence": 0.9}
    conflict = {
        "conflict_type": "ambiguous", "severity": "high", "confidence": 0.9, "candidate_senses": [ref],
    }  # fmt: skip
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


@pytest.mark.parametrize("names", [("a", "a"), ("../up",), ("",), ("a\n",)])
def test_scopes_that_cannot_be_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidTermError, match="scope"):
        ScopeStack(names)


def test_a_blocked_step_ends_with_the_exit_code_of_a_state() -> None:
    conflict = SemanticConflict(TermSurface("lift"), ConflictType.UNKNOWN, Severity.HIGH, 0.3)
    error = BlockedByConflictError([conflict, conflict], Strictness.MAX, retry_token=AGAIN)
    assert str(error).startswith("Generation blocked by 2 semantic conflict(s).")
    assert (error.exit_code, error.conflicts, error.strictness) == (
        ExitCode.STATE,
        (conflict, conflict),
        Strictness.MAX,
    )


def test_an_invalid_seed_file_tells_all_its_errors() -> None:
    error = SeedFileValidationError("team.yaml", [SeedProblem("surface", "is wrong", 0, "WP", 2)])
    assert str(error) == "1 validation error(s) in team.yaml:\n  line 2: term[0] 'WP' -> surface: is wrong"
    assert isinstance(error, ValueError)
