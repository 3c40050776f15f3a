"""What may go wrong while a cache is saved, and what may be there in its place."""

import errno
import os
import stat
from collections.abc import Callable
from fcntl import flock
from itertools import count
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from builders.ingest import append, assert_same, content_of, let_it_settle, put_back, same_as_fresh, write_log
from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError, VocabgapError
from vocabgap.ingest import caching
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import scan

NEED: Final = b'{"description":"soft reeds"}\n'

not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root writes folders whatever their permissions")


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
    *, workspace: Path, log: Path, cache: Path, before: str, error: BaseException, raised: type[BaseException]
) -> None:
    append(log)
    if before == "damaged":
        (cache / "records-2.parquet").unlink()
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
def test_what_an_interrupted_scan_left_is_removed(workspace: Path, cache: Path) -> None:
    left = {"index.msgpack.tmp", "records-3.parquet.tmp", "rejects-77.parquet"}
    for name in left:
        (cache / name).write_bytes(b"half")
    write_log(workspace, "wren-2", NEED)

    same_as_fresh(workspace, cache)

    assert left.isdisjoint(content_of(cache))


# What may be there in its place


PLACES: Final[dict[str, Callable[[Path], object]]] = {
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "link": lambda path: path.symlink_to(path.parent.parent / "elsewhere"),
}


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("name", [caching.INDEX_NAME, caching.LOCK_NAME, "records-1.parquet"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_in_the_place_of_one_is_told(
    workspace: Path, cache: Path, name: str, place: str
) -> None:
    (cache / name).unlink()
    PLACES[place](cache / name)

    with pytest.raises(StateError, match=f"holds other files, such as '{name}'"):
        scan(workspace, cache=cache)

    assert not (cache.parent / "elsewhere").exists()


def test_files_that_are_merely_called_like_its_own_are_left_alone(workspace: Path, tmp_path: Path) -> None:
    cache = tmp_path / "tables"
    cache.mkdir()
    for name in ("index.msgpack", "records-2024.parquet", "rejects-1.parquet.tmp"):
        (cache / name).write_text("years of work")
    before = content_of(cache)

    with pytest.raises(StateError, match=r"'index\.msgpack'"):
        scan(workspace, cache=cache)

    assert content_of(cache) == before


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
    monkeypatch.setattr("fcntl.flock", failing_at(0, error, flock))

    with pytest.raises(StateError, match="cannot be used"):
        scan(workspace, cache=cache)


def test_a_run_goes_without_a_cache_that_another_run_has(*, workspace: Path, log: Path, cache: Path) -> None:
    append(log)
    before = content_of(cache)
    with caching.open_cache(cache):
        use = same_as_fresh(workspace, cache).cache

    assert use == CacheUse(0, 0, read=2, note="the cache is in use by another run")
    assert content_of(cache) == before


def test_nobody_else_may_look_into_a_new_cache(workspace: Path, cache: Path) -> None:
    scan(workspace, cache=cache)

    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_cache_below_a_root_is_not_read(workspace: Path) -> None:
    write_log(workspace, "fox-3", NEED)
    let_it_settle()

    uses = [same_as_fresh(workspace, workspace / "kept").cache for _ in range(3)]

    assert uses == [CacheUse(0, 0, read=1), CacheUse(1, 0, 0), CacheUse(1, 0, 0)]


def test_what_a_killed_run_had_begun_is_removed_though_no_log_has_changed(
    workspace: Path, log: Path, cache: Path
) -> None:
    scan(workspace, cache=cache)
    (cache / "records-9.parquet.tmp").write_bytes(b"half a")

    same_as_fresh(workspace, cache)

    assert log.exists()
    assert not list(cache.glob("*.tmp"))


def test_a_disk_that_is_full_keeps_nothing_that_was_begun(
    workspace: Path, log: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("No space left on device")

    log.write_bytes(NEED * 3)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)

    with pytest.raises(StateError):
        scan(workspace, cache=cache)

    assert not list(cache.glob("*.tmp"))
