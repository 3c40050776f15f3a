"""Views: the templates that make the text of an answer, and the filters that they use."""

import sys
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2

from vocabgap.doors.cli.output import available_width, folder_line, indented, ruled, table
from vocabgap.extensions import extensions
from vocabgap.model.moments import in_seconds, iso
from vocabgap.text import carried, count, escape_unseen, excerpt, in_words, visible

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
        "carried": lambda text: carried(text, sys.stdout.encoding or "utf-8"),
        "indented": indented,
        "ruled": ruled,
    }
    environment.globals |= {"table": table, "width": available_width, "nothing": _nothing}
    return environment


def rendered(name: str, values: dict[str, Any]) -> str:
    """Render a template of the terminal; the text ends without a line break."""
    return _environment().get_template(name).render(values).rstrip("\n")


def _nothing(account: Any) -> str:  # noqa: ANN401 - of a scan or of a report
    """Say why there is nothing to show."""
    from vocabgap.reporting.wording import phrase

    return phrase("nothing", account)


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
