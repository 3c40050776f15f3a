"""The page: templates, style, script and data in one HTML file."""

import base64
import hashlib
import re
from functools import cache, partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from vocabgap.files import text_of
from vocabgap.model.moments import iso
from vocabgap.reporting.listed import TO_AUTHOR, Listed
from vocabgap.reporting.map import spots_of
from vocabgap.reporting.rows import KEY_FACTS, WITH_ALL_EVIDENCE, Index, Limits, Row, row_of
from vocabgap.reporting.sections import sections_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import environment, phrase
from vocabgap.text import excerpt, unit_names

MOST_BYTES: Final = 8_000_000  # of a page
_FOLDER: Final = Path(__file__).parent / "templates" / "page"
# A comment on lines of its own; comments beside code stay.
_COMMENT: Final = re.compile(r"^[ ]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
_BLANK: Final = re.compile(r"^[ ]+|^\n", re.MULTILINE)


# Limits of a page for each capability, from most to least content.
LEVELS: Final = (
    Limits(characters=240, wordings=500, evidence=5, runs=24),
    Limits(characters=240, wordings=500, evidence=5, runs=24, names=1_000),
    Limits(characters=240, wordings=200, evidence=2, runs=24, names=200),
    Limits(characters=160, wordings=50, evidence=1, images=30, runs=24, names=50),
    Limits(characters=120, wordings=20, evidence=1, images=12, runs=12, names=20),
    Limits(characters=80, wordings=10, evidence=1, images=12, runs=12, names=10),
    Limits(characters=60, wordings=5, evidence=1, images=6, runs=6, names=5),
    Limits(characters=40, wordings=3, evidence=1, images=3, runs=6, names=3),
    Limits(characters=40, wordings=3, evidence=0, images=3, runs=6, names=3),
    *(
        Limits(characters=20, wordings=1, evidence=0, images=3, names=2, rows=rows)
        for rows in (10_000, 4_000, 1_500, 500, 100)
    ),
)
# An estimate before the block is made; the rest is style, script and the plain table.
MOST_BLOCK_BYTES: Final = 7_400_000
# Characters that could end the block, as escapes of JSON.
_ESCAPES: Final = {
    b"<": rb"\u003c",
    b">": rb"\u003e",
    b"&": rb"\u0026",
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
}


# Items that a list shows before a person asks for the others.
_SHOWN: Final = {
    "list": 10,
    "more": 50,
    "facts": KEY_FACTS,
    "examples": 2,
    "workarounds": 3,
    "wordings": 5,
    "images": 12,
    "most_images": 100,  # the most that the page shows of a need
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
    template = environment(summary.unit, autoescape=True).get_template("page/page.html.j2")
    return template.render(
        run=summary,
        page=payload,
        say=partial(phrase, unit=summary.unit),
        first=[row for row in payload["rows"] if row["group"] == TO_AUTHOR][: _SHOWN["list"]],
        style=style(),
        script=script(),
        policy=policy(),
        data=encode_payload(payload),
    )


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
        "now": iso(summary.now),
        "unit": unit_names(summary.unit),
        "deciding": summary.deciding,  # options for `vocabgap decide`; None without decisions
        "limits": limits,
        "first_day": None if index.first_day is None else index.first_day.isoformat(),
        "most": max((row["high"] for row in rows if row["group"] == TO_AUTHOR), default=0),
        "ties": summary.ties,
        "runs": [*map(iso, index.runs)],
        "categories": [excerpt(name, most) for name in index.categories],
        "operations": [excerpt(name, most) for name in index.operations],
        "images": [excerpt(name, most_of_image) for name in index.images],
        "files": [excerpt(name, most) for name in index.files],
        "labels": [*index.labels],  # of facts
        "shown": _SHOWN,
        "sections": sections_of(summary),
        "map": spots_of(
            summary.places, {each.capability.capability_id: each.capability for each in everything}
        ),
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
    """Return the capabilities of a page in order of rank, always with the first ones of its list."""
    first = {each.capability_id for each in summary.capabilities[: _SHOWN["list"]]}
    return [
        each
        for place, each in enumerate(summary.everything)
        if place < limits.rows or each.capability.capability_id in first
    ]


def _limits(each: Listed, limits: Limits) -> Limits:
    """Return the limits of a capability; the first capabilities get more wordings and images."""
    if each.capability.rank > WITH_ALL_EVIDENCE:
        return limits
    return replace(limits, **{name: getattr(limits, name) * 5 for name in ("wordings", "images", "names")})


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
