"""Seed files that are written plainly, read line by line.

Most are: a list of terms, each with a few short values. Reading those as YAML in general takes forty times as
long; whatever is written otherwise is left to that.
"""

import re
from typing import Final

# What YAML may take for the end of a line, for a mark or for an error; tabs are left to the lines.
_UNUSUAL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# White space and a comment, which only white space may come before, up to the end of a line.
_REST: Final = r" *+(?:(?<![^ \n])#[^\n]*)?\n"
_HEAD: Final = re.compile(rf"(?:{_REST})*terms:{_REST}")
# The start of a term or none, a key, and a value: text from a letter on, a number, or a text in quotes.
_LINE: Final = re.compile(
    r"^(?:( *(?:- )?)([a-z_]+): ++"
    r"(?:([^\W\d_][^:#\t\n]*+(?:(?:(?<! )#|:(?![ \t\n]))[^:#\t\n]*+)*+)|([0-9]+\.[0-9]+|0|1)"
    rf"|'((?:[^'\t\n]|'')*+)'|\"([^\"\\\t\n]*)\"){_REST}"
    rf"|{_REST})",
    re.MULTILINE,
)
_ITEM: Final = "- "
_CONSTANTS: Final = frozenset({"null", "true", "false"})


def plain_terms(text: str) -> list[dict[str, object]] | None:
    """The terms of a seed file, each with its keys and values.

    Args:
        text: What the file holds.

    Returns:
        The same as reading it as YAML; none where it is not written plainly.
    """
    text = text.replace("\r\n", "\n")
    if _UNUSUAL.search(text):
        return None
    start = _HEAD.match(text)
    if start is None:
        return None
    return _terms(text if text.endswith("\n") else f"{text}\n", start.end())


def _terms(text: str, end: int) -> list[dict[str, object]] | None:
    """The terms from some place on."""
    lines = _LINE.findall(text, end)
    first = next((before for before, key, *_ in lines if key), "")  # what stands before a term's first key
    # Where there are more lines than were read, one of them is written otherwise.
    if len(lines) != text.count("\n", end) or not first.endswith(_ITEM):
        return None
    others = " " * len(first)
    terms: list[dict[str, object]] = []
    fields: dict[str, object] = {}
    for before, key, bare, number, single, double in lines:
        if not key:  # a comment, or nothing
            continue
        if before == first:
            fields = {}
            terms.append(fields)
        elif before != others or key in fields:
            return None
        if bare:
            fields[key] = value = bare.rstrip(" ")
            if value.lower() in _CONSTANTS:
                return None
        elif number:
            fields[key] = float(number) if "." in number else int(number)
        else:
            fields[key] = single.replace("''", "'") if single else double
    return terms
