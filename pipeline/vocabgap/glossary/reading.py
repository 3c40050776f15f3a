"""Reading: what a run of characters without white space says of terms, worked out once for each."""

from functools import lru_cache
from typing import Final, NamedTuple

from vocabgap.glossary.candidates import TermSource
from vocabgap.glossary.general_words import NO_NOUNS
from vocabgap.glossary.normalizing import TOKEN, normal_form, word_key
from vocabgap.glossary.patterns import kebabs, spelled_as

_MOST_KEPT: Final = 100_000
_LONGEST_KEPT: Final = 100  # characters; what is longer hardly comes twice
_LEAST_LETTERS: Final = 3  # of a word that is a term where it is there often


class Sign(NamedTuple):
    """What a word's spelling says.

    Attributes:
        source: By which sign it is a term.
        form: Its normal form.
        word: The word.
    """

    source: TermSource
    form: str
    word: str


class Reading(NamedTuple):
    """What a run of characters says.

    Attributes:
        keys: Its words and marks, as they are looked up.
        signs: The terms that their spelling shows.
        nouns: The words that are terms where they are there often, each by its normal form.
    """

    keys: tuple[str, ...]
    signs: tuple[Sign, ...]
    nouns: tuple[tuple[str, str], ...]


def readings(runs: dict[str, int]) -> dict[str, Reading]:
    """What each of some runs of characters says."""
    return {run: _kept(run) if len(run) <= _LONGEST_KEPT else _read(run) for run in runs}


def _read(run: str) -> Reading:
    tokens = TOKEN.findall(run)
    signs = [Sign(*sign, token) for token in tokens if (sign := spelled_as(token)) is not None]
    signs += (Sign(TermSource.CASING_PATTERN, normal_form(word), word) for word in kebabs(run))
    return Reading(
        tuple(map(word_key, tokens)),
        tuple(signs),
        tuple((form, token) for token in tokens if (form := _noun(token))),
    )


_kept: Final = lru_cache(maxsize=_MOST_KEPT)(_read)


def _noun(token: str) -> str:
    """The normal form of a word that may be a noun, which a capital may begin; empty where it is none."""
    if len(token) < _LEAST_LETTERS or not token[1:].islower() or not token.isalpha():
        return ""
    form = word_key(token)
    return "" if form in NO_NOUNS or token.lower() in NO_NOUNS else form
