"""The Markdown face of a report."""

from datetime import datetime
from typing import Final

import jinja2

from vocabgap.moments import iso
from vocabgap.reporting.askers import who_asked, whose
from vocabgap.reporting.escaping import code, escape
from vocabgap.reporting.in_words import (
    changes,
    factors,
    how_often,
    in_what,
    interval,
    is_pinned_ahead,
    next_ahead,
    place_of,
    satisfaction,
    sparkline,
    too_few,
    trend,
)
from vocabgap.reporting.summary import Summary
from vocabgap.text import count, in_words

SHOWN_WORDINGS: Final = 25
_SHORT_HASH: Final = 12
_RATINGS: Final = {-1: "unsatisfied", 0: "neutral", 1: "satisfied", None: "not rated"}


def render_markdown(summary: Summary) -> str:
    """Render a report as GitHub-flavoured Markdown, ending in a newline."""
    return _ENVIRONMENT.get_template("report.md.j2").render(run=summary, shown_wordings=SHOWN_WORDINGS)


def day(moment: datetime | None) -> str:
    """The date of a moment in UTC, or a dash."""
    return "–" if moment is None else moment.date().isoformat()


def _short(snapshot: str) -> str:
    return snapshot[:_SHORT_HASH]


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
        escape_md=escape,
        code=code,
        day=day,
        iso=iso,
        count=count,
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
        short=_short,
        in_words=in_words,
        rating=_RATINGS.__getitem__,
    )
    return environment


_ENVIRONMENT: Final = _environment()
