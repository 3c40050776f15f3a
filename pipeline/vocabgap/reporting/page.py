"""The page: templates, style, script and data in one HTML file."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from jinja2 import Environment
from markupsafe import Markup, escape
from msgspec.structs import replace

from vocabgap.files import text_of
from vocabgap.model.moments import iso
from vocabgap.ranking.priority import recent_weeks
from vocabgap.reporting.listed import SHOWN, TITLES, Listed, commands
from vocabgap.reporting.map import HEIGHT, WIDTH, needs_map
from vocabgap.reporting.rows import WITH_ALL_EVIDENCE, Index, Limits, Row, row_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import CONFIDENT, SHOWN_WORDINGS, environment
from vocabgap.text import escape_unseen, excerpt, shortened, unit_names

MOST_BYTES: Final = 8_000_000  # of a page
_FOLDER: Final = Path(__file__).parent / "templates" / "page"
# A comment on lines of its own; comments beside code stay.
_COMMENT: Final = re.compile(r"^[ ]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
_DAY: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_BLANK: Final = re.compile(r"^[ ]+|^\n", re.MULTILINE)
# End tags that are optional (HTML, 13.1.2.4): a tenth of a page with ten capabilities.
_ENDS: Final = re.compile(r"</(?:t[hdr]|thead|tbody|li|p|d[td])>\n?")


# Limits of a page for each capability, from most to least content.
LEVELS: Final = (
    Limits(characters=240, wordings=500, evidence=5, images=100_000, runs=24),
    Limits(characters=240, wordings=500, evidence=5, images=1_000, runs=24, names=1_000),
    Limits(characters=240, wordings=200, evidence=2, images=100, runs=24, names=200),
    Limits(characters=160, wordings=50, evidence=1, images=30, runs=24, names=50),
    Limits(characters=120, wordings=20, evidence=1, images=12, runs=12, names=20),
    Limits(characters=80, wordings=10, evidence=1, images=12, runs=12, names=10),
    Limits(characters=60, wordings=5, evidence=1, images=6, runs=6, names=5),
    Limits(characters=40, wordings=3, evidence=1, images=3, runs=6, names=3),
    Limits(characters=40, wordings=3, evidence=0, images=3, runs=6, names=3),
    *(
        Limits(characters=20, wordings=1, evidence=0, images=3, runs=0, names=2, rows=rows)
        for rows in (10_000, 4_000, 1_500, 500, 100)
    ),
)
# An estimate before the block is made; the rest of a page works without a script.
MOST_BLOCK_BYTES: Final = 7_400_000
# Characters that could end the block, as escapes of JSON.
_ESCAPES: Final = {
    b"<": rb"\u003c",
    b">": rb"\u003e",
    b"&": rb"\u0026",
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
}


class Drawing(msgspec.Struct, frozen=True):
    """The measures of a drawing."""

    width: int
    height: int
    filled: float = 1.0  # share of its width that a bar fills
    edge: int = 0  # distance of a line from top and bottom


SPARK: Final = Drawing(width=60, height=16, filled=0.75)  # upright bars
TRAIL: Final = Drawing(width=300, height=60, edge=4)  # ranks over runs


# Limits of the visible part of long lists.
_SHOWN: Final = {
    "wordings": SHOWN_WORDINGS,
    "images": 12,
    "most_images": 100,  # shown on request
    "most_wordings": 100,  # shown on request, without a script
}


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


def _rendered(summary: Summary, payload: Row) -> str:
    evident = (*summary.capabilities[:SHOWN], *summary.settled[:SHOWN])
    limits = payload["limits"]
    rows = {row["id"]: row for row in payload["rows"]}
    shown, settled = (
        [rows[each.capability_id] for each in part[:SHOWN]]
        for part in (summary.capabilities, summary.settled)
    )
    written = (
        _environment(summary.unit)
        .get_template("page/page.html.j2")
        .render(
            run=summary,
            page=payload,
            commands=() if summary.deciding is None else commands(summary.deciding),
            shown=shown,
            settled=settled,
            map=needs_map(summary.places, rows, payload["categories"]),
            evident={each.capability_id for each in evident},
            finds_all=limits == LEVELS[0] and not any(row["other_wordings"] for row in rows.values()),
            finds_images=limits.evidence > 0 and not any(row["other_images"] for row in rows.values()),
            style=style(),
            script=script(),
            policy=policy(),
            data=encode_payload(payload),
        )
    )
    return _ENDS.sub("", written)


def levels(summary: Summary) -> tuple[Limits, ...]:
    """Return the levels at which a page may be small enough, at least one; most content first."""
    stride = -(-len(summary.everything) // 500) or 1  # a sample suffices for the estimate
    sample = replace(summary, everything=summary.everything[::stride])
    for place, each in enumerate(LEVELS):
        payload = payload_of(sample, replace(each, rows=each.rows // stride))
        if len(encode_payload(payload)) * stride <= MOST_BLOCK_BYTES:
            return LEVELS[place:]
    return LEVELS[-1:]


def payload_of(summary: Summary, limits: Limits = LEVELS[0]) -> Row:
    """Return the data of the page of a summary: its rows, and the names that they refer to by position."""
    everything = _listed(summary, limits)
    index = Index(summary, limits, everything)
    rows = [row_of(each, index, _limits(each, limits)) for each in everything]
    # People search for whole names of images, so these are cut last.
    most, most_of_image = limits.characters, (LEVELS[0] if limits.evidence else limits).characters
    return {
        "first_day": None if index.first_day is None else index.first_day.isoformat(),
        "weeks": max((len(row["weekly"]) for row in rows), default=0),
        "confidence": CONFIDENT,  # of the intervals, in percent
        "limits": limits,
        "shown": _SHOWN,
        "spark": SPARK,
        "trail": TRAIL,
        "most_mentions": max((row["mentions"] for row in rows), default=0),
        "groups": TITLES,
        "categories": [excerpt(name, most) for name in index.categories],
        "operations": [excerpt(name, most) for name in index.operations],
        "images": [excerpt(name, most_of_image) for name in index.images],
        "unit": unit_names(summary.unit),
        "files": [excerpt(name, most) for name in index.files],
        "runs": [*map(iso, index.runs)],
        "table": _table(rows, index),
        "statuses": sorted({row["status"] for row in rows} - {None}),
        "ties": summary.ties,
        "filters": _filters(rows),
        "now": iso(summary.now),
        "deciding": summary.deciding,  # options for `vocabgap decide`; None without decisions
        "columns": [*next(iter(rows), ())],
        "example_columns": [*next((example for row in rows for example in row["examples"]), ())],
        "rows": rows,
    }


def encode_payload(payload: Row) -> str:
    """Return the payload as JSON that is safe in a `script` element; each row is an array."""
    rows = [
        [*(row | {"examples": [[*example.values()] for example in row["examples"]]}).values()]
        for row in payload["rows"]
    ]
    encoded = msgspec.json.encode(payload | {"rows": rows})
    for character, escaped in _ESCAPES.items():
        encoded = encoded.replace(character, escaped)
    return encoded.decode()


def _listed(summary: Summary, limits: Limits) -> list[Listed]:
    """Return the capabilities of a page in order of rank, including those shown without a script."""
    groups = (summary.capabilities, summary.settled)
    first = {each.capability_id for group in groups for each in group[:SHOWN]}
    return [
        each
        for place, each in enumerate(summary.everything)
        if place < limits.rows or each.capability.capability_id in first
    ]


def _limits(each: Listed, limits: Limits) -> Limits:
    """Return the limits of a capability; the first capabilities get more wordings and images."""
    if each.capability.rank > WITH_ALL_EVIDENCE:
        return limits
    more = {name: getattr(limits, name) * 5 for name in ("wordings", "images", "names")}
    return replace(limits, **more)


def _table(rows: Sequence[Row], index: Index) -> tuple[str, ...]:
    """Return the columns of the ranking, without those whose values are missing or all the same."""
    shown = {
        "rank": True,
        "rank_low": True,
        "label": True,
        "before": len(index.runs) > 1,
        "status": len({row["status"] for row in rows}) > 1,
        "mentions": True,
        "images": any(row["images"] > 1 for row in rows),
        "sessions": any(row["sessions"] > 1 for row in rows),
        "trend": any(row["weekly"] for row in rows),
        "priority": True,
        "last_seen": any(row["last_seen"] for row in rows),
        "unsatisfied": any(row["unsatisfied"] + row["neutral"] + row["satisfied"] for row in rows),
        "category": len({row["category"] for row in rows}) > 1,
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def _filters(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the filters for which some row has a value."""
    has = {
        "group": bool(rows),
        "status": any(row["status"] is not None for row in rows),
        "category": any(row["categories"] for row in rows),
        "operation": any(row["operations"] for row in rows),
        "image": any(row["image_counts"] for row in rows),
        "days": any(row["days"] for row in rows),
    }
    return tuple(name for name, some in has.items() if some)


@cache
def style() -> str:
    """Return the text of the `style` element."""
    return bare(text_of(_FOLDER / "page.css"))


@cache
def script() -> str:
    """Return the text of the `script` element: the files by name, `start.js` last."""
    parts = sorted(
        (part for part in (_FOLDER / "script").iterdir() if part.name.endswith(".js")),
        key=lambda part: (part.name == "start.js", part.name),
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
