"""Corrections: a new record whose notes name the snapshot of the earlier one that it takes the place of."""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.gaplog.entry import checked
from vocabgap.ingest import scan
from vocabgap.record import FIELDS, GapRecord, record_id
from vocabgap.schema import phrase
from vocabgap.text import surface

_SHORTEST: Final = 4  # digits of an identifier
_CORRECTS: Final = re.compile(r" ?\(?corrects [0-9a-fA-F]{64}\)?")
_LOOK: Final = "`vocabgap show` lists the records of an image with their identifiers"
_OTHERWISE: Final = "log it as a gap of its own, and dismiss the need with `vocabgap decide` if it is none"


def correction(folder: Path, corrects: str, given: Mapping[str, Any], now: datetime) -> GapRecord:
    """The record that takes the place of an earlier one of the same log.

    What is not given is as the earlier record says, but for its time, and its notes name the earlier one's
    snapshot: that is what makes a scan count the earlier one no more.

    Args:
        folder: The image's folder.
        corrects: The earlier record's identifier, or as much of its beginning as no other has.
        given: Field to value; null where it stays.
        now: The time of a record that says none.

    Raises:
        NotFoundError: No record of the log has that identifier.
        InvalidInputError: Several have, or a field cannot be used.
        StateError: The earlier record names no snapshot, was corrected before, or would not be the one that
            a scan takes the new one for a correction of.
    """
    logged = scan(folder).gaps.filter(pl.col("why_not").is_null() | (pl.col("why_not") != "duplicate"))
    earlier = _found(logged, corrects)
    named = earlier["snapshot_hash"]
    if not named:
        raise StateError(
            f"record {earlier['record_id'][:12]} names no snapshot_hash, and cannot be corrected",
            hint=_OTHERWISE,
        )
    if not earlier["counted"]:
        raise StateError(f"record {earlier['record_id'][:12]} was corrected before", hint=_LOOK)
    kept = {name: earlier[name] for name in FIELDS if name != "timestamp"}
    # What the earlier record corrected is not corrected once more.
    kept["notes"] = _CORRECTS.sub("", earlier["notes"]).strip()
    fields = kept | {name: value for name, value in given.items() if value is not None}
    notes = checked({**fields, "description": "-"}, now).notes
    fields["notes"] = f"{notes} (corrects {named})" if notes else f"corrects {named}"
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
    found = logged.filter(pl.col("record_id").str.starts_with(identifier.lower()))
    if found.is_empty():
        raise NotFoundError(f"no record of this log begins with '{identifier}'", hint=_LOOK)
    if found.height > 1:
        raise InvalidInputError(
            f"{found.height} records of this log begin with '{identifier}'", hint="give more of it"
        )
    return found.row(0, named=True)


def _require_meant(logged: pl.DataFrame, earlier: dict[str, Any], record: GapRecord) -> None:
    """Refuse a correction that a scan would take for one of another record of the same snapshot.

    Raises:
        StateError: It would: that of a later need, or of one in the same words.
    """
    alike = logged.filter(
        "counted",
        pl.col("image_id") == earlier["image_id"],
        pl.col("snapshot_hash").str.to_lowercase() == earlier["snapshot_hash"].lower(),
    ).with_columns(phrase().alias("need"))
    need = surface(record.missing_capability or record.description or "")
    same = [row for row in alike.iter_rows(named=True) if surface(row["need"]) == need]
    candidates = same or list(alike.iter_rows(named=True))
    latest = max(candidates, key=lambda row: (row["timestamp"] is not None, row["timestamp"], row["line"]))
    if latest["record_id"] != earlier["record_id"]:
        raise StateError(
            f"record {latest['record_id'][:12]} of the same snapshot would be corrected instead of "
            f"{earlier['record_id'][:12]}",
            hint="word missing_capability as the record that is meant has it, or correct the later one first",
        )
    if record.timestamp is not None and earlier["timestamp"] and record.timestamp <= earlier["timestamp"]:
        raise InvalidInputError("timestamp: a correction is later than what it corrects", hint="leave it out")
    if record_id(record) == earlier["record_id"]:
        raise InvalidInputError("corrects: the new record is the earlier one", hint="say what is different")
