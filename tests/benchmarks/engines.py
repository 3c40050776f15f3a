"""What an engine costs beside none: the same report on generated logs, here, on Sail, and on Spark.

All reports have to be equal. The engines have the same processor and no other: they can only cost more.
Sail's memory is in that of the process; Spark's is measured apart, and its CPU seconds are not counted.
Spark is measured where SPARK_HOME names it.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from math import nan
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from benchmarks.ingest import EXPORT, LOG, event, record
from benchmarks.measuring import Cost, Row, cost_of, cost_of_command, print_rows
from benchmarks.wordings import CORPORA
from spark_server import HOME, spark_server
from vocabgap.text import surface


class Case(NamedTuple):
    """Generated logs, and the most memory that a report on them may take, in MiB."""

    records: int
    wordings: int
    logs: int
    corpus: str
    most: float


HERE: Final = "no engine"
MILLION: Final = [Case(1_000_000, 50_000, 1_000, corpus, 0.8 * 1024) for corpus in CORPORA]
CASES: Final = {
    "small": [Case(20_000, 10_000, 200, corpus, 600.0) for corpus in CORPORA],
    "large": MILLION,
    # A million wordings as in gap logs take hours of one core each time.
    "huge": [*MILLION, Case(10_000_000, 1_000_000, 10_000, "easy", 5.0 * 1024)],
}
MOST_OF_CLIENT: Final = 1.1  # times the memory of the report without an engine
NEEDS: Final = {"logs": 2, "easy": 100}  # wordings a need, on average
SAMPLES: Final = 1_000  # different records, but for what they need and where they were


def write_logs(root: Path, records: int, wordings: int, logs: int, corpus: str) -> None:
    """Logs of as many records each; each wording is in one of them at least.

    What was drawn once is there once. In the corpus "logs", every tenth log is an export of PostHog.
    """
    rng = np.random.default_rng(records)
    drawn = CORPORA[corpus](wordings, wordings // NEEDS[corpus], form=surface)
    again = np.array(drawn.mentions) - 1
    repeated = rng.choice(wordings, records - wordings, p=again / again.sum())
    order = rng.permutation(np.concatenate([np.arange(wordings), repeated]).astype(np.int32))
    texts = [json.dumps(text)[1:-1] for text in drawn.texts]
    lines = {name: [template(sample, name) for sample in samples(corpus)] for name in (LOG, EXPORT)}
    for number in range(logs):
        image = root / f"image-{number:06d}"
        image.mkdir(parents=True)
        name = EXPORT if corpus == "logs" and number % 10 == 1 else LOG
        needs = order[number::logs].tolist()
        kinds = rng.integers(SAMPLES, size=len(needs)).tolist()
        ids = rng.bytes(16 * len(needs)).hex()
        with (image / name).open("w", encoding="utf-8") as log:
            if number % 10 == 0:
                log.write("-- resumed --\n")
            for place, (need, kind) in enumerate(zip(needs, kinds, strict=True)):
                own = ids[32 * place : 32 * place + 32]
                session = ids[64 * (place // 2) : 64 * (place // 2) + 32]
                values = {"image": image.name, "need": texts[need], "session": session, "own": own}
                log.write(lines[name][kind] % values)


def samples(corpus: str) -> list[dict[str, Any]]:
    """Records with marks for what differs between all."""
    rng = random.Random(SAMPLES)
    marks = {"image_id": "%(image)s", "session_id": "%(session)s", "missing_capability": "%(need)s"}
    return [
        {**json.loads(record("", rng, corpus)), **marks, "snapshot_hash": "%(own)s" * 2}
        for _ in range(SAMPLES)
    ]


def template(fields: dict[str, Any], name: str) -> str:
    """A line of a log with the marks."""
    if name == EXPORT:  # which has one text for the need, and a number of its own
        return (
            json.dumps({**event({**fields, "description": "%(need)s"}), "uuid": "%(own)s"}) + "\n"
        )
    return json.dumps(fields) + "\n"


def rows(size: str) -> Iterator[Row]:
    """Rows of each corpus: the memory beside its limit, and the engines beside none.

    Raises:
        SystemExit: An engine gives another report.
    """
    for case in CASES[size]:
        of = f"{case.records:,} records, {case.wordings:,} wordings, {case.logs:,} logs, {case.corpus}"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            cost_of(partial, write_logs, folder / "photos", *case[:-1])
            common = ("--now", "last", "--embedder", "none", "--quiet", "--out")
            command = (sys.executable, "-m", "vocabgap", "report", "photos", *common)
            alone = cost_of_command(*command, HERE, folder=folder)
            yield Row(f"report, {HERE}", of, alone, *limit(case.most), seconds(folder / HERE))
            if size == "huge" and case in MILLION:  # which engines have in the size before
                continue
            for engine in (*(["Spark"] if HOME else []), "Sail in this process"):
                cluster = spark_server(folder) if engine == "Spark" else nullcontext((None, None))
                with cluster as (remote, server):
                    words = ["--engine", "spark", *(["--remote", remote] if remote else [])]
                    cost = cost_of_command(*command, engine, *words, folder=folder, server=server)
                require_equal(folder / engine, folder / HERE)
                yield Row(f"report, {engine}", of, cost, HERE, alone, seconds(folder / engine))
                if server:
                    note = f"the server held {cost.outcome:,.0f} MiB"
                    most = MOST_OF_CLIENT * alone.peak
                    yield Row(f"report, {engine}", of, cost, *limit(most), note)


def limit(most: float) -> tuple[str, Cost]:
    """A peer that only has a peak."""
    return f"at most {most:,.0f} MiB", Cost(nan, peak=most)


def seconds(run: Path) -> str:
    """The seconds of the stages that an engine shares."""
    timings = json.loads((run / "run.json").read_bytes())["timings"]
    return ", ".join(f"{each['stage']} {each['seconds']:.1f} s" for each in timings)


def require_equal(there: Path, here: Path) -> None:
    """Two reports have the same page and equal tables."""
    named = (f"--run {there.name}".encode(), f"--run {here.name}".encode())
    page = (there / "report.html").read_bytes().replace(*named)
    equal = page == (here / "report.html").read_bytes()
    for path in sorted(here.glob("*.parquet")):
        equal = equal and digest(there / path.name) == digest(path)
    if not equal:
        raise SystemExit(f"'{there.name}' gives another report")


def digest(table: Path) -> tuple[object, ...]:
    """What rows in their order have in common with no others."""
    rows = pl.scan_parquet(table).with_row_index()
    each = pl.struct(pl.all()).hash().alias("hash")
    return tuple(rows.select(each.sum(), pl.len()).collect(engine="streaming").row(0))


if __name__ == "__main__":
    print_rows(rows("small"))
