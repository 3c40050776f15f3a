"""Extraction: which terms a text uses, and how sure that is."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

from vocabgap.glossary.candidates import ExtractedTerm, TermSource, source_confidence
from vocabgap.glossary.errors import InvalidTermError
from vocabgap.glossary.general_words import STOP_WORDS
from vocabgap.glossary.known_terms import KnownTerms
from vocabgap.glossary.normalizing import composed, normal_form, term_key
from vocabgap.glossary.patterns import capitalised
from vocabgap.glossary.quotes import quoted
from vocabgap.glossary.reading import readings
from vocabgap.glossary.senses import TermSurface

DEFAULT_FIELDS: Final = ("description", "prompt", "output")
OFTEN: Final = 3  # times that a word is there, to be a term for that
_WATCHED, _ALIASES, _EXCLUDED = "glossary_watch_terms", "glossary_aliases", "glossary_exclude_terms"
_FIELDS: Final = "glossary_fields"
SIGNS: Final = "glossary_signs"  # in the metadata of a step: the only signs that count
_HAS_WORD: Final = re.compile(r"[^\W_]")
_NOTHING_KNOWN: Final = KnownTerms()
_KEYS: Final = attrgetter("keys")
_FORMS: Final = attrgetter("forms")
_Find = tuple[str, str]  # the normal form of a term, and what is written


class Field(NamedTuple):
    """A text to be scanned.

    Attributes:
        context: What it is, in words: `step input: description field`.
        text: The text.
    """

    context: str
    text: str


def extract(
    fields: Iterable[Field], metadata: Mapping[str, Any], known: KnownTerms = _NOTHING_KNOWN
) -> list[ExtractedTerm]:
    """The terms that some texts use.

    Args:
        fields: The texts.
        metadata: Of the step: terms to be watched (`glossary_watch_terms`, and the values of
            `glossary_aliases`), those that are none (`glossary_exclude_terms`), however they are found, and
            by which signs alone terms are found in the texts (`glossary_signs`, names of `TermSource`).
        known: The terms that have a meaning already.

    Returns:
        Each term once, found by the first sign in the order of `TermSource`: the surest first, then by term.
    """
    texts = [_Scanned(each) for each in fields]
    often = _repeated(texts)
    # What finds the terms of a text, as their normal form and what is written, sign by sign.
    signs: dict[TermSource, Callable[[_Scanned], Iterable[_Find]]] = {
        TermSource.QUOTED_PHRASE: _quoted,
        TermSource.ACRONYM: lambda text: text.spelled(TermSource.ACRONYM),
        TermSource.CASING_PATTERN: lambda text: text.spelled(TermSource.CASING_PATTERN),
        TermSource.KNOWN_TERM: lambda text: (
            (term, term) for term in dict.fromkeys(known.found(text.keys()))
        ),
        TermSource.REPEATED_NOUN: lambda text: text.repeated(often),
        TermSource.CAPITALISED: lambda text: ((normal_form(name), name) for name in capitalised(text.text)),
    }
    finds = _Finds(metadata)
    for term, place in hinted(metadata):
        finds.add([(normal_form(term), term)], TermSource.METADATA_HINT, place)
    asked = metadata.get(SIGNS)
    counted = set(asked) if isinstance(asked, list | tuple) else signs.keys()
    for source, sign in signs.items():
        for text in texts if source in counted else ():
            finds.add(sign(text), source, text.context)
    return finds.sorted()


def hinted(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The terms that a step names in its metadata, each with the key that names it.

    A list or an object of another kind means nothing, and so does what is no text in it.
    """
    watched = metadata.get(_WATCHED)
    if isinstance(watched, list | tuple):
        yield from ((term, f"metadata: {_WATCHED}") for term in watched if isinstance(term, str))
    aliases = metadata.get(_ALIASES)
    if isinstance(aliases, Mapping):
        yield from ((term, f"metadata: {_ALIASES}") for term in aliases.values() if isinstance(term, str))


def scanned_fields(
    step_input: Mapping[str, Any], step_output: Mapping[str, Any], metadata: Mapping[str, Any]
) -> list[Field]:
    """The texts of a step that are scanned: of its input, then of its output.

    Args:
        step_input: What the step was given.
        step_output: What it has generated.
        metadata: Of the step: `glossary_fields` lists the names of the fields instead of the usual ones.
    """
    names: Iterable[str] = DEFAULT_FIELDS
    asked = metadata.get(_FIELDS)
    if isinstance(asked, list | tuple) and all(isinstance(name, str) for name in asked):
        names = asked
    return [
        Field(f"step {what}: {name} field", values[name])
        for what, values in (("input", step_input), ("output", step_output))
        for name in dict.fromkeys(names)
        if isinstance(values.get(name), str)
    ]


class _Scanned:
    """A text, taken apart once for all signs.

    It may be long, says most words again and again, and says most of what other texts say: what is done for
    each word is left to what needs no Python code for each, and all else is done for each once.
    """

    def __init__(self, field: Field) -> None:
        self.context, text = field
        self.text = composed(text)
        runs = self.text.split()
        self._read = readings(runs)
        self._distinct = readings(dict.fromkeys(runs))
        self._signs = tuple(dict.fromkeys([sign for each in self._distinct for sign in each.signs]))

    def forms(self) -> Iterator[str]:
        """The normal forms of the nouns, each as often as it is there."""
        return chain.from_iterable(map(_FORMS, self._read))

    def repeated(self, often: set[str]) -> Iterable[_Find]:
        """The nouns that are there often, of which the normal forms are given."""
        return dict.fromkeys([noun for each in self._distinct for noun in each.nouns if noun[0] in often])

    def keys(self) -> list[str]:
        """The words and marks in order, as they are looked up."""
        return list(chain.from_iterable(map(_KEYS, self._read)))

    def spelled(self, source: TermSource) -> Iterator[_Find]:
        """The words whose spelling is some sign."""
        return ((form, word) for found, form, word in self._signs if found is source)


class _Finds:
    """What was found so far; of two finds of the same term the first one stays."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        excluded = metadata.get(_EXCLUDED)
        texts = excluded if isinstance(excluded, list | tuple | set | frozenset) else ()
        self._excluded = {term_key(text) for text in texts if isinstance(text, str)}
        self._found: dict[str, ExtractedTerm] = {}

    def add(self, finds: Iterable[_Find], source: TermSource, context: str) -> None:
        """Add finds, unless they are excluded, there already, or have nothing in them that can be seen."""
        name, confidence = source.value, source_confidence(source)
        for form, original in finds:
            key, term = _term(form)
            if term is not None and key not in self._found and key not in self._excluded:
                self._found[key] = ExtractedTerm(term, name, confidence, original, context)

    def sorted(self) -> list[ExtractedTerm]:
        """All finds, the surest first, then by term."""
        return sorted(self._found.values(), key=lambda each: each.place)


def _quoted(text: _Scanned) -> Iterator[_Find]:
    for phrase in quoted(text.text):
        form = _phrase(phrase)
        if form:
            yield form, phrase


@lru_cache(maxsize=100_000)
def _phrase(phrase: str) -> str:
    """The normal form of a quoted phrase; empty where it is a letter, a word like any other or none."""
    form = normal_form(phrase)
    is_term = len(form) > 1 and _HAS_WORD.search(form) and STOP_WORDS.isdisjoint((form, phrase.lower()))
    return form if is_term else ""


def _repeated(texts: Iterable[_Scanned]) -> set[str]:
    """The normal forms of the words that are there often enough, in all texts together."""
    totals = Counter(chain.from_iterable(text.forms() for text in texts))
    return {form for form, often in totals.items() if often >= OFTEN}


@lru_cache(maxsize=100_000)
def _term(form: str) -> tuple[str, TermSurface | None]:
    """What a term is looked up by, and the term; none where the form is none of a term."""
    try:
        return term_key(form), TermSurface(form)
    except InvalidTermError:
        return "", None
