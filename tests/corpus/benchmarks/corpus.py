"""What checking, hashing and pushing the chunks of a shared corpus costs, without the disk."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final

from benchmarks.measuring import Row, Work, cost_of
from corpus.memory_store import MemoryStore
from vocabgap.corpus.contracts import PARSED_CHUNK, faults, keeps
from vocabgap.corpus.identity import content_hash
from vocabgap.corpus.push import push

SIZES: Final = {"small": 5_000, "large": 20_000}  # chunks
GOAL: Final = 20_000  # chunks a second that validation is to reach
FAULTS: Final = {"tenantId": "Ada", "line_start": 0, "surplus": 1}


def a_chunk(number: int) -> dict[str, Any]:
    """A line of a gap log as it is pushed, about 500 bytes."""
    record = {
        "timestamp": "2026-04-01T10:00:00+00:00",
        "image_id": f"image-{number % 500}",
        "description": f"wanted a way to keep the sky apart from the roofs, number {number}",
        "workaround": "used the closest entry and went on",
        "missing_capability": "sky mask",
    }
    return {
        "schemaVersion": "1.0.0",
        "tenantId": "ada",
        "repoSlug": "lab",
        "rootKind": "external-source",
        "sourcePath": f"image-{number % 500}/vocabulary_gaps.jsonl",
        "content": json.dumps(record),
        "hashInputs": ["kind", "name", "content", "sourcePath", "parserId", "parserVersion"],
        "parserId": "vocabgap-gap-log",
        "parserVersion": "1.0.0",
        "kind": "gap-record",
        "name": f"{number:064x}",
        "line_start": number // 500 + 1,
        "line_end": number // 500 + 1,
    }


def check(chunk: dict[str, Any]) -> object:
    """Whether it keeps the contract."""
    return keeps(PARSED_CHUNK, chunk)


def find_faults(chunk: dict[str, Any]) -> object:
    """Every fault of one with three."""
    return faults(PARSED_CHUNK, {**chunk, **FAULTS})


def hash_content(chunk: dict[str, Any]) -> object:
    """Its content hash."""
    return content_hash(chunk, "ada", "lab")


def hash_json(chunk: dict[str, Any]) -> object:
    """The peer: SHA-256 of its JSON."""
    return sha256(json.dumps(chunk).encode()).digest()


def of_each(work: Callable[[dict[str, Any]], object], chunks: int) -> Work:
    """Does it with so many chunks; the first time, which compiles the schema, is not measured."""
    made = [a_chunk(number) for number in range(chunks)]
    work(made[0])
    return lambda: [work(chunk) for chunk in made]


def pushed(chunks: int) -> Work:
    """A push into an empty corpus in memory."""
    made = [a_chunk(number) for number in range(chunks)]
    return lambda: push(MemoryStore(), {"files": [{"chunks": made}]}, tenant="ada", repo="lab")


def rows(size: str) -> Iterator[Row]:
    """What is done with each chunk, and a whole push."""
    chunks = SIZES[size]
    of = f"{chunks:,} chunks"
    peer = "JSON and SHA-256 alone", cost_of(of_each, hash_json, chunks)
    most = chunks / GOAL
    yield Row("check chunks", of, cost_of(of_each, check, chunks), *peer, limit=most)
    yield Row(
        "check chunks with three faults",
        of,
        cost_of(of_each, find_faults, chunks),
        *peer,
        limit=most,
    )
    yield Row("hash chunks", of, cost_of(of_each, hash_content, chunks), *peer)
    yield Row("push chunks into memory", of, cost_of(pushed, chunks), *peer)
