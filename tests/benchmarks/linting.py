"""What the linter costs and finds, beside a rule of substitution as Vale has it.

Run by `make bench`. Files of Markdown are made of the README's prose. What a glossary of 1,000 terms
says to avoid is planted in every way in which people write it, and in places that are no prose. Vale is
a program of its own that is not installed here: a stand-in has the documented meaning of its check
`substitution` (https://vale.sh/docs/checks/substitution) with `ignorecase`: one alternation of all that
is to be avoided, between the boundaries of words, and with accepted terms as exceptions. It is kinder
than Vale, for it is given our reading of the files, and a space of a rule stands for a line break, too.
Its time is that of Python's regular expressions, and says nothing of Vale's own.
"""

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from vocabgap.glossary.linting import Linter, lint, text_of
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.prose import prose_of

README: Final = Path(__file__).parents[2] / "README.md"
FILES: Final = 1_000
TERMS: Final = 1_000
WORDS: Final = 600  # of a file
LIMIT: Final = 10.0  # CPU seconds for all files
# What opens something and, repeated, never closes it.
MARKS: Final = ("`", "` ``", "](", "[a](", "<", "<a ", "<!--", "www.", "a@", "---\n", "> ", "- ", "x", "a.")
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
    "in the target of a link": (lambda term: f"[so](https://example.org/{term.replace(' ', '-')})", False),
    "on an ignored line": (lambda term: f"\n{term} <!-- vocabgap-ignore -->\n", False),
}


def pairs_of(size: int) -> dict[str, str]:
    """Made-up words to be avoided, two each, with the term to say instead."""
    drawn = random.Random(size)
    words = ["".join(drawn.choices("aeilnortuvkmp", k=drawn.randint(5, 9))) + "ok" for _ in range(2 * size)]
    return {" ".join(pair): f"{pair[0]}a {pair[1]}a" for pair in zip(words[::2], words[1::2], strict=True)}


def write_seed(folder: Path, pairs: dict[str, str]) -> None:
    """A seed file, in which every term has a word to avoid, of which a longer term is made, too."""
    entries = (
        f"  - surface: {term}\n    definition: What {term} means\n    synonyms_to_avoid: [{wrong}]\n"
        f"  - surface: {wrong} board\n    definition: Another thing\n"
        for wrong, term in pairs.items()
    )
    (folder / "team_domain.yaml").write_text(f"terms:\n{''.join(entries)}", encoding="utf-8")


def write_files(folder: Path, by_way: dict[str, list[str]]) -> None:
    """Files of prose, each with a planted use of each way."""
    drawn = random.Random(0)
    prose = " ".join(line for line in README.read_text(encoding="utf-8").splitlines() if line[:1].isalpha())
    words = re.sub(r"[`\[\]()<>]", "", prose).split()
    for number in range(FILES):
        start = drawn.randrange(len(words) - WORDS)
        lines = [" ".join(words[place : place + 12]) for place in range(start, start + WORDS, 12)]
        places = drawn.sample(range(len(lines)), len(WAYS))
        for (name, (way, _)), place in zip(WAYS.items(), places, strict=True):
            lines[place] += f" {way(drawn.choice(by_way[name]))} and so on"
        (folder / f"{number:04}.md").write_text("# A page\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


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


def doubled(linter: Linter) -> tuple[float, str]:
    """How many times as long twice the marks without partners take, at most, and which mark that is."""

    def cost(mark: str, length: int) -> float:
        start = time.process_time()
        list(linter.findings("a.md", mark * (length // len(mark)), ".md"))
        return time.process_time() - start

    return max((cost(mark, 800_000) / cost(mark, 400_000), mark) for mark in MARKS)


def main() -> None:
    """Print what was found in each way, and what it cost."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    pairs = pairs_of(TERMS // 2)
    by_way = {way: list(pairs)[number :: len(WAYS)] for number, way in enumerate(WAYS)}
    way_of = {pairs[wrong]: way for way, listed in by_way.items() for wrong in listed}
    with tempfile.TemporaryDirectory() as name:
        glossary, folder = Path(name, "glossary"), Path(name, "docs")
        glossary.mkdir()
        folder.mkdir()
        write_seed(glossary, pairs)
        write_files(folder, by_way)
        paths = sorted(folder.iterdir())
        size = sum(path.stat().st_size for path in paths)

        start = time.process_time()
        linter = Linter(GlossaryFiles(glossary, glossary / "events").load())
        report = lint(linter, [folder])
        took = time.process_time() - start
        start = time.process_time()
        rule = Counter(way_of[pairs[wrong]] for wrong in substituted(paths, pairs))
        rule_took = time.process_time() - start
    ratio, mark = doubled(linter)
    ours = Counter(way_of[each.instead[0]] for each in report.findings)
    print(f"{FILES:,} files, {size / 1e6:.1f} MB, {TERMS:,} terms, {len(pairs):,} with one to avoid\n")
    print(
        "| what is to be avoided stands | is wrong | planted | ours | substitution |\n|:--|:--|--:|--:|--:|"
    )
    for way, (_, is_wrong) in WAYS.items():
        print(f"| {way} | {'yes' if is_wrong else 'no'} | {FILES:,} | {ours[way]:,} | {rule[way]:,} |")
    print(f"\nCPU seconds: {took:.1f} ours, {rule_took:.1f} substitution")
    print(f"Twice the marks without partners take at most {ratio:.1f} times as long ({mark!r}).")
    missed = [way for way, (_, is_wrong) in WAYS.items() if ours[way] != is_wrong * FILES]
    missed += ["time"] if took > LIMIT else []
    print(f"\nBeyond its limits: {', '.join(missed)}." if missed else "\nWithin its limits.")


if __name__ == "__main__":
    main()
