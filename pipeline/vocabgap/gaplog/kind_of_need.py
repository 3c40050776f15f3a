"""The category of a record that names none, judged while it is written: of its operations, else its words.

No record is learned from: an agent waits, and the corpus may be elsewhere. What stays open here is judged
again, with all records at hand, when they are ranked.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

from vocabgap.records.categories import judge
from vocabgap.records.record import UNCATEGORIZED
from vocabgap.text import stem, words

# What people say when they ask for something of a category. A word that says where something is to be done
# outweighs what is to be done there.
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
_READ: Final = 2_000  # characters of a text: whoever says a need says it at its beginning, and somebody waits


def category(
    texts: Iterable[str | None],
    operations: Iterable[str],
) -> str:
    """The category of a record; `uncategorized` where its words tell of none, or of several alike.

    Args:
        texts: What the record says of the need, the most telling first: the first that tells decides.
        operations: The operations involved.
    """
    by_operations = judge("", (), operations).category
    if by_operations != UNCATEGORIZED:
        return by_operations
    return next((found for text in texts if text and (found := _of_words(text))), UNCATEGORIZED)


def _of_words(text: str) -> str | None:
    known = _stems()
    told = Counter(known[each] for each in {stem(word) for word in words(text[:_READ])} if each in known)
    if _PLACES in told:
        return _PLACES
    leading = told.most_common(2)
    if not leading or (len(leading) > 1 and leading[0][1] == leading[1][1]):
        return None
    return leading[0][0]


@cache
def _stems() -> dict[str, str]:
    return {stem(word): category for category, said in _WORDS.items() for word in said.split()}
