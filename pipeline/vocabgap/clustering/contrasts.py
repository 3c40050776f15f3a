"""Contrasts: words that turn one need into another, such as opposites (add, remove).

"Upload a release asset" and "download a release asset" share all words but one, and have similar embeddings.
So wordings at different poles of a contrast are moved apart before they are compared. Two groups never merge
if half of each group is at a different pole. In a sentence, such a word may refer to anything, so only short
phrases separate groups. A negation ("do not notify") is a contrast, too: other needs are at its other pole.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.wordings import clause_share
from vocabgap.files import text_of
from vocabgap.linkage import FloatArray
from vocabgap.text import ignored_stems, surface

MOST: Final = 0.5  # least share of a group's surfaces at a pole
SENTENCE: Final = 0.2  # share of clause words; a need with more of them separates no groups
SHORT: Final = 12  # words; a longer need separates no groups
LEFT: Final = 1  # the left side of a merge leaves ...
RIGHT: Final = 2  # ... or the right one

Contrast = int | str  # its number, or a name
Poles = dict[Contrast, int]  # a contrast to the number of the pole
NEGATION: Final = "not"  # the contrast of negated needs, ...
NEGATED: Final = 1  # ... and their pole; the other pole is not listed
SIGNS: Final = frozenset("+-<>")  # of numbers
_CONTENT: Final = 4  # first letters that tell words of content apart, whatever their endings
_FUNCTION: Final = ignored_stems()


class _Contrasts(NamedTuple):
    """The table of contrasts, opposites first."""

    places: dict[str, list[tuple[Contrast, int]]]  # a stem, or two with a space, to contrasts and poles
    firsts: frozenset[str]  # the first of two stems
    opposites: int  # number of contrasts with two poles
    companions: dict[str, int]  # "with" and "without" in several languages to poles
    negations_first: frozenset[str]  # a stem, or two with a space, that negate a need at its start
    negations: frozenset[str]  # stems that negate a need anywhere


def poles_of(words: Sequence[str]) -> Poles:
    """Return the poles of a wording, from its stems; a contrast with two poles in the wording is left out.

    A word after "too" does not count: "too hard" does not ask for anything hard.
    """
    places, firsts, *_ = _contrasts()
    terms = [word for before, word in pairwise(("", *words)) if word in places and before != "too"]
    terms += [f"{one} {other}" for one, other in pairwise(words) if one in firsts]
    terms += [word[0] for word in words if word[0] in SIGNS]
    stands: Poles = {}
    torn = set()
    for contrast, pole in chain(_companions(words), *(places.get(term, ()) for term in terms)):
        if stands.setdefault(contrast, pole) != pole:
            torn.add(contrast)
    return {contrast: pole for contrast, pole in stands.items() if contrast not in torn}


def _companions(words: Sequence[str]) -> Iterator[tuple[Contrast, int]]:
    """Yield a contrast and a pole for each "with" or "without", by the start of the next word of content."""
    companions = _contrasts().companions
    for place, word in enumerate(words[:-1]):
        if word in companions:
            behind = words[place + 1 :]
            thing = next(
                (each for each in behind if len(each) >= _CONTENT and each not in _FUNCTION), behind[-1]
            )
            yield f"with {thing[:_CONTENT]}", companions[word] or int(behind[0] == "no")


def parting_poles(words: Sequence[str]) -> Poles:
    """Return the poles of a need that may separate groups; none for sentences and long needs."""
    if len(words) > SHORT:
        return {}
    poles, rest = poles_of(words), _without_negation(words)
    if poles and clause_share(" ".join(rest)) > SENTENCE:
        poles = {}
    is_negated = len(rest) < len(words)
    return poles | {NEGATION: NEGATED} if is_negated else poles


def _without_negation(words: Sequence[str]) -> Sequence[str]:
    """Return the stems of a need without those that negate it."""
    table = _contrasts()
    # "I don't want a mask" is a negation, "I don't see a mask" is none.
    start = int(words[0] in {"i", "we", "you"} and "want" in words[:4])
    for end in (start + 2, start + 1):
        if " ".join(words[start:end]) in table.negations_first:
            return words[end:]
    return [word for word in words if word not in table.negations]


def pole_rows(poles: Sequence[Poles]) -> FloatArray:
    """Return rows of unit length, one dimension per opposite, shape (n, opposites); zeros without a pole."""
    opposites = _contrasts().opposites
    rows = np.zeros((len(poles), opposites))
    for row, own in enumerate(poles):
        for contrast, pole in own.items():
            if isinstance(contrast, int) and contrast < opposites:
                rows[row, contrast] = 1.0 - 2.0 * pole
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0.0, 1.0, lengths))


def leaving(linkage: pl.DataFrame, poles: Sequence[Poles]) -> npt.NDArray[np.int8]:
    """Return the side that leaves at each merge because of a contrast: `LEFT`, `RIGHT`, or 0 for none.

    The side with fewer surfaces leaves; of equal sides, the right one. The other side continues without it.
    """
    # For each cluster: the number of its surfaces at each pole.
    at_pole: list[dict[tuple[Contrast, int], int]] = [dict.fromkeys(own.items(), 1) for own in poles]
    size = [1] * len(poles)
    side = np.zeros(linkage.height, dtype=np.int8)
    for merge, (left, right) in enumerate(linkage.select("left", "right").iter_rows()):
        if _differ(at_pole[left], size[left], at_pole[right], size[right]):
            side[merge], stays = (LEFT, right) if size[left] < size[right] else (RIGHT, left)
            at_pole.append(at_pole[stays])
            size.append(size[stays])
            continue
        more, fewer = sorted((at_pole[left], at_pole[right]), key=len, reverse=True)
        for pole, surfaces in fewer.items():
            more[pole] = more.get(pole, 0) + surfaces
        at_pole[left] = at_pole[right] = {}
        at_pole.append(more)
        size.append(size[left] + size[right])
    return side


def _differ(
    one: dict[tuple[Contrast, int], int],
    size_of_one: int,
    other: dict[tuple[Contrast, int], int],
    size_of_other: int,
) -> bool:
    """Tell whether two clusters are mostly at different poles of a contrast."""
    if not one and not other:
        return False
    negated = (NEGATION, NEGATED)
    if (one.get(negated, 0) >= MOST * size_of_one) != (other.get(negated, 0) >= MOST * size_of_other):
        return True
    main_poles = {
        contrast: pole for (contrast, pole), surfaces in one.items() if surfaces >= MOST * size_of_one
    }
    return any(
        main_poles.get(contrast, pole) != pole
        for (contrast, pole), surfaces in other.items()
        if surfaces >= MOST * size_of_other
    )


@cache
def _contrasts() -> _Contrasts:
    table = tomllib.loads(text_of(Path(__file__).with_name("contrasts.toml")))
    opposites, kinds = (
        [row.split("/") for row in table[name].strip().splitlines()] for name in ("opposites", "kinds")
    )
    places: dict[str, list[tuple[Contrast, int]]] = {}
    for contrast, poles in enumerate((*opposites, *kinds)):
        for pole, words in enumerate(poles):
            for word in words.split(","):
                place = (contrast, pole)
                listed = places.setdefault(surface(word), [])
                if place not in listed:
                    listed.append(place)
    firsts = frozenset(term.split()[0] for term in places if " " in term)
    first, anywhere = (
        frozenset(map(surface, table["negations"][name].split(","))) for name in ("first", "anywhere")
    )
    companions = {
        surface(word): pole
        for pole, name in enumerate(("with", "without"))
        for word in table["companions"][name].split(",")
    }
    return _Contrasts(places, firsts, len(opposites), companions, first, anywhere)
