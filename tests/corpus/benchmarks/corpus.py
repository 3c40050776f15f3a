"""What checking, hashing and pushing the chunks of a shared corpus costs, without the disk."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any, Final

from benchmarks.measuring import Row, Work, cost_of
from corpus.memory_store import MemoryStore
from vocabgap.corpus.contracts import PARSED_CHUNK, faults, keeps
from vocabgap.corpus.identity import content_hash
from vocabgap.corpus.incoming import HASH_INPUTS
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
    path, line = f"image-{number % 500}/vocabulary_gaps.jsonl", number // 500 + 1
    return {
        "schemaVersion": "1.0.0", "tenantId": "ada", "repoSlug": "lab", "rootKind": "external-source",
        "sourcePath": path, "content": json.dumps(record), "hashInputs": list(HASH_INPUTS),
        "parserId": "vocabgap-gap-log", "parserVersion": "1.0.0", "kind": "gap-record",
        "name": f"{number:064x}", "line_start": line, "line_end": line,
    }  # fmt: skip


def find_faults(chunk: dict[str, Any]) -> object:
    """Find every fault of a chunk with three."""
    return faults(PARSED_CHUNK, {**chunk, **FAULTS})


def hash_json(chunk: dict[str, Any]) -> object:
    """Compute the SHA-256 of the JSON, to compare with."""
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
    """Measure the work on each chunk, and a whole push."""
    chunks = SIZES[size]
    of, most = f"{chunks:,} chunks", chunks / GOAL
    peer = "JSON and SHA-256 alone", cost_of(of_each, hash_json, chunks)
    check = partial(keeps, PARSED_CHUNK)
    hashing = partial(content_hash, tenant_id="ada", repo_slug="lab")
    yield Row("check chunks", of, cost_of(of_each, check, chunks), *peer, limit=most)
    found = cost_of(of_each, find_faults, chunks)
    yield Row("check chunks with three faults", of, found, *peer, limit=most)
    yield Row("hash chunks", of, cost_of(of_each, hashing, chunks), *peer)
    yield Row("push chunks into memory", of, cost_of(pushed, chunks), *peer)
