"""What a cache must not trust, and what may happen to it: a scan never gives anything else for it."""

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable
from fcntl import flock
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError, VocabgapError
from vocabgap.ingest import CacheUse, Scan, caching, scan, shards

WriteLog = Callable[..., Path]

NEED: Final = b'{"description":"soft reeds"}\n'
OTHER: Final = b'{"description":"dark reeds"}\n'
UNCHANGED: Final = CacheUse(unchanged=2, resumed=0, read=0)
FILES: Final = [f"{name}-{number}.parquet" for name in ("records", "rejects") for number in (1, 2)]

not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root writes folders whatever their permissions")


def same_as_fresh(root: Path, cache: Path, **options: Any) -> CacheUse | None:  # noqa: ANN401
    """What a cache was good for, once the scan was found to be what it is without one."""
    cached, fresh = scan(root, cache=cache, **options), scan(root)
    assert_same(cached, fresh)
    return cached.cache


def assert_same(cached: Scan, fresh: Scan) -> None:
    for table in ("gaps", "rejects", "files"):
        assert_frame_equal(getattr(cached, table), getattr(fresh, table))
    assert cached.summary == fresh.summary


def let_it_settle() -> None:
    """Wait until the times of what was written would tell any later change."""
    time.sleep(caching._FINE / 1e9 + 0.01)


def append(log: Path, content: bytes = NEED) -> None:
    with log.open("ab") as file:
        file.write(content)


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put_back(folder: Path, content: dict[str, bytes]) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    for name, written in content.items():
        (folder / name).write_bytes(written)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def log(workspace: Path, write_log: WriteLog, cache: Path) -> Path:
    """One of two logs that the cache knows; of this one it holds two shards."""
    write_log("fox-3", NEED, b"[1]\n")
    path = write_log("heron-11", NEED, b"{\n")
    scan(workspace, cache=cache)
    append(path, b'{"description":"warm beak"}\n[]\n{"description":"to')
    let_it_settle()
    scan(workspace, cache=cache)
    return path


# What may not be what it seems


@pytest.mark.parametrize("takes_long", [False, True])
def test_a_log_that_was_young_when_it_was_opened_is_compared_next_time(
    workspace: Path, write_log: WriteLog, cache: Path, monkeypatch: pytest.MonkeyPatch, takes_long: bool
) -> None:
    monkeypatch.setattr(caching, "_FINE", 200_000_000)
    really = os.read

    def slowly(descriptor: int, length: int) -> bytes:
        let_it_settle()
        return really(descriptor, length)

    with monkeypatch.context() as patch:
        if takes_long:
            patch.setattr("vocabgap.ingest.reading.os.read", slowly)
        write_log("fox-3", NEED)
        scan(workspace, cache=cache)

    assert same_as_fresh(workspace, cache) == CacheUse(unchanged=0, resumed=1, read=0)


def test_verify_hash_finds_a_rewrite_that_no_time_tells(
    workspace: Path, log: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where a file system keeps no time of the last change to a file's status.
    monkeypatch.setattr(caching, "stamp", lambda status: (0, 0, status.st_size, status.st_mtime_ns, 0))
    scan(workspace, cache=cache)
    times = log.stat()
    log.write_bytes(log.read_bytes().replace(b"soft", b"dark"))
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert scan(workspace, cache=cache).cache == UNCHANGED

    assert same_as_fresh(workspace, cache, verify_hash=True) == CacheUse(unchanged=0, resumed=1, read=1)


def test_a_log_that_grew_while_it_was_read_is_read_again(
    workspace: Path, log: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log)
    really = os.fstat

    def too_early(descriptor: int) -> os.stat_result:
        status = really(descriptor)
        append(log)
        return status

    with monkeypatch.context() as patch:
        patch.setattr("vocabgap.ingest.reading.os.fstat", too_early)
        assert scan(workspace, cache=cache).summary.reasons["changed_while_read"] == 1

    assert same_as_fresh(workspace, cache) == CacheUse(unchanged=1, resumed=0, read=1)


def test_a_beginning_that_cannot_be_read_is_told_as_without_a_cache(
    workspace: Path, log: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log)

    def fail(*_: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr("vocabgap.ingest.reading.os.read", fail)
        scanned, fresh = scan(workspace, cache=cache), scan(workspace)

    assert scanned.summary.reasons["unreadable_file"] >= 1
    assert scanned.summary.reasons["unreadable_file"] <= fresh.summary.reasons["unreadable_file"]


# What may be damaged


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("name", [shards.INDEX_NAME, *FILES])
def test_a_byte_that_is_another_is_found(workspace: Path, cache: Path, name: str) -> None:
    fresh, kept = scan(workspace), content_of(cache)
    for spot in range(0, len(kept[name]), len(kept[name]) // 12):
        damaged = bytearray(kept[name])
        damaged[spot] ^= 0x10
        put_back(cache, {**kept, name: bytes(damaged)})

        scanned = scan(workspace, cache=cache)

        assert_same(scanned, fresh)
        assert scanned.cache is not None
        assert (scanned.cache.read, scanned.cache.note.partition(":")[0]) == (2, "the cache was built again")


DAMAGES: Final[dict[str, Callable[[Path], object]]] = {
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: os.truncate(path, 0),
    "cut off": lambda path: os.truncate(path, path.stat().st_size - 1),
    "longer": append,
    "of another shard": lambda path: shutil.copy(path.with_name(FILES[FILES.index(path.name) ^ 1]), path),
    "of another table": lambda path: shutil.copy(path.with_name(FILES[FILES.index(path.name) ^ 2]), path),
}


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_cache_is_built_again(workspace: Path, cache: Path, name: str, damage: str) -> None:
    DAMAGES[damage](cache / name)

    use = same_as_fresh(workspace, cache)

    assert use is not None
    assert (use.read, use.note.partition(":")[0]) == (2, "the cache was built again")
    assert same_as_fresh(workspace, cache) == UNCHANGED


# Bytes that no version has written, of which the digest is right all the same.
BODIES: Final = [
    b"",
    b"\x80",
    b"\x81\x00\xa1x",
    b"\xa0",
    b"\xc0",
    b"\xc1",
    b"\x90",
    b"\x91\x01",
    b"\x91\xa1\xff",
]


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("body", [*BODIES, b"\x91" * 9_999], ids=lambda body: body[:4].hex() or "nothing")
def test_an_index_with_a_right_digest_and_no_sense_is_built_again(
    workspace: Path, cache: Path, body: bytes
) -> None:
    (cache / shards.INDEX_NAME).write_bytes(hashlib.sha256(body).digest() + body)

    use = same_as_fresh(workspace, cache)

    assert use is not None
    assert use.read == 2


@pytest.mark.usefixtures("log")
def test_an_index_of_another_version_is_as_none(workspace: Path, cache: Path) -> None:
    index = shards.read_index(cache)
    assert index is not None
    shards.write_index(cache, msgspec.structs.replace(index, version=f"{shards.CACHE_VERSION}.1"))

    assert same_as_fresh(workspace, cache) == CacheUse(unchanged=0, resumed=0, read=2)


# What may go wrong while it is saved


class KilledError(BaseException):
    """Nothing runs after it but what lets go of a file."""


def failing_at(moment: int, error: BaseException, really: Callable[..., Any]) -> Callable[..., Any]:
    """A function that fails when it is called for the so many-th time, counted from 0."""
    calls = count()

    def call(*arguments: object, **named: object) -> object:
        if next(calls) == moment:
            raise error
        return really(*arguments, **named)

    return call


SAVING: Final[list[tuple[Any, str]]] = [
    (os, "fsync"),
    (Path, "replace"),
    (Path, "write_bytes"),
    (pl.DataFrame, "write_parquet"),
    (Path, "unlink"),
]
FAULTS: Final = [
    (KilledError(), KilledError),
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), StateError),
    (PermissionError(errno.EACCES, os.strerror(errno.EACCES)), AccessDeniedError),
]


@pytest.mark.parametrize("before", ["appended", "many shards", "damaged"])
@pytest.mark.parametrize(("error", "raised"), FAULTS, ids=["killed", "full disk", "refused"])
def test_a_scan_that_fails_to_save_leaves_a_cache_that_holds(
    workspace: Path, log: Path, before: str, error: BaseException, raised: type[BaseException]
) -> None:
    cache = workspace.with_name("kept")
    append(log)
    if before == "damaged":
        (cache / FILES[1]).unlink()
    fresh, kept = scan(workspace), content_of(cache)
    failures = 0
    for owner, name in SAVING:
        for moment in count():
            put_back(cache, kept)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(caching, "_MOST_SHARDS", 2 if before == "many shards" else 12)
                patch.setattr(owner, name, failing_at(moment, error, getattr(owner, name)))
                try:
                    scan(workspace, cache=cache)
                except raised:
                    failures += 1
                else:
                    break

            scanned = scan(workspace, cache=cache)

            assert_same(scanned, fresh)
            assert scanned.cache is not None
            assert bool(scanned.cache.note) <= (before == "damaged")
    assert failures >= 12


@pytest.mark.usefixtures("log")
def test_what_an_interrupted_scan_left_is_removed(workspace: Path, write_log: WriteLog, cache: Path) -> None:
    left = {"index.msgpack.tmp", "records-3.parquet.tmp", "rejects-77.parquet"}
    for name in left:
        (cache / name).write_bytes(b"half")
    write_log("wren-2", NEED)

    same_as_fresh(workspace, cache)

    assert left.isdisjoint(content_of(cache))


# What may be there in its place


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("name", [shards.INDEX_NAME, shards.LOCK_NAME])
def test_a_folder_in_the_place_of_a_file_is_told(workspace: Path, cache: Path, name: str) -> None:
    (cache / name).unlink()
    (cache / name).mkdir()

    with pytest.raises(StateError, match="cannot be used"):
        scan(workspace, cache=cache)


@pytest.mark.usefixtures("log")
def test_a_folder_that_holds_other_files_is_left_alone(workspace: Path, cache: Path) -> None:
    (cache / "thesis.txt").write_text("years of work")
    before = content_of(cache)

    with pytest.raises(StateError, match=r"'thesis\.txt'"):
        scan(workspace, cache=cache)

    assert content_of(cache) == before


def test_a_file_is_no_cache(workspace: Path, cache: Path) -> None:
    cache.write_bytes(b"")

    with pytest.raises(InvalidInputError, match="is no folder"):
        scan(workspace, cache=cache)


@pytest.mark.parametrize("cache", ["~no-such-person-here/kept", "kept\0"])
def test_what_cannot_be_a_path_is_told(workspace: Path, cache: str) -> None:
    with pytest.raises(VocabgapError):
        scan(workspace, cache=cache)


@not_as_root
def test_a_cache_that_may_not_be_written_is_told(workspace: Path, log: Path, cache: Path) -> None:
    append(log)
    cache.chmod(0o500)

    with pytest.raises(AccessDeniedError, match="cannot be used"):
        scan(workspace, cache=cache)


@pytest.mark.usefixtures("log")
def test_a_cache_that_cannot_be_locked_is_told(
    workspace: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    monkeypatch.setattr("vocabgap.ingest.caching.fcntl.flock", failing_at(0, error, flock))

    with pytest.raises(StateError, match="cannot be used"):
        scan(workspace, cache=cache)


def test_a_run_goes_without_a_cache_that_another_run_has(workspace: Path, log: Path, cache: Path) -> None:
    append(log)
    before = content_of(cache)
    with caching.opened(cache):
        use = same_as_fresh(workspace, cache)

    assert use == CacheUse(0, 0, read=2, note="the cache is in use by another run")
    assert content_of(cache) == before


def test_nobody_else_may_look_into_a_new_cache(workspace: Path, cache: Path) -> None:
    scan(workspace, cache=cache)

    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_cache_below_a_root_is_not_read(workspace: Path, write_log: WriteLog) -> None:
    write_log("fox-3", NEED)
    let_it_settle()

    uses = [same_as_fresh(workspace, workspace / "kept") for _ in range(3)]

    assert uses == [CacheUse(0, 0, read=1), CacheUse(1, 0, 0), CacheUse(1, 0, 0)]
