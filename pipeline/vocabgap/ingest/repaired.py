"""Which lines a scan repaired, and what: the account of a scan only counts them."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

import msgspec
import polars as pl
from msgspec.structs import replace

from vocabgap.ingest.columns import RecordColumns, RejectColumns
from vocabgap.ingest.decoding import kind, nulls_for_defaults, object_of
from vocabgap.ingest.discovery import LogFile, discover, resolve_roots
from vocabgap.ingest.lines import Collector, Lines, Segment
from vocabgap.ingest.reading import MIB, Block
from vocabgap.ingest.scanning import by_kind
from vocabgap.records.record import FIELDS, SATISFACTION_WORDS, Repair
from vocabgap.settings.model import ScanSettings

_Fields = dict[str, Any]


class RepairedLine(msgspec.Struct, frozen=True):
    """One kind of repair in one line of a log.

    Attributes:
        repo_slug: The repository.
        source_path: The log, relative to its root.
        line: Number of the line, counted from 1.
        repair: What was repaired, or is worth a look.
        times: How often in this line.
        detail: What stood there, and what it was read as.
    """

    repo_slug: str
    source_path: str
    line: int
    repair: Repair
    times: int
    detail: str


def repaired_lines(
    roots: str | Path | Iterable[str | Path], settings: ScanSettings | None = None
) -> list[RepairedLine]:
    """Read every gap log below the roots, and list what a scan repairs in the lines that it keeps.

    Args:
        roots: As `scan` takes them. A shared corpus among them is passed over.
        settings: As `scan` takes them.

    Returns:
        One for each line and kind, in the order of the logs. Their times, by kind, are the `repairs` of the
        scan's summary.

    Raises:
        VocabgapError: As `scan`.
    """
    settings = settings or ScanSettings()
    listing = _Listing(settings.tenant)
    collector = Collector(listing, settings.max_expanded_mib * MIB)
    roots, _ = by_kind(resolve_roots(roots))
    for log in discover(roots, settings) if roots else ():
        collector.read(log)
    return listing.found


def _drop(_: pl.DataFrame) -> None:
    """What to do with rows that nobody asked for."""


class _Listing(Lines):
    """Sorts lines as a scan does, and keeps of each only what was repaired."""

    def __init__(self, tenant_id: str) -> None:
        super().__init__(RecordColumns(tenant_id, _drop), RejectColumns(_drop))
        self.found: list[RepairedLine] = []

    def take(self, log: LogFile, block: Block, segment: Segment) -> None:
        """Sort the lines of a block; one by one where any of them needs repair."""
        before = sum(segment.repairs.values())
        self._sorted(log, block, segment)
        if sum(segment.repairs.values()) == before:
            return
        number, offset = block.number, block.offset
        for line in block.lines:
            alone = replace(block, number=number, offset=offset, lines=[line])
            repairs = self._sorted(log, alone, Segment(block.ended)).repairs
            given = log.kind.fields.applied(object_of(line)) if repairs else {}
            for name, times in repairs.items():
                told = _DETAILS[Repair(name)](given, log)
                self.found.append(
                    RepairedLine(log.repo_slug, log.source_path, number, Repair(name), times, told)
                )
            number, offset = number + 1, offset + len(line) + 1

    def _sorted(self, log: LogFile, block: Block, segment: Segment) -> Segment:
        super().take(log, block, segment)
        self._count_repeated_keys()
        return segment


def _in_words(given: _Fields, _: LogFile) -> str:
    told = given["satisfaction"]
    return f"{_shown(told)}, read as {SATISFACTION_WORDS[told.strip().casefold()]}"


def _unknown_fields(given: _Fields, _: LogFile) -> str:
    return ", ".join(map(_shown, sorted(given.keys() - set(FIELDS))))


def _shown(value: object) -> str:
    return short_repr(value) if isinstance(value, str | int | float) else kind(value)


# What stood in a line, from the fields that it gives, and what it was read as.
_DETAILS: Final[Mapping[Repair, Callable[[_Fields, LogFile], str]]] = {
    Repair.SATISFACTION_IN_WORDS: _in_words,
    Repair.SATISFACTION_UNKNOWN: lambda given, _: f"{_shown(given['satisfaction'])}, read as not rated",
    Repair.NULL_FOR_DEFAULT: lambda given, _: ", ".join(nulls_for_defaults(given)),
    Repair.UNKNOWN_FIELD: _unknown_fields,
    Repair.REPEATED_KEY: lambda _, __: "the last value counts",
    Repair.BYTE_ORDER_MARK: lambda _, __: "passed over",
    Repair.TIMESTAMP_WITHOUT_OFFSET: lambda given, _: f"{_shown(given['timestamp'])}, read as UTC",
    Repair.TIMESTAMP_UNREADABLE: lambda given, _: f"{_shown(given['timestamp'])}, kept without a date",
    Repair.IMAGE_FROM_FOLDER: lambda _, log: f"none is named, read as {_shown(log.folder)}",
    Repair.IMAGE_NOT_FOLDER: lambda given, log: f"{_shown(given['image_id'])} in folder {_shown(log.folder)}",
}
