"""Logging: events are added to the log of their mission, one writer at a time, each line whole."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.files.appending import add_line, alone, naming
from vocabgap.glossary.event_log import KIND, LONG_AGO, log_name
from vocabgap.glossary.events import GlossaryEvent, encoded
from vocabgap.glossary.following import follow_logs

_LOCK: Final = "writer.lock"  # a file that is held while somebody changes the glossary
_NEXT: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _NEXT


def append_events(folder: Path, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
    """Add events to a mission's log, all of them or none; they are on the disk when this returns.

    Args:
        folder: Where the logs lie; it is made where it does not exist.
        mission_id: The mission.
        events: The events, in their order.

    Returns:
        The events as they were logged, each with its identifier.

    Raises:
        InvalidInputError: One holds what JSON cannot say, or the mission has no name.
        VocabgapError: The log cannot be written, or another writer holds it.
    """
    path = folder / log_name(mission_id)
    logged = [identified(event) for event in events]
    lines = b"".join(map(_line, logged))
    if not lines:
        return logged
    with naming(path, KIND, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        with alone(path, KIND) as file:
            add_line(file, path, lines)
    return logged


def append_changes(folder: Path, mission_id: str, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
    """Add events that change a glossary, so that they count after all that is logged already.

    A clock that was ahead once, on whatever machine, would outvote everybody until its moment has come:
    what is said after it gets the moment after. The provenance keeps what the clock says.

    Args:
        folder: As `append_events`.
        mission_id: As there.
        events: As there; hold the logs with `changing` for as long as what they rest on is to hold still.

    Returns:
        As there.

    Raises:
        VocabgapError: As there, or a log cannot be read.
    """
    latest = max((log.moment for log in follow_logs(folder)), default=LONG_AGO)
    earliest = min(latest, _LAST) + _NEXT
    return append_events(
        folder,
        mission_id,
        [
            msgspec.structs.replace(event, timestamp=earliest) if event.timestamp < earliest else event
            for event in events
        ],
    )


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Change a glossary while nobody else does: what was read holds still when it is logged.

    Args:
        folder: Where its logs lie; it is made where it does not exist.

    Raises:
        VocabgapError: The folder cannot be written to, or another writer holds it.
    """
    path = folder / _LOCK
    with naming(path, KIND, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        with alone(path, KIND):
            yield


def identified(event: GlossaryEvent) -> GlossaryEvent:
    """The event with an identifier, a new one where it has none."""
    return event if event.event_id else msgspec.structs.replace(event, event_id=str(uuid4()))


def _line(event: GlossaryEvent) -> bytes:
    try:
        return encoded(event)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{type(event).__name__} cannot be logged: {error}") from error
