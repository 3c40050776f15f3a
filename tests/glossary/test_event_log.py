"""The event log: what is written into it, and what is read from it whatever else is there."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.events import (
    Actor,
    GenerationBlockedBySemanticConflict,
    GlossaryClarificationRequested,
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossaryScopeActivated,
    GlossarySenseUpdated,
    NewSense,
    SemanticCheckEvaluated,
    StepCheckpointed,
    TermCandidateObserved,
    encoded,
    event_of,
)
from vocabgap.glossary.loading import LoggedEvent, append_events, read_events
from vocabgap.glossary.senses import (
    Action,
    ConflictType,
    ScopeRef,
    SemanticConflict,
    SenseRef,
    Severity,
    Strictness,
    TermSurface,
)

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
STEP = {"step_id": "step", "mission_id": "mission", "run_id": "run"}
REF = SenseRef("mask", "team_domain", "where an edit shows", 0.9)
CONFLICT = SemanticConflict(TermSurface("mask"), ConflictType.AMBIGUOUS, Severity.HIGH, 0.9, (REF,), "here")
ONE, TWO = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"


def checkpoint(token: str = ONE, minutes: int = 0, **fields: object) -> StepCheckpointed:
    payload: dict[str, Any] = {
        **STEP,
        "strictness": Strictness.MEDIUM,
        "scope_refs": (ScopeRef("team_domain", "v1"),),
        "input_hash": "0f" * 32,
        "cursor": "pre_generation_gate",
        "retry_token": token,
        "timestamp": NOW + timedelta(minutes=minutes),
        **fields,
    }
    return StepCheckpointed(**payload)


def minutes_of(logged: LoggedEvent) -> int:
    return int((logged.event.timestamp - NOW).total_seconds() / 60)


EVENTS: list[GlossaryEvent] = [
    GlossaryScopeActivated(
        scope_id="team_domain", glossary_version_id="v1", mission_id="mission", run_id="run", timestamp=NOW
    ),
    TermCandidateObserved(
        term="mask", source_step="step", actor_id="system", confidence=0.8, extraction_method="acronym",
        context="here", mission_id="mission", run_id="run", timestamp=NOW,
    ),
    SemanticCheckEvaluated(
        **STEP, findings=(CONFLICT,), overall_severity=Severity.HIGH, confidence=0.9,
        effective_strictness="medium", recommended_action=Action.BLOCK, blocked=True, timestamp=NOW,
    ),
    GenerationBlockedBySemanticConflict(
        **STEP, conflicts=(CONFLICT,), strictness_mode="medium", effective_strictness="medium", timestamp=NOW
    ),
    GlossaryClarificationRequested(
        **STEP, question="What does 'mask' mean in this context?", term="mask", options=("a",),
        urgency=Severity.HIGH, conflict_id="c-1", timestamp=NOW,
    ),
    GlossaryClarificationResolved(
        conflict_id="c-1", term_surface="mask", selected_sense=REF, actor=Actor("user:ann"),
        overruled=(REF,), timestamp=NOW,
    ),
    GlossarySenseUpdated(
        term_surface="mask", scope="team_domain", new_sense=NewSense("mask", "team_domain", "a"),
        actor=Actor("user:ann"), timestamp=NOW,
    ),
    checkpoint(),
]  # fmt: skip


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_moment_that_is_none_in_utc_is_no_events(tmp_path: Path, moment: str) -> None:
    identifier = "5d2c3f3e-1111-4222-8333-444455556666"
    made = json.loads(encoded(EVENTS[0])) | {"timestamp": moment, "event_id": identifier}
    write(tmp_path, "one", [made])
    assert read_events(tmp_path).skipped == 1


def write(folder: Path, name: str, lines: list[object]) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / f"{name}.events.jsonl").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_what_was_logged_is_read(tmp_path: Path, event: GlossaryEvent) -> None:
    (logged,) = append_events(tmp_path / "new" / "logs", "mission", [event])
    (line,) = (tmp_path / "new" / "logs" / "mission.events.jsonl").read_text(encoding="utf-8").splitlines()
    payload = json.loads(line)
    assert list(payload) == sorted(payload)
    assert payload["event_type"] == type(event).__name__
    assert len(payload["event_id"]) == 36
    (found,) = read_events(tmp_path / "new" / "logs").events
    assert (found.event, found.log) == (logged, "mission")
    assert msgspec.structs.replace(logged, event_id="") == event


def test_a_line_that_is_no_event_costs_no_other(tmp_path: Path) -> None:
    good = msgspec.to_builtins(EVENTS[0])
    lines = [
        "",
        good,
        "{torn",
        "[1]",
        "null",
        {"event_type": "Unheard"},
        {**good, "timestamp": 5},
        "\ud800" * 0,
        good,
    ]
    write(tmp_path, "a", lines)
    (tmp_path / "b.events.jsonl").write_bytes(b"\xff\xfe\n")
    (tmp_path / "c.jsonl").write_text("not a log", encoding="utf-8")
    found = read_events(tmp_path)
    assert (len(found.events), found.skipped) == (2, 6)


def test_a_term_may_be_a_text_or_an_object() -> None:
    plain = msgspec.to_builtins(EVENTS[2])
    plain["findings"][0]["term"] = "mask"
    nested = msgspec.to_builtins(EVENTS[4])
    nested["term"] = {"surface_text": "mask"}
    assert event_of(plain) == EVENTS[2]
    assert event_of(nested) == EVENTS[4]


def test_an_answer_needs_no_more_than_who_gave_it() -> None:
    event = event_of({
        "event_type": "GlossaryClarificationResolved",
        "conflict_id": "c-1",
        "term_surface": "mask",
        "selected_sense": {"surface": "mask", "scope": "team_domain", "definition": "a"},
        "actor": {"actor_id": "user:ann"},
        "timestamp": "2026-04-01T10:00:00",
        "further": True,
    })  # fmt: skip
    assert isinstance(event, GlossaryClarificationResolved)
    assert (event.timestamp, event.overruled) == (NOW, msgspec.UNSET)
    assert b"overruled" not in msgspec.json.encode(event)


def test_events_are_read_in_the_order_in_which_they_happened(tmp_path: Path) -> None:
    write(
        tmp_path,
        "b",
        [msgspec.to_builtins(checkpoint(minutes=0)), msgspec.to_builtins(checkpoint(minutes=2))],
    )
    write(
        tmp_path,
        "a",
        [msgspec.to_builtins(checkpoint(minutes=1)), msgspec.to_builtins(checkpoint(minutes=1))],
    )
    found = read_events(tmp_path).events
    assert [(each.log, minutes_of(each)) for each in found] == [("b", 0), ("a", 1), ("a", 1), ("b", 2)]
    assert read_events(tmp_path / "none").events == ()


def test_what_json_cannot_say_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    event = msgspec.structs.replace(EVENTS[0], mission_id="\ud800")
    with pytest.raises(InvalidInputError, match="GlossaryScopeActivated cannot be logged"):
        append_events(tmp_path, "mission", [event])
    assert list(tmp_path.iterdir()) == []
