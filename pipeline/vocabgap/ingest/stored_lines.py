"""Lines of gap logs that are kept elsewhere, decoded and accounted for as if they stood in their logs."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl
from msgspec import structs

from vocabgap.ingest.accounting import Account
from vocabgap.ingest.columns import FOLDER, TEXT, RecordColumns, RejectColumns
from vocabgap.ingest.decoding import MAX_LINE_BYTES
from vocabgap.ingest.discovery import Catalogue, LogFile
from vocabgap.ingest.lines import LineCounts, LineDecoder, LogState
from vocabgap.ingest.reading import Block
from vocabgap.ingest.scanning import Scan, scan_of, without_cycle_search
from vocabgap.schema import REJECTS, Column, Table
from vocabgap.settings.sources import Source, shipped_sources

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
    decoder = LineDecoder(RecordColumns("", records.append), RejectColumns(rejects.append))
    account = Account()
    with without_cycle_search():
        for stored in _logs(lines, Catalogue(shipped_sources() if sources is None else sources)):
            counts = LineCounts()
            for block in stored.blocks():
                decoder.decode(stored.log, block, counts)
            account.add(stored.log, LogState(stored.size, stored.sha256, whole=counts))
        decoder.flush()
    return scan_of(
        [_with_known_offsets(frame) for frame in records],
        _with_known_offsets(pl.concat([REJECTS.empty(), *rejects])),
        account.files(),
        account.repairs,
    )


def handed_over(source_path: str, repo_slug: str, catalogue: Catalogue, folder: str = "") -> LogFile:
    """A log whose lines are at hand, and which is no file here."""
    parts = [repo_slug.rpartition("/")[2], *source_path.split("/")]
    return LogFile("", repo_slug, source_path, folder or parts[-2], catalogue.kind_of_root(source_path))


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
        shown = [lines[0][:MAX_LINE_BYTES]] if too_long else lines
        return Block(self.numbers[start], _UNKNOWN if offset is None else offset, shown, too_long=too_long)

    @property
    def sha256(self) -> str:
        """Digest of the lines, each with its newline."""
        return hashlib.sha256(b"".join(line + b"\n" for line in self.lines)).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of the same."""
        return sum(map(len, self.lines)) + len(self.lines)


def _logs(lines: pl.DataFrame, catalogue: Catalogue) -> Iterator[_Stored]:
    ordered = lines.sort(*_LOG, "line", "id", nulls_last=True)
    for key, rows in ordered.group_by(*_LOG, maintain_order=True):
        repo_slug, source_path, tenant_id, root_kind, folder = map(str, key)
        log = handed_over(source_path, repo_slug, catalogue, "" if key[-1] is None else folder)
        last = int(rows["line"].max() or 0)  # type: ignore[arg-type]
        unnumbered = range(last + 1, last + 1 + rows["line"].null_count())
        yield _Stored(
            structs.replace(log, tenant_id=tenant_id, root_kind=root_kind),
            [*rows["line"].drop_nulls(), *unnumbered],
            rows["byte_offset"].to_list(),
            rows[TEXT].cast(pl.Binary).to_list(),
        )


def _with_known_offsets(rows: pl.DataFrame) -> pl.DataFrame:
    offset = pl.col("byte_offset")
    return rows.with_columns(pl.when(offset >= 0).then(offset))
