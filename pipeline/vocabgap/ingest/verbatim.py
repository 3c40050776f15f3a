"""The readable lines of gap logs as they stand there, each with the record that a scan makes of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.ingest.arguments import check_arguments
from vocabgap.ingest.catalogue import Catalogue
from vocabgap.ingest.collecting import Collector
from vocabgap.ingest.columns import RecordColumns, RejectColumns
from vocabgap.ingest.discovery import LogFile, discover
from vocabgap.ingest.framing import Block, blocks
from vocabgap.ingest.lines import Lines, Portion
from vocabgap.ingest.reading import MIB
from vocabgap.records.record import GapRecord
from vocabgap.schema import RECORDS, REJECTS
from vocabgap.settings.model import DEFAULT_MAX_EXPANDED_MIB, DEFAULT_TENANT
from vocabgap.settings.sources import Source, checked_sources, shipped_sources

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

    def take(self, log: LogFile, block: Block, portion: Portion) -> None:
        """Sort the lines of a block."""
        self.texts.block = block
        super().take(log, block, portion)

    def found(self, logs: list[LogFile]) -> LogLines:
        """What was read of some logs."""
        self.flush()
        lines, rejects = pl.concat([LINES.to_frame(), *self.frames]), pl.concat([REJECTS.empty(), *self.bad])
        unlisted = {log.source_path for log in logs if log.problem is not None and not log.kind.source}
        paths = {log.source_path for log in logs} - unlisted
        return LogLines(lines, rejects, tuple(sorted(paths)), tuple(sorted(unlisted)))


def read_lines(
    root: str | Path,
    *,
    tenant_id: str = DEFAULT_TENANT,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool = False,
    max_expanded_mib: int = DEFAULT_MAX_EXPANDED_MIB,
) -> LogLines:
    """Read every gap log below a root, and keep the text of each line that holds a record.

    Args:
        root: As `scan` takes it, like everything else.
        tenant_id: Whose records these are.
        sources: What gap logs are called and how they are read.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.

    Raises:
        VocabgapError: As `scan`.
    """
    check_arguments(tenant_id=tenant_id, hidden=hidden, max_expanded_mib=max_expanded_mib)
    reading = _Verbatim(tenant_id)
    collector = Collector(reading, max_expanded_mib * MIB)
    logs = discover(root, sources=sources, hidden=hidden)
    for log in logs:
        collector.read(log)
    return reading.found(logs)


def text_lines(
    content: str,
    source_path: str,
    *,
    repo_slug: str,
    tenant_id: str = DEFAULT_TENANT,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
) -> LogLines:
    """The same for the content of one log that somebody hands over.

    Args:
        content: What the log holds, not compressed.
        source_path: Where it lies below its root, with forward slashes: its name says what kind of log it is.
        repo_slug: The repository.
        tenant_id: Whose records these are.
        sources: What gap logs are called and how they are read.
    """
    reading = _Verbatim(tenant_id)
    log = handed_over(source_path, repo_slug, Catalogue(in_force(sources)))
    whole, ended = Portion(ended=True), Portion(ended=False)
    for block in blocks(_chunks(content)):
        reading.take(log, block, whole if block.ended else ended)
    return reading.found([log])


def in_force(sources: Mapping[str, Source | Mapping[str, Any]] | None) -> Mapping[str, Source]:
    """The kinds of logs that are known: those that are given, else the shipped ones."""
    return shipped_sources() if sources is None else checked_sources(sources)


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
