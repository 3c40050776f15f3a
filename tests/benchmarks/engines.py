"""What an engine costs beside none: the same report on generated logs, here and on Sail, in turn.

Run by `make bench`; `--size large` takes 300,000 records with 200,000 wordings in 3,000 logs. Each has a
process of its own, so that memory is its own, and both have to be equal. Sail has the same processor and no
other, so that all it can do is cost more. `--remote` names a server of Spark that is measured, too.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from vocabgap.text import surface

if TYPE_CHECKING:
    from benchmarks.ingest import LOG, record
    from benchmarks.wordings import draw
else:
    from wordings import draw

    from ingest import LOG, record

HEADINGS: Final = (
    "records", "wordings", "logs", "engine", "wall s", "CPU s", "peak MiB", "wall", "ingest s", "cluster s",
)  # fmt: skip
SIZES: Final = {
    "small": (60_000, 40_000, 600),
    "large": (300_000, 200_000, 3_000),
    "huge": (10_000_000, 1_000_000, 10_000),
}
SAMPLES: Final = 1_000  # different records, but for what they need and where they were


class Cost(NamedTuple):
    """Seconds and MiB of a whole process, and the seconds of its first stages."""

    wall: float
    cpu: float
    peak: float
    ingest: float
    cluster: float


def write_logs(root: Path, records: int, wordings: int, logs: int) -> None:
    """Logs of as many records each; every wording is in one of them at least."""
    rng = random.Random(records)
    corpus = draw(wordings, wordings // 100, form=surface)
    needs = [*corpus.texts, *rng.choices(corpus.texts, corpus.mentions, k=records - wordings)]
    rng.shuffle(needs)
    samples = [json.loads(record("IMAGE", rng)) for _ in range(SAMPLES)]
    for sample in samples:
        sample.update(missing_capability="NEED", session_id="SESSION", snapshot_hash="SNAPSHOT")
    lines = [json.dumps(sample) for sample in samples]
    for number in range(logs):
        image = root / f"image-{number:06d}"
        image.mkdir(parents=True)
        with (image / LOG).open("w", encoding="utf-8") as log:
            if number % 10 == 0:
                log.write("-- resumed --\n")
            for need in needs[number::logs]:
                line = rng.choice(lines).replace("IMAGE", image.name).replace("NEED", need)
                line = line.replace("SESSION", f"{rng.getrandbits(128):032x}")
                log.write(line.replace("SNAPSHOT", f"{rng.getrandbits(256):064x}") + "\n")


def cost(root: Path, out: Path, *options: str) -> Cost:
    """What a report costs, as the system accounts for its process."""
    words = ("-m", "vocabgap", "report", str(root), "--out", str(out), "--now", "last", "--embedder", "none")
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words, "--quiet", *options])
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if status:
        raise SystemExit(f"the report ended with {os.waitstatus_to_exitcode(status)}")
    timings = json.loads((out / "run.json").read_bytes())["timings"]
    stages = {each["stage"]: each["seconds"] for each in timings}
    cpu = used.ru_utime + used.ru_stime
    return Cost(wall, cpu, used.ru_maxrss / 1024, stages["ingest"], stages["cluster"])


def main() -> None:
    """Print a table: one row an engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--remote")
    asked = parser.parse_args()
    engines: dict[str, tuple[str, ...]] = {"none": (), "sail": ("--engine", "spark")}
    if asked.remote:
        engines["spark"] = ("--engine", "spark", "--remote", asked.remote)
    size = SIZES[asked.size]
    print(f"| {' | '.join(HEADINGS)} |\n|{'--:|' * 3}:--|{'--:|' * (len(HEADINGS) - 4)}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "photos")
        write_logs(root, *size)
        costs = {name: cost(root, Path(folder, name), *options) for name, options in engines.items()}
        for name, seen in costs.items():
            page = Path(folder, name, "report.html").read_bytes()
            if page != Path(folder, "none", "report.html").read_bytes():
                raise SystemExit(f"{name} gives another report")
            cells = [f"{number:,}" for number in size] + [name, f"{seen.wall:.1f}", f"{seen.cpu:.1f}"]
            cells += [f"{seen.peak:,.0f}", f"{seen.wall / costs['none'].wall:.2f}"]
            cells += [f"{seen.ingest:.1f}", f"{seen.cluster:.1f}"]
            print(f"| {' | '.join(cells)} |", flush=True)
    print("\nWall is a multiple of what it takes without an engine.")


if __name__ == "__main__":
    main()
