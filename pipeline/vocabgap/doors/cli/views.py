"""Views: the templates that make the text of an answer, and the filters that they use."""

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2

from vocabgap.doors.cli.output import available_width, folder_line, indented, ruled, table
from vocabgap.extensions import extensions
from vocabgap.model.moments import in_seconds, iso
from vocabgap.text import carried, count, escape_unseen, excerpt, in_words, visible

_WIDE: Final = 110  # columns of a terminal that has room for sessions
_WIDEST: Final = 40  # characters of a field; a longer one moves the rest of its line
TEMPLATES: Final = Path(__file__).parents[1] / "templates"
"""The folder of the core's templates; each slice has a folder `templates`, too."""


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATES, *(each.folder / "templates" for each in extensions())]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - a terminal shows text, not HTML
    )
    environment.filters |= {
        "count": count,
        "number": "{:,}".format,
        "visible": lambda text: visible(str(text)),
        "excerpt": lambda text: excerpt(str(text)),
        "unseen": lambda text: escape_unseen(str(text)),
        "in_words": in_words,
        "folder": folder_line,
        "iso": iso,
        "seconds": in_seconds,
        "minute": _minute,
        "day": _day,
        "carried": lambda text: carried(text, sys.stdout.encoding or "utf-8"),
        "indented": indented,
        "ruled": ruled,
    }
    environment.globals |= {
        "aligned": aligned,
        "glyphs": _glyphs,
        "phrase": _phrase,
        "table": table,
        "toml": _toml,
        "width": available_width,
    }
    return environment


def rendered(name: str, values: dict[str, Any]) -> str:
    """Render a template of the terminal; the text ends without a line break."""
    return _environment().get_template(name).render(values).rstrip("\n")


def aligned(
    rows: Sequence[Mapping[str, str | None]], below: Mapping[str, str], without: Sequence[str] = ()
) -> str:
    """Lay out a line of short fields for each row, and longer texts below the line.

    Args:
        rows: Fields by heading.
        below: The headings of the longer texts, each with the words before the text.
        without: The headings to leave out; a narrow terminal leaves out the session, too.
    """
    spared = {*without, *["session"] * (available_width() < _WIDE)}
    headings = [heading for heading in rows[0] if heading not in {*below, *spared}]
    cells = [headings, *([excerpt(row[heading] or "–") for heading in headings] for row in rows)]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*cells, strict=True)]
    first, *lines = ["   ".join(map(str.ljust, each, widths)).rstrip() for each in cells]
    blocks = [first, ruled(max(map(len, (first, *lines))))]
    for line, row in zip(lines, rows, strict=True):
        texts = [
            before + excerpt(row[name] or "")
            for name, before in below.items()
            if row[name] and name not in spared
        ]
        blocks += [line, *map(indented, texts)]
    return "\n".join(blocks)


def _glyphs(wanted: str, plain: str) -> str:
    """Return characters that the terminal can show."""
    return wanted if carried(wanted, sys.stdout.encoding or "utf-8") == wanted else plain


def _toml(key: str, value: object) -> str:
    """Return a setting as a settings file has it; its text is shown, and not obeyed."""
    import tomli_w

    return "\n".join(map(escape_unseen, tomli_w.dumps({key: value}).strip().split("\n")))


def _phrase(name: str, *values: object) -> str:
    """Return a phrase that reports use, too."""
    from vocabgap.reporting.wording import phrase

    return phrase(name, *values)


def _day(moment: datetime | None) -> str:
    from vocabgap.reporting.wording import day

    return day(moment)


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
