"""Commands on a shared corpus that are killed at random moments: the corpus is the old one or the new one.

A few kills of each kind in every run; `VOCABGAP_KILLS=200` asks for so many in all.
"""

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from vocabgap.corpus.corpus import Corpus, open_corpus
from vocabgap.model.record import LOG_NAME

KILLS = int(os.environ.get("VOCABGAP_KILLS", "4"))
NORTH = ("--tenant", "north", "--repo", "photos")
LINES = 2000
LOGS = 8


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a deleted half, logs to push into it, and a backup to restore."""
    folder = tmp_path_factory.mktemp("kills")
    for name, need in (("old", "sky mask"), ("new", "film grain")):
        for image in range(LOGS):
            log = folder / name / f"{name}-{image}" / LOG_NAME
            log.parent.mkdir(parents=True)
            lines = (json.dumps({"description": f"{need} {number}"}) for number in range(LINES // LOGS))
            log.write_text("".join(f"{line}\n" for line in lines))
    backup = open_corpus(folder / "elsewhere")
    backup.push(folder / "new", tenant="south", repo="photos")
    backup.export(folder / "b.jsonl.zst")
    corpus = open_corpus(folder / "corpus")
    corpus.push(folder / "old", tenant="north", repo="photos", snapshot=True)
    corpus.forget("north", image="old-0")
    return folder


def commands(workshop: Path) -> Iterator[tuple[str, list[str | Path]]]:
    """What is killed."""
    yield "push", ["push", workshop / "new", *NORTH, "--snapshot"]
    yield "compact", ["compact"]
    yield "restore", ["restore", workshop / "b.jsonl.zst"]
    yield "replace", ["restore", workshop / "b.jsonl.zst", "--replace"]


def state(corpus: Corpus) -> tuple[list[str], object]:
    """Everything that a corpus says of itself, but how it lies on the disk."""
    version = corpus.store.version()
    rows = version.rows().drop("metadata", "ingested_at").sort("id")
    return rows.rows().__repr__().splitlines(), [(each.tenant_id, each.paths) for each in version.snapshots]


def run(installed: Path, folder: Path, words: list[str | Path]) -> "subprocess.Popen[bytes]":
    """Starts a command on a copy of the corpus."""
    command = [installed, "corpus", *words, "--corpus", folder]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_killed_command_leaves_the_old_corpus_or_the_new_one(
    installed: Path, workshop: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    moments = random.Random(7)  # noqa: S311 - no secret
    outcomes = {"old": 0, "new": 0}
    for name, words in commands(workshop):
        before = state(open_corpus(workshop / "corpus"))
        shutil.copytree(workshop / "corpus", tmp_path / name)
        start = time.monotonic()
        run(installed, tmp_path / name, words).wait()
        lasts = time.monotonic() - start
        after = state(open_corpus(tmp_path / name))
        for number in range(max(1, KILLS // 4)):
            folder = tmp_path / f"{name}-{number}"
            shutil.copytree(workshop / "corpus", folder)
            victim = run(installed, folder, words)
            # Loading the libraries is the longer part of it, and nothing is written by then.
            with suppress(subprocess.TimeoutExpired):
                victim.wait(timeout=moments.uniform(0.3, 1.1) * lasts)
            victim.kill()
            victim.wait()

            found = state(open_corpus(folder))
            assert found in (before, after), f"{name}, kill {number}"
            outcomes["new" if found == after else "old"] += 1
            open_corpus(folder).compact()
            assert state(open_corpus(folder)) == found
            tables = [path.name.partition("-")[0] for path in folder.iterdir() if path.suffix == ".parquet"]
            assert len(tables) == len({*tables}) <= 3  # chunks, paths of the snapshot, what was forgotten
            shutil.rmtree(folder)
    record_property("outcomes", outcomes)
    print(outcomes)  # for whoever asks for many


@pytest.mark.slow
def test_two_writers_at_once_lose_nothing(installed: Path, workshop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    writers = [
        run(installed, folder, ["push", workshop / name, "--tenant", "north", "--repo", name])
        for name in ("old", "new")
    ]

    codes = [writer.wait() for writer in writers]

    assert codes == [0, 0]
    assert open_corpus(folder).store.version().measures.rows == 2 * LINES
