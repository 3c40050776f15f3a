"""Builders of single logs, byte by byte where a test asks for it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from vocabgap.ingest import Scan, scan
from vocabgap.record import LOG_NAME


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
