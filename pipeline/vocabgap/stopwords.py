"""Words that tell no need from another."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from vocabgap.arguments import texts
from vocabgap.text import stem, words

_FUNCTION_WORDS: Final = """
a an the this that these those it its there here
of to for in on at by with from as into onto upon and or if so than then
is are be been being was were am do does did has have had having
can could may might must shall should will would
i me my we us our you your he him his she her they them their
what which who whom whose when where how why just also
"""
_REQUEST_WORDS: Final = """
please want wants wanted wanting need needs needed needing wish lack lacks lacking missing
"""

# Negations ("not", "no", "without") are not among them, for they turn a need around.
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
# These only say that something is wanted, which every record does.
REQUEST_WORDS: Final = frozenset(_REQUEST_WORDS.split())


def ignored_stems(stop_words: Iterable[str] = ()) -> frozenset[str]:
    """The stems of the function and request words and of further ones; a single one may be given as it is.

    Raises:
        InvalidInputError: The further ones are no words.
    """
    return _always_ignored() | _stems(texts("stop_words", stop_words))


@cache
def _always_ignored() -> frozenset[str]:
    return _stems(FUNCTION_WORDS | REQUEST_WORDS)


def _stems(listed: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(part) for word in listed for part in words(word))


def content_words(surface: str, ignored: frozenset[str]) -> list[str]:
    """The words of a surface that are not ignored; all of them where nothing else would be left."""
    every = surface.split()
    return [word for word in every if word not in ignored] or every
