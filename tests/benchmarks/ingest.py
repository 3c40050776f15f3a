"""What reading logs costs, beside reading the same bytes and counting lines, and beside decoding alone.

Logs of other shapes than that of a record are read beside the JSON readers of other packages.
"""

import json
import os
import random
import tempfile
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
from msgspec.structs import astuple

import vocabgap
from benchmarks.measuring import Row, cost_of
from benchmarks.wordings import CORPORA, clause, logged
from vocabgap.model.record import GapRecord, record_ids

Shape = Callable[[dict[str, Any]], dict[str, Any]]

LOG: Final = "vocabulary_gaps.jsonl"
EXPORT: Final = "posthog.jsonl"
BAD_SHARE: Final = 0.001
RECORDS: Final = {"small": 50_000, "large": 1_000_000}
READING: Final = "reading and counting lines"
LINES: Final = (10, 1_000, 100_000)  # of a log
OPERATIONS: Final = ["exposure", "toneequal", "colorbalancergb", "diffuse", "crop", "lens"]
READER: Final = vocabgap.scan  # loads it, which is not measured
SHAPED: Final = 50_000  # lines of a log of each shape
# Shares of the records of labelled gap logs with a description, a workaround and an intent.
FILLED: Final = {"description": 0.61, "workaround": 0.41, "intent": 0.38}
NEEDS: Final = [
    "sky mask",
    "softer highlights",
    "dust removal",
    "level the horizon",
    "grain with a size",
]


def write_logs(root: Path, files: int, lines: int, corpus: str) -> None:
    """So many logs of so many lines each, one line in a thousand faulty."""
    rng = random.Random(files)
    for number in range(files):
        image = f"image-{number:06d}"
        folder = root / image
        folder.mkdir(parents=True)
        with (folder / LOG).open("w", encoding="utf-8") as log:
            for _ in range(lines):
                is_bad = rng.random() < BAD_SHARE
                log.write("-- resumed --\n" if is_bad else record(image, rng, corpus) + "\n")


def record(image: str, rng: random.Random, corpus: str = "easy") -> str:
    """One record as an agent would write it, about 450 bytes; in the corpus "logs" with one key more."""
    need = rng.choice(NEEDS)
    fields: dict[str, Any] = {
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
    if corpus == "logs":
        for name, share in FILLED.items():
            fields[name] = clause(rng, 3, 11) if rng.random() < share else ""
        fields |= {"missing_capability": logged(rng), "agent": f"agent-{rng.randrange(40)}"}
    return json.dumps(fields)


def event(fields: dict[str, Any]) -> dict[str, Any]:
    """What PostHog exports for a record."""
    names = {"session_id": "session_id", "image_id": "mcp_client_name", "description": "mcp_intent"}
    properties = {f"${names[name]}" if name in names else name: fields[name] for name in fields}
    return {
        "event": "$mcp_missing_capability",
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, fields["description"])),
        "timestamp": properties.pop("timestamp"),
        "properties": {**properties, "$lib": "posthog-node"},
    }


SHAPES: Final[dict[str, Shape]] = {
    "the 13 keys": dict,
    "one key more": lambda fields: {**fields, "agent": "retoucher"},
    "one key fewer": lambda fields: {
        name: value for name, value in fields.items() if name != "notes"
    },
    "the keys reversed": lambda fields: dict(reversed(fields.items())),
    "events of PostHog": event,
}


class Lenient(GapRecord, kw_only=True, forbid_unknown_fields=False):
    """A record with any keys beside its own."""


class Properties(msgspec.Struct):
    """What is read of the properties of an event."""

    session: str | None = msgspec.field(name="$session_id", default=None)
    client: str | None = msgspec.field(name="$mcp_client_name", default=None)
    intent: str | None = msgspec.field(name="$mcp_intent", default=None)


class Event(msgspec.Struct):
    """What is read of an event."""

    event: str
    timestamp: str
    properties: Properties


def write_shape(path: Path, shape: str) -> None:
    """One log of a shape."""
    rng = random.Random(shape)
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as log:
        for _ in range(SHAPED):
            log.write(json.dumps(SHAPES[shape](json.loads(record(path.parent.name, rng)))) + "\n")


def read_with_polars(path: Path) -> None:
    """The peer that makes a frame, too."""
    pl.read_ndjson(path)


def read_with_msgspec(path: Path) -> None:
    """The peer that makes objects of one type."""
    decode = msgspec.json.Decoder(Event if path.name.startswith("posthog") else Lenient).decode
    with path.open("rb") as log:
        list(map(decode, log))


PEERS: Final = {
    "pl.read_ndjson": read_with_polars,
    "msgspec into a struct": read_with_msgspec,
}


def shaped_rows() -> Iterator[Row]:
    """A scan of a log of each shape, beside other readers of JSON; they hash nothing and count nothing."""
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            name = EXPORT if SHAPES[shape] is event else LOG
            path = Path(folder, "image-000000", name)
            cost_of(partial, write_shape, path, shape)
            cost = cost_of(partial, scan, path.parent)
            for peer, read in PEERS.items():
                beside = cost_of(partial, read, path)
                rates = [f"{SHAPED / measured.cpu:,.0f}" for measured in (cost, beside)]
                note = f"{rates[0]} records a CPU s, the peer {rates[1]}"
                yield Row("scan", f"{SHAPED:,} lines, {shape}", cost, peer, beside, note)


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
    decoder = msgspec.json.Decoder(Lenient)
    for content in _contents(root):
        records = (decoder.decode(line) for line in content.split(b"\n") if line.startswith(b"{"))
        record_ids(list(zip(*map(astuple, records), strict=True)), {})


def scan(root: Path) -> int:
    """The scan, with its lines in parts; tells the number of records."""
    return vocabgap.scan(root).summary.records


def rows(size: str) -> Iterator[Row]:
    """A scan of many short logs, of some, and of few long ones, and of one log of each shape."""
    for lines, corpus in product(LINES, CORPORA):
        lines = min(lines, RECORDS[size])  # noqa: PLW2901 - one log at least
        files = RECORDS[size] // lines
        of = f"{files:,} logs of {lines:,} lines, {corpus}"
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "corpus")
            # All that follow read the logs from memory.
            cost_of(partial, write_logs, root, files, lines, corpus)
            floor = cost_of(partial, read_and_count, root, times=5)
            decoding = cost_of(partial, decode, root)
            cost = cost_of(partial, scan, root)
            note = f"{cost.outcome / cost.cpu:,.0f} records a CPU s"
            yield Row("scan", of, cost, READING, floor, note)
            each = 1e6 * decoding.cpu / (files * lines)
            note = f"the peer {each:.1f} µs a line"
            yield Row("scan", of, cost, "decoding and hashing alone", decoding, note)
    yield from shaped_rows()
