"""The page: templates, style, script and data in one file that needs nothing beside it."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

import jinja2

from vocabgap.moments import iso
from vocabgap.reporting.in_words import changes, day, place_of, too_few
from vocabgap.reporting.page import charts
from vocabgap.reporting.page.payload import Payload, encode_payload, payload_of
from vocabgap.reporting.page.rows import Row, shown
from vocabgap.reporting.summary import Summary
from vocabgap.text import count, in_words, shortened, visible

_TEMPLATE: Final = "page/page.html.j2"
_STYLE: Final = "page.css"
_SCRIPTS: Final = "script"
_LAST: Final = "start.js"


def render_page(summary: Summary) -> str:
    """Render a report as one HTML page, ending in a newline."""
    payload = payload_of(summary)
    by_id = {row.id: row for row in payload.rows}

    def rows(items: tuple[object, ...]) -> list[Row]:
        return [by_id[item.capability_id] for item in items]  # type: ignore[attr-defined]

    style, script = _asset_style(), _asset_script()
    return _ENVIRONMENT.get_template(_TEMPLATE).render(
        run=summary,
        page=payload,
        shown=rows(summary.capabilities),
        covered=rows(summary.covered),
        settled=rows(summary.settled),
        most=_most(payload),
        style=style,
        script=script,
        data=encode_payload(payload),
        policy=_policy(style, script),
    )


def _most(payload: Payload) -> dict[str, int]:
    """What full bars stand for."""
    return {
        "mentions": max((row.mentions for row in payload.rows), default=0),
        "rank": max((row.rank_high for row in payload.rows), default=0),
    }


def _policy(style: str, script: str) -> str:
    """What the page may do: run its one script and use its one style, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hashed(script)}'; style-src '{_hashed(style)}';"
        " base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _asset_style() -> str:
    return (files("vocabgap.reporting") / "templates" / "page" / _STYLE).read_text(encoding="utf-8")


@cache
def _asset_script() -> str:
    """The files of the script in the order of their names, the one that starts it last."""
    folder = files("vocabgap.reporting") / "templates" / "page" / _SCRIPTS
    parts = sorted(
        (part for part in folder.iterdir() if part.name.endswith(".js")),
        key=lambda part: (part.name == _LAST, part.name),
    )
    joined = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    return f"(() => {{\n'use strict';\n{joined}\n}})();\n"


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
        shown=shown,
        day=day,
        iso=iso,
        count=count,
        in_words=in_words,
        too_few=too_few,
        changes=changes,
        place_of=place_of,
        share=charts.share,
        bars=charts.bars,
        heat=charts.heat,
        whole=lambda text: shortened(visible(text)),
    )
    environment.globals.update(rank_span=charts.rank_span)
    return environment


_ENVIRONMENT: Final = _environment()
