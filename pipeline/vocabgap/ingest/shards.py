"""The files of a cache: shards of rows that never change, and an index that is replaced last.

A crash at any moment leaves the old index with the shards it names. Whatever does not fit together, a byte
that is not the one that was written among it, makes the whole cache worth nothing: it is built again.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from vocabgap.files.atomic import put_in_place
from vocabgap.files.parquet import write_parquet
from vocabgap.ingest.collecting import Prefix
from vocabgap.ingest.columns import PLACES, REJECT_PLACES
from vocabgap.ingest.lines import Portion
from vocabgap.schema import RECORDS, REJECTS
from vocabgap.version import SCHEMA_VERSION, __version__

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


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """Where the rows of a portion are: a shard, and the first row in each of its two files."""

    shard: int
    records_from: int
    rejects_from: int
    portion: Portion


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
    stretches: tuple[Stretch, ...]


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
