"""What a cache must not trust: a scan never gives anything else for it."""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from builders.ingest import append, assert_same, content_of, let_it_settle, put_back, same_as_fresh, write_log
from vocabgap.ingest import caching
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import scan

NEED: Final = b'{"description":"soft reeds"}\n'
UNCHANGED: Final = CacheUse(unchanged=2, resumed=0, read=0)
FILES: Final = [f"{name}-{number}.parquet" for name in ("records", "rejects") for number in (1, 2)]


# What may not be what it seems


@pytest.mark.parametrize("takes_long", [False, True])
def test_a_log_that_was_young_when_it_was_opened_is_compared_next_time(
    *, workspace: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, takes_long: bool
) -> None:
    monkeypatch.setattr(caching, "_FINE", 200_000_000)
    really = os.read

    def slowly(descriptor: int, length: int) -> bytes:
        let_it_settle()
        return really(descriptor, length)

    with monkeypatch.context() as patch:
        if takes_long:
            patch.setattr("vocabgap.ingest.reading.os.read", slowly)
        write_log(workspace, "fox-3", NEED)
        scan(workspace, cache=cache)

    assert same_as_fresh(workspace, cache).cache == CacheUse(unchanged=0, resumed=1, read=0)


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

    assert same_as_fresh(workspace, cache, verify_hash=True).cache == CacheUse(unchanged=0, resumed=1, read=1)


def test_a_log_that_grew_while_it_was_read_is_read_again(workspace: Path, log: Path, cache: Path) -> None:
    append(log)
    really = os.fstat

    def too_early(descriptor: int) -> os.stat_result:
        status = really(descriptor)
        append(log)
        return status

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vocabgap.ingest.reading.os.fstat", too_early)
        assert scan(workspace, cache=cache).summary.reasons["changed_while_read"] == 1

    assert same_as_fresh(workspace, cache).cache == CacheUse(unchanged=1, resumed=0, read=1)


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
@pytest.mark.parametrize("name", [caching.INDEX_NAME, *FILES])
def test_a_byte_that_is_another_is_found(*, workspace: Path, cache: Path, name: str) -> None:
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
    "longer": lambda path: path.write_bytes(path.read_bytes() + NEED),
    "of another shard": lambda path: shutil.copy(path.with_name(FILES[FILES.index(path.name) ^ 1]), path),
    "of another table": lambda path: shutil.copy(path.with_name(FILES[FILES.index(path.name) ^ 2]), path),
}


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_cache_is_built_again(workspace: Path, cache: Path, name: str, damage: str) -> None:
    DAMAGES[damage](cache / name)

    use = same_as_fresh(workspace, cache).cache

    assert use is not None
    assert (use.read, use.note.partition(":")[0]) == (2, "the cache was built again")
    assert same_as_fresh(workspace, cache).cache == UNCHANGED


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
@pytest.mark.parametrize("is_ours", [False, True])
@pytest.mark.parametrize("body", [*BODIES, b"\x91" * 9_999], ids=lambda body: body[:4].hex() or "nothing")
def test_an_index_with_a_right_digest_and_no_sense_is_built_again(
    workspace: Path, cache: Path, body: bytes, is_ours: bool
) -> None:
    body = caching._VERSION * is_ours + body
    (cache / caching.INDEX_NAME).write_bytes(hashlib.sha256(body).digest() + body)

    use = same_as_fresh(workspace, cache).cache

    assert use is not None
    assert use.read == 2


@pytest.mark.usefixtures("log")
def test_an_index_of_another_version_is_as_none(workspace: Path, cache: Path) -> None:
    body = b"vocabgap cache 2" + (cache / caching.INDEX_NAME).read_bytes()
    (cache / caching.INDEX_NAME).write_bytes(hashlib.sha256(body).digest() + body)

    assert same_as_fresh(workspace, cache).cache == CacheUse(unchanged=0, resumed=0, read=2)
