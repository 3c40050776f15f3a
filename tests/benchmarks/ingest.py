"""What ingest costs, beside reading the same bytes and counting their newlines in the same run.

Run by `make bench`. Each measurement has a process of its own, so that memory is its own.
Seconds differ from machine to machine and from hour to hour; ratios, taken in one run, can be compared.
"""

import argparse
import json
import multiprocessing
import os
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
DECODED = 50_000
HEADINGS = (
    "corpus", "records/CPU s", "CPU s", "ratio to reading", "wall s", "peak MiB", "frame MiB",
    "to Parquet, MiB",
)  # fmt: skip
OPERATIONS = ["exposure", "toneequal", "colorbalancergb", "diffuse", "crop", "lens"]
NEEDS = ["sky mask", "softer highlights", "dust removal", "level the horizon", "grain with a size"]


class Cost(NamedTuple):
    """CPU and wall-clock seconds, peak resident memory in MiB, and what the work itself has to tell."""

    cpu: float
    wall: float
    peak: float
    told: float


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


def read_and_count(root: Path) -> float:
    """The floor: open every log, read it, count its newlines."""
    lines = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(folder, name), "rb") as log:  # noqa: PTH118, PTH123 - the fastest way there is
                lines += log.read().count(b"\n")
    return lines


def decode(root: Path) -> float:
    """The other floor: decode some lines and hash their records, nothing else; tells µs for one."""
    import msgspec  # noqa: PLC0415 - loaded in the process that is measured

    from vocabgap.records.record import GapRecord, record_ids  # noqa: PLC0415

    lines: list[bytes] = []
    for path in root.rglob(LOG):
        lines += [line for line in path.read_bytes().split(b"\n") if line.startswith(b"{")]
        if len(lines) > DECODED:
            break
    decoder = msgspec.json.Decoder(GapRecord)
    start = time.process_time()
    record_ids([decoder.decode(line) for line in lines], {})
    return (time.process_time() - start) / len(lines) * 1e6


def scan(root: Path) -> float:
    """The scan; tells the size of its frame in MiB."""
    import vocabgap  # noqa: PLC0415

    return vocabgap.scan(root).gaps.estimated_size("mb")


def scan_with_cache(root: Path) -> float:
    """The scan with a cache beside the corpus; tells how many logs were opened."""
    import vocabgap  # noqa: PLC0415

    use = vocabgap.scan(root, cache=root.with_name("cache")).cache
    assert use is not None
    return use.resumed + use.read


def scan_to_parquet(root: Path) -> float:
    """The scan that keeps no frame; tells how many lines it read."""
    import vocabgap  # noqa: PLC0415

    return vocabgap.scan_to_parquet(root, root.with_name("parquet")).lines


def append_to_some(root: Path, share: float) -> int:
    """One more record at the end of some logs."""
    rng = random.Random(1)
    logs = sorted(root.rglob(LOG))
    chosen = rng.sample(logs, max(1, round(len(logs) * share)))
    for path in chosen:
        with path.open("a", encoding="utf-8") as log:
            log.write(record(path.parent.name, rng) + "\n")
    return len(chosen)


def measured(work: Callable[[Path], float], root: Path) -> Cost:
    """What some work costs in a new process, its imports left out."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(work, root, sender))
    process.start()
    cost: Cost = receiver.recv()
    process.join()
    return cost


def _measure(
    work: Callable[[Path], float], root: Path, sender: "multiprocessing.connection.Connection"
) -> None:
    import vocabgap.ingest  # noqa: F401, PLC0415 - loading it is not what is measured

    wall, cpu = time.perf_counter(), time.process_time()
    told = work(root)
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sender.send(Cost(time.process_time() - cpu, time.perf_counter() - wall, kibibytes / 1024, told))


def main() -> None:
    """Print a table: one row a corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of files")
    scale = parser.parse_args().scale
    print(f"| {' | '.join(HEADINGS)} |\n|:--|{'--:|' * (len(HEADINGS) - 1)}")
    remarks: list[str] = []
    for files, lines in ((100_000, 10), (1_000, 1_000), (10, 100_000)):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "corpus")
            logs = max(1, round(files * scale))
            count = make_corpus(root, logs, lines)
            measured(read_and_count, root)  # so that no one pays for a cold disk
            floor, cost = measured(read_and_count, root), measured(scan, root)
            cells = (
                f"{logs:,} logs of {lines:,} lines",
                f"{count / cost.cpu:,.0f}",
                f"{cost.cpu:.2f}",
                f"{cost.cpu / floor.cpu:.1f}",
                f"{cost.wall:.2f}",
                f"{cost.peak:,.0f}",
                f"{cost.told:,.0f}",
                f"{measured(scan_to_parquet, root).peak:,.0f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)
            remarks = remarks or cache_and_floor(root, cost)
    print("", *remarks, sep="\n")


def cache_and_floor(root: Path, whole: Cost) -> list[str]:
    """What a cache saves, and what no reader could save."""
    first = measured(scan_with_cache, root)
    appended = append_to_some(root, 0.01)
    again = measured(scan_with_cache, root)
    return [
        f"Decoding a line and hashing its record, nothing else: {measured(decode, root).told:.1f} µs.",
        f"With a cache the first scan takes {first.cpu:.2f} CPU s. After one more line in {appended:,} logs",
        (
            f"the next one opens {again.told:,.0f} and takes {again.cpu:.2f},"
            f" 1/{whole.cpu / again.cpu:.1f} of a scan without."
        ),
    ]


if __name__ == "__main__":
    main()
