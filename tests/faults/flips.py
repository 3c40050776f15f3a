"""One bit of a file is another: what is read is what was written, or an error names the damage."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from faults.mutants import UNFORESEEN
from faults.verbs import reported
from vocabgap.errors import VocabgapError
from vocabgap.reporting.published_run import read_gaps, read_run


class Damaged(NamedTuple):
    """What keeps digests of its files, and how it is read."""

    kind: str
    files: list[Path]
    read: Callable[[], object]


def core_files() -> Iterator[Damaged]:
    """Yield the published tables of a run."""
    reported()
    run = Path("out")

    def published() -> object:
        manifest, ranked = read_run(run, option="--run")
        gaps = read_gaps(run)
        return manifest.now, ranked.rows(), gaps.collect().rows()

    yield Damaged("run", [run / "capabilities.parquet", run / "gaps.parquet"], published)


def flipped(damaged: Sequence[Damaged], most: int, seed: int = 0) -> tuple[int, list[str]]:
    """Flips so many bits, one at a time, in the current folder; gives how many, and what was read wrongly."""
    chance, cases, problems = random.Random(seed), 0, []  # noqa: S311 - the same each time
    for kind, files, read in damaged:
        whole = read()
        for _ in range(most // len(damaged)):
            path = chance.choice(sorted(files))
            content = path.read_bytes()
            place = chance.randrange(8 * len(content))
            changed = bytearray(content)
            changed[place // 8] ^= 1 << place % 8
            path.write_bytes(changed)
            try:
                message = read()
            except VocabgapError as error:
                if path.name not in str(error):
                    problems.append(f"{kind}: bit {place} of {path}: no word of it: {error}")
            except UNFORESEEN as error:
                problems.append(f"{kind}: bit {place} of {path}: {error!r}")
            else:
                if message != whole:
                    problems.append(f"{kind}: bit {place} of {path}: something else is read")
            path.write_bytes(content)
            cases += 1
    return cases, problems
