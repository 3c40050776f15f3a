"""The page: templates, style, script and data in one file that needs nothing beside it."""

from typing import Final

import jinja2
from markupsafe import Markup

from vocabgap.ranking.priority import recent_weeks
from vocabgap.records.moments import iso
from vocabgap.reporting.askers import who_asked, whose
from vocabgap.reporting.details import SHOWN
from vocabgap.reporting.in_words import (
    FIGURES,
    changes,
    day,
    how_often,
    in_what,
    is_pinned_ahead,
    number,
    place_of,
    too_few,
    trend,
)
from vocabgap.reporting.page.assets import policy, script, style
from vocabgap.reporting.page.charts import SPARK, bars, percentage
from vocabgap.reporting.page.heat import heat_map
from vocabgap.reporting.page.payload import LEVELS, Payload, encode_payload, levels, payload_of
from vocabgap.reporting.summary import Summary
from vocabgap.text import count, escape_unseen, in_words, shortened, visible

MOST_BYTES: Final = 8_000_000  # of a page


def render_page(summary: Summary) -> str:
    """Render a report as one HTML page, ending in a newline.

    It has as much of each capability as fits into `MOST_BYTES`.
    """
    page = ""
    for limits in levels(summary):
        page = _rendered(summary, payload_of(summary, limits))
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def _rendered(summary: Summary, payload: Payload) -> str:
    rows = {row.id: row for row in payload.rows}
    shown, covered, settled = (
        [rows[each.capability_id] for each in part[:SHOWN]]
        for part in (summary.capabilities, summary.covered, summary.settled)
    )
    return _ENVIRONMENT.get_template("page/page.html.j2").render(
        run=summary,
        page=payload,
        shown=shown,
        covered=covered,
        settled=settled,
        heat=heat_map(shown),
        finds_all=payload.limits == LEVELS[0] and not any(row.other_wordings for row in payload.rows),
        style=style(),
        script=script(),
        policy=policy(),
        data=encode_payload(payload),
    )


def _data(value: object) -> Markup:
    """Text from a log on one line, escaped; which way it is written, what stands beside it is not moved."""
    return Markup("<bdi>{}</bdi>").format(shortened(visible(str(value))))


def _code(value: object) -> Markup:
    """The same as something to be copied: its white space stays as it is."""
    return Markup("<code>{}</code>").format(shortened(escape_unseen(str(value))))


def _strong(value: object) -> Markup:
    return Markup("<strong>{}</strong>").format(_data(value))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("vocabgap.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        data=_data,
        code=_code,
        strong=_strong,
        number=number,
        day=day,
        iso=iso,
        count=count,
        in_words=in_words,
        trend=trend,
        is_pinned_ahead=is_pinned_ahead,
        place_of=place_of,
        too_few=too_few,
        changes=changes,
        how_often=how_often,
        in_what=in_what,
        who_asked=who_asked,
        whose=whose,
        percentage=percentage,
        bars=bars,
    )
    environment.globals.update(
        spark_box=SPARK,
        recent_weeks=recent_weeks,
        **FIGURES,
    )
    return environment


_ENVIRONMENT: Final = _environment()
