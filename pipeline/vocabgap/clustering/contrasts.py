"""Words that turn one need into another: opposites (add, remove) and kinds (colour, luminance, depth).

"Upload a release asset" and "download a release asset" share all words but one, and every embedding has
them near. So wordings that stand at different poles of a contrast are moved apart before they are compared,
and two groups are never made one where half of either stands at another pole. In a sentence such a word may
belong to anything, so only short phrases part groups.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.vectorizing import FloatArray
from vocabgap.clustering.wordings import clause_share
from vocabgap.text import surface

MOST: Final = 0.5  # of the mentions of a group: what stands at a pole
SENTENCE: Final = 0.2  # share of clause words of a need that may not
SHORT: Final = 12  # words of a need that may keep groups apart
LEFT: Final = 1  # the side of a merge that leaves ...
RIGHT: Final = 2  # ... or the other

Poles = dict[int, int]  # the number of a contrast to that of the pole


class _Contrasts(NamedTuple):
    """The contrasts of the table, opposites first."""

    places: dict[str, list[tuple[int, int]]]  # a stem, or two with a space between, to contrasts and poles
    firsts: frozenset[str]  # the first of two stems
    opposites: int  # how many have two poles


def poles_of(words: Sequence[str]) -> Poles:
    """Where a wording stands, by its stems: of each contrast the pole, where it says words of one alone.

    What is "too hard" asks for no hard one, so that says nothing.
    """
    places, firsts, _ = _contrasts()
    terms = [word for before, word in pairwise(("", *words)) if word in places and before != "too"]
    terms += [f"{one} {other}" for one, other in pairwise(words) if one in firsts]
    stands: Poles = {}
    torn = set()
    for term in terms:
        for contrast, pole in places.get(term, ()):
            if stands.setdefault(contrast, pole) != pole:
                torn.add(contrast)
    return {contrast: pole for contrast, pole in stands.items() if contrast not in torn}


def parting_poles(words: Sequence[str]) -> Poles:
    """Where a need stands, if it may part groups: the words of a sentence or a long one may mean anything."""
    if len(words) > SHORT:
        return {}
    poles = poles_of(words)
    return {} if poles and clause_share(" ".join(words)) > SENTENCE else poles


def pole_rows(poles: Sequence[Poles]) -> FloatArray:
    """Rows of unit length, a dimension an opposite, shape (n, opposites); zeros for what stands at none."""
    opposites = _contrasts().opposites
    rows = np.zeros((len(poles), opposites))
    for row, own in enumerate(poles):
        for contrast, pole in own.items():
            if contrast < opposites:
                rows[row, contrast] = 1.0 - 2.0 * pole
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0.0, 1.0, lengths))


def leaving(linkage: pl.DataFrame, weights: FloatArray, poles: Sequence[Poles]) -> npt.NDArray[np.int8]:
    """Which side leaves at each merge, for it stands at another pole: `LEFT`, `RIGHT`, or 0 for none.

    The side with fewer mentions leaves, of two with as many the right one; the other goes on as if that merge
    had not been.

    Args:
        linkage: Table `linkage` of n points.
        weights: How often each was mentioned, shape (n,).
        poles: Where each of them stands.
    """
    # Of each cluster, how often each pole was said; taken over by the cluster that it becomes part of.
    said: list[dict[tuple[int, int], float]] = [
        dict.fromkeys(own.items(), weight) for own, weight in zip(poles, weights.tolist(), strict=True)
    ]
    size = weights.tolist()
    side = np.zeros(linkage.height, dtype=np.int8)
    for merge, (left, right) in enumerate(linkage.select("left", "right").iter_rows()):
        if _differ(said[left], size[left], said[right], size[right]):
            side[merge], stays = (LEFT, right) if size[left] < size[right] else (RIGHT, left)
            said.append(said[stays])
            size.append(size[stays])
            continue
        more, fewer = sorted((said[left], said[right]), key=len, reverse=True)
        for place, weight in fewer.items():
            more[place] = more.get(place, 0.0) + weight
        said[left] = said[right] = {}
        said.append(more)
        size.append(size[left] + size[right])
    return side


def _differ(
    one: dict[tuple[int, int], float], of_one: float, other: dict[tuple[int, int], float], of_other: float
) -> bool:
    """Whether most of two clusters stand at different poles of a contrast."""
    if not one or not other:
        return False
    stands = {contrast: pole for (contrast, pole), weight in one.items() if weight >= MOST * of_one}
    return any(
        stands.get(contrast, pole) != pole
        for (contrast, pole), weight in other.items()
        if weight >= MOST * of_other
    )


@cache
def _contrasts() -> _Contrasts:
    table = tomllib.loads(resources.files(__package__).joinpath("contrasts.toml").read_text(encoding="utf-8"))
    opposites, kinds = (
        [row.split("/") for row in table[name].strip().splitlines()] for name in ("opposites", "kinds")
    )
    places: dict[str, list[tuple[int, int]]] = {}
    for contrast, poles in enumerate((*opposites, *kinds)):
        for pole, words in enumerate(poles):
            for word in words.split(","):
                place = (contrast, pole)
                listed = places.setdefault(surface(word), [])
                if place not in listed:
                    listed.append(place)
    firsts = frozenset(term.split()[0] for term in places if " " in term)
    return _Contrasts(places, firsts, len(opposites))
