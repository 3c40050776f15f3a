"""Incremental scans: what earlier scans decoded is kept, and only what is new is read.

A log is taken as it was when neither its size nor its times have changed. One that has changed is read from
where it ended, if its beginning still has the digest that it had, and from the start if not. What a cached
scan gives equals what a fresh one gives.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import msgspec
import polars as pl
from msgspec import structs

from vocabgap import SCHEMA_VERSION, __version__
from vocabgap.errors import InvalidInputError, StateError, expanded
from vocabgap.files.atomic import EMBEDDINGS_FOLDER, locked, put_in_place, refused
from vocabgap.files.parquet import write_parquet
from vocabgap.ingest.accounting import Ledger, Span
from vocabgap.ingest.columns import PLACES, REJECT_PLACES
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import Collector, LogRead, Prefix, Segment
from vocabgap.schema import RECORDS, REJECTS
from vocabgap.text import printable_name

# The files of a cache: shards of rows that never change, and an index that is replaced last.
#
# A crash at any moment leaves the old index with the shards it names. Whatever does not fit together,
# a byte that is not the one that was written among it, makes the whole cache worth nothing: it is
# built again.


INDEX_NAME: Final = "index.msgpack"
LOCK_NAME: Final = "lock"
# Changed whenever the same bytes of a log would be read into other rows, or the index has another form.
CACHE_VERSION: Final = f"2 {SCHEMA_VERSION} {__version__}"
OURS: Final = re.compile(r"(?:index\.msgpack|lock|(?:records|rejects)-\d+\.parquet)(?:\.tmp)?")
RECORD_SCHEMA: Final = {name: dtype for name, dtype in RECORDS.schema.items() if name not in PLACES}
REJECT_SCHEMA: Final = {name: dtype for name, dtype in REJECTS.schema.items() if name not in REJECT_PLACES}
_DIGEST_BYTES: Final = 32


class Shard(msgspec.Struct, frozen=True, array_like=True):
    """Two files of rows: `records-N.parquet` and `rejects-N.parquet`."""

    number: int
    records: int
    rejects: int
    sha256_of_records: str
    sha256_of_rejects: str


class Stored(msgspec.Struct, frozen=True, array_like=True):
    """Where the rows of a segment are: a shard, and the first row in each of its two files."""

    shard: int
    records_from: int
    rejects_from: int
    segment: Segment


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one log.

    Attributes:
        path: Where it is, as the file system spells it.
        kind: Digest of the source that it was read with.
        stamp: Device, inode, size, and the times of its last change to content and to status (ns).
        settled: Whether the stamp was old enough when it was read to tell any later change.
        bytes: Its size, expanded where it is compressed.
        sha256: Digest of those bytes.
        prefix: Its whole lines, to go on from.
        stretches: Its rows, in order.
    """

    path: bytes
    kind: str
    stamp: tuple[int, int, int, int, int]
    settled: bool
    bytes: int
    sha256: str
    prefix: Prefix
    stretches: tuple[Stored, ...]


class Index(msgspec.Struct, frozen=True, array_like=True):
    """Everything that a cache knows."""

    version: str = CACHE_VERSION
    shards: tuple[Shard, ...] = ()
    entries: tuple[Entry, ...] = ()


class DamagedError(Exception):
    """A cache that cannot be trusted."""


def read_index(folder: Path) -> Index | None:
    """The index of a cache; None where there is none yet, or one of another version.

    Raises:
        DamagedError: It is not what was written.
    """
    try:
        content = (folder / INDEX_NAME).read_bytes()
    except FileNotFoundError:
        return None
    digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        raise DamagedError("its index is damaged")
    try:
        version = msgspec.msgpack.decode(body)[0]
        if version != CACHE_VERSION:
            return None
        return msgspec.msgpack.decode(body, type=Index)
    except (msgspec.DecodeError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DamagedError("its index cannot be read") from error


def write_index(folder: Path, index: Index) -> None:
    """Replace the index; with it what the cache knows changes, at once."""
    body = msgspec.msgpack.encode(index)
    temporary = _temporary(folder / INDEX_NAME)
    temporary.write_bytes(hashlib.sha256(body).digest() + body)
    put_in_place(temporary, folder / INDEX_NAME)


def read_shard(folder: Path, shard: Shard) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of a shard.

    Raises:
        DamagedError: They are not the ones that were written.
    """
    records = _read(folder / f"records-{shard.number}.parquet", shard.sha256_of_records)
    rejects = _read(folder / f"rejects-{shard.number}.parquet", shard.sha256_of_rejects)
    whole = (
        records.schema == pl.Schema(RECORD_SCHEMA)
        and rejects.schema == pl.Schema(REJECT_SCHEMA)
        and (records.height, rejects.height) == (shard.records, shard.rejects)
    )
    if not whole:
        raise DamagedError(f"shard {shard.number} does not hold what its index says")
    return records, rejects


def write_shard(folder: Path, number: int, records: pl.DataFrame, rejects: pl.DataFrame) -> Shard:
    """Write the rows of a shard, without the columns that say where they are from."""
    written = []
    for name, frame, schema in (
        ("records", records, RECORD_SCHEMA),
        ("rejects", rejects, REJECT_SCHEMA),
    ):
        path = folder / f"{name}-{number}.parquet"
        temporary = _temporary(path)
        write_parquet(frame.select(*schema), temporary, compression_level=1)
        put_in_place(temporary, path)
        written.append(_digest(path))
    return Shard(number, records.height, rejects.height, *written)


def remove_unused(folder: Path, index: Index) -> None:
    """Remove the shards that the index does not name, and what an interrupted run left behind."""
    named = {f"{name}-{shard.number}.parquet" for shard in index.shards for name in ("records", "rejects")}
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.name not in {*named, INDEX_NAME, LOCK_NAME}:
            path.unlink()


def remove_temporary(folder: Path) -> None:
    """Remove the files that a run which failed or was killed had begun."""
    for path in folder.glob("*.tmp"):
        path.unlink(missing_ok=True)


def _read(path: Path, sha256: str) -> pl.DataFrame:
    try:
        if _digest(path) != sha256:
            raise DamagedError(f"{path.name} is damaged")
        return pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DamagedError(f"{path.name} cannot be read") from error


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _temporary(path: Path) -> Path:
    """A new file beside another one. The text of the logs is private: nobody else may ever read it."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    temporary.touch(mode=0o600)
    return temporary


# The folder of a cache: one run has it at a time, and nothing but caches is kept in it.


@contextmanager
def opened(folder: str | Path) -> Iterator[Path | None]:
    """The folder of a cache for the time of a scan; None while another run has it.

    Args:
        folder: Where it is; made if there is none.

    Raises:
        StateError: The folder holds other files, or the disk does not do what it should.
        AccessDeniedError: The system does not let it be used.
        InvalidInputError: It is no folder.
    """
    place = expanded(folder)
    lock = None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(place)
        lock = os.open(place / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        is_ours = locked(lock)
    except (FileExistsError, NotADirectoryError, ValueError) as error:
        raise InvalidInputError(f"cache '{folder}' is no folder", hint="name another one") from error
    except OSError as error:
        raise refused(place, error) from error
    else:
        yield place if is_ours else None
    finally:
        if lock is not None:
            os.close(lock)


def _require_own(place: Path) -> None:
    strange = sorted(path.name for path in place.iterdir() if not _is_own(path))
    if strange:
        raise StateError(
            f"cache '{place}' holds other files, such as '{printable_name(strange[0])}'",
            hint="name an empty folder, or one that does not exist yet",
        )


def _is_own(path: Path) -> bool:
    return bool(OURS.fullmatch(path.name)) or (path.name == EMBEDDINGS_FOLDER and path.is_dir())


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

    def start(self, stretch: Stored) -> tuple[int, int]:
        """The first row of a stretch among all records, and among all rejects, of the cache."""
        if not (stretch.segment.records or stretch.segment.rejects):
            return 0, 0  # of a segment without rows no shard need have been written
        records, rejects = self._starts[stretch.shard]
        return records + stretch.records_from, rejects + stretch.rejects_from

    def keep(self, entry: Entry) -> None:
        """A log is as it was."""
        self._kept.append(entry)

    def learn(self, log: LogFile, read: LogRead, before: tuple[int, int], kept: tuple[Stored, ...]) -> None:
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
        for segment in read.segments:
            if segment != Segment(segment.ended):
                stretches.append(Stored(self._next, records_from, rejects_from, segment))
            records_from += segment.records
            rejects_from += segment.rejects
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
    whole = Segment(ended=True)
    segments = [whole]
    for stretch in entry.stretches:
        segment = stretch.segment
        if not segment.ended:
            segments.append(segment)
            continue
        whole.records += segment.records
        whole.rejects += segment.rejects
        whole.lines += segment.lines
        whole.passed_over += segment.passed_over
        whole.repairs = dict(Counter(whole.repairs) + Counter(segment.repairs))
    stretches = []
    for segment in segments:
        stretches.append(Stored(shard, records_from, rejects_from, segment))
        records_from, rejects_from = records_from + segment.records, rejects_from + segment.rejects
    return msgspec.structs.replace(entry, stretches=tuple(stretches))


# One pass over the logs: what is known is recalled, what is not is read, and every log is accounted
# for.


@dataclass(slots=True)
class Sweep:
    """A pass over the logs.

    Attributes:
        collector: Reads them.
        cache: What earlier scans have left, if anything.
        ledger: The account.
    """

    collector: Collector
    cache: Cache | None = None
    ledger: Ledger = field(default_factory=Ledger)
    _unchanged: int = 0
    _resumed: int = 0
    _read: int = 0

    def over(self, logs: Iterable[LogFile]) -> None:
        """Read every log that is not known as it is, and hand over what has gathered."""
        for log in logs:
            known = self.cache and self.cache.recall(log, self.collector.max_expanded)
            if self.cache and known and self.cache.is_unchanged(known):
                self._recall(log, known, self.cache)
            else:
                self._look(log, known or None)
        self.collector.lines.flush()

    def use(self) -> CacheUse:
        """What the cache was good for."""
        return CacheUse(self._unchanged, self._resumed, self._read, self.cache.note if self.cache else "")

    def _recall(self, log: LogFile, known: Entry, cache: Cache) -> None:
        self._unchanged += 1
        cache.keep(known)
        self.ledger.place(log, *_spans(known.stretches, cache))
        self.ledger.account(log, known.bytes, known.sha256, [each.segment for each in known.stretches])

    def _look(self, log: LogFile, known: Entry | None) -> None:
        before = self._totals()
        read = self.collector.read(log, _prefix(log, known))
        after = self._totals()
        kept: tuple[Stored, ...] = ()
        if known and read and read.resumed:
            kept = tuple(each for each in known.stretches if each.segment.ended)
        elif known and read and read.to_the_end and read.sha256 == known.sha256:
            # Compressed, and read again only to be compared: what was decoded now is what is known.
            kept, after, read = known.stretches, before, structs.replace(read, segments=[])
        if self.cache:  # without one the rows come in order, and need not be found again
            records, rejects = _spans(kept, self.cache)
            of_records, of_rejects = self.cache.height
            records.append((of_records + before[0], after[0] - before[0]))
            rejects.append((of_rejects + before[1], after[1] - before[1]))
            self.ledger.place(log, records, rejects)
        if read is None:
            return
        self._resumed += read.resumed
        self._read += not read.resumed
        segments = (*(each.segment for each in kept), *read.segments)
        self.ledger.account(log, read.bytes, read.sha256, segments)
        if self.cache:
            self.cache.learn(log, read, before, kept)

    def _totals(self) -> tuple[int, int]:
        return self.collector.lines.records.total, self.collector.lines.rejects.total


def _prefix(log: LogFile, known: Entry | None) -> Prefix | None:
    """From where a log may be read on; one that is compressed is read whole."""
    return known.prefix if known and not log.kind.compression else None


def _spans(stretches: Iterable[Stored], cache: Cache) -> tuple[list[Span], list[Span]]:
    records, rejects = [], []
    for stretch in stretches:
        first_record, first_reject = cache.start(stretch)
        records.append((first_record, stretch.segment.records))
        rejects.append((first_reject, stretch.segment.rejects))
    return records, rejects
