"""Corrections: a new record whose notes name the snapshot of the earlier one that it takes the place of."""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError, StateError, require_text
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.gaplog.entry import checked
from vocabgap.ingest import scan
from vocabgap.ingest.accounting import SUPERSEDED, mark_batches
from vocabgap.records.record import FIELDS, GapRecord, record_id
from vocabgap.schema import RECORDS

_SHORTEST: Final = 4  # digits of an identifier
_SHOWN: Final = 12
_SNAPSHOT: Final = re.compile(r"[0-9a-fA-F]{64}")
_CORRECTS: Final = re.compile(r" ?\(?corrects [0-9a-fA-F]{64}\)?")
_LOOK: Final = "`vocabgap show` lists the records of an image with their identifiers"
_OTHERWISE: Final = "log it as a gap of its own, and dismiss the need with `vocabgap decide` if it is none"


def require_log(log: Path, corrects: str) -> None:
    """Refuse to look for a record where there is no log, which would be made otherwise.

    Raises:
        NotFoundError: There is none.
    """
    if file_kind(log) is FileKind.NOTHING:
        raise NotFoundError(f"no record of this log begins with '{corrects}': the image has none", hint=_LOOK)


def correction(log: Path, corrects: str, given: Mapping[str, Any], now: datetime) -> GapRecord:
    """The record that takes the place of an earlier one of the same log.

    What is not given is as the earlier record says, but for its time, and its notes name the earlier one's
    snapshot: that is what makes a scan count the earlier one no more. Nobody may write to the log meanwhile.

    Args:
        log: The log.
        corrects: The earlier record's identifier, or as much of its beginning as no other has.
        given: Field to value; null where it stays.
        now: The time of a record that says none.

    Raises:
        NotFoundError: No record of the log has that identifier.
        InvalidInputError: Several have, or a field cannot be used.
        StateError: The earlier record names no snapshot, was corrected before, or would not be the one that
            a scan takes the new one for a correction of.
    """
    logged = scan(log).gaps
    earlier = _found(logged, corrects)
    told = earlier["record_id"][:_SHOWN]
    if not _SNAPSHOT.fullmatch(earlier["snapshot_hash"] or ""):
        raise StateError(
            f"record {told} names no snapshot_hash of 64 hexadecimal digits, and cannot be corrected",
            hint=_OTHERWISE,
        )
    if not earlier["counted"]:
        raise StateError(f"record {told} was corrected before", hint=_LOOK)
    kept = {name: earlier[name] for name in FIELDS if name != "timestamp"}
    # What the earlier record corrected is not corrected once more.
    kept["notes"] = _CORRECTS.sub("", earlier["notes"]).strip()
    said = {name: value for name, value in given.items() if value is not None}
    if said.get("intent_category") == "":
        del said["intent_category"]
    fields = kept | said
    require_text("notes", fields["notes"])
    named = f"corrects {earlier['snapshot_hash']}"
    fields["notes"] = f"{fields['notes']} ({named})" if fields["notes"] else named
    record = checked(fields, now)
    if record.image_id != earlier["image_id"]:
        raise InvalidInputError("image_id: a correction is of the same image", hint="leave it out")
    _require_meant(logged, earlier, record)
    return record


def _found(logged: pl.DataFrame, identifier: str) -> dict[str, Any]:
    if len(identifier) < _SHORTEST:
        raise InvalidInputError(
            f"corrects: expected at least {_SHORTEST} digits of a record_id, found '{identifier}'", hint=_LOOK
        )
    named = pl.col("record_id").str.starts_with(identifier.lower())
    found = logged.filter(named, pl.col("why_not").fill_null("") != "duplicate")
    if found.is_empty():
        raise NotFoundError(f"no record of this log begins with '{identifier}'", hint=_LOOK)
    if found.height > 1:
        raise InvalidInputError(
            f"{found.height} records of this log begin with '{identifier}'", hint="give more of it"
        )
    return found.row(0, named=True)


def _require_meant(logged: pl.DataFrame, earlier: dict[str, Any], record: GapRecord) -> None:
    """Refuse what a scan would not take for a correction of the earlier record, and of that one alone.

    Raises:
        InvalidInputError: It is not later, or not another record.
        StateError: A scan would take it for a correction of another record, or count it no more itself.
    """
    told = earlier["record_id"][:_SHOWN]
    identifier = record_id(record)
    if identifier in logged["record_id"]:
        raise InvalidInputError("corrects: the new record is one that is there", hint="say what is different")
    added = {**earlier, **msgspec.structs.asdict(record), "record_id": identifier, "line": logged.height + 1}
    lines = logged.select(RECORDS.names)
    after = mark_batches([lines, pl.DataFrame([added], schema=lines.schema)])
    was = pl.concat([logged["why_not"], pl.Series([None], dtype=pl.String)])
    now_corrected = after.filter((pl.col("why_not") == SUPERSEDED) & (was.fill_null("") != SUPERSEDED))
    others = [each for each in now_corrected["record_id"] if each != earlier["record_id"]]
    if identifier in others:
        raise StateError(f"a later record of the log corrects this one of {told} already", hint=_LOOK)
    if others:
        raise StateError(
            f"record {others[0][:_SHOWN]} of the same snapshot would be corrected instead of {told}",
            hint="word missing_capability as the record that is meant has it, or correct the later one first",
        )
    if now_corrected.is_empty():
        moment = earlier["timestamp"]
        raise InvalidInputError(
            "timestamp: a correction is later than what it corrects"
            + ("" if moment is None else f", {moment.isoformat()}"),
            hint="give a later one",
        )
