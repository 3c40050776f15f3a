"""The page: templates, style, script and data in one HTML file."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment
from markupsafe import Markup, escape

from vocabgap.files import text_of
from vocabgap.ranking.priority import recent_weeks
from vocabgap.reporting.listed import SHOWN, commands
from vocabgap.reporting.map import HEIGHT, WIDTH, needs_map
from vocabgap.reporting.payload import LEVELS, SPARK, TRAIL, Payload, encode_payload, levels, payload_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import environment
from vocabgap.text import escape_unseen, excerpt, shortened

MOST_BYTES: Final = 8_000_000  # of a page
_FOLDER: Final = Path(__file__).parent / "templates" / "page"
_LAST: Final = "start.js"
# A comment on lines of its own; comments beside code stay.
_COMMENT: Final = re.compile(r"^[ ]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
_DAY: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_BLANK: Final = re.compile(r"^[ ]+|^\n", re.MULTILINE)
# End tags that are optional (HTML, 13.1.2.4): a tenth of a page with ten capabilities.
_ENDS: Final = re.compile(r"</(?:t[hdr]|thead|tbody|li|p|d[td])>\n?")


def render_page(summary: Summary) -> str:
    """Render a report as one HTML page, ending in a newline.

    The page shows as much of each capability as fits into `MOST_BYTES`.
    """
    page = ""
    for limits in levels(summary):
        page = _rendered(summary, payload_of(summary, limits))
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def _rendered(summary: Summary, payload: Payload) -> str:
    evident = (*summary.capabilities[:SHOWN], *summary.covered[:SHOWN], *summary.settled[:SHOWN])
    rows = {row.id: row for row in payload.rows}
    shown, covered, settled = (
        [rows[each.capability_id] for each in part[:SHOWN]]
        for part in (summary.capabilities, summary.covered, summary.settled)
    )
    written = (
        _environment(summary.unit)
        .get_template("page/page.html.j2")
        .render(
            run=summary,
            page=payload,
            commands=() if summary.deciding is None else commands(summary.deciding),
            shown=shown,
            covered=covered,
            settled=settled,
            map=needs_map(summary.places, rows, payload.categories),
            evident={each.capability_id for each in evident},
            finds_all=payload.limits == LEVELS[0] and not any(row.other_wordings for row in payload.rows),
            finds_images=payload.limits.evidence > 0 and not any(row.other_images for row in payload.rows),
            style=style(),
            script=script(),
            policy=policy(),
            data=encode_payload(payload),
        )
    )
    return _ENDS.sub("", written)


@cache
def style() -> str:
    """Return the text of the `style` element."""
    return bare(text_of(_FOLDER / "page.css"))


@cache
def script() -> str:
    """Return the text of the `script` element: the files by name, `start.js` last."""
    parts = sorted(
        (part for part in (_FOLDER / "script").iterdir() if part.name.endswith(".js")),
        key=lambda part: (part.name == _LAST, part.name),
    )
    joined = bare("\n".join(text_of(part) for part in parts))
    return f"(() => {{\n'use strict';\n{joined}}})();\n"


def bare(text: str) -> str:
    """Remove indentation, blank lines, and lines with only comments."""
    return _BLANK.sub("", _COMMENT.sub("", text))


def policy() -> str:
    """Return the Content-Security-Policy of the page."""
    return (
        f"default-src 'none'; script-src '{_digest(script())}'; style-src '{_digest(style())}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def percentage(number: float, most: float) -> float:
    """Return a number as a percentage of `most`, to one digit."""
    return round(100 * number / most, 1) if most else 0.0


def bars(numbers: Sequence[int]) -> str:
    """Return vertical bars as an SVG path; bars above zero are at least one pixel high."""
    most = max(numbers, default=0)
    step = SPARK.width / max(len(numbers), 1)
    width = round(step * SPARK.filled, 1)
    parts = []
    for position, each in enumerate(numbers):
        if each:
            top = round(SPARK.height - max(1.0, SPARK.height * each / most), 1)
            parts.append(f"M{position * step:.1f} {SPARK.height}V{top}h{width}V{SPARK.height}")
    return "".join(parts)


def trail(history: Sequence[tuple[int, int, int]]) -> str:
    """Return the ranks over the runs as an SVG path; better ranks are higher."""
    first, last = (history[0][0], history[-1][0]) if history else (0, 0)
    worst = max((rank for _, rank, _ in history), default=1)
    best = min((rank for _, rank, _ in history), default=1)
    points = (
        f"{TRAIL.width * (run - first) / max(last - first, 1):.1f} "
        f"{TRAIL.edge + (TRAIL.height - 2 * TRAIL.edge) * (rank - best) / max(worst - best, 1):.1f}"
        for run, rank, _ in history
    )
    return f"M{'L'.join(points)}" if history else ""


def _dated(text: object) -> Markup:
    """Mark each date in a sentence, so that no line break splits it."""
    return Markup(_DAY.sub(r"<time>\g<0></time>", str(escape(text))))  # noqa: S704 - escaped before


def _data(value: object) -> Markup:
    """Return text of a log on one line, escaped, with its own text direction."""
    return Markup("<bdi>{}</bdi>").format(excerpt(str(value)))


def _code(value: object) -> Markup:
    """Return text of a log for copying: white space does not change."""
    return Markup("<code>{}</code>").format(shortened(escape_unseen(str(value))))


def _strong(value: object) -> Markup:
    return Markup("<strong>{}</strong>").format(_data(value))


@cache
def _environment(unit: str) -> Environment:
    templates = environment(
        unit,
        autoescape=True,
        data=_data,
        code=_code,
        strong=_strong,
        percentage=percentage,
        bars=bars,
        dated=_dated,
        trail=trail,
    )
    templates.globals.update(
        spark_box=SPARK, trail_box=TRAIL, map_box=(WIDTH, HEIGHT), recent_weeks=recent_weeks
    )
    return templates
