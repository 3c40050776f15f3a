"""Single lines of gap logs: those that hold a record, as they stand there, and those that a scan repairs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

import msgspec
import polars as pl
from msgspec.structs import replace

from vocabgap.ingest.columns import FOLDER, TEXT, RecordColumns, RejectColumns
from vocabgap.ingest.decoding import json_type, nulls_for_defaults, object_of
from vocabgap.ingest.discovery import Catalogue, LogFile, discover, resolve_roots
from vocabgap.ingest.lines import LineCounts, LineDecoder, LogDecoder
from vocabgap.ingest.reading import MIB, Block, blocks
from vocabgap.ingest.scanning import logs_and_corpora
from vocabgap.ingest.stored_lines import handed_over
from vocabgap.records.record import FIELDS, SATISFACTION_WORDS, Repair
from vocabgap.schema import RECORDS, REJECTS
from vocabgap.settings.model import DEFAULT_TENANT, ScanSettings
from vocabgap.settings.sources import Source, shipped_sources

LINES: Final = pl.Schema([*RECORDS.schema.items(), (TEXT, pl.String), (FOLDER, pl.String)])
"""Table `records`, the text of the line, and the folder that holds the log."""
_Fields = dict[str, Any]


@dataclass(frozen=True)
class LogLines:
    """What gap logs say, line by line.

    Attributes:
        lines: Every readable line (`LINES`), in the order of the logs.
        rejects: Table `rejects`.
        paths: The source paths of all logs that were found, those without a readable line among them; sorted.
        unlisted: Folders that could not be listed, and links that were not followed.
    """

    lines: pl.DataFrame
    rejects: pl.DataFrame
    paths: tuple[str, ...]
    unlisted: tuple[str, ...] = ()


def read_lines(root: str | Path, settings: ScanSettings | None = None) -> LogLines:
    """Read every gap log below a root, and keep the text of each line that holds a record.

    Raises:
        VocabgapError: As `scan`.
    """
    settings = settings or ScanSettings()
    text = _Text(settings.tenant)
    decoder = LogDecoder(text.lines, settings.max_expanded_mib * MIB)
    logs = discover(root, settings)
    for log in logs:
        decoder.read(log)
    return text.of(logs)


def text_lines(
    content: str,
    source_path: str,
    *,
    repo_slug: str,
    sources: Mapping[str, Source] | None = None,
) -> LogLines:
    """Read the content of one log as `read_lines` would.

    Args:
        content: What the log holds, not compressed.
        source_path: Where it lies below its root, with forward slashes: its name says what kind of log it is.
        repo_slug: The repository.
        sources: What gap logs are called and how they are read; the shipped ones by default.
    """
    text = _Text(DEFAULT_TENANT)
    log = handed_over(source_path, repo_slug, Catalogue(shipped_sources() if sources is None else sources))
    # Half of a surrogate pair is no UTF-8; it stays what it is, so that its line is refused and no other.
    for block in blocks([content.encode("utf-8", "surrogatepass")]):
        text.lines.decode(log, block, LineCounts())
    return text.of([log])


class _Text:
    """Lines on their way to frames that keep their text."""

    def __init__(self, tenant_id: str) -> None:
        self._frames = [LINES.to_frame()]
        self._rejects = [REJECTS.empty()]
        records = RecordColumns(tenant_id, self._frames.append, with_text=True)
        self.lines = LineDecoder(records, RejectColumns(self._rejects.append))

    def of(self, logs: list[LogFile]) -> LogLines:
        """What was read of some logs."""
        self.lines.flush()
        unlisted = {log.source_path for log in logs if log.problem is not None and not log.kind.source}
        paths = {log.source_path for log in logs} - unlisted
        rejects = pl.concat(self._rejects)
        return LogLines(pl.concat(self._frames), rejects, tuple(sorted(paths)), tuple(sorted(unlisted)))


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
    decoder = LogDecoder(listing, settings.max_expanded_mib * MIB)
    roots, _ = logs_and_corpora(resolve_roots(roots))
    for log in discover(roots, settings) if roots else ():
        decoder.read(log)
    return listing.repaired


class _Listing(LineDecoder):
    """Decodes lines as a scan does, and keeps of each only what was repaired."""

    def __init__(self, tenant_id: str) -> None:
        super().__init__(RecordColumns(tenant_id, _drop), RejectColumns(_drop))
        self.repaired: list[RepairedLine] = []

    def decode(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode the lines of a block; one by one where any of them needs repair."""
        before = sum(counts.repairs.values())
        self._counted(log, block, counts)
        if sum(counts.repairs.values()) == before:
            return
        number, offset = block.number, block.offset
        for line in block.lines:
            alone = replace(block, number=number, offset=offset, lines=[line])
            repairs = self._counted(log, alone, LineCounts()).repairs
            given = log.kind.fields.applied(object_of(line)) if repairs else {}
            for name, times in repairs.items():
                detail = _DETAILS[Repair(name)](given, log)
                self.repaired.append(
                    RepairedLine(log.repo_slug, log.source_path, number, Repair(name), times, detail)
                )
            number, offset = number + 1, offset + len(line) + 1

    def _counted(self, log: LogFile, block: Block, counts: LineCounts) -> LineCounts:
        super().decode(log, block, counts)
        self.count_repeated_keys()
        return counts


def _in_words(given: _Fields, _: LogFile) -> str:
    word = given["satisfaction"]
    return f"{_shown(word)}, read as {SATISFACTION_WORDS[word.strip().casefold()]}"


def _unknown_fields(given: _Fields, _: LogFile) -> str:
    return ", ".join(map(_shown, sorted(given.keys() - set(FIELDS))))


def _shown(value: object) -> str:
    return short_repr(value) if isinstance(value, str | int | float) else json_type(value)


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


def _drop(_: pl.DataFrame) -> None:
    """What to do with rows that nobody asked for."""
