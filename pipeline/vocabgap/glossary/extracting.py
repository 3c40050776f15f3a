"""Extraction: which terms a text uses, and how sure that is."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

from vocabgap.glossary.normal_form import (
    ACRONYM,
    KnownTerms,
    composed,
    normal_form,
    term_key,
    tokens_of,
    word_form,
    word_key,
)
from vocabgap.glossary.senses import (
    ExtractedTerm,
    InvalidTermError,
    TermSource,
    TermSurface,
    source_confidence,
)
from vocabgap.text import FUNCTION_WORDS

# The hundred commonest words of English.
_COMMONEST: Final = """
the be to of and a in that have i it for not on with he as you do at this but his by from they we
say her she or an will my one all would there their what so up out if about who get which go me when
make can like time no just him know take people into year your good some could them see other than
then now look only come its over think also back after use two how our work first well way even new
want because any these give day most us
"""
# What an apostrophe leaves of a word.
_CUT: Final = "ain aren couldn didn doesn don hadn hasn haven isn mustn needn shouldn wasn weren won wouldn"
_CALENDAR: Final = """
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
"""
# Marks of work to do, and abbreviations that everybody uses.
_MARKS: Final = "todo fixme xxx wip tbd tba nb ok fyi asap ps etc ie eg am pm ci cd"
STOP_WORDS: Final = frozenset(_COMMONEST.split())
NO_NOUNS: Final = STOP_WORDS | FUNCTION_WORDS | frozenset(_CUT.split())
NO_NAMES: Final = NO_NOUNS | frozenset(_CALENDAR.split())
NO_ACRONYMS: Final = STOP_WORDS | frozenset(_MARKS.split())
_MOST: Final = 80  # characters of a phrase; what is longer is a quotation, and no term
_FEW: Final = 40  # between straight single marks, which may also be apostrophes
# A mark opens where no word or mark is before it and no white space after it, and closes the other way round:
# an inch mark, which comes after a digit, does not open. An apostrophe in a word does neither.
_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    '"': re.compile(rf'"(?<![\w"]")(?=[^\s"])([^"]{{1,{_MOST}}})(?<!\s)"(?![\w"])'),
    "“": re.compile(rf"[“„](?=\S)([^“”„]{{1,{_MOST}}})(?<!\s)[“”]"),
    "‘": re.compile(r"‘(?=\S)([^‘’]+(?:(?<=\w)’(?=\w)[^‘’]+)*)(?<!\s)’"),
    "'": re.compile(
        r"'(?<![\w']')(?![\s']|\d\ds?\b|(?:tis|twas|em|til|cause|n)\b)"
        r"([^'\n]+(?:(?<=\w)'(?=\w)[^'\n]+)*)(?<!\s)'(?![\w'])"
    ),
    "`": re.compile(rf"`(?<!``)(?=\S)([^`\n]{{1,{_MOST}}})(?<!\s)`(?!`)"),
    "«": re.compile(rf"«\s?([^«»\n]{{1,{_MOST}}})\s?»"),
}
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_CLOSING: Final = ",.;:!?…"  # what may stand before the closing mark and belongs to the sentence
_LEAST_CAPITALS: Final = 2
# snake_case, SCREAMING_SNAKE and __dunder__.
_SNAKE: Final = re.compile(r"_*[^\W\d_][^\W_]*(?:_+[^\W_]+)+_*|__[^\W\d_][^\W_]*__")
# camelCase, PascalCase, HTTPServer and what has digits in it; no shouting, no acronym in the plural.
_HUMPS: Final = re.compile(
    r"(?=[^_]*[a-z])[A-Za-z][a-z0-9]*(?:[A-Z]+[a-z0-9]+)+[A-Z]*|[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*"
)
_DIGITS: Final = re.compile(r"[a-z]{2,}[0-9]+[a-z0-9]*")
_KEBAB: Final = re.compile(r"(?<![\w-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w-])")
# In a sentence, not at its beginning.
_CAPITALISED: Final = re.compile(r"[A-Z](?<=[a-z0-9,;] [A-Z])[a-z]{2,}(?: [A-Z][a-z]{2,})*(?!\w)")
_LEAST_LETTERS: Final = 3  # of a word that is a term where it is there often
DEFAULT_FIELDS: Final = ("description", "prompt", "output")
OFTEN: Final = 3  # times that a word is there, to be a term for that
_WATCHED, _ALIASES, _EXCLUDED = "glossary_watch_terms", "glossary_aliases", "glossary_exclude_terms"
_FIELDS: Final = "glossary_fields"
SIGNS: Final = "glossary_signs"  # in the metadata of a step: the only signs that count
_HAS_WORD: Final = re.compile(r"[^\W_]")
_NOTHING_KNOWN: Final = KnownTerms()
_Find = tuple[str, str]  # the normal form of a term, and what is written
_Sign = tuple[TermSource, str, str]  # which sign a spelling is, the normal form, and what is written


class Field(NamedTuple):
    """A text to be scanned.

    Attributes:
        context: What it is, in words: `step input: description field`.
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
    wanted = metadata.get(SIGNS)
    counted = set(wanted) if isinstance(wanted, list | tuple) else signs.keys()
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
    """The texts of a step that are scanned: of its input, then of its output."""
    names: Iterable[str] = DEFAULT_FIELDS
    wanted = metadata.get(_FIELDS)
    if isinstance(wanted, list | tuple) and all(isinstance(name, str) for name in wanted):
        names = wanted
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
        self._read = list(map(_read, runs))
        self._distinct = list(map(_read, dict.fromkeys(runs)))
        self._signs = tuple(dict.fromkeys([sign for each in self._distinct for sign in each.signs]))

    def forms(self) -> Iterator[str]:
        """The normal forms of the nouns, each as often as it is there."""
        return chain.from_iterable(map(attrgetter("forms"), self._read))

    def repeated(self, often: set[str]) -> Iterable[_Find]:
        """The nouns that are there often, of which the normal forms are given."""
        return dict.fromkeys([noun for each in self._distinct for noun in each.nouns if noun[0] in often])

    def keys(self) -> list[str]:
        """The words and marks in order, as they are looked up."""
        return list(chain.from_iterable(map(attrgetter("keys"), self._read)))

    def spelled(self, source: TermSource) -> Iterator[_Find]:
        """The words whose spelling is some sign."""
        return ((form, word) for sign, form, word in self._signs if sign is source)


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


def quoted(text: str) -> Iterator[str]:
    """The phrases between quotation marks: straight or curly, double or single, back-ticks or guillemets.

    Returns:
        The phrases as they are written, kind by kind, without white space and punctuation at their ends.
    """
    for mark, pattern in _KINDS.items():
        if mark in text or (mark == "“" and "„" in text):
            longest = _FEW if mark == "'" else _MOST
            for phrase in pattern.findall(text):
                if len(phrase) <= longest and not ("\n" in phrase and _PARAGRAPH.search(phrase)):
                    yield phrase.strip().rstrip(_CLOSING)


def spelled_as(word: str) -> tuple[TermSource, str] | None:
    """The sign that a word's spelling is, and its normal form; none where it is spelled as words are."""
    if len(word) == 1 or (word.isalpha() and word[1:].islower()):
        return None
    if ACRONYM.fullmatch(word):
        form = word_form(word)
        if sum(map(str.isupper, word)) < _LEAST_CAPITALS or form in NO_ACRONYMS:
            return None
        return TermSource.ACRONYM, form
    if _SNAKE.fullmatch(word) or _HUMPS.fullmatch(word) or _DIGITS.fullmatch(word):
        return TermSource.CASING_PATTERN, word_form(word)
    return None


def kebabs(text: str) -> Iterator[str]:
    """The kebab-case words of a text; no compound of nothing but the commonest words."""
    if "-" in text:
        for word in _KEBAB.findall(text):
            if not STOP_WORDS.issuperset(word.split("-")):
                yield word


def capitalised(text: str) -> Iterator[str]:
    """Names: words in a sentence that begin with capitals, one or several in a row."""
    for run in _CAPITALISED.findall(text):
        words = run.split()
        while words and words[0].lower() in FUNCTION_WORDS:
            del words[0]
        while words and words[-1].lower() in FUNCTION_WORDS:
            del words[-1]
        if not NO_NAMES.issuperset(map(str.lower, words)):
            yield " ".join(words)


class _Reading(NamedTuple):
    """What a run of characters says."""

    keys: tuple[str, ...]  # its words and marks, as they are looked up
    signs: tuple[_Sign, ...]  # the terms that their spelling shows
    nouns: tuple[_Find, ...]  # the words that are terms where they are there often
    forms: tuple[str, ...]  # how these are looked up


@lru_cache(maxsize=100_000)
def _read(run: str) -> _Reading:
    if run.isalpha() and run.islower():  # most of any text
        key = word_key(run)
        return _Reading((key,), (), *((((key, run),), (key,)) if _is_noun(run) else ((), ())))
    tokens = tokens_of(run)
    words = [token for token in tokens if len(token) > 1]  # a single letter or mark is no term
    signs = [(*sign, word) for word in words if (sign := spelled_as(word)) is not None]
    signs += ((TermSource.CASING_PATTERN, normal_form(word), word) for word in kebabs(run))
    nouns = tuple((word_key(word), word) for word in words if _is_noun(word))
    return _Reading(tuple(map(word_key, tokens)), tuple(signs), nouns, tuple(form for form, _ in nouns))


def _is_noun(token: str) -> bool:
    """Whether a word may be a noun; a capital may begin it."""
    if len(token) < _LEAST_LETTERS or not token[1:].islower() or not token.isalpha():
        return False
    return NO_NOUNS.isdisjoint((word_key(token), token.lower()))
