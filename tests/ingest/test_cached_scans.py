"""A scan with a cache gives what a scan without one gives, and reads only what is new."""

import gzip
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from builders.ingest import append, let_it_settle, same_as_fresh
from vocabgap.ingest import caching, lines
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.reading import Block, blocks
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME
from vocabgap.model.sources import Source

IMAGES: Final = ("fox-3", "heron-11", "wren-2", ".trash")
NEED: Final = b'{"description":"soft reeds"}\n'
TORN: Final = b'{"description":"warm be'
READ_ON: Final = CacheUse(unchanged=1, resumed=1, read=0)
READ_AGAIN: Final = CacheUse(unchanged=1, resumed=0, read=1)


def overwrite(log: Path, content: bytes) -> None:
    """Other content in the same file, under the same time of change."""
    before = log.stat()
    with log.open("r+b") as file:
        file.write(content)
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_by_copy(log: Path) -> None:
    shutil.copy2(log, log.with_suffix(".copy"))
    log.with_suffix(".copy").replace(log)


def make_folder(log: Path) -> None:
    log.unlink()
    log.mkdir()


def pack(log: Path) -> None:
    log.with_name(f"{LOG_NAME}.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()


# What may happen to the log `heron`, and how much of the two logs is read then; bytes are appended.
CHANGES: Final[dict[str, tuple[bytes | Callable[[Path], object], CacheUse]]] = {
    "completed": (b'ak"}\n', READ_ON),
    "completed and torn again": (b'ak"}\n' + NEED + TORN, READ_ON),
    "longer, but still torn": (b"a", READ_ON),
    "without its torn line": (lambda log: os.truncate(log, log.read_bytes().rfind(b"\n") + 1), READ_ON),
    "with another torn line": (lambda log: log.write_bytes(NEED + b"{\n" + NEED[:-1]), READ_ON),
    "touched": (lambda log: log.touch(), READ_ON),
    "with other permissions": (lambda log: log.chmod(0o640), READ_ON),
    "replaced by a copy": (replace_by_copy, READ_ON),
    "cut in its first line": (lambda log: os.truncate(log, 9), READ_AGAIN),
    "emptied": (lambda log: os.truncate(log, 0), READ_AGAIN),
    "rewritten": (lambda log: log.write_bytes(b"{}\n" + NEED * 3), READ_AGAIN),
    "rewritten under its old time": (lambda log: overwrite(log, NEED.replace(b"r", b"w")), READ_AGAIN),
    "with a byte order mark": (lambda log: log.write_bytes(b"\xef\xbb\xbf" + NEED), READ_AGAIN),
    "packed": (pack, READ_AGAIN),
    "in another folder": (lambda log: log.parent.rename(log.parents[1] / "wren-2"), READ_AGAIN),
    "deleted": (lambda log: log.unlink(), CacheUse(1, 0, 0)),
    "a folder now": (make_folder, CacheUse(1, 0, 0)),
}
SNAPSHOT: Final = b"d4" * 32
CONTENTS: Final = [
    NEED,
    b'{"description":"old","timestamp":"2026-03-14T06:05:00Z","snapshot_hash":"' + SNAPSHOT + b'"}\n',
    b'{"description":"new","timestamp":"2026-03-15","notes":"' + SNAPSHOT + b'"}\n',
    b'{"description":"twice","description":"a","intent":"calm","satisfaction":"good"}\r\n',
    b"\xef\xbb\xbf",
    b"\n \n[1]\n\xff\n",
    TORN,
    b'ak"}\n',
]
INTENT: Final = Source(glob=LOG_NAME, fields={"intent": "description"})
OF_NEW: Final = Source(glob=(LOG_NAME, "*.copy"), where={"description": ("new", "old")})


def change_as(change: str, log: Path) -> None:
    do, _ = CHANGES[change]
    if isinstance(do, bytes):
        append(log, do)
    else:
        do(log)


class Workspace(RuleBasedStateMachine):
    """Anything may happen to the logs between two scans, and anything be asked for."""

    images = st.sampled_from(IMAGES)

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(caching, "_MOST_SHARDS", 3)
        self.patch.setattr("vocabgap.files.atomic.os.fsync", lambda _: None)
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "shoots"
        self.root.mkdir()
        self.roots = ["."]
        self.options: dict[str, Any] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)
        self.patch.undo()

    @rule(image=images, content=st.binary(max_size=9) | st.lists(st.sampled_from(CONTENTS)).map(b"".join))
    def bytes_are_added(self, image: str, content: bytes) -> None:
        (self.root / image).mkdir(exist_ok=True)
        with suppress(IsADirectoryError):
            append(self.root / image / LOG_NAME, content)

    @rule(image=images, change=st.sampled_from(sorted(CHANGES)))
    def a_log_is_changed(self, image: str, change: str) -> None:
        with suppress(OSError):  # there is none, or a folder where one would be
            change_as(change, self.root / image / LOG_NAME)

    @rule(image=images, other=images, is_link=st.booleans())
    def a_folder_is_doubled(self, image: str, other: str, is_link: bool) -> None:
        place = self.root / f"{other}-again"
        with suppress(OSError):
            place.symlink_to(self.root / image) if is_link else shutil.copytree(self.root / image, place)

    @rule()
    def time_passes(self) -> None:
        let_it_settle()

    @rule(
        roots=st.sampled_from([["."], ["heron-11"], ["fox-3", "wren-2"], [".."], [".", f"fox-3/{LOG_NAME}"]]),
        sources=st.sampled_from([None, {"own": INTENT}, {"own": OF_NEW}]),
        hidden=st.booleans(),
        verify_hash=st.booleans(),
    )
    def other_things_are_asked_for(self, roots: list[str], **options: object) -> None:
        self.roots, self.options = roots, options

    @invariant()
    def both_scans_agree(self) -> None:
        roots = [self.root / root for root in self.roots if (self.root / root).exists()]
        if roots:
            same_as_fresh(roots, self.folder / "kept", **self.options)


def test_whatever_happens_a_cached_scan_gives_what_a_fresh_one_gives() -> None:
    few = settings(max_examples=15, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(Workspace, settings=few)


@pytest.mark.parametrize("change", CHANGES)
def test_a_log_is_read_as_far_as_it_changed(
    *, workspace: Path, heron: Path, cache: Path, change: str
) -> None:
    change_as(change, heron)

    _, use = CHANGES[change]
    assert same_as_fresh(workspace, cache).cache == use


@pytest.mark.usefixtures("heron")
def test_unchanged_logs_are_not_opened(workspace: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    really = os.open

    def listed(path: str | Path, flags: int, mode: int = 0o777) -> int:
        opened.append(path)
        return really(path, flags, mode)

    monkeypatch.setattr("vocabgap.ingest.reading.os.open", listed)

    assert scan(workspace, cache=cache).cache == CacheUse(unchanged=2, resumed=0, read=0)
    assert [path for path in opened if Path(str(path)).is_relative_to(workspace)] == []


def test_a_log_is_decoded_from_its_last_newline_on(
    workspace: Path, heron: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[Block] = []

    def listed(chunks: Iterable[bytes], **start: int) -> Iterator[Block]:
        for block in blocks(chunks, **start):
            decoded.append(block)
            yield block

    monkeypatch.setattr(lines, "blocks", listed)
    append(heron, b'ak"}\n')
    scan(workspace, cache=cache)

    assert decoded == [Block(number=3, offset=len(NEED) + 2, lines=[TORN + b'ak"}'])]


def test_many_scans_leave_few_files(workspace: Path, heron: Path, cache: Path) -> None:
    most = 0
    for _ in range(caching._MOST_SHARDS + 2):
        append(heron, b'ak"}\n' + TORN)
        scan(workspace, cache=cache)
        most = max(most, len(list(cache.glob("records-*.parquet"))))

    assert most == caching._MOST_SHARDS
    assert len(list(cache.iterdir())) < most
    assert same_as_fresh(workspace, cache).summary.lines == caching._MOST_SHARDS + 7
