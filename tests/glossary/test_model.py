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
    stored_surface,
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


@pytest.mark.parametrize("text", ["workspaces", "agent skills", "Mask", " mask", "", "policies"])
def test_a_term_is_in_lower_case_and_in_the_singular(text: str) -> None:
    with pytest.raises(InvalidTermError, match="surface must"):
        TermSurface(text)


@pytest.mark.parametrize("text", ["cors", "status", "k8s", "workspaces of it", "sub-masks"])
def test_a_term_that_may_be_an_acronym_or_is_no_plural_stays(text: str) -> None:
    assert TermSurface(text).surface_text == text


def test_terms_of_older_files_become_singular() -> None:
    assert [str(stored_surface(text)) for text in ("Agent Skills", "cors")] == [
        "agent skill",
        "cors",
    ]
    assert stored_surface(" ") is stored_surface("\ud800") is None
