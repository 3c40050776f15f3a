"""The category of one record that has none: from its words where they are sure, else from its operations.

Nothing here is trained and nothing heavy is loaded, so that a record can be judged while it is written.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec

from vocabgap.model.record import (
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    UNCATEGORIZED,
    fold_category,
    fold_operation,
    operation_key,
)
from vocabgap.text import ignored_stems, stem, words

# Chosen so that of the records that get a category more than nine in ten get the agent's own.
# Cross-validated: 0.96 where nobody asked for the same need before (and 38 % of the records get one), 0.99
# where somebody did (and 89 % do).
SURE: Final = 0.8

# What operations of darktable are for. Those that serve for everything (exposure, colour balance, blending)
# are not among them.
_OPERATIONS_OF: Final = {
    "tone": "sigmoid filmicrgb basecurve tonecurve rgbcurve toneequal levels rgblevels shadhi highlights"
    " hazeremoval tonemap globaltonemap zonesystem basicadj",
    "wb": "temperature",
    "color": "colorzones colorequal channelmixer channelmixerrgb colorin colorout"
    " colorcontrast colorcorrection colorize colorchecker monochrome velvia vibrance splittoning primaries"
    " lut3d",
    "detail": "sharpen denoiseprofile nlmeans rawdenoise hotpixels diffuse equalizer atrous bilat bilateral"
    " localcontrast clahe highpass lowpass grain defringe cacorrect cacorrectrgb demosaic lens",
    "local": "retouch spots liquify graduatednd vignette censorize mask masks",
    "composition": "crop clipping ashift flip rotatepixels scalepixels borders enlargecanvas",
}
OPERATION_CATEGORIES: Final[Mapping[str, str]] = MappingProxyType(
    {operation: category for category, names in _OPERATIONS_OF.items() for operation in names.split()}
)


class CategoryBy(StrEnum):
    """Who says which category a record has."""

    AGENT = "agent"
    OPERATIONS = "operations"
    CLASSIFIER = "classifier"


class Judgement(msgspec.Struct, frozen=True):
    """The category of a record, aliases folded, and who says so; `uncategorized` where nobody is sure."""

    category: str = UNCATEGORIZED
    by: CategoryBy | None = None
    probability: float | None = None  # of the classifier's likeliest, 0 to 1; null where it has no say


class Classifier(msgspec.Struct, frozen=True):
    """A multinomial logistic regression over TF-IDF of terms, as plain numbers; it encodes as JSON."""

    categories: tuple[str, ...]  # sorted
    intercepts: tuple[float, ...]
    terms: dict[str, tuple[float, tuple[float, ...]]]  # inverse document frequency; a weight a category
    uncategorized: frozenset[str] = frozenset()  # terms that records without a category alone have

    def judge(self, said: Collection[str]) -> tuple[str, float]:
        """The likeliest category of some terms, each once, and its probability; 0 if none is known."""
        known = [self.terms[term] for term in said if term in self.terms]
        if not known:
            return UNCATEGORIZED, 0.0
        length = math.sqrt(math.fsum(idf * idf for idf, _ in known))
        scores = [
            intercept + math.fsum(idf * weights[place] for idf, weights in known) / length
            for place, intercept in enumerate(self.intercepts)
        ]
        highest = max(scores)
        place = scores.index(highest)
        return self.categories[place], 1.0 / math.fsum(math.exp(score - highest) for score in scores)


def terms(texts: Iterable[str | None]) -> tuple[str, ...]:
    """What a classifier reads of a record: the stems of its content words, each once, sorted.

    Its operations are not among them: they are asked by themselves, where the words are not sure.
    """
    return tuple(sorted({stem(word) for text in texts if text for word in words(text)} - ignored_stems()))


def category_of_operations(operations: Iterable[str], table: Mapping[str, str]) -> str | None:
    """The category that most of the known operations are for; null where none is known, or two are level."""
    keys = {operation_key(name) for name in operations}
    votes = Counter(table[key] for key in keys if table.get(key, UNCATEGORIZED) != UNCATEGORIZED)
    leading = votes.most_common(2)
    if not leading or (len(leading) > 1 and leading[0][1] == leading[1][1]):
        return None
    return leading[0][0]


def judge(
    said: str,
    texts: Iterable[str | None],
    operations: Iterable[str],
    *,
    table: Mapping[str, str] = OPERATION_CATEGORIES,
    classifier: Classifier | None = None,
    sure: float = SURE,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> Judgement:
    """The category of one record: what the agent said, else that of its words, else that of its operations.

    The table has operations as `operation_key` has them. The classifier is believed where it is sure. Words
    that only records without a category have say that there is none for what is asked, whatever was operated.
    """
    category = fold_category(said, category_aliases)
    if category != UNCATEGORIZED:
        return Judgement(category, CategoryBy.AGENT)
    probability = None
    if classifier is not None:
        known = terms(texts)
        likeliest, probability = classifier.judge(known)
        if probability >= sure:
            return Judgement(likeliest, CategoryBy.CLASSIFIER, probability)
        if not classifier.uncategorized.isdisjoint(known):
            return Judgement(probability=probability)
    involved = [fold_operation(name, operation_aliases) for name in operations]
    by_operations = category_of_operations(involved, table)
    if by_operations is not None:
        return Judgement(by_operations, CategoryBy.OPERATIONS)
    return Judgement(probability=probability)
