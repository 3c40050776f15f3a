"""Log a gap: make its record, and append its line to the log of its image.

Only a correction loads Polars, because an agent waits for its gap to be written down.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from vocabgap.errors import (
    AccessDeniedError,
    Hint,
    InvalidInputError,
    NotFoundError,
    StateError,
    expanded,
    nearest,
    require_kind,
    require_text,
    texts,
    unusable,
)
from vocabgap.files import opened, whole
from vocabgap.files.atomic import write_whole
from vocabgap.files.journal import Journal, tail_of
from vocabgap.files.refusals import FileKind, FileRole, file_kind, refusing
from vocabgap.files.signals import deferred_signals
from vocabgap.model.categories import likely_category
from vocabgap.model.corrections import without_corrections
from vocabgap.model.moments import is_zero_year
from vocabgap.model.record import (
    FEWEST_DIGITS,
    FIELDS,
    LIST_FIELDS,
    LOG_NAME,
    MAX_LINE_BYTES,
    MEDIOCRE,
    NULLABLE_TEXT_FIELDS,
    RATING_WORDS,
    SATISFACTION_TEXTS,
    SATISFACTION_WORDS,
    TEXT_FIELDS,
    UNCATEGORIZED,
    GapRecord,
    fields_of,
    in_utc,
    need_of,
    rating_word,
    record_id,
    wrong_type,
)
from vocabgap.text import can_be_seen, short_hash

if TYPE_CHECKING:
    import polars as pl

SESSION_VARIABLE: Final = "VOCABGAP_SESSION"
SNAPSHOT_VARIABLE: Final = "VOCABGAP_SNAPSHOT"
_SHOW_HINT: Final = Hint("{} lists the records with their identifiers and images", (("list",),))
_FOLDER_HINT: Final = "name an existing folder, or create it first: vocabgap creates only the log"
_MOST_LOOKED_AT: Final = 1 << 20  # bytes at the end of a log
_JOURNAL: Final = Journal[bytes](
    FileRole(
        "gap log",
        "check the disk and the permissions, and log the gap again",
        undone="nothing was logged",
        again="log the gap again when the other writer is done",
        may_be_link=False,  # a scan would not follow it out of its roots
    ),
    lambda line, _: line,
)


class LoggedGap(msgspec.Struct, frozen=True):
    """A gap that was logged.

    Attributes:
        gap_id: The `record_id` of its record, as every scan computes it.
        path: The log.
        record: Its fields, as they were written.
    """

    gap_id: str
    path: Path
    record: dict[str, Any]


def log_gap(
    image: str | Path,
    description: str | None = None,
    *,
    corrects: str | None = None,
    on_wait: Callable[[], None] = lambda: None,
    **fields: Any,  # noqa: ANN401 - those of `GapRecord`
) -> LoggedGap:
    """Append a gap record to the log of a folder, even while others write.

    Args:
        image: The folder of the log, such as that of an image; the log is created if it is missing.
        description: What was missing; by default `missing_capability`.
        corrects: The record of the same log that this one replaces: its `record_id`, or a beginning that no
            other has. Fields that are not given keep the values of that record.
        on_wait: Called once if another writer has held the log for a second.
        **fields: Further fields of the record, such as `intent`; `vocabgap schema records` lists them. The
            `satisfaction` may be given as a word, and the `timestamp` as text.

    Returns:
        The logged gap.

    Raises:
        InvalidInputError: A field does not fit, or the line would be too long to be read.
        NotFoundError: There is no such folder, or no such record to correct.
        StateError: The disk is full, or something else is in place of the log.
        AccessDeniedError: The system denies access.
    """
    folder = _image_folder(image)
    given = {"description": description, **fields}
    log, now = folder / LOG_NAME, datetime.now(UTC)
    if corrects is None:
        prepared = _with_line(log, _record(folder, given, now))
        return _append(log, lambda: prepared, on_wait)
    if file_kind(log) is FileKind.NOTHING:  # locking would create it
        problem = f"no record of this log begins with '{corrects}': the folder has no log"
        raise NotFoundError(problem, hint=_SHOW_HINT)
    # The lock is held from reading the log to appending the line.
    return _append(log, lambda: _with_line(log, _correction(log, corrects, given, now)), on_wait)


def _checked(fields: Mapping[str, Any], now: datetime) -> GapRecord:
    """Return the record of some fields; missing or null fields get a default, the time is now.

    `satisfaction` may be a word. The default of `description` is `missing_capability`.
    """
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise InvalidInputError(f"{unknown[0]}: not a record field", hint=nearest(unknown[0], FIELDS))
    given = {name: value for name, value in fields.items() if value is not None}
    if wrong := wrong_type(given):
        raise unusable(*wrong, hint="write a list, even of one name" if wrong[0] in LIST_FIELDS else "")
    for name in (*NULLABLE_TEXT_FIELDS, *TEXT_FIELDS, *LIST_FIELDS):
        texts(name, given.get(name, ()))
    if "description" not in given:
        given["description"] = need_of(given)
    for name, hint in (("description", "say what was missing"), ("image_id", "or leave it out")):
        if not can_be_seen(given.get(name, "-")):
            raise InvalidInputError(f"{name}: expected text that is not blank", hint=hint)
    if "satisfaction" in given:
        word = rating_word(str(given["satisfaction"]))
        if word not in SATISFACTION_TEXTS:
            expected = f"-1, 0, 1, or one of {', '.join(SATISFACTION_WORDS)}"
            raise unusable("satisfaction", expected, given["satisfaction"])
        given["satisfaction"] = RATING_WORDS[word]
        given["mediocre"] = given.get("mediocre", False) or word == MEDIOCRE
    given["timestamp"] = _moment(given.get("timestamp", now))
    return GapRecord(**given)


def _moment(value: object) -> datetime:
    """Convert a datetime or ISO 8601 text to UTC. A time without an offset is taken as UTC."""
    expected = "a date and time in ISO 8601, such as 2026-04-01T10:00:00Z"
    years = "a time in the years 1971 to 9998 in UTC"
    try:
        moment: Any = datetime.fromisoformat(value) if isinstance(value, str) else value
        require_kind("timestamp", moment, datetime, expected)
        utc_moment = in_utc(moment).astimezone(UTC)
    except ValueError as error:
        raise unusable("timestamp", expected, value) from error
    except OverflowError as error:
        raise unusable("timestamp", years, value) from error
    if is_zero_year(utc_moment.year):  # a scan reads no time from it
        raise unusable("timestamp", years, value)
    return utc_moment


def _image_folder(image: str | Path) -> Path:
    require_kind("image", image, (str, Path), "a folder")
    if not str(image).strip():
        raise unusable("image", "a folder", image)
    folder = expanded(image)
    with refusing(f"'{folder}' cannot be accessed", hint="check its permissions"):
        kind = file_kind(folder)
    if kind is FileKind.NOTHING:
        raise NotFoundError(f"there is no folder '{folder}'", hint=_FOLDER_HINT)
    if kind is not FileKind.FOLDER:
        raise InvalidInputError(f"'{folder}' is {kind}, expected a folder", hint=_FOLDER_HINT)
    return folder


def _record(folder: Path, given: Mapping[str, Any], now: datetime) -> GapRecord:
    """Return the record of the given fields, completed from the environment and the folder."""
    fields = _without_nulls(given)
    if "image_id" not in fields:
        fields["image_id"] = _encodable(folder.absolute().name)
        if fields["image_id"] is None:
            problem = f"the name of '{folder}' is empty or not UTF-8"
            raise InvalidInputError(f"{problem}, and cannot be an image_id", hint="give the image_id")
    fields.setdefault("session_id", _encodable(os.environ.get(SESSION_VARIABLE)))
    if "snapshot_hash" not in fields:
        fields["snapshot_hash"] = _snapshot(folder)
    record = _checked(fields, now)
    if "intent_category" in fields:
        return record
    texts = (record.missing_capability, record.description, record.intent)
    guess = likely_category(texts, record.operations_involved)
    return replace(record, intent_category=guess, category_guessed=guess != UNCATEGORIZED)


def _without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are given; an empty category counts as not given."""
    given = {name: value for name, value in fields.items() if value is not None}
    if given.get("intent_category") == "":
        del given["intent_category"]
    return given


def _with_line(log: Path, record: GapRecord) -> tuple[LoggedGap, bytes]:
    """Return a gap and its line, with the time in ISO 8601."""
    fields = fields_of(record)
    if record.timestamp is not None:
        fields["timestamp"] = record.timestamp.isoformat()
    line = json.dumps(fields, ensure_ascii=False).encode() + b"\n"
    if len(line) > MAX_LINE_BYTES:
        most = f"expected at most {MAX_LINE_BYTES:,}: no scan would read it"
        raise InvalidInputError(f"the record takes {len(line):,} bytes, {most}")
    return LoggedGap(record_id(record), log, fields), line


def _append(
    log: Path,
    prepare: Callable[[], tuple[LoggedGap, bytes]],
    on_wait: Callable[[], None] = lambda: None,
    longest: float | None = None,
) -> LoggedGap:
    """Lock the log, make the record, and append it; a signal ends only the wait for the lock.

    Lines in the spool come first. A killed process may have added them already.
    """
    with _JOURNAL.appending(log, on_wait, longest) as writer:
        gap, line = prepare()
        spool = _spool_of(log)
        end = writer.tail(_MOST_LOOKED_AT) if spool else b""
        with deferred_signals():
            writer.add(b"".join(spooled for spooled in spool.values() if spooled not in end) + line)
            for file in spool:
                file.unlink()
    return gap


def log_without_waiting(folder: Path, longest: float, **fields: Any) -> LoggedGap:  # noqa: ANN401
    """Append a gap record to the log of a folder; if others write for too long, keep it in the spool.

    The spool is a file beside the log for each such record. The next call adds it to the log.
    """
    log = folder / LOG_NAME
    gap, line = _with_line(log, _record(folder, fields, datetime.now(UTC)))
    try:
        return _append(log, lambda: (gap, line), longest=longest)
    except (AccessDeniedError, StateError):
        path = folder / _spool_name(uuid4().hex)
        with refusing(f"'{path}' cannot be written"):
            write_whole(path, line, 0o600)
        return replace(gap, path=path)


def is_logged(folder: Path, text: str) -> bool:
    """Check whether the end of a log, or its spool, contains a text."""
    log, wanted = folder / LOG_NAME, text.encode()
    with refusing(f"'{log}' cannot be read"):
        if any(wanted in line for line in _spool_of(log).values()):
            return True
        if not log.exists():
            return False
        with opened(log) as file:
            return wanted in tail_of(file.fileno(), _MOST_LOOKED_AT)


def _spool_name(of: str) -> str:
    return f".{LOG_NAME}.{of}.spool"


def _spool_of(log: Path) -> dict[Path, bytes]:
    """Return the files of the spool with their lines; no link, and no file without one record."""
    lines = {}
    for file in sorted(log.parent.glob(_spool_name("*"))):
        with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            line = whole(file, MAX_LINE_BYTES, os.O_NOFOLLOW)
            if line.endswith(b"\n") and line.count(b"\n") == 1:
                msgspec.json.decode(line, type=dict[str, Any])
                lines[file] = line
    return lines


def _snapshot(image: Path) -> str | None:
    """Return the snapshot of an image, from the environment, else from its `HEAD`; None without one.

    `HEAD` holds 64 hexadecimal digits, or `ref: ` and the name of a file below `refs/` that holds them. No
    link is followed out of the folder.
    """
    if named := _encodable(os.environ.get(SNAPSHOT_VARIABLE)):
        return named
    name = "HEAD"
    for _ in range(8):
        path, content = image / name, ""
        with suppress(OSError, UnicodeDecodeError):
            if file_kind(path) is FileKind.FILE and path.resolve().is_relative_to(image.resolve()):
                with opened(path) as file:
                    content = file.read(4_096).decode().strip()
        if re.fullmatch(r"[0-9a-f]{64}", content):
            return content
        reference = re.fullmatch(r"ref: *(refs/(?:(?!\.\.?/)[^/\0]+/)*(?!\.\.?\Z)[^/\0]+)", content)
        if reference is None:
            break
        name = reference[1]
    return None


def _encodable(value: str | None) -> str | None:
    try:
        return value if value and value.encode() else None
    except UnicodeEncodeError:  # bytes of the environment that are no text
        return None


def _correction(log: Path, corrects: str, given: Mapping[str, Any], now: datetime) -> GapRecord:
    """Return the record that replaces an earlier one of a locked log.

    A field that is not given is that of the earlier record, except the time. A scan no longer counts the
    earlier record, because the notes of the new one name it.
    """
    from vocabgap.ingest.scanning import scan  # noqa: PLC0415 - loads Polars

    gaps = scan(log).gaps
    earlier = _record_of(gaps, corrects)
    digits = short_hash(earlier["record_id"])
    if not earlier["counted"]:
        raise StateError(f"record {digits} was already corrected", hint=_SHOW_HINT)
    fields = {name: earlier[name] for name in FIELDS if name != "timestamp"}
    # A correction must not correct again what the earlier record corrected.
    fields["notes"] = without_corrections(earlier["notes"])
    given = _without_nulls(given)
    if "missing_capability" in given and earlier["description"] == earlier["missing_capability"]:
        del fields["description"]  # it was a copy, so it follows the capability
    for name, mark in (("intent_category", "category_guessed"), ("satisfaction", "mediocre")):
        fields |= {mark: False} if name in given else {}
    fields |= given
    require_text("notes", fields["notes"])
    reference = f"corrects {_reference(gaps, earlier)}"
    fields["notes"] = f"{fields['notes']} ({reference})" if fields["notes"] else reference
    record = _checked(fields, now)
    if record.image_id != earlier["image_id"]:
        raise InvalidInputError("image_id: a correction must name the image of the corrected record")
    _require_correction(gaps, earlier, record)
    return record


def _reference(gaps: "pl.DataFrame", record: dict[str, Any]) -> str:
    """Return the snapshot of a record, as ADR-060 has it, or its identifier if others share the snapshot."""
    snapshot = record["snapshot_hash"] or ""
    is_unique = gaps.filter("counted", image_id=record["image_id"], snapshot_hash=snapshot).height == 1
    is_digest = re.fullmatch("[0-9a-fA-F]{64}", snapshot) is not None
    return str(snapshot if is_unique and is_digest else record["record_id"])


def _record_of(gaps: "pl.DataFrame", identifier: str) -> dict[str, Any]:
    require_text("corrects", identifier, "a record_id, or its beginning")
    if len(identifier) < FEWEST_DIGITS:
        raise unusable("corrects", f"at least {FEWEST_DIGITS} digits of a record_id", identifier)
    rows = [
        row
        for row in gaps.iter_rows(named=True)
        if row["record_id"].startswith(identifier.lower()) and row["why_not"] != "duplicate"
    ]
    if not rows:
        raise NotFoundError(f"no record of this log begins with '{identifier}'", hint=_SHOW_HINT)
    if len(rows) > 1:
        raise InvalidInputError(
            f"{len(rows)} records of this log begin with '{identifier}'", hint="give more digits"
        )
    return rows[0]


def _require_correction(gaps: "pl.DataFrame", earlier: dict[str, Any], record: GapRecord) -> None:
    """Refuse a record that a scan would not count as a correction of exactly the earlier record."""
    import polars as pl  # noqa: PLC0415 - only a correction needs it

    from vocabgap.ingest.accounting import NAMED, SUPERSEDED, lines_of, marks_of  # noqa: PLC0415 - as above
    from vocabgap.model.tables import RECORDS  # noqa: PLC0415

    schema = {**RECORDS.schema, NAMED: pl.Boolean()}
    identifier = record_id(record)
    added = {**earlier, **msgspec.structs.asdict(record), "record_id": identifier, "line": gaps.height + 1}
    lines = pl.concat([gaps.select([*schema]), pl.DataFrame([added], schema=schema)])
    superseded = marks_of(lines_of(lines)).rows.filter(why_not=SUPERSEDED)
    before = {*gaps.with_row_index().filter(why_not=SUPERSEDED)["index"]}
    if [lines["record_id"][row] for row in superseded["row"] if row not in before] != [earlier["record_id"]]:
        moment = "" if earlier["timestamp"] is None else f", {earlier['timestamp'].isoformat()}"
        problem = f"a correction must be later than the corrected record{moment}"
        raise InvalidInputError(f"{problem}, and its notes must not correct another record")
