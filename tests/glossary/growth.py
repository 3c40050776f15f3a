"""Hostile inputs of the glossary that grow: seed files, terms to find, and rules of texts."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from faults.growth import TEXTS, Case, lines
from vocabgap.glossary.extracting import Field, extract, quoted
from vocabgap.glossary.linting import prose_of, sentences
from vocabgap.glossary.normal_form import KnownTerms, keys_of, normal_form, spaced_key, term_key
from vocabgap.glossary.seeds import parse_seed, with_clashes

_LONGEST: Final = 250  # terms of one letter


def _found(terms: list[str]) -> Callable[[str], object]:
    return lambda text: [*KnownTerms(terms).occurrences(map(keys_of, text.split()))]


_RULES: Final[Mapping[str, Callable[[str], object]]] = {
    "extract": lambda text: extract([Field("description", text)], {}, KnownTerms(["x y"])),
    "quoted": lambda text: [*quoted(text)],
    "sentences": sentences,
    "Markdown": lambda text: prose_of(text, ".md"),
    "reStructuredText": lambda text: prose_of(text, ".rst"),
    "normal form": lambda text: (normal_form(text), term_key(text), spaced_key(text)),
}
_SEEDS: Final[Mapping[str, Callable[[int], str]]] = {
    "terms": lambda size: "terms:\n" + lines("- surface: w{0}\n  definition: d {0}".format)(size),
    "terms without a field": lambda size: "terms:\n" + lines("- k{0}: v".format)(size),
    "fields of a term": lambda size: "terms:\n- surface: a\n" + lines("  k{0}: v".format)(size),
    "fields of a file": lambda size: lines("k{0}: v".format)(size) + "terms: []\n",
    "aliases": lambda size: (
        "terms:\n- surface: a\n  definition: d\n  aliases:\n" + lines("  - b{0}".format)(size)
    ),
}
_TERMS: Final[Mapping[str, list[str]]] = {
    "nested terms": [" ".join("x" * length) for length in range(1, _LONGEST)],
    "terms without spaces": ["x" * length for length in range(2, _LONGEST)],
    "terms with one space": [f"{'x' * length} x" for length in range(2, _LONGEST)],
}


def cases() -> Iterator[tuple[str, Case]]:
    """Yield the names of cases, and the cases."""
    for name, rule in _RULES.items():
        yield from (
            (f"{name}: {alphabet}", Case(text, rule, 5_000, is_text=True))
            for alphabet, text in TEXTS.items()
        )
    for name, terms in _TERMS.items():
        yield f"occurrences: {name}", Case(lambda size: "x " * size, _found(terms), 1_000)
    for name, make in _SEEDS.items():
        yield f"seeds: {name}", Case(make, _read, 1_000)


def _read(text: Any) -> object:  # noqa: ANN401 - as a case has it
    return with_clashes([parse_seed(Path("team_domain.yaml"), text.encode())])
