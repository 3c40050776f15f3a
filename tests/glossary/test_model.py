"""What terms, senses, scopes, conflicts and strictness are, and what they refuse to be."""

from datetime import datetime

import msgspec
import pytest

from glossary.builders import NOW, sense
from vocabgap.errors import ExitCode
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.senses import (
    ConflictType,
    InvalidTermError,
    Provenance,
    ScopeStack,
    SemanticConflict,
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


@pytest.mark.parametrize(
    ("actor", "when", "message"), [("", NOW, "actor_id"), ("user:ann", None, "timestamp")]
)
def test_sense_names_its_author_and_date(actor: str, when: datetime | None, message: str) -> None:
    with pytest.raises(InvalidTermError, match=message):
        Provenance(actor, when, "authored")


SURE, LIKELY, WEAK = 0.8, 0.5, 0.49


@pytest.mark.parametrize("names", [("a", "a"), ("../up",), ("",), ("a\n",)])
def test_scopes_that_cannot_be_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidTermError, match="scope"):
        ScopeStack(names)


def test_a_blocked_step_ends_with_the_exit_code_of_a_state() -> None:
    conflict = SemanticConflict(TermSurface("lift"), ConflictType.UNKNOWN, Severity.HIGH, 0.3)
    error = BlockedByConflictError([conflict, conflict], Strictness.MAX, retry_token=AGAIN)
    assert str(error).startswith("Generation blocked by 2 semantic conflict(s).")
    assert error.exit_code == ExitCode.STATE
    assert error.conflicts == (conflict, conflict)
    assert error.strictness == Strictness.MAX
