"""What a shared corpus costs: how many chunks a second are checked, hashed and stamped.

Run by `make bench`. Seconds differ from machine to machine and from hour to hour.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from vocabgap.corpus.contracts import PARSED_CHUNK, faults, keeps
from vocabgap.corpus.identity import content_hash
from vocabgap.corpus.push import push

CHUNKS: Final = 20_000
GOAL: Final = 20_000  # chunks a second that validation is to reach
PUSHED: Final = 10_000


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


def a_second(work: Callable[[dict[str, Any]], object], chunks: list[dict[str, Any]]) -> float:
    """How many chunks one core works through in a second."""
    started = time.process_time()
    for chunk in chunks:
        work(chunk)
    return len(chunks) / (time.process_time() - started)


def contracts() -> None:
    """What checking, hashing and pushing cost without the disk."""
    sys.path.insert(0, str(Path(__file__).parents[1]))  # where the corpus in memory is
    store = import_module("conforming.memory_store").MemoryStore()
    chunks = [a_chunk(number) for number in range(CHUNKS)]
    bad = [{**chunk, "tenantId": "Ada", "line_start": 0, "surplus": 1} for chunk in chunks]
    keeps(PARSED_CHUNK, chunks[0])  # compiles the schema
    checked = a_second(lambda chunk: keeps(PARSED_CHUNK, chunk), chunks)
    print(f"chunks/CPU s checked, valid           {checked:>12,.0f}   (goal {GOAL:,})")
    refused = a_second(lambda chunk: faults(PARSED_CHUNK, chunk), bad)
    print(f"chunks/CPU s checked, three faults    {refused:>12,.0f}   (goal {GOAL:,})")
    hashed = a_second(lambda chunk: content_hash(chunk, "ada", "lab"), chunks)
    print(f"chunks/CPU s hashed                   {hashed:>12,.0f}")
    started = time.process_time()
    result = push(store, {"files": [{"chunks": chunks[:PUSHED]}]}, tenant="ada", repo="lab")
    spent = time.process_time() - started
    print(f"CPU s for a push of {result.added:,} into memory {spent:>8.2f}")


if __name__ == "__main__":
    contracts()
