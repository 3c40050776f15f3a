"""Judge the category of a record that has none: from its words if they are sure, else from its operations.

Nothing heavy is loaded here, so that a record can be judged while it is written.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import cache
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

# At this probability more than nine in ten judged records get the category of the agent. Cross-validated:
# 0.96 (38 % of the records are judged) if nobody asked for the same need before, else 0.99 (89 %).
SURE: Final = 0.8

# The categories of operations of darktable. Those for everything (exposure, blending ...) are missing.
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
    """The source of a category."""

    AGENT = "agent"
    OPERATIONS = "operations"
    CLASSIFIER = "classifier"


class Judgement(msgspec.Struct, frozen=True):
    """The category of a record, aliases folded, and its source; `uncategorized` if none is sure."""

    category: str = UNCATEGORIZED
    by: CategoryBy | None = None
    probability: float | None = None  # of the likeliest category of the classifier, 0 to 1; null without one


class Classifier(msgspec.Struct, frozen=True):
    """A multinomial logistic regression over TF-IDF of terms, as plain numbers."""

    categories: tuple[str, ...]  # sorted
    intercepts: tuple[float, ...]
    terms: dict[str, tuple[float, tuple[float, ...]]]  # inverse document frequency; a weight a category
    uncategorized: frozenset[str] = frozenset()  # terms of records without a category only

    def judge(self, said: Collection[str]) -> tuple[str, float]:
        """Return the likeliest category of distinct terms, and its probability; 0 if no term is known."""
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
    """Return the terms of a record for a classifier: the stems of its content words, distinct and sorted."""
    return tuple(sorted({stem(word) for text in texts if text for word in words(text)} - ignored_stems()))


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
    """Judge the category of a record: that of the agent (`said`), else of its words, else of its operations.

    `table` maps the `operation_key` to a category. `sure` is the least probability of the classifier that
    counts; words of records without a category only leave it open.
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
    keys = {operation_key(name) for name in involved}
    by_operations = _leading(
        Counter(table[key] for key in keys if table.get(key, UNCATEGORIZED) != UNCATEGORIZED)
    )
    if by_operations is not None:
        return Judgement(by_operations, CategoryBy.OPERATIONS)
    return Judgement(probability=probability)


# Words of requests by category. A word that names a place outweighs the others.
_WORDS: Final = {
    "tone": "shadow highlight exposure contrast luminance brightness brighten darken midtone blacks whites"
    " tonal curve dynamic hdr lift clipping gamma zone tone",
    "wb": "kelvin temperature cast tint warm warmth cool daylight tungsten",
    "color": "color colour hue saturation vibrance chroma monochrome sepia teal orange grading palette"
    " desaturate",
    "detail": "sharpen sharpness noise denoise grain texture clarity haze lens aberration fringe moire"
    " halation microcontrast blur detail softness acutance",
    "local": "mask brush gradient spot heal clone retouch selective region radial subject background sky eye"
    " skin face corner dodge burn local",
    "composition": "crop straighten horizon aspect rotate perspective keystone border frame composition",
}
_PLACES: Final = "local"
_READ: Final = 2_000  # characters of a text; a need stands at its beginning


def likely_category(texts: Iterable[str | None], operations: Iterable[str]) -> str:
    """Return the category of a record without one: that of its operations, else of its words.

    The first text that decides counts. A report may judge the category again, with all records at hand.
    """
    by_operations = judge("", (), operations).category
    if by_operations != UNCATEGORIZED:
        return by_operations
    return next((name for text in texts if text and (name := _of_words(text))), UNCATEGORIZED)


def _of_words(text: str) -> str | None:
    known = _stems()
    hits = Counter(known[word] for word in {stem(word) for word in words(text[:_READ])} if word in known)
    return _PLACES if _PLACES in hits else _leading(hits)


def _leading(votes: Counter[str]) -> str | None:
    """Return the name with most votes; None if there are none, or two are level."""
    leading = votes.most_common(2)
    is_level = len(leading) > 1 and leading[0][1] == leading[1][1]
    return None if is_level or not leading else leading[0][0]


@cache
def _stems() -> dict[str, str]:
    return {stem(word): category for category, line in _WORDS.items() for word in line.split()}
