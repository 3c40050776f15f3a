"""What the glossary costs: to load its terms, and to find and check those of a text.

Run by `make bench`. Texts are stretches of the README's prose with a term of the glossary in every fortieth
place, each measured once, a new one every time. Loading is timed in processes of its own, from seed files and
an empty log to what finds the terms in a text. All times are CPU times. Beside ours, where it is installed,
stands the published implementation of the same contract (`spec-kitty-cli`), with the same files and texts, of
which it reads the first thousand words only.
"""

import argparse
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from vocabgap.glossary.conflicts import check
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.senses import ScopeStack

PEER: Final = "spec-kitty-cli"
PEER_WORDS: Final = 1_000  # of a text, that the peer reads
PEER_MOST: Final = 1_000  # terms that the peer knows at most: it takes its time to load them
README: Final = Path(__file__).parents[2] / "README.md"
SIZES: Final = (2, 100, 1_000, 10_000)
WORDS: Final = (850, 5_000)
TEXTS: Final = 60
TRIES: Final = 3  # processes of which the least time counts: others use the machine as well
SEEDS: Final = Path(".kittify", "glossaries")
SCOPES: Final = ScopeStack(("mission_local", "team_domain", "audience_domain", "spec_kitty_core"))
MARKS: Final = ('"', "'", "“", "‘", "«", "`", "''", " 'a", ' "a', "A", "a-", "_", "(", "\u200b")
LIMITS: Final = {1_000: 40.0, 10_000: 400.0}  # ms to load so many terms
AGAIN: Final = 1.0  # ms to load what has not changed
CHECKING: Final = {850: 1.5, 5_000: 20.0}  # ms for so many words, where the peer does not say it
Checked = Callable[[str], int]


def terms_of(size: int) -> list[str]:
    """Terms of one to three made-up words."""
    drawn = random.Random(size)
    words = ["".join(drawn.choices("aeilnorstuvkmp", k=drawn.randint(4, 9))) for _ in range(max(size, 20))]
    found: dict[str, None] = {}
    while len(found) < size:
        found[" ".join(drawn.sample(words, drawn.choice((1, 1, 2, 3))))] = None
    return list(found)


def write_seed(root: Path, terms: Sequence[str]) -> None:
    """A seed file in the form that most have."""
    entries = (
        f"  - surface: {term}\n    definition: What {term} means to those who edit photographs\n"
        "    confidence: 0.9\n    status: active\n"
        for term in terms
    )
    path = root / SEEDS / "team_domain.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(f"terms:\n{''.join(entries)}", encoding="utf-8")


def texts_of(words: int, terms: Sequence[str]) -> list[str]:
    """Stretches of prose, each another one."""
    drawn = random.Random(words)
    lines = README.read_text(encoding="utf-8").splitlines()
    prose = " ".join(line for line in lines if line[:1].isalpha()).split()  # no tables, code and headings
    prose *= 1 + 2 * words // len(prose)
    texts = []
    for _ in range(TEXTS):
        start = drawn.randrange(len(prose) - words)
        stretch = prose[start : start + words]
        stretch[::40] = drawn.choices(terms, k=len(stretch[::40]))
        texts.append(" ".join(stretch))
    return texts


@cache
def files_of(root: Path) -> GlossaryFiles:
    """The files of a glossary, which remember what they hold."""
    return GlossaryFiles(root / SEEDS, root / "none", SCOPES)


def load(root: Path) -> Any:  # noqa: ANN401 - whatever finds the terms
    """Ours: the glossary, ready to find its terms."""
    glossary = files_of(root).load().glossary
    return glossary, glossary.known


def checked(root: Path) -> Checked:
    """Ours: finds and checks the terms of a text; gives how many there are."""
    glossary, known = load(root)

    def run(text: str) -> int:
        terms = extract([Field("description", text)], {}, known)
        check(terms, glossary, critical=True)
        return len(terms)

    return run


def peer_module(name: str) -> Any:  # noqa: ANN401 - a module that is not always there
    """A module of the peer; its package is called like this file, whose folder comes first otherwise."""
    here = str(Path(__file__).parent)
    sys.path[:] = [place for place in sys.path if place != here]
    return import_module(name)


def peer_load(root: Path) -> object:
    """The peer's pipeline."""
    return peer_module("glossary.pipeline").create_standard_pipeline(root, interaction_mode="non-interactive")


def peer_checked(root: Path) -> Checked:
    """The peer's extraction and check."""
    extraction, conflict = peer_module("glossary.extraction"), peer_module("glossary.conflict")
    resolution, scope = peer_module("glossary.resolution"), peer_module("glossary.scope")
    store = peer_module("glossary.store").GlossaryStore(event_log_path=root / "log.jsonl")
    scopes = list(scope.GlossaryScope)
    for each in scopes:
        for sense in scope.load_seed_file(each, root):
            store.add_sense(sense)

    def run(text: str) -> int:
        terms = extraction.extract_all_terms(text, {})
        for term in terms:
            senses = resolution.resolve_term(term.surface, scopes, store)
            kind = conflict.classify_conflict(term, senses, True)
            if kind is not None:
                severity = conflict.score_severity(kind, term.confidence, True)
                conflict.create_conflict(term, kind, severity, senses)
        return len(terms)

    return run


def timed(work: Callable[[], object]) -> float:
    """The milliseconds of CPU time that some work takes."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1_000


def first_and_next(load_from: Callable[[Path], object], root: Path) -> tuple[float, float, float]:
    """Milliseconds to load a glossary: by a user who never has, by a program that never has, and again.

    What is imported is there already; the second finds what the first one keeps for it.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        write_seed(Path(folder), terms_of(1))
        load_from(Path(folder))
        first = timed(lambda: load_from(root))
        files_of.cache_clear()
        kept = timed(lambda: load_from(root))
        time.sleep(2.1)  # a file that was just written is read again, lest a change be missed
        load_from(root)
        return first, kept, min(timed(lambda: load_from(root)) for _ in range(5))


def typical(root: Path, words: int, size: int, peer_root: Path | None) -> tuple[float, ...]:
    """What a text costs, for ours and then for the peer, which take turns; it may know other terms.

    Returns:
        Milliseconds for the first text and for one in the middle of all, and how many terms a text has.
    """
    texts = texts_of(words, terms_of(size))
    figures: list[float] = []
    runs = [checked(root)] if peer_root is None else [checked(root), peer_checked(peer_root)]
    took = [[timed(lambda run=run, text=text: run(text)) for run in runs] for text in texts]  # type: ignore[misc]
    for run, times in zip(runs, zip(*took, strict=True), strict=True):
        figures += (times[0], statistics.median(times[1:]), statistics.mean(map(run, texts)))
    return tuple(figures)


def in_a_process(work: Callable[..., tuple[float, ...]], *given: object) -> tuple[float, ...]:
    """What some work gives in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


def doubled() -> tuple[float, str]:
    """How many times as long twice the marks without partners take, at most, and which mark that is."""

    def cost(mark: str, times: int) -> float:
        start = time.process_time()
        extract([Field("description", mark * times)], {})
        return time.process_time() - start

    def least(mark: str, times: int) -> float:
        return min(cost(mark, times) for _ in range(TRIES))

    return max((least(mark, 400_000) / least(mark, 200_000), mark) for mark in MARKS)


def main() -> None:
    """Print two tables: what loading costs, and what a text costs."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        print(f"Beside {PEER} {version(PEER)}.\n")
        is_there = True
    except PackageNotFoundError:
        print(f"{PEER} is not installed: its columns are empty.\n")
        is_there = False
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        roots = {size: Path(folder, str(size)) for size in SIZES}
        for size, root in roots.items():
            write_seed(root, terms_of(size))
        print("| terms | loading ms | kept ms | again ms | peer ms | peer / ours |")
        print("|--:|--:|--:|--:|--:|--:|")
        for size, root in roots.items():
            first, kept, again = map(
                min, zip(*(in_a_process(first_and_next, load, root) for _ in range(TRIES)), strict=True)
            )
            row = f"| {size:,} | {first:.1f} | {kept:.1f} | {again:.3f} |"
            if is_there and size <= PEER_MOST:
                peer, *_ = in_a_process(first_and_next, peer_load, root)
                row += f" {peer:.1f} | {peer / first:.1f} |"
            else:
                row += " | |"
            print(row, flush=True)
            if first > LIMITS.get(size, first) or again > AGAIN:
                missed.append(f"loading {size:,} terms")
        print("\n| words | terms known | first ms | ms | terms | peer ms | peer terms | peer / ours |")
        print("|--:|--:|--:|--:|--:|--:|--:|--:|")
        for words in WORDS:
            most = CHECKING[words]
            for size in (PEER_MOST, SIZES[-1]):
                peer_root = roots[PEER_MOST] if is_there else None
                figures = in_a_process(typical, roots[size], words, size, peer_root)
                (first, took, found), theirs = figures[:3], figures[3:]
                most = theirs[1] if theirs and words <= PEER_WORDS else most
                row = f"| {words:,} | {size:,} | {first:.1f} | {took:.2f} | {found:.0f} |"
                row += (
                    f" {theirs[1]:.2f} | {theirs[2]:.0f} | {theirs[1] / took:.2f} |" if theirs else " | | |"
                )
                print(row, flush=True)
                if took > most:
                    missed.append(f"checking {words:,} words with {size:,} terms known")
    ratio, mark = doubled()
    print(f"\nTwice the marks without partners take at most {ratio:.1f} times as long ({mark!r}).")
    print("\nWithin its limits." if not missed else f"\nBeyond its limits: {', '.join(missed)}.")


if __name__ == "__main__":
    main()
