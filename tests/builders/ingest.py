"""Single logs, byte by byte where a test asks for it, and what scans hold of them."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import LOG_NAME


def as_line(record: Mapping[str, object]) -> bytes:
    """Return a record as the line that an agent would append."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"


def write_log(root: Path, image: str, *lines: Mapping[str, object] | bytes) -> Path:
    """Write the log of one image: records become lines, bytes stay as they are."""
    path = root / image / LOG_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line if isinstance(line, bytes) else as_line(line) for line in lines))
    return path


def scan_bytes(content: bytes) -> Scan:
    """Scan bytes as the log of the image `heron-11`."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "heron-11", LOG_NAME)
        path.parent.mkdir()
        path.write_bytes(content)
        return scan(path)


def assert_every_line_is_accounted_for(scanned: Scan, lines: int) -> None:
    """Assert that each of the lines that are not blank is in exactly one place."""
    summary = scanned.summary
    assert summary.lines == lines
    assert (
        summary.lines == summary.records + summary.duplicates + summary.superseded + summary.rejects
    )
    verdicts = Counter(scanned.gaps["why_not"].to_list())
    assert scanned.records.height == summary.records == verdicts[None]
    assert (verdicts["duplicate"], verdicts["superseded"]) == (
        summary.duplicates,
        summary.superseded,
    )
    assert scanned.rejects["line"].count() == summary.rejects


def only_reject(scanned: Scan) -> dict[str, object]:
    """Return the only reject of a scan."""
    assert scanned.rejects.height == 1
    row: dict[str, object] = scanned.rejects.row(0, named=True)
    return row
