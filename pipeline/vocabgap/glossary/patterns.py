"""Patterns: what the spelling of a word says of it."""

import re
from collections.abc import Iterator
from typing import Final

from vocabgap.glossary.candidates import TermSource
from vocabgap.glossary.general_words import NO_ACRONYMS, NO_NAMES, STOP_WORDS
from vocabgap.glossary.normalizing import ACRONYM, word_form
from vocabgap.text import FUNCTION_WORDS

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


def spelled_as(word: str) -> tuple[TermSource, str] | None:
    """The sign that a word's spelling is, and its normal form; none where it is spelled as words are.

    Args:
        word: One word, of which an underscore is a part and a hyphen is none.
    """
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
