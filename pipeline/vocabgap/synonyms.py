"""Words that somebody says mean the same: what stands for what, and what cannot be meant."""

from collections.abc import Iterable, Mapping
from typing import Final

from vocabgap.arguments import require_kind, texts
from vocabgap.errors import InvalidInputError
from vocabgap.stopwords import content_words
from vocabgap.text import surface

_HINT: Final = "each wording may stand for one word only; list them all under that one"
_EXAMPLE: Final = 'for example {"haze": ["fog", "mist"]}'

Stems = tuple[str, ...]


def synonym_table(
    synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str], *, name: str = "synonyms"
) -> dict[Stems, Stems]:
    """What stands for what, in stems.

    Args:
        synonyms: A word or phrase to the others that stand for it. Inflection, case, hyphens and ignored
            words do not matter on either side.
        ignored: The stems that tell no need from another.
        name: What the synonyms are called where they were written, to be named in an error.

    Returns:
        The content stems of a wording to those that take their place.

    Raises:
        InvalidInputError: A wording is empty, or stands for two different ones; or these are no wordings.
    """
    require_kind(name, synonyms, Mapping, "a mapping of words to what stands for them", hint=_EXAMPLE)
    table: dict[Stems, Stems] = {}
    said: dict[Stems, str] = {}
    for canonical, others in synonyms.items():
        require_kind(name, canonical, str, "words that others stand for")
        target = _stems(canonical, ignored, name, "a word that others stand for")
        for other in texts(f"{name}: what stands for '{canonical}'", others):
            source = _stems(other, ignored, name, f"a wording of '{canonical}'")
            if table.get(source, target) != target:
                raise InvalidInputError(
                    f"{name}: '{other}' stands for '{said[source]}' and for '{canonical}'", hint=_HINT
                )
            if source != target:
                table[source], said[source] = target, canonical
    for canonical in synonyms:
        target = _stems(canonical, ignored, name, "a word that others stand for")
        if target in table:
            raise InvalidInputError(
                f"{name}: '{canonical}' has synonyms of its own and stands for '{said[target]}'", hint=_HINT
            )
    return table


def _stems(wording: str, ignored: frozenset[str], name: str, role: str) -> Stems:
    stems = tuple(content_words(surface(wording), ignored))
    if not stems:
        raise InvalidInputError(f"{name}: {role} is empty", hint="expected a word or a phrase")
    return stems
