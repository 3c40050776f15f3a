"""One bit of a file is another: what is read is what was written, or an error names the damage."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from faults.mutants import UNFORESEEN
from faults.verbs import corpus_state, did, pushed, reported
from vocabgap.corpus.backups import read_records
from vocabgap.corpus.version import LOCK, read_manifest
from vocabgap.errors import VocabgapError
from vocabgap.reporting.published_run import read_gaps, read_run


class Damaged(NamedTuple):
    """What keeps digests of its files, and how it is read."""

    kind: str
    files: list[Path]
    read: Callable[[], object]


def flipped(most: int, seed: int = 0) -> tuple[int, list[str]]:
    """Flips so many bits, one at a time, in the current folder; gives how many, and what was read wrongly."""
    pushed()
    did("corpus", "export", "all.jsonl.zst")
    reported()
    corpus, backup, run = Path("corpus"), Path("all.jsonl.zst"), Path("out")
    chance, cases, problems = random.Random(seed), 0, []  # noqa: S311 - the same each time

    def published() -> object:
        manifest, ranked = read_run(run, option="--run")
        gaps = read_gaps(run)
        return manifest.now, ranked.rows(), None if gaps is None else gaps.rows()

    def whole_corpus() -> object:
        # What the manifest alone says, too: a number that is taken again would be written over.
        return corpus_state(), read_manifest(corpus)

    for kind, files, read in (
        Damaged("corpus", [path for path in corpus.iterdir() if path.name != LOCK], whole_corpus),
        Damaged("backup", [backup], lambda: [*read_records(backup)]),
        Damaged("run", [run / "capabilities.parquet", run / "gaps.parquet"], published),
    ):
        whole = read()
        for _ in range(most // 3):
            path = chance.choice(sorted(files))
            content = path.read_bytes()
            place = chance.randrange(8 * len(content))
            changed = bytearray(content)
            changed[place // 8] ^= 1 << place % 8
            path.write_bytes(changed)
            try:
                told = read()
            except VocabgapError as error:
                if path.name not in str(error):
                    problems.append(f"{kind}: bit {place} of {path}: no word of it: {error}")
            except UNFORESEEN as error:
                problems.append(f"{kind}: bit {place} of {path}: {error!r}")
            else:
                if told != whole:
                    problems.append(f"{kind}: bit {place} of {path}: something else is read")
            path.write_bytes(content)
            cases += 1
    return cases, problems
