"""Words that the settings say mean the same, folded before anything is compared."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from vocabgap.clustering.stopwords import content_words
from vocabgap.errors import InvalidInputError
from vocabgap.text import surface

_HINT: Final = "each wording may stand for one word only; list them all under that one"

_Stems = tuple[str, ...]
Folding = Callable[[list[str]], list[str]]


def folding(synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str]) -> Folding:
    """How to put the one wording in the place of those that mean the same.

    Args:
        synonyms: A word or phrase to the others that stand for it. Inflection, case, hyphens and ignored
            words do not matter on either side.
        ignored: The stems that tell no need from another.

    Returns:
        A function from the content words of a surface to those to be compared. The longest wording wins.

    Raises:
        InvalidInputError: A wording is empty, or stands for two different ones.
    """
    table = _table(synonyms, ignored)
    if not table:
        return list
    longest = max(map(len, table))

    def fold(words: list[str]) -> list[str]:
        folded: list[str] = []
        start = 0
        while start < len(words):
            for length in range(min(longest, len(words) - start), 0, -1):
                found = table.get(tuple(words[start : start + length]))
                if found is not None:
                    folded += found
                    start += length
                    break
            else:
                folded.append(words[start])
                start += 1
        return folded

    return fold


def _table(synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str]) -> dict[_Stems, _Stems]:
    """What stands for what, in stems."""
    table: dict[_Stems, _Stems] = {}
    said: dict[_Stems, str] = {}
    for canonical, others in synonyms.items():
        target = _stems(canonical, ignored)
        for other in (others,) if isinstance(others, str) else others:
            source = _stems(other, ignored)
            if table.get(source, target) != target:
                raise InvalidInputError(
                    f"synonyms: '{other}' stands for '{said[source]}' and for '{canonical}'", hint=_HINT
                )
            if source != target:
                table[source], said[source] = target, canonical
    for canonical in synonyms:
        target = _stems(canonical, ignored)
        if target in table:
            raise InvalidInputError(
                f"synonyms: '{canonical}' has synonyms of its own and stands for '{said[target]}'", hint=_HINT
            )
    return table


def _stems(wording: str, ignored: frozenset[str]) -> _Stems:
    stems = tuple(content_words(surface(wording), ignored))
    if not stems:
        raise InvalidInputError("synonyms: a wording is empty", hint="expected a word or a phrase")
    return stems
