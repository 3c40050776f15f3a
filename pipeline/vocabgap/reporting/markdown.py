"""The Markdown face of a report."""

from typing import Final

import jinja2

from vocabgap.records.moments import iso
from vocabgap.reporting.askers import who_asked, whose
from vocabgap.reporting.escaping import code, escape
from vocabgap.reporting.in_words import (
    FIGURES,
    SHOWN_WORDINGS,
    changes,
    day,
    factors,
    how_often,
    in_what,
    interval,
    is_pinned_ahead,
    next_ahead,
    number,
    place_of,
    rating,
    satisfaction,
    short_hash,
    sparkline,
    too_few,
    trend,
)
from vocabgap.reporting.summary import Summary
from vocabgap.text import count, in_words


def render_markdown(summary: Summary) -> str:
    """Render a report as GitHub-flavoured Markdown, ending in a newline."""
    return _ENVIRONMENT.get_template("report.md.j2").render(run=summary, shown_wordings=SHOWN_WORDINGS)


def _strong(value: object) -> str:
    return f"**{escape(value)}**"


def _environment() -> jinja2.Environment:
    # Autoescape is for HTML; here every text from a log goes through `escape` or `code`, which a test holds.
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("vocabgap.reporting"),
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        data=escape,
        code=code,
        strong=_strong,
        day=day,
        iso=iso,
        count=count,
        number=number,
        satisfaction=satisfaction,
        interval=interval,
        trend=trend,
        sparkline=sparkline,
        factors=factors,
        how_often=how_often,
        who_asked=who_asked,
        whose=whose,
        is_pinned_ahead=is_pinned_ahead,
        next_ahead=next_ahead,
        place_of=place_of,
        too_few=too_few,
        changes=changes,
        in_what=in_what,
        short=short_hash,
        in_words=in_words,
        rating=rating,
    )
    environment.globals.update(FIGURES)
    return environment


_ENVIRONMENT: Final = _environment()
