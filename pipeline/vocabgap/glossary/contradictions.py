"""Contradictions: a text that uses a term against its definition, as far as its wording shows that."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from vocabgap.glossary.normalizing import lower
from vocabgap.text import FUNCTION_WORDS, stem

WINDOW: Final = 50  # characters on either side of a use of the term
_LEAST_SHARED: Final = 0.3  # of the words of a definition, where a text gives one of its own
_TELLING: Final = 4  # letters of a word from which on denying it denies the definition
_WORD: Final = re.compile(r"[^\W_]+")
_NOT: Final = r"(?:is not|isn't|not an?)"
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'"})


def contradicts(text: str, term: str, definition: str) -> bool:
    """Whether a text uses a term against its definition, as `contradictions` finds it."""
    return next(contradictions(text, term, definition), None) is not None


def contradictions(text: str, term: str, definition: str) -> Iterator[str]:
    """The uses of a term in a text that are against its definition.

    A use is where the text denies, near the term, a word of the definition (`is not a unit`), denies the term
    itself (`a feature is not`, `unlike a feature`), or says what it means in other words (`refers to a
    plugin`).

    Args:
        text: The text.
        term: The term, in lower case; only whole words are uses of it.
        definition: What it means.

    Returns:
        The passages around these uses, in lower case with single spaces.
    """
    searched, name = _folded(text), _folded(term)
    if name not in searched:
        return
    use, denied, defined = _patterns(name)
    known = _words(definition)
    denial = _denial(frozenset(known))
    for found in use.finditer(searched):
        window = searched[max(0, found.start() - WINDOW) : found.end() + WINDOW]
        if denied.search(window) or (denial is not None and denial.search(window)):
            yield window.strip()
        elif known and defined.search(window):
            stems = set(map(stem, _WORD.findall(window)))
            shared = sum(stem(word) in stems for word in known)
            if shared < _LEAST_SHARED * len(known):
                yield window.strip()


@lru_cache(maxsize=1_000)
def _folded(text: str) -> str:
    """Text in lower case with straight apostrophes and single spaces: one text is searched for many terms."""
    return " ".join(lower(text).translate(_APOSTROPHES).split())


@lru_cache(maxsize=10_000)
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """The uses of a term, what denies it, and what defines it."""
    whole = rf"(?<!\w){re.escape(name)}(?!\w)"
    before = r"(?<!\w)(?:not an?|(?:unlike|contrary to)(?: an?| the)?)"
    return (
        re.compile(whole),
        re.compile(rf"{whole} (?:is not|isn't)(?!\w)|{before} {whole}"),
        re.compile(rf"{whole} (?:refers to|means|is an?)(?!\w)"),
    )


@lru_cache(maxsize=10_000)
def _denial(words: frozenset[str]) -> re.Pattern[str] | None:
    """What denies one of the words of a definition, directly or with one word between."""
    telling = sorted(map(re.escape, (word for word in words if len(word) >= _TELLING)))
    if not telling:
        return None
    return re.compile(rf"(?<!\w){_NOT} (?:\w+ )?(?:{'|'.join(telling)})(?!\w)")


def _words(definition: str) -> list[str]:
    """The different words of a definition that say something; all of them where none does."""
    found = list(dict.fromkeys(_WORD.findall(lower(definition))))
    return [word for word in found if word not in FUNCTION_WORDS] or found
