"""Reading: what a run of characters without white space says of terms, worked out once for each."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from vocabgap.glossary.candidates import TermSource
from vocabgap.glossary.general_words import NO_NOUNS
from vocabgap.glossary.normalizing import normal_form, tokens_of, word_key
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
        nouns: The words that are terms where they are there often: how they are looked up, and as written.
        forms: How these are looked up.
    """

    keys: tuple[str, ...]
    signs: tuple[Sign, ...]
    nouns: tuple[tuple[str, str], ...]
    forms: tuple[str, ...]


class _Readings(dict[str, Reading]):
    """What was read so far, by the run of characters; filled as they are met."""

    def __missing__(self, run: str) -> Reading:
        found = _read(run)
        if len(run) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[run] = found
        return found


_READINGS: Final = _Readings()


def readings(runs: Iterable[str]) -> list[Reading]:
    """What runs of characters say, in order.

    Args:
        runs: Each without white space, composed.
    """
    return list(map(_READINGS.__getitem__, runs))


def _read(run: str) -> Reading:
    if run.isalpha() and run.islower():  # most of any text
        key = word_key(run)
        return Reading((key,), (), *((((key, run),), (key,)) if _is_noun(run) else ((), ())))
    tokens = tokens_of(run)
    words = [token for token in tokens if len(token) > 1]  # a single letter or mark is no term
    signs = [Sign(*sign, word) for word in words if (sign := spelled_as(word)) is not None]
    signs += (Sign(TermSource.CASING_PATTERN, normal_form(word), word) for word in kebabs(run))
    nouns = tuple((word_key(word), word) for word in words if _is_noun(word))
    return Reading(tuple(map(word_key, tokens)), tuple(signs), nouns, tuple(form for form, _ in nouns))


def _is_noun(token: str) -> bool:
    """Whether a word may be a noun; a capital may begin it."""
    if len(token) < _LEAST_LETTERS or not token[1:].islower() or not token.isalpha():
        return False
    return NO_NOUNS.isdisjoint((word_key(token), token.lower()))
