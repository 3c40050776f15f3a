"""What the linter costs and finds, beside a rule of substitution as Vale has it.

Files of Markdown are made of the manual's prose. What a glossary of 1,000 terms
says to avoid is planted in every way in which people write it, and in places that are no prose. Vale is
a program of its own that is not installed here: a stand-in has the documented meaning of its check
`substitution` (https://vale.sh/docs/checks/substitution) with `ignorecase`: one alternation of all that
is to be avoided, between the boundaries of words, and with accepted terms as exceptions. It is kinder
than Vale, for it is given our reading of the files, and a space of a rule stands for a line break, too.
Its time is that of Python's regular expressions, and says nothing of Vale's own.
"""

import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measuring import Row, Work, cost_of
from glossary.benchmarks.glossary import MARKS_TRIED, prose, twice
from vocabgap.glossary.linting import Linter, lint, prose_of, text_of
from vocabgap.glossary.loading import GlossaryFiles

FILES: Final = {"small": 200, "large": 1_000}
TERMS: Final = 1_000
WORDS: Final = 600  # of a file
LIMIT: Final = 0.010  # CPU seconds a file
MARK_CHARACTERS: Final = 400_000
# What opens something and, repeated, never closes it.
MARKS: Final = (
    "`", "` ``", "](", "[a](", "<", "<a ", "<!--", "www.", "a@", "---\n", "> ", "- ", "x", "a.",
)  # fmt: skip
# How what is to be avoided is written, and whether that is wrong.
WAYS: Final[dict[str, tuple[Callable[[str], str], bool]]] = {
    "as it is listed": (str, True),
    "as a sentence begins": (str.capitalize, True),
    "in the plural": (lambda term: f"{term}s", True),
    "with a hyphen": (lambda term: term.replace(" ", "-"), True),
    "in camelCase": (lambda term: re.sub(" (.)", lambda match: match[1].upper(), term), True),
    "over two lines": (lambda term: term.replace(" ", "\n"), True),
    "emphasised in part": (lambda term: term.replace(" ", "** ", 1).join(("**", "")), True),
    "in a longer term": (lambda term: f"{term} board", False),
    "in a code span": (lambda term: f"`call {term}`", False),
    "in a code block": (lambda term: f"\n\n```\ncall {term}\n```\n\n", False),
    "in the target of a link": (
        lambda term: f"[so](https://example.org/{term.replace(' ', '-')})",
        False,
    ),
    "on an ignored line": (lambda term: f"\n{term} <!-- vocabgap-ignore -->\n", False),
}


def pairs_of(size: int) -> dict[str, str]:
    """Made-up words to be avoided, two each, with the term to say instead."""
    drawn = random.Random(size)
    words = [
        "".join(drawn.choices("aeilnortuvkmp", k=drawn.randint(5, 9))) + "ok"
        for _ in range(2 * size)
    ]
    return {
        " ".join(pair): f"{pair[0]}a {pair[1]}a"
        for pair in zip(words[::2], words[1::2], strict=True)
    }


def write_seed(folder: Path, pairs: dict[str, str]) -> None:
    """A seed file, in which every term has a word to avoid, of which a longer term is made, too."""
    entries = (
        f"  - surface: {term}\n    definition: What {term} means\n    synonyms_to_avoid: [{wrong}]\n"
        f"  - surface: {wrong} board\n    definition: Another thing\n"
        for wrong, term in pairs.items()
    )
    (folder / "team_domain.yaml").write_text(f"terms:\n{''.join(entries)}", encoding="utf-8")


def planted() -> tuple[dict[str, str], dict[str, list[str]]]:
    """What is to be avoided, with the term to say instead; and what of it is planted in each way."""
    pairs = pairs_of(TERMS // 2)
    return pairs, {way: list(pairs)[number :: len(WAYS)] for number, way in enumerate(WAYS)}


def write_files(folder: Path, files: int) -> None:
    """A glossary, and files of prose, each with a planted use of each way."""
    pairs, by_way = planted()
    (folder / "glossary").mkdir()
    (folder / "docs").mkdir()
    write_seed(folder / "glossary", pairs)
    drawn = random.Random(0)
    words = re.sub(r"[`\[\]()<>]", "", " ".join(prose(2 * WORDS))).split()
    for number in range(files):
        start = drawn.randrange(len(words) - WORDS)
        lines = [" ".join(words[place : place + 12]) for place in range(start, start + WORDS, 12)]
        places = drawn.sample(range(len(lines)), len(WAYS))
        for (name, (way, _)), place in zip(WAYS.items(), places, strict=True):
            lines[place] += f" {way(drawn.choice(by_way[name]))} and so on"
        path = folder / "docs" / f"{number:04}.md"
        path.write_text("# A page\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def linter_of(glossary: Path) -> Linter:
    """The linter of a glossary."""
    return Linter(GlossaryFiles(glossary, glossary / "events").load())


def linted(folder: Path) -> Counter[str]:
    """Loads the glossary and checks every file; tells how often each term was not said."""
    found = lint(linter_of(folder / "glossary"), [folder / "docs"])[0]
    return Counter(each.instead[0] for each in found)


def substituting(folder: Path) -> Counter[str]:
    """The same by a rule of substitution."""
    pairs, _ = planted()
    return Counter(
        pairs[wrong] for wrong in substituted(sorted((folder / "docs").iterdir()), pairs)
    )


def substituted(paths: Iterable[Path], pairs: dict[str, str]) -> Iterator[str]:
    """What a rule of substitution finds, in lower case."""
    listed = sorted([*pairs, *(f"{wrong} board" for wrong in pairs)], key=len, reverse=True)
    rule = "|".join(each.replace(" ", r"\s+") for each in listed)
    pattern = re.compile(rf"\b(?:{rule})\b", re.IGNORECASE)
    for path in paths:
        for match in pattern.finditer(prose_of(text_of(path), path.suffix)):
            found = " ".join(match[0].lower().split())
            if found in pairs:
                yield found


def linting_marks(glossary: Path, mark: str, characters: int) -> Work:
    """Checks marks without partners."""
    linter, text = linter_of(glossary), mark * (characters // len(mark))
    return lambda: list(linter.findings("a.md", text, ".md"))


def rows(size: str) -> Iterator[Row]:
    """A folder of files, and twice as many marks without partners."""
    files = FILES[size]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, files)
        cost, rule = (cost_of(partial, work, folder) for work in (linted, substituting))
        of = f"{files:,} files of {WORDS} words, {TERMS:,} terms"
        yield Row("glossary: lint", of, cost, "substitution", rule, limit=LIMIT * files)
        marks = partial(linting_marks, folder / "glossary")
        yield twice(
            "lint marks without partners", MARK_CHARACTERS, MARKS[: MARKS_TRIED[size]], marks
        )


def main() -> None:
    """Print what was found in each way."""
    files = FILES["large"]
    pairs, by_way = planted()
    way_of = {pairs[wrong]: way for way, listed in by_way.items() for wrong in listed}
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), files)
        counters = [Counter[str](), Counter[str]()]
        for ways, terms in zip(
            counters, (linted(Path(name)), substituting(Path(name))), strict=True
        ):
            for term, times in terms.items():
                ways[way_of[term]] += times
    print("| what is to be avoided stands | is wrong | planted | ours | substitution |")
    print("|:--|:--|--:|--:|--:|")
    for way, (_, is_wrong) in WAYS.items():
        ours, rule = (ways[way] for ways in counters)
        print(f"| {way} | {'yes' if is_wrong else 'no'} | {files:,} | {ours:,} | {rule:,} |")


if __name__ == "__main__":
    main()
