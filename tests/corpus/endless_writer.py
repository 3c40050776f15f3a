"""Changes a corpus until it is killed. Every version holds the rows of one step, and says which that is."""

import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import polars as pl

from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import CHUNKS

ROWS = 60
HALF = 30


def rows(step: int, first: int, last: int) -> pl.DataFrame:
    given = [
        {"id": f"{step}-{number}", "tenant_id": "ada", "repo_slug": "lab", "name": str(step), "line": number,
         "source_path": f"{number % 7}.jsonl", "content": f"step {step} " * 50}
        for number in range(first, last)
    ]  # fmt: skip
    return pl.DataFrame(given, schema=CHUNKS.schema)


def step_on(change: Change) -> None:
    step = change.configure("ada")
    change.add(rows(step, 0, HALF))
    change.delete(pl.col("name") == str(step - 1))
    change.add(rows(step, HALF, ROWS + HALF))
    change.delete((pl.col("name") == str(step)) & (pl.col("line") >= ROWS))
    change.keep_paths("ada", "lab", [str(step)], datetime(2026, 1, 1, tzinfo=UTC))


if __name__ == "__main__":
    store = Store(Path(sys.argv[1]))
    for number in count():
        with store.changing("step on") as change:
            step_on(change)
        store.compact()
        if number == 0:
            print("writing", flush=True)
