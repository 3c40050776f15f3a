"""Seed files that are written plainly, read line by line.

Most are: a list of terms, each with a few short values. Reading those as YAML in general takes forty times as
long; whatever is written otherwise is left to that.
"""

import re
from typing import Final

# What YAML may take for the end of a line, for a mark or for an error.
_UNUSUAL: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_START: Final = "terms:"
# The beginning of a term or none, a key, and a value: in quotes, a number, or text from a letter on.
_LINE: Final = re.compile(
    r"( *)(- )?([a-z_]+): "
    r"(?:'((?:[^']|'')*)'|\"([^\"\\]*)\"|([0-9]+\.[0-9]+|0|1)|([A-Za-z](?:[^\s:#]|:(?=\S)|(?<=\S)#| (?!#))*))"
)
_DASH: Final = 2  # characters from the dash to the key
_CONSTANTS: Final = frozenset({"null", "true", "false"})


def plain_terms(text: str) -> list[dict[str, object]] | None:
    """The terms of a seed file, each with its keys and values.

    Args:
        text: What the file holds.

    Returns:
        The same as reading it as YAML; none where it is not written plainly.
    """
    if _UNUSUAL.search(text):
        return None
    lines = iter(text.split("\n"))
    for line in lines:
        if line == _START:
            break
        if line and not line.startswith("#"):
            return None
    else:
        return None
    return _terms([line for line in lines if line])


def _terms(lines: list[str]) -> list[dict[str, object]] | None:
    terms: list[dict[str, object]] = []
    fields: dict[str, object] = {}
    indent = -1
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        spaces, dash, key, single, double, number, bare = found.groups()
        place = len(spaces) + (_DASH if dash else 0)
        if dash:
            fields = {}
            terms.append(fields)
            if indent < 0:
                indent = place
        if place != indent or key in fields:
            return None
        if bare is not None:
            if bare[-1] == " " or bare.lower() in _CONSTANTS:
                return None
            fields[key] = bare
        elif number is not None:
            fields[key] = float(number) if "." in number else int(number)
        else:
            fields[key] = double if single is None else single.replace("''", "'")
    return terms or None
