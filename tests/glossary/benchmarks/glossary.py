"""What the glossary costs: to load its terms, and to find and check those of a text.

Texts are stretches of the manual's prose with a term of the glossary in every fortieth place, each measured
once, a new one every time.
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import Row, Work, cost_of
from vocabgap.glossary.conflicts import check
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.senses import ScopeStack

TESTS: Final = Path(__file__).parents[2]
PAGES: Final = sorted((TESTS.parent / "pipeline" / "vocabgap").glob("**/manual/*.md"))
TERMS: Final = {"small": (1_000, 10_000), "large": (2, 100, 1_000, 10_000)}
WORDS: Final = (850, 5_000)
TEXTS: Final = 60
TRIES: Final = 5
SEEDS: Final = Path(".kittify", "glossaries")
SCOPES: Final = ScopeStack(("mission_local", "team_domain", "audience_domain", "spec_kitty_core"))
MARKS: Final = ('"', "'", "“", "‘", "«", "`", "''", " 'a", ' "a', "A", "a-", "_", "(", "\u200b")
MARK_CHARACTERS: Final = 200_000
MARKS_TRIED: Final = {"small": 1, "large": None}
LIMITS: Final = {1_000: 0.150, 10_000: 1.500}  # CPU seconds to load so many terms
AGAIN: Final = 0.001  # CPU seconds to load what has not changed
CHECKING: Final = {850: 0.008, 5_000: 0.045}  # CPU seconds for so many words
Checked = Callable[[str], int]


def terms_of(size: int) -> list[str]:
    """Terms of one to three made-up words."""
    drawn = random.Random(size)
    words = [
        "".join(drawn.choices("aeilnorstuvkmp", k=drawn.randint(4, 9)))
        for _ in range(max(size, 20))
    ]
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


def prose(least: int) -> list[str]:
    """Words of the manual's prose, again from the start where there are less than so many."""
    lines = "\n".join(path.read_text(encoding="utf-8") for path in PAGES).splitlines()
    words = " ".join(
        line for line in lines if line[:1].isalpha()
    ).split()  # no tables, code and headings
    return words * (1 + least // len(words))


def texts_of(words: int, terms: Sequence[str]) -> list[str]:
    """Stretches of prose, each another one."""
    drawn = random.Random(words)
    manual = prose(2 * words)
    texts = []
    for _ in range(TEXTS):
        start = drawn.randrange(len(manual) - words)
        stretch = manual[start : start + words]
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
        terms = extract([Field("description", text)], {}, known).terms
        check(terms, glossary, critical=True)
        return len(terms)

    return run


def loading(root: Path) -> Work:
    """Load a glossary; its modules are imported already."""
    with tempfile.TemporaryDirectory() as folder:
        write_seed(Path(folder), terms_of(1))
        load(Path(folder))
    return partial(load, root)


def loading_again(root: Path) -> Work:
    """Load what has not changed."""
    load(root)
    return partial(load, root)


def each_text(root: Path, words: int, size: int) -> Work:
    """Check one text after another, each time the next one."""
    run, texts = checked(root), iter(texts_of(words, terms_of(size)))
    return lambda: run(next(texts))


def extracting(mark: str, characters: int) -> Work:
    """Looks for terms in marks without partners."""
    fields = [Field("description", mark * characters)]
    return lambda: extract(fields, {})


def twice(
    what: str, characters: int, marks: Sequence[str], prepare: Callable[[str, int], Work]
) -> Row:
    """Twice as many marks without partners beside half of them: that mark whose ratio is the worst."""
    costs = [
        (cost_of(prepare, mark, characters), cost_of(prepare, mark, 2 * characters), mark)
        for mark in marks
    ]
    half, whole, mark = max(costs, key=lambda each: each[1].cpu / each[0].cpu)
    return Row(
        what, f"{2 * characters:,} characters", whole, "half as many", half, f"at worst, {mark!r}"
    )


def rows(size: str) -> Iterator[Row]:
    """Loading, checking, and twice as many marks without partners."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roots = {terms: folder / str(terms) for terms in TERMS[size]}
        for terms, root in roots.items():
            write_seed(root, terms_of(terms))
        yield from _loading_rows(roots)
        for words in WORDS:
            for terms in TERMS[size][-2:]:
                yield from _checking_rows(roots[terms], words, terms)
        yield twice(
            "glossary: marks without partners",
            MARK_CHARACTERS,
            MARKS[: MARKS_TRIED[size]],
            extracting,
        )


def _loading_rows(roots: dict[int, Path]) -> Iterator[Row]:
    for terms, root in roots.items():
        of = f"{terms:,} terms"
        yield Row("glossary: load", of, cost_of(loading, root), limit=LIMITS.get(terms))
        again = cost_of(loading_again, root, times=TRIES)
        yield Row("glossary: load again", of, again, limit=AGAIN)


def _checking_rows(root: Path, words: int, terms: int) -> Iterator[Row]:
    of = f"{words:,} words, {terms:,} terms known"
    first = cost_of(each_text, root, words, terms)
    yield Row("glossary: check the first text", of, first, note=f"{first.outcome} terms in it")
    cost = cost_of(each_text, root, words, terms, times=TEXTS)
    note = f"{cost.outcome} terms in the last text"
    yield Row("glossary: check a text", of, cost, note=note, limit=CHECKING[words])
