"""Incremental scans: what earlier scans decoded is kept, and only what is new is read.

A log is taken as it was when neither its size nor its times have changed. One that has changed is read from
where it ended, if its beginning still has the digest that it had, and from the start if not. What a cached
scan gives equals what a fresh one gives.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import msgspec
import polars as pl

from vocabgap.files.atomic import refused
from vocabgap.ingest.collecting import LogRead
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import Portion
from vocabgap.ingest.shards import (
    DamagedError,
    Entry,
    Index,
    Shard,
    Stretch,
    read_index,
    read_shard,
    remove_temporary,
    remove_unused,
    write_index,
    write_shard,
)

Rows = tuple[pl.DataFrame, pl.DataFrame]  # records and rejects

_MOST_SHARDS: Final = 12
_COARSE: Final = 2_000_000_000  # ns; file systems that count in seconds may count in pairs of them
_FINE: Final = 50_000_000  # ns; a system's clock for files ticks every few milliseconds


@dataclass(frozen=True, slots=True)
class CacheUse:
    """What a cache was good for.

    Attributes:
        unchanged: Logs that were not opened.
        resumed: Logs of which only what was new was decoded.
        read: Logs that were read whole.
        note: What is to be said of the cache itself; empty where all was well.
    """

    unchanged: int
    resumed: int
    read: int
    note: str = ""


@dataclass(slots=True)
class Cache:
    """What earlier scans of the same roots have left.

    Attributes:
        folder: Where it is.
        verify: Whether every log is compared by its digest, whatever its size and times say.
        rows: Records and rejects of each shard, in the order of the index.
        note: What is to be said of the cache itself.
        height: Records and rejects in all shards; what is newly read comes after them.
    """

    folder: Path
    verify: bool
    rows: list[Rows] = field(default_factory=list)
    note: str = ""
    height: tuple[int, int] = (0, 0)
    _shards: tuple[Shard, ...] = ()
    _known: dict[bytes, Entry] = field(default_factory=dict)
    _kept: list[Entry] = field(default_factory=list)
    _starts: dict[int, tuple[int, int]] = field(default_factory=dict)
    _changed: bool = False
    _new_rows: bool = False

    def recall(self, log: LogFile, max_expanded: int) -> Entry | None:
        """What is known of a log, if it would be read the same way today."""
        entry = self._known.get(os.fsencode(log.path))
        if entry is None or log.problem is not None or entry.kind != _reading_of(log):
            return None
        return entry if not log.kind.compression or entry.bytes <= max_expanded else None

    def is_unchanged(self, entry: Entry) -> bool:
        """Whether a log need not even be opened."""
        if self.verify or not entry.settled:
            return False
        try:
            return stamp(os.stat(entry.path)) == entry.stamp  # noqa: PTH116 - called for every log
        except OSError:
            return False

    def start(self, stretch: Stretch) -> tuple[int, int]:
        """The first row of a stretch among all records, and among all rejects, of the cache."""
        if not (stretch.portion.records or stretch.portion.rejects):
            return 0, 0  # of a portion without rows no shard need have been written
        records, rejects = self._starts[stretch.shard]
        return records + stretch.records_from, rejects + stretch.rejects_from

    def keep(self, entry: Entry) -> None:
        """A log is as it was."""
        self._kept.append(entry)

    def learn(self, log: LogFile, read: LogRead, before: tuple[int, int], kept: tuple[Stretch, ...]) -> None:
        """A log was read.

        Args:
            log: The log.
            read: What came of it.
            before: How many records and rejects had newly been read before it.
            kept: The rows of its beginning, if reading went on after it.
        """
        if not read.to_the_end:
            return
        stretches = list(kept)
        records_from, rejects_from = before
        for portion in read.portions:
            if portion != Portion(portion.ended):
                stretches.append(Stretch(self._next, records_from, rejects_from, portion))
            records_from += portion.records
            rejects_from += portion.rejects
        entry = Entry(
            path=os.fsencode(log.path),
            kind=_reading_of(log),
            stamp=stamp(read.status),
            settled=_settled(read.status, read.opened),
            bytes=read.bytes,
            sha256=read.sha256,
            prefix=read.prefix,
            stretches=tuple(stretches),
        )
        self._kept.append(entry)
        self._new_rows |= len(stretches) > len(kept)
        self._changed |= entry != self._known.get(entry.path)

    def save(self, new: Rows, whole: Rows, logs: list[LogFile], counts: list[tuple[int, int]]) -> None:
        """Keep what this scan has learnt.

        Args:
            new: What was newly read.
            whole: The rows of the whole scan, in order.
            logs: The logs of the scan, in order.
            counts: How many records and rejects each of them gave.

        Raises:
            AccessDeniedError: The system does not allow it.
            StateError: The disk does not.
        """
        if not self._changed and len(self._kept) == len(self._known):
            return
        shards, entries = self._shards, tuple(self._kept)
        rows, live = sum(self.height) + new[0].height + new[1].height, whole[0].height + whole[1].height
        try:
            if len(shards) >= _MOST_SHARDS or rows > 2 * live:
                places = dict(zip((os.fsencode(log.path) for log in logs), _cumulated(counts), strict=True))
                entries = tuple(_moved(entry, self._next, *places[entry.path]) for entry in entries)
                shards = (write_shard(self.folder, self._next, *whole),)
            elif self._new_rows:
                shards = (*shards, write_shard(self.folder, self._next, *new))
            index = Index(shards=shards, entries=entries)
            write_index(self.folder, index)
            remove_unused(self.folder, index)
        except OSError as error:
            with suppress(OSError):
                remove_temporary(self.folder)
            raise refused(self.folder, error) from error

    def load(self) -> Self:
        """Take up what earlier scans have left; what is damaged is forgotten, and said.

        Raises:
            AccessDeniedError: The system does not let it be read.
            StateError: The disk does not.
        """
        try:
            remove_temporary(self.folder)
            index = read_index(self.folder) or Index()
            self.rows = [read_shard(self.folder, shard) for shard in index.shards]
        except DamagedError as error:
            self.note = f"the cache was built again: {error}"
            self.rows, index = [], Index()
        except OSError as error:
            raise refused(self.folder, error) from error
        self._shards = index.shards
        self._known = {entry.path: entry for entry in index.entries}
        records = rejects = 0
        for shard in index.shards:
            self._starts[shard.number] = records, rejects
            records, rejects = records + shard.records, rejects + shard.rejects
        self.height = self._starts[self._next] = records, rejects
        return self

    @property
    def _next(self) -> int:
        return max((shard.number for shard in self._shards), default=0) + 1


def stamp(status: os.stat_result) -> tuple[int, int, int, int, int]:
    """What changes when a file changes."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _reading_of(log: LogFile) -> str:
    """What decides, beside its content, what a log gives."""
    return f"{log.kind.compression} {log.kind.digest} {log.folder}"


def _settled(status: os.stat_result, moment: int) -> bool:
    """Whether a change right after a moment would have to show in the times of a file."""
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    coarse = status.st_mtime_ns % 1_000_000_000 == 0 and status.st_ctime_ns % 1_000_000_000 == 0
    return moment - latest > (_COARSE if coarse else _FINE)


def _cumulated(counts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    records = rejects = 0
    for of_records, of_rejects in counts:
        yield records, rejects
        records, rejects = records + of_records, rejects + of_rejects


def _moved(entry: Entry, shard: int, records_from: int, rejects_from: int) -> Entry:
    """The same log with its rows in one place."""
    whole = Portion(ended=True)
    portions = [whole]
    for stretch in entry.stretches:
        portion = stretch.portion
        if not portion.ended:
            portions.append(portion)
            continue
        whole.records += portion.records
        whole.rejects += portion.rejects
        whole.lines += portion.lines
        whole.passed_over += portion.passed_over
        whole.repairs = dict(Counter(whole.repairs) + Counter(portion.repairs))
    stretches = []
    for portion in portions:
        stretches.append(Stretch(shard, records_from, rejects_from, portion))
        records_from, rejects_from = records_from + portion.records, rejects_from + portion.rejects
    return msgspec.structs.replace(entry, stretches=tuple(stretches))
