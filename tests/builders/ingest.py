"""Single logs, byte by byte where a test asks for it, and what scans hold of them."""

import json
import shutil
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from polars.testing import assert_frame_equal

from vocabgap.ingest import caching
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import LOG_NAME

NEED: Final = b'{"description":"soft reeds"}\n'


def as_line(record: Mapping[str, object]) -> bytes:
    """Gives a record as the line that an agent would append."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"


def write_log(root: Path, image: str, *lines: Mapping[str, object] | bytes) -> Path:
    """Writes the log of one image: records become lines, bytes stay as they are."""
    path = root / image / LOG_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line if isinstance(line, bytes) else as_line(line) for line in lines))
    return path


def scan_bytes(content: bytes) -> Scan:
    """Scans some bytes as the log of the image `heron-11`."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "heron-11", LOG_NAME)
        path.parent.mkdir()
        path.write_bytes(content)
        return scan(path)


def assert_every_line_is_accounted_for(scanned: Scan, lines: int) -> None:
    """Finds whether so many lines that are not blank are each in exactly one place."""
    summary = scanned.summary
    assert summary.lines == lines
    assert summary.lines == summary.records + summary.duplicates + summary.superseded + summary.rejects
    verdicts = Counter(scanned.gaps["why_not"].to_list())
    assert scanned.records.height == summary.records == verdicts[None]
    assert (verdicts["duplicate"], verdicts["superseded"]) == (summary.duplicates, summary.superseded)
    assert scanned.rejects["line"].count() == summary.rejects


def only_reject(scanned: Scan) -> dict[str, object]:
    """Gives the reject of a scan that has one."""
    assert scanned.rejects.height == 1
    row: dict[str, object] = scanned.rejects.row(0, named=True)
    return row


def append(log: Path, content: bytes = NEED) -> None:
    """Adds bytes to a log: a record, unless told which."""
    with log.open("ab") as file:
        file.write(content)


def let_it_settle() -> None:
    """Waits until the times of what was written would tell any later change."""
    time.sleep(caching._FINE / 1e9 + 0.01)


def content_of(folder: Path) -> dict[str, bytes]:
    """Gives the files of a folder: name to content."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put_back(folder: Path, content: Mapping[str, bytes]) -> None:
    """Makes a folder hold these files, and no others."""
    shutil.rmtree(folder)
    folder.mkdir()
    for name, written in content.items():
        (folder / name).write_bytes(written)


def assert_same(cached: Scan, fresh: Scan) -> None:
    """Finds whether a scan with a cache is what a scan without one is."""
    for table in ("gaps", "rejects", "files"):
        assert_frame_equal(getattr(cached, table), getattr(fresh, table))
    assert cached.summary == fresh.summary


def same_as_fresh(
    roots: Path | list[Path],
    cache: Path,
    *,
    verify_hash: bool = False,
    **options: Any,  # noqa: ANN401
) -> Scan:
    """Gives a scan with a cache, once it was found to be what a scan without one is."""
    cached = scan(roots, cache=cache, verify_hash=verify_hash, **options)
    assert_same(cached, scan(roots, **options))
    return cached
