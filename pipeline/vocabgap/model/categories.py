"""The category of a new record without one, from its operations and its words.

No heavy library is loaded here, because an agent waits for its record.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from vocabgap.model.record import OPERATION_ALIASES, UNCATEGORIZED, fold_operation, operation_key
from vocabgap.text import stem, words

# Operations of darktable by category. General ones (exposure, blending ...) are missing.
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


def by_operations(
    operations: Iterable[str],
    table: Mapping[str, str] = OPERATION_CATEGORIES,
    aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> str | None:
    """Return the category that most operations have; None if no category is known, or two are tied.

    `table` maps keys of operations (`operation_key`) to categories.
    """
    keys = {operation_key(fold_operation(name, aliases)) for name in operations}
    categories = (table.get(key, UNCATEGORIZED) for key in keys)
    return _leading(Counter(category for category in categories if category != UNCATEGORIZED))


# Words of requests by category. A word for a place in the image outweighs the others.
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
_READ: Final = 2_000  # characters of a text; the need is at its beginning


def likely_category(texts: Iterable[str | None], operations: Iterable[str]) -> str:
    """Return a category for a record without one, from its operations, else from its words.

    The first text with a clear category counts. A report may judge again, because it has all records.
    """
    of_words = filter(None, (_of_words(text) for text in texts if text))
    return by_operations(operations) or next(of_words, UNCATEGORIZED)


def _of_words(text: str) -> str | None:
    category_of, stems = _stems(), {stem(word) for word in words(text[:_READ])}
    hits = Counter(category_of[word] for word in stems if word in category_of)
    return _PLACES if _PLACES in hits else _leading(hits)


def _leading(votes: Counter[str]) -> str | None:
    """Return the name with most votes; None without votes, or in a tie."""
    leading = votes.most_common(2)
    is_level = len(leading) > 1 and leading[0][1] == leading[1][1]
    return None if is_level or not leading else leading[0][0]


@cache
def _stems() -> dict[str, str]:
    return {stem(word): category for category, line in _WORDS.items() for word in line.split()}
