"""Quoted phrases: what stands between quotation marks of any kind."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_MOST: Final = 80  # characters of a phrase; what is longer is a quotation, and no term
_FEW: Final = 40  # between straight single marks, which may also be apostrophes
# A mark opens where no word or mark is before it and no white space after it, and closes the other way round:
# an inch mark, which comes after a digit, does not open. An apostrophe in a word does neither.
_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    '"': re.compile(rf'"(?<![\w"]")(?=[^\s"])([^"]{{1,{_MOST}}})(?<!\s)"(?![\w"])'),
    "“": re.compile(rf"[“„](?=\S)([^“”„]{{1,{_MOST}}})(?<!\s)[“”]"),
    "‘": re.compile(r"‘(?=\S)([^‘’]+(?:(?<=\w)’(?=\w)[^‘’]+)*)(?<!\s)’"),
    "'": re.compile(
        r"'(?<![\w']')(?![\s']|\d\ds?\b|(?:tis|twas|em|til|cause|n)\b)"
        r"([^'\n]+(?:(?<=\w)'(?=\w)[^'\n]+)*)(?<!\s)'(?![\w'])"
    ),
    "`": re.compile(rf"`(?<!``)(?=\S)([^`\n]{{1,{_MOST}}})(?<!\s)`(?!`)"),
    "«": re.compile(rf"«\s?([^«»\n]{{1,{_MOST}}})\s?»"),
}
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_CLOSING: Final = ",.;:!?…"  # what may stand before the closing mark and belongs to the sentence


def quoted(text: str) -> Iterator[str]:
    """The phrases between quotation marks: straight or curly, double or single, back-ticks or guillemets.

    Args:
        text: Any text.

    Returns:
        The phrases as they are written, kind by kind, without white space and punctuation at their ends.
    """
    for mark, pattern in _KINDS.items():
        if mark in text or (mark == "“" and "„" in text):
            longest = _FEW if mark == "'" else _MOST
            for phrase in pattern.findall(text):
                if len(phrase) <= longest and not ("\n" in phrase and _PARAGRAPH.search(phrase)):
                    yield phrase.strip().rstrip(_CLOSING)
