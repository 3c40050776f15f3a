"""What reading logs costs, beside reading the same bytes and counting lines, and beside decoding alone."""

import json
import os
import random
import tempfile
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import astuple

import vocabgap
from benchmarks.measuring import Row, cost_of
from vocabgap.model.record import GapRecord, record_ids

LOG: Final = "vocabulary_gaps.jsonl"
BAD_SHARE: Final = 0.001
RECORDS: Final = {"small": 50_000, "large": 1_000_000}
READING: Final = "reading and counting lines"
LINES: Final = (10, 1_000, 100_000)  # of a log
OPERATIONS: Final = ["exposure", "toneequal", "colorbalancergb", "diffuse", "crop", "lens"]
READER: Final = vocabgap.scan  # loads it, which is not measured
NEEDS: Final = ["sky mask", "softer highlights", "dust removal", "level the horizon", "grain with a size"]


def write_logs(root: Path, files: int, lines: int) -> None:
    """So many logs of so many lines each, one line in a thousand faulty."""
    rng = random.Random(files)
    for number in range(files):
        image = f"image-{number:06d}"
        folder = root / image
        folder.mkdir(parents=True)
        with (folder / LOG).open("w", encoding="utf-8") as log:
            for _ in range(lines):
                log.write("-- resumed --\n" if rng.random() < BAD_SHARE else record(image, rng) + "\n")


def record(image: str, rng: random.Random) -> str:
    """One record as an agent would write it, about 450 bytes."""
    need = rng.choice(NEEDS)
    return json.dumps(
        {
            "timestamp": f"2026-{rng.randrange(1, 7):02d}-{rng.randrange(1, 29):02d}T10:00:00+00:00",
            "image_id": image,
            "session_id": str(uuid.UUID(int=rng.getrandbits(128))),
            "snapshot_hash": f"{rng.getrandbits(256):064x}",
            "description": f"wanted a way to do this: {need}, number {rng.random()}",
            "workaround": "used the closest entry and went on",
            "intent": f"please, {need}",
            "intent_category": "tone",
            "missing_capability": need,
            "operations_involved": rng.sample(OPERATIONS, rng.randrange(3)),
            "vocabulary_used": [],
            "satisfaction": rng.choice([-1, 0, 1, None]),
            "notes": "",
        }
    )


def _contents(root: Path) -> Iterator[bytes]:
    for folder, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(folder, name), "rb") as log:  # noqa: PTH118, PTH123 - the fastest way there is
                yield log.read()


def read_and_count(root: Path) -> int:
    """The floor: open every log, read it, count its newlines."""
    return sum(content.count(b"\n") for content in _contents(root))


def decode(root: Path) -> None:
    """The other floor: read every log, decode its lines, hash the records, nothing else."""
    decoder = msgspec.json.Decoder(GapRecord)
    for content in _contents(root):
        records = (decoder.decode(line) for line in content.split(b"\n") if line.startswith(b"{"))
        record_ids(list(zip(*map(astuple, records), strict=True)), {})


def scan(root: Path) -> float:
    """The scan; tells the size of its frame in MiB."""
    return vocabgap.scan(root).gaps.estimated_size("mb")


def rows(size: str) -> Iterator[Row]:
    """A scan of many short logs, of some, and of few long ones."""
    for lines in LINES:
        lines = min(lines, RECORDS[size])  # noqa: PLW2901 - one log at least
        files = RECORDS[size] // lines
        of = f"{files:,} logs of {lines:,} lines"
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "corpus")
            cost_of(partial, write_logs, root, files, lines)  # read from memory by all that follow
            floor, decoding = cost_of(partial, read_and_count, root, times=5), cost_of(partial, decode, root)
            cost = cost_of(partial, scan, root)
            note = f"{files * lines / cost.cpu:,.0f} records a CPU s; frame {cost.told:,.0f} MiB"
            yield Row("scan", of, cost, READING, floor, note)
            each = 1e6 * decoding.cpu / (files * lines)
            yield Row(
                "scan", of, cost, "decoding and hashing alone", decoding, f"the peer {each:.1f} µs a line"
            )
