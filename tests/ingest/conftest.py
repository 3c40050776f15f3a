"""Builders of single logs, byte by byte where a test asks for it, and of caches of them; what scans hold."""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from polars.testing import assert_frame_equal

from vocabgap.ingest import caching
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.records.record import LOG_NAME

NEED: Final = b'{"description":"soft reeds"}\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty root, named `shoots`."""
    root = tmp_path / "shoots"
    root.mkdir()
    return root


@pytest.fixture(scope="session")
def as_line() -> Callable[[Mapping[str, object]], bytes]:
    """Gives a record as the line that an agent would append."""

    def encode(record: Mapping[str, object]) -> bytes:
        return json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"

    return encode


@pytest.fixture
def write_log(workspace: Path, as_line: Callable[[Mapping[str, object]], bytes]) -> Callable[..., Path]:
    """Writes the log of one image: records become lines, bytes stay as they are."""

    def write(image: str, *lines: Mapping[str, object] | bytes, root: Path = workspace) -> Path:
        path = root / image / LOG_NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line if isinstance(line, bytes) else as_line(line) for line in lines))
        return path

    return write


@pytest.fixture(scope="session")
def scan_bytes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Scan]:
    """Scans some bytes as the log of the image `heron-11`."""
    path = tmp_path_factory.mktemp("bytes") / "heron-11" / LOG_NAME
    path.parent.mkdir()

    def scan_content(content: bytes) -> Scan:
        path.write_bytes(content)
        return scan(path)

    return scan_content


@pytest.fixture(scope="session")
def assert_every_line_is_accounted_for() -> Callable[[Scan, int], None]:
    """Finds whether so many lines that are not blank are each in exactly one place."""

    def count(scanned: Scan, lines: int) -> None:
        summary = scanned.summary
        assert summary.lines == lines
        assert summary.lines == summary.records + summary.duplicates + summary.superseded + summary.rejects
        verdicts = Counter(scanned.gaps["why_not"].to_list())
        assert scanned.records.height == summary.records == verdicts[None]
        assert (verdicts["duplicate"], verdicts["superseded"]) == (summary.duplicates, summary.superseded)
        assert scanned.rejects["line"].count() == summary.rejects

    return count


@pytest.fixture(scope="session")
def only_reject() -> Callable[[Scan], dict[str, object]]:
    """Gives the reject of a scan that has one."""

    def find(scanned: Scan) -> dict[str, object]:
        assert scanned.rejects.height == 1
        row: dict[str, object] = scanned.rejects.row(0, named=True)
        return row

    return find


@pytest.fixture(scope="session")
def append() -> Callable[..., None]:
    """Adds bytes to a log: a record, unless told which."""

    def add(log: Path, content: bytes = NEED) -> None:
        with log.open("ab") as file:
            file.write(content)

    return add


@pytest.fixture(scope="session")
def let_it_settle() -> Callable[[], None]:
    """Waits until the times of what was written would tell any later change."""

    def wait() -> None:
        time.sleep(caching._FINE / 1e9 + 0.01)

    return wait


@pytest.fixture(scope="session")
def content_of() -> Callable[[Path], dict[str, bytes]]:
    """Gives the files of a folder: name to content."""

    def read(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    return read


@pytest.fixture(scope="session")
def put_back() -> Callable[[Path, Mapping[str, bytes]], None]:
    """Makes a folder hold these files, and no others."""

    def write(folder: Path, content: Mapping[str, bytes]) -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        for name, written in content.items():
            (folder / name).write_bytes(written)

    return write


@pytest.fixture(scope="session")
def assert_same() -> Callable[[Scan, Scan], None]:
    """Finds whether a scan with a cache is what a scan without one is."""

    def compare(cached: Scan, fresh: Scan) -> None:
        for table in ("gaps", "rejects", "files"):
            assert_frame_equal(getattr(cached, table), getattr(fresh, table))
        assert cached.summary == fresh.summary

    return compare


@pytest.fixture(scope="session")
def same_as_fresh(assert_same: Callable[[Scan, Scan], None]) -> Callable[..., Scan]:
    """Gives a scan with a cache, once it was found to be what a scan without one is."""

    def scan_twice(
        roots: Path | list[Path],
        cache: Path,
        *,
        verify_hash: bool = False,
        **options: Any,  # noqa: ANN401
    ) -> Scan:
        cached = scan(roots, cache=cache, verify_hash=verify_hash, **options)
        assert_same(cached, scan(roots, **options))
        return cached

    return scan_twice


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The folder that a cache is kept in, once there is one."""
    return tmp_path / "kept"


@pytest.fixture
def log(
    workspace: Path,
    write_log: Callable[..., Path],
    cache: Path,
    append: Callable[..., None],
    let_it_settle: Callable[[], None],
) -> Path:
    """One of two logs that the cache knows; of this one it holds two shards."""
    write_log("fox-3", NEED, b"[1]\n")
    path = write_log("heron-11", NEED, b"{\n")
    scan(workspace, cache=cache)
    append(path, b'{"description":"warm beak"}\n[]\n{"description":"to')
    let_it_settle()
    scan(workspace, cache=cache)
    return path


@pytest.fixture
def heron(
    write_log: Callable[..., Path],
    workspace: Path,
    cache: Path,
    let_it_settle: Callable[[], None],
    same_as_fresh: Callable[..., Scan],
) -> Path:
    """One of two logs that the cache knows; its last line is torn."""
    write_log("fox-3", NEED, b"[1]\n")
    path = write_log("heron-11", NEED, b"{\n", b'{"description":"warm be')
    let_it_settle()
    assert same_as_fresh(workspace, cache).cache == CacheUse(unchanged=0, resumed=0, read=2)
    return path
