"""The event log: what is written into it, and what is read from it whatever else is there."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.events import (
    GlossaryClarificationResolved,
    GlossaryScopeActivated,
    encoded,
    event_of,
)
from vocabgap.glossary.loading import append_events, read_events

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
ACTIVATED = GlossaryScopeActivated(
    scope_id="team_domain",
    glossary_version_id="v1",
    mission_id="mission",
    run_id="run",
    timestamp=NOW,
)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_moment_that_is_none_in_utc_is_no_events(tmp_path: Path, moment: str) -> None:
    identifier = "5d2c3f3e-1111-4222-8333-444455556666"
    made = json.loads(encoded(ACTIVATED)) | {"timestamp": moment, "event_id": identifier}
    write(tmp_path, "one", [made])
    assert read_events(tmp_path).skipped == 1


def write(folder: Path, name: str, lines: list[object]) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / f"{name}.events.jsonl").write_text(text, encoding="utf-8")


def test_a_line_that_is_no_event_costs_no_other(tmp_path: Path) -> None:
    good = msgspec.to_builtins(ACTIVATED)
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
    for name, minutes in (("b", (0, 2)), ("a", (1, 1))):
        moments = [NOW + timedelta(minutes=each) for each in minutes]
        append_events(
            tmp_path, name, [msgspec.structs.replace(ACTIVATED, timestamp=it) for it in moments]
        )
    found = read_events(tmp_path).events
    assert [(each.log, each.event.timestamp.minute) for each in found] == [
        ("b", 0),
        ("a", 1),
        ("a", 1),
        ("b", 2),
    ]
    assert read_events(tmp_path / "none").events == ()


def test_what_json_cannot_say_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    event = msgspec.structs.replace(ACTIVATED, mission_id="\ud800")
    with pytest.raises(InvalidInputError, match="GlossaryScopeActivated cannot be logged"):
        append_events(tmp_path, "mission", [event])
    assert list(tmp_path.iterdir()) == []
