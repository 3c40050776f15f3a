"""The readable lines of gap logs as they stand there, each with the record that a scan makes of it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.ingest.accounting import Ledger
from vocabgap.ingest.columns import RecordColumns, RejectColumns
from vocabgap.ingest.decoding import MAX_LINE_BYTES
from vocabgap.ingest.discovery import Catalogue, LogFile, discover
from vocabgap.ingest.lines import Collector, Lines, Segment
from vocabgap.ingest.reading import MIB, Block, blocks
from vocabgap.ingest.scanning import Scan, marked, without_cycle_search
from vocabgap.records.record import GapRecord
from vocabgap.schema import RECORDS, REJECTS, Column, Table
from vocabgap.settings.model import DEFAULT_TENANT, ScanSettings
from vocabgap.settings.sources import Source, shipped_sources

TEXT: Final = "text"
FOLDER: Final = "folder"
LINES: Final = pl.Schema([*RECORDS.schema.items(), (TEXT, pl.String), (FOLDER, pl.String)])
"""Table `records`, the text of the line, and the folder that holds the log."""
Sink = Callable[[pl.DataFrame], None]


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


@dataclass(slots=True)
class _Texts(RecordColumns):
    """Records on their way to frames, with the text of the line that each stands on.

    Attributes:
        block: The lines that are being sorted.
    """

    block: Block = field(default_factory=lambda: Block(1, 0, []))
    _texts: list[str] = field(default_factory=list)
    _folders: list[str] = field(default_factory=list)

    def extend(
        self,
        log: LogFile,
        records: list[GapRecord],
        lines: Any,  # noqa: ANN401 - as the columns take them
        offsets: Iterable[int],
        unreadable: dict[int, str],
        *,
        size: int,
    ) -> None:
        first = self.block.number
        # What became a record was decoded as UTF-8, so this cannot fail.
        self._texts += [self.block.lines[number - first].decode() for number in lines]
        self._folders += [log.folder] * len(records)
        RecordColumns.extend(self, log, records, lines, offsets, unreadable, size=size)

    def taken(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame of a batch with its texts, which are forgotten."""
        texts = pl.Series(TEXT, self._texts, dtype=pl.String)
        folders = pl.Series(FOLDER, self._folders, dtype=pl.String)
        self._texts, self._folders = [], []
        return frame.with_columns(texts, folders)


class _Verbatim(Lines):
    """Sorts lines as a scan does, and keeps their text."""

    def __init__(self, tenant_id: str) -> None:
        self.frames: list[pl.DataFrame] = []
        self.bad: list[pl.DataFrame] = []
        self.texts = _Texts(tenant_id, lambda frame: self.frames.append(self.texts.taken(frame)))
        super().__init__(self.texts, RejectColumns(self.bad.append))

    def take(self, log: LogFile, block: Block, segment: Segment) -> None:
        """Sort the lines of a block."""
        self.texts.block = block
        super().take(log, block, segment)

    def found(self, logs: list[LogFile]) -> LogLines:
        """What was read of some logs."""
        self.flush()
        lines, rejects = pl.concat([LINES.to_frame(), *self.frames]), pl.concat([REJECTS.empty(), *self.bad])
        unlisted = {log.source_path for log in logs if log.problem is not None and not log.kind.source}
        paths = {log.source_path for log in logs} - unlisted
        return LogLines(lines, rejects, tuple(sorted(paths)), tuple(sorted(unlisted)))


def read_lines(root: str | Path, settings: ScanSettings | None = None) -> LogLines:
    """Read every gap log below a root, and keep the text of each line that holds a record.

    Raises:
        VocabgapError: As `scan`.
    """
    settings = settings or ScanSettings()
    reading = _Verbatim(settings.tenant)
    collector = Collector(reading, settings.max_expanded_mib * MIB)
    logs = discover(root, settings)
    for log in logs:
        collector.read(log)
    return reading.found(logs)


def text_lines(
    content: str,
    source_path: str,
    *,
    repo_slug: str,
    sources: Mapping[str, Source] | None = None,
) -> LogLines:
    """Read the content of one log that somebody hands over.

    Args:
        content: What the log holds, not compressed.
        source_path: Where it lies below its root, with forward slashes: its name says what kind of log it is.
        repo_slug: The repository.
        sources: What gap logs are called and how they are read; the shipped ones by default.
    """
    reading = _Verbatim(DEFAULT_TENANT)
    log = handed_over(source_path, repo_slug, Catalogue(shipped_sources() if sources is None else sources))
    whole, ended = Segment(ended=True), Segment(ended=False)
    for block in blocks(_chunks(content)):
        reading.take(log, block, whole if block.ended else ended)
    return reading.found([log])


def handed_over(source_path: str, repo_slug: str, catalogue: Catalogue, folder: str = "") -> LogFile:
    """A log whose lines are at hand, and which is no file here.

    Args:
        source_path: Where it lies below its root, with forward slashes.
        repo_slug: The repository: what stands for the folder of a log that lies in the root itself.
        catalogue: What gap logs are called.
        folder: The folder that holds it, where another one than the path says.
    """
    parts = [repo_slug.rpartition("/")[2], *source_path.split("/")]
    return LogFile("", repo_slug, source_path, folder or parts[-2], catalogue.kind_of_root(source_path))


def _chunks(content: str) -> Iterator[bytes]:
    # Half of a surrogate pair is no UTF-8; it stays what it is, so that its line is refused and no other.
    yield content.encode("utf-8", "surrogatepass")


# Lines that are kept elsewhere, read as if they stood in their logs: same decoding, same account.


STORED: Final = Table(
    "stored lines",
    "one line of a log that is kept elsewhere",
    (
        Column("tenant_id", pl.String, "whose line it is"),
        Column("repo_slug", pl.String, "the repository"),
        Column("root_kind", pl.String, "kind of root"),
        Column("source_path", pl.String, "log file, relative to the root, forward slashes"),
        Column("line", pl.Int64, "line in the file, counted from 1; null where it is not known"),
        Column("byte_offset", pl.Int64, "offset of its first byte; null where it is not known"),
        Column(FOLDER, pl.String, "folder that holds the log; null where the path says it"),
        Column(TEXT, pl.String, "the line without its newline"),
        Column("id", pl.String, "what tells it from others: the order of those that are on one line"),
    ),
)
"""What `scan_stored` reads."""
_LOG: Final = ("repo_slug", "source_path", "tenant_id", "root_kind", FOLDER)
_UNKNOWN: Final = -(1 << 60)  # an offset from which no line comes to 0


@dataclass(frozen=True, slots=True)
class _Stored:
    """One log: its lines by number."""

    log: LogFile
    numbers: list[int]
    offsets: list[int | None]
    lines: list[bytes]

    def blocks(self) -> Iterator[Block]:
        """Lines that follow each other, together; one over the limit alone, as logs are cut."""
        start = 0
        for at in range(1, len(self.lines) + 1):
            if at == len(self.lines) or self._is_apart(at):
                yield self._block(start, at)
                start = at

    def _is_apart(self, at: int) -> bool:
        """Whether a line cannot stand in one block with the line before it."""
        follows = self.numbers[at] == self.numbers[at - 1] + 1
        return not follows or max(map(len, self.lines[at - 1 : at + 1])) > MAX_LINE_BYTES

    def _block(self, start: int, end: int) -> Block:
        lines, offset = self.lines[start:end], self.offsets[start]
        length = len(lines[0])
        too_long = length if length > MAX_LINE_BYTES else 0
        kept = [lines[0][:MAX_LINE_BYTES]] if too_long else lines
        return Block(self.numbers[start], _UNKNOWN if offset is None else offset, kept, too_long=too_long)

    @property
    def sha256(self) -> str:
        """Digest of the lines, each with its newline."""
        return hashlib.sha256(b"".join(line + b"\n" for line in self.lines)).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of the same."""
        return sum(map(len, self.lines)) + len(self.lines)


def scan_stored(lines: pl.DataFrame, *, sources: Mapping[str, Source] | None = None) -> Scan:
    """Decode lines that are kept elsewhere.

    Args:
        lines: Table `STORED`, in any order. A line whose number is not known comes after those of its log.
        sources: What gap logs are called and how they are read: a line is read as its log's name says.

    Returns:
        What a scan of the logs would give, as far as their lines are at hand: a log's size and digest are
        those of its lines. Rows are ordered by repository, file, tenant and line.
    """
    STORED.require(lines)
    records: list[pl.DataFrame] = []
    rejects: list[pl.DataFrame] = []
    reading = Lines(RecordColumns("", records.append), RejectColumns(rejects.append))
    ledger = Ledger()
    with without_cycle_search():
        for stored in _logs(lines, Catalogue(shipped_sources() if sources is None else sources)):
            segment = Segment(ended=True)
            for block in stored.blocks():
                reading.take(stored.log, block, segment)
            ledger.account(stored.log, stored.size, stored.sha256, [segment])
        reading.flush()
    return marked(
        [_with_known_offsets(frame) for frame in records],
        _with_known_offsets(pl.concat([REJECTS.empty(), *rejects])),
        ledger.files(),
        ledger.repairs,
    )


def _logs(lines: pl.DataFrame, catalogue: Catalogue) -> Iterator[_Stored]:
    ordered = lines.sort(*_LOG, "line", "id", nulls_last=True)
    for key, rows in ordered.group_by(*_LOG, maintain_order=True):
        repo_slug, source_path, tenant_id, root_kind, folder = map(str, key)
        made = handed_over(source_path, repo_slug, catalogue, "" if key[-1] is None else folder)
        last = int(rows["line"].max() or 0)  # type: ignore[arg-type]
        unnumbered = range(last + 1, last + 1 + rows["line"].null_count())
        yield _Stored(
            LogFile(made.path, repo_slug, source_path, made.folder, made.kind, None, tenant_id, root_kind),
            [*rows["line"].drop_nulls(), *unnumbered],
            rows["byte_offset"].to_list(),
            rows[TEXT].cast(pl.Binary).to_list(),
        )


def _with_known_offsets(rows: pl.DataFrame) -> pl.DataFrame:
    offset = pl.col("byte_offset")
    return rows.with_columns(pl.when(offset >= 0).then(offset))
