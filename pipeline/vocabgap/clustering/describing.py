"""The label of a group, the similarity of its members to it, its cohesion and its weakest link."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from vocabgap.clustering.wordings import Points
from vocabgap.linkage import FloatArray, IntArray, Rows
from vocabgap.linkage.rows import pair_products
from vocabgap.model.frames import label_of, need
from vocabgap.text import REQUEST_WORDS, words

CORE_SHARE: Final = 0.5  # of the mentions of a group
SHOWN_DIGITS: Final = 6  # of a similarity; further digits are rounding errors
_ROWS_AT_ONCE: Final = 50_000


class Labeller:
    """A search for the wording that represents a group."""

    def __init__(self, points: Points) -> None:
        self._names = points.surfaces["surface"].to_list()
        self._mentions = points.surfaces["mentions"].to_list()
        self._contents = points.contents
        self._wordings_at = points.uses.at

    def label(self, members: Sequence[int]) -> tuple[str, int]:
        """Return the wording that represents a group, and its point."""
        if len(members) == 1:
            return best_wording(self._wordings_at(members[0])), members[0]
        contents = [frozenset(self._contents[member].split()) for member in members]
        names = [self._names[member] for member in members]
        chosen = representative(contents, [self._mentions[member] for member in members], names)
        alike = [member for member, words in zip(members, contents, strict=True) if words == contents[chosen]]
        wordings = [(use, member) for member in alike for use in self._wordings_at(member)]
        where = {wording: member for (wording, _), member in wordings}
        label = best_wording(use for use, _ in wordings)
        return label, where[label]


def representative(
    members: Sequence[frozenset[str]], mentions: Sequence[int], surfaces: Sequence[str]
) -> int:
    """Return the position of the member with most of the group's common terms, and few others.

    The member with the highest F1 wins. Recall is its share of the common terms, weighted by mentions.
    Precision is the share of its content words (`members`) that are common. If F1 rounds to the same quarter,
    the most mentioned member wins, then the higher F1, the shorter surface, the first in the alphabet.
    """
    core = core_terms(members, mentions)
    whole = sum(core.values())

    def order(position: int) -> tuple[int, int, float, int, str]:
        common = [core[term] for term in members[position] if term in core]
        recall, precision = sum(common) / max(whole, 1), len(common) / max(len(members[position]), 1)
        share = 2.0 * recall * precision / (recall + precision) if common else 0.0
        nearly, exactly = -round(share * 4), -round(share, SHOWN_DIGITS)
        return (nearly, -mentions[position], exactly, len(surfaces[position]), surfaces[position])

    return min(range(len(members)), key=order)


def core_terms(members: Sequence[frozenset[str]], mentions: Sequence[int]) -> dict[str, int]:
    """Return the terms in at least half of a group's mentions, each with its mentions.

    If there are none, return the terms in several members.
    """
    used: Counter[str] = Counter()
    users: Counter[str] = Counter()
    for terms, count in zip(members, mentions, strict=True):
        used.update(dict.fromkeys(terms, count))
        users.update(terms)
    enough = CORE_SHARE * sum(mentions)
    half = {term: count for term, count in used.items() if count >= enough}
    return half or {term: count for term, count in used.items() if users[term] > 1}


def labels_of(wordings: Sequence[str], kept: Mapping[int, str] = {}) -> list[str]:
    """Make unique labels from the texts that represent groups, without their frames.

    Texts whose labels would be equal stay whole, or get a number. `kept` are groups with the labels that they
    keep.
    """
    needs = (
        need(wording).lower() if wording.isupper() and _is_identifier(wording) else need(wording)
        for wording in wordings
    )
    labels = [kept.get(number, label_of(own)) for number, own in enumerate(needs)]
    alike = Counter(map(str.casefold, labels))
    unique = [
        label if number in kept or alike[label.casefold()] == 1 else label_of(wordings[number])
        for number, label in enumerate(labels)
    ]
    used: Counter[str] = Counter()
    for number, label in enumerate(unique):
        used[label] += 1
        if used[label] > 1 and number not in kept:
            unique[number] = f"{label} ({used[label]})"
    return unique


def best_wording(wordings: Iterable[tuple[str, int]]) -> str:
    """Choose one of several wordings with the same terms.

    Words come before an identifier (`sky_mask`, `skyMask`), and a need before a request ("wanted sky mask").
    Then comes the most used wording, the shorter one, the first in the alphabet.
    """

    def order(wording: tuple[str, int]) -> tuple[bool, bool, int, int, str]:
        text, mentions = wording
        requests = not REQUEST_WORDS.isdisjoint(words(text))
        return (_is_identifier(text), requests, -mentions, len(text), text)

    return min(wordings, key=order)[0]


def _is_identifier(wording: str) -> bool:
    return " " not in wording and len(words(wording)) > 1 and "-" not in wording


def similarity(rows: Rows, others: IntArray) -> FloatArray:
    """Return the cosine similarity of each row to another one, 0 if it is negative, shape (n,)."""
    cosines = np.zeros(len(others))
    for start in range(0, len(others), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        own, other = np.arange(len(others))[part], others[part]
        cosines[part] = rows.plain_terms(own).multiply(rows.plain_terms(other)).sum(axis=1)
        if rows.dense is not None:
            cosines[part] += pair_products(rows.dense, rows.dense_rows_of(own), rows.dense_rows_of(other))
    return _shown(cosines)


def cohesion(rows: Rows, labels: IntArray) -> FloatArray:
    """Return the mean cosine similarity of all pairs of each group, 0 to 1; 1 for one member.

    It is computed from the squared length of the sum of the rows, without pairs.
    """
    count = np.bincount(labels)
    several = np.flatnonzero(count[labels] > 1)
    shape = len(count), len(labels)
    terms, dense = rows.sums(sparse.csr_array((np.ones(len(several)), (labels[several], several)), shape))
    squares = terms.multiply(terms).sum(axis=1) + (dense**2).sum(axis=1)
    pairs = np.maximum(count * (count - 1), 1)
    return np.where(count == 1, 1.0, _shown((squares - count) / pairs))


def weakest_links(linkage: pl.DataFrame, left_leaves: npt.NDArray[np.bool_], labels: IntArray) -> FloatArray:
    """Return the height of the last merge in each group, shape (groups,); 0 for a group of one.

    `left_leaves` is true for each merge whose left side is cut off.
    """
    links = np.zeros(int(labels.max(initial=-1)) + 1)
    # The first point below each node. A merge is in the group that holds both of its sides.
    first = np.concatenate([np.arange(len(labels)), np.zeros(linkage.height, np.int64)])
    heights = linkage["height"].to_numpy()
    sides = zip(linkage["left"].to_list(), linkage["right"].to_list(), strict=True)
    for number, (left, right) in enumerate(sides):
        first[len(labels) + number] = first[right if left_leaves[number] else left]
        group = labels[first[left]]
        if group == labels[first[right]]:
            links[group] = max(links[group], heights[number])
    return _shown(links)


def _shown(values: FloatArray) -> FloatArray:
    return np.clip(values.round(SHOWN_DIGITS), 0.0, 1.0)
