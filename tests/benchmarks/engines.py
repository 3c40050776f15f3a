"""What an engine costs beside none: the same report on generated logs, here and on Sail.

Both reports have to be equal. Sail has the same processor and no other, so that all it can do is cost more.

    PYTHONPATH=tests python -m benchmarks.engines --size large --remote sc://HOST:PORT

measures a server of Spark, too.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from benchmarks.ingest import LOG, record
from benchmarks.measuring import Row, cost_of, cost_of_command, print_rows
from benchmarks.wordings import draw
from vocabgap.text import surface

SIZES: Final = {  # records, wordings, logs
    "small": (20_000, 10_000, 200),
    "large": (300_000, 200_000, 3_000),
    "huge": (10_000_000, 1_000_000, 10_000),
}
SAMPLES: Final = 1_000  # different records, but for what they need and where they were


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


def rows(size: str, remote: str | None = None) -> Iterator[Row]:
    """One row an engine.

    Raises:
        SystemExit: An engine gives another report.
    """
    engines = {"no engine": (), "Sail": ("--engine", "spark")}
    if remote:
        engines["Spark"] = ("--engine", "spark", "--remote", remote)
    numbers = SIZES[size]
    of = "{:,} records, {:,} wordings, {:,} logs".format(*numbers)
    alone = None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cost_of(partial, write_logs, folder / "photos", *numbers)
        for engine, options in engines.items():
            words = ("report", "photos", "--out", engine, "--now", "last", "--embedder", "none", "--quiet")
            cost = cost_of_command(sys.executable, "-m", "vocabgap", *words, *options, folder=folder)
            require_equal(folder / engine, folder / "no engine")
            timings = json.loads((folder / engine / "run.json").read_bytes())["timings"]
            seconds = {each["stage"]: each["seconds"] for each in timings}
            note = f"ingest {seconds['ingest']:.1f} s, cluster {seconds['cluster']:.1f} s"
            yield Row(f"report, {engine}", of, cost, "no engine" if alone else "", alone, note)
            alone = alone or cost


def require_equal(there: Path, here: Path) -> None:
    """Two reports have the same page and equal tables."""
    names = sorted(path.name for path in here.glob("*.parquet"))
    equal = (there / "report.html").read_bytes() == (here / "report.html").read_bytes()
    if not equal or not all(
        pl.read_parquet(there / name).equals(pl.read_parquet(here / name)) for name in names
    ):
        raise SystemExit(f"'{there.name}' gives another report")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--remote", help="a server of Spark")
    asked = parser.parse_args()
    print_rows(rows(asked.size, asked.remote))


if __name__ == "__main__":
    main()
