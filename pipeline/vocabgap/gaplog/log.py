"""Logging a gap: the record is made, and its line is appended to the log of its image."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, expanded, require_kind
from vocabgap.files.appending import Kind, add_line, alone, naming
from vocabgap.files.atomic import undisturbed
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.gaplog.entry import as_written, checked, image_name
from vocabgap.gaplog.kind_of_need import category
from vocabgap.gaplog.surroundings import session, snapshot
from vocabgap.records.record import LOG_NAME, GapRecord, record_id

MOST_BYTES: Final = 1 << 20
"""The longest line that is read back, in bytes."""
_IMAGE_HINT: Final = "name the folder of an image"
_KIND: Final = Kind(
    "gap log",
    "see to the disk and the permissions, and log the gap again",
    undone="nothing was logged",
    again="log the gap again when that one is done",
)


class LoggedGap(msgspec.Struct, frozen=True):
    """A gap that was logged.

    Attributes:
        gap_id: The `record_id` of its record, as every scan computes it.
        path: The log that it stands in.
        record: Its 13 fields, as they were written.
    """

    gap_id: str
    path: Path
    record: dict[str, Any]


def log_gap(
    image: str | Path,
    description: str | None = None,
    *,
    workaround: str | None = None,
    intent: str | None = None,
    intent_category: str | None = None,
    missing_capability: str | None = None,
    operations_involved: Sequence[str] | None = None,
    vocabulary_used: Sequence[str] | None = None,
    satisfaction: int | str | None = None,
    notes: str | None = None,
    session_id: str | None = None,
    snapshot_hash: str | None = None,
    image_id: str | None = None,
    timestamp: datetime | str | None = None,
    corrects: str | None = None,
    fsync: bool = True,
    on_wait: Callable[[], None] = lambda: None,
) -> LoggedGap:
    """Append a gap record to the log of an image: one line, whole or not at all, whoever else is writing.

    Args:
        image: The folder of the image; the log in it is made where there is none.
        description: What was missing; by default `missing_capability`, else `intent`.
        workaround: What was done instead.
        intent: What the person wanted.
        intent_category: The coarse kind of need; judged from the operations and words where it is left out.
        missing_capability: What would have been the right word, tool or primitive.
        operations_involved: The operations that the workaround touched.
        vocabulary_used: The entries that it used.
        satisfaction: How well it served: -1, 0 or 1; or bad, mediocre, acceptable or good.
        notes: Anything else.
        session_id: The session; the one that `VOCABGAP_SESSION` names by default.
        snapshot_hash: The state of the image; by default what `VOCABGAP_SNAPSHOT` says, else its `HEAD`.
        image_id: The image; the name of the folder by default.
        timestamp: When; now by default.
        corrects: The record of the same log that this one takes the place of: its `record_id`, or as much of
            its beginning as no other has. What is left out is as that record says.
        fsync: Whether to return only when the line is on the disk.
        on_wait: Called once where another writer has held the log for a second.

    Returns:
        The gap as it was logged.

    Raises:
        InvalidInputError: A field cannot be used, or the line would be longer than what is read back.
        NotFoundError: There is no such folder, or no such record to correct.
        StateError: The disk is full, or something else than a log lies in its place.
        AccessDeniedError: The system does not permit it.
    """
    folder = image_folder(image)
    given = {
        "timestamp": timestamp,
        "image_id": image_id,
        "session_id": session_id,
        "snapshot_hash": snapshot_hash,
        "description": description,
        "workaround": workaround,
        "intent": intent,
        "intent_category": intent_category,
        "missing_capability": missing_capability,
        "operations_involved": operations_involved,
        "vocabulary_used": vocabulary_used,
        "satisfaction": satisfaction,
        "notes": notes,
    }
    log, now = folder / LOG_NAME, datetime.now(UTC)
    if corrects is None:
        made = _with_line(_record(folder, given, now))
        return _appended(log, lambda: made, durable=fsync, on_wait=on_wait)
    from vocabgap.gaplog.correcting import correction, require_log  # noqa: PLC0415 - loads Polars

    require_log(log, corrects)

    # Nobody else writes between the look at the log and the line that follows from it.
    def corrected() -> tuple[GapRecord, bytes]:
        return _with_line(correction(log, corrects, given, now))

    return _appended(log, corrected, durable=fsync, on_wait=on_wait)


def image_folder(image: str | Path) -> Path:
    """The folder of an image, once it is known to be one.

    Raises:
        InvalidInputError: It is something else.
        NotFoundError: There is none.
        AccessDeniedError: It may not be looked at.
    """
    require_kind("image", image, (str, Path), "the folder of an image")
    if not str(image).strip():
        raise InvalidInputError("image: expected the folder of an image, found nothing", hint=_IMAGE_HINT)
    folder = expanded(image)
    try:
        found = file_kind(folder)
    except PermissionError as error:
        raise AccessDeniedError(f"'{folder}' may not be looked at", hint="check its permissions") from error
    if found is FileKind.NOTHING:
        raise NotFoundError(f"there is no folder '{folder}'", hint=_IMAGE_HINT)
    if found is not FileKind.FOLDER:
        raise InvalidInputError(
            f"'{folder}' is {found}, expected the folder of an image", hint=f"its log is {LOG_NAME} in there"
        )
    return folder


def _record(folder: Path, given: Mapping[str, Any], now: datetime) -> GapRecord:
    """The record of what was given, completed by what its surroundings say."""
    known = {name: value for name, value in given.items() if value is not None}
    if known.get("intent_category") == "":
        del known["intent_category"]
    if "image_id" not in known:
        known["image_id"] = image_name(folder)
    known.setdefault("session_id", session())
    if "snapshot_hash" not in known:
        known["snapshot_hash"] = snapshot(folder)
    record = checked(known, now)
    if "intent_category" in known:
        return record
    said = (record.missing_capability, record.description, record.intent)
    return replace(record, intent_category=category(said, record.operations_involved))


def _with_line(record: GapRecord) -> tuple[GapRecord, bytes]:
    line = json.dumps(as_written(record), ensure_ascii=False).encode() + b"\n"
    if len(line) > MOST_BYTES:
        raise InvalidInputError(
            f"the record takes {len(line):,} bytes, expected at most {MOST_BYTES:,}: no scan would read it",
            hint="shorten its longest text",
        )
    return record, line


def _appended(
    path: Path, make: Callable[[], tuple[GapRecord, bytes]], *, durable: bool, on_wait: Callable[[], None]
) -> LoggedGap:
    """Write the record that is made once nobody else writes; until then a signal ends the wait."""
    with naming(path, _KIND, "written"), alone(path, _KIND, on_wait) as file:
        record, line = make()
        with undisturbed():
            add_line(file, path, line, durable=durable)
    return LoggedGap(record_id(record), path, as_written(record))
