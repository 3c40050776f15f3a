"""What ingest costs, beside reading the same bytes and counting their newlines in the same run.

Run by `make bench`. Each measurement has a process of its own, so that memory is its own and nothing is warm.
"""

import argparse
import json
import multiprocessing
import random
import resource
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LOG = "vocabulary_gaps.jsonl"
BAD_SHARE = 0.001
OPERATIONS = ["exposure", "toneequal", "colorbalancergb", "diffuse", "crop", "lens"]
NEEDS = ["sky mask", "softer highlights", "dust removal", "level the horizon", "grain with a size"]


class Cost(NamedTuple):
    """CPU and wall-clock seconds, and peak resident memory in MiB."""

    cpu: float
    wall: float
    peak: float


def make_corpus(root: Path, files: int, lines: int) -> int:
    """Write `files` logs of `lines` lines each, one in a thousand faulty; gives the number of lines."""
    rng = random.Random(files)
    for number in range(files):
        image = f"image-{number:06d}"
        folder = root / image
        folder.mkdir(parents=True)
        with (folder / LOG).open("w", encoding="utf-8") as log:
            for _ in range(lines):
                log.write("-- resumed --\n" if rng.random() < BAD_SHARE else record(image, rng) + "\n")
    return files * lines


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


def read_and_count(root: str) -> None:
    """The floor: open every log, read it, count its newlines."""
    for path in sorted(Path(root).rglob(LOG)):
        path.read_bytes().count(b"\n")


def scan(root: str) -> None:
    """The scan, libraries loaded beforehand."""
    import vocabgap  # noqa: PLC0415 - loaded in the process that is measured

    vocabgap.scan(root)


def measured(work: Callable[[str], None], root: Path) -> Cost:
    """What some work costs in a new process, its imports left out."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(work, str(root), sender))
    process.start()
    cost: Cost = receiver.recv()
    process.join()
    return cost


def _measure(work: Callable[[str], None], root: str, sender: "multiprocessing.connection.Connection") -> None:
    import vocabgap.ingest  # noqa: F401, PLC0415 - loading it is not what is measured

    wall, cpu = time.perf_counter(), time.process_time()
    work(root)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sender.send(Cost(time.process_time() - cpu, time.perf_counter() - wall, kilobytes / 1024))


def main() -> None:
    """Print a table: one row a corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of files")
    scale = parser.parse_args().scale
    print("| corpus | records a CPU second | CPU s | reading and counting, CPU s | ratio | peak MiB |")
    print("|:--|--:|--:|--:|--:|--:|")
    for files, lines in ((20_000, 10), (200, 1_000), (4, 50_000)):
        with tempfile.TemporaryDirectory() as folder:
            count = make_corpus(Path(folder), max(1, round(files * scale)), lines)
            floor, cost = measured(read_and_count, Path(folder)), measured(scan, Path(folder))
        name = f"{round(files * scale):,} logs of {lines:,} lines"
        print(
            f"| {name} | {count / cost.cpu:,.0f} | {cost.cpu:.2f} | {floor.cpu:.2f}"
            f" | {cost.cpu / floor.cpu:.1f} | {cost.peak:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
