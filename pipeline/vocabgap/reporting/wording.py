"""The filters and values of the templates, and texts as Markdown.

The sentences are in `templates/`. Text from logs is never read as markup: Markdown gets backslashes before
ASCII punctuation (CommonMark, section 2.4). Words that renderers would turn into links are code.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

import jinja2

from vocabgap.extensions import extensions
from vocabgap.model.capability import FIRST_COVERING, Capability
from vocabgap.model.moments import in_seconds, iso, to_minute
from vocabgap.model.record import LOG_NAME, rating
from vocabgap.model.settings import LEAST_WEEKS
from vocabgap.model.sources import IMAGE
from vocabgap.ranking.combinations import LEAST, MOST_OPERATIONS
from vocabgap.ranking.intervals import CONFIDENCE, TIED
from vocabgap.ranking.priority import SIGNIFICANCE, recent_weeks
from vocabgap.reporting.overviews import SHOWN_CATEGORIES
from vocabgap.text import (
    FILTERS,
    FUNCTION_WORDS,
    REQUEST_WORDS,
    escape_unseen,
    excerpt,
    in_units,
    literal,
    shortened,
    stem,
    surface,
    unit_names,
    visible,
    words,
)

_TEMPLATES: Final = Path(__file__).parent / "templates"
CONFIDENT: Final = round(100 * CONFIDENCE)
# Numbers and names for the templates.
_GLOBALS: Final = {
    "confidence": CONFIDENT,
    "tied_from": round(100 * TIED),
    "chance": f"{SIGNIFICANCE:.0%}".replace("%", " %"),
    "shown_parts": FIRST_COVERING,
    "fewest_rated": 5,  # for a share in percent
    "several_needs": "perhaps several needs",
    "least": LEAST,
    "least_weeks": LEAST_WEEKS,
    "log_name": LOG_NAME,
    "most_operations": MOST_OPERATIONS,
    "recent_weeks": recent_weeks,
    "shown_categories": SHOWN_CATEGORIES,
    "shown_wordings": 25,
}


def phrase(name: str, *values: object, unit: str = IMAGE, template: str = "phrases.j2") -> str:
    """Return a phrase of `phrases.j2`, or of another template, as plain text."""
    return str(_macro(name, unit, template)(*values)).strip()


@cache
def _macro(name: str, unit: str, template: str) -> Callable[..., str]:
    macro: Callable[..., str] = getattr(_plain(unit).get_template(template).module, name)
    return macro


def escape(value: object) -> str:
    """Return text as one line of Markdown that renders literally in a paragraph, heading or table cell.

    A word that may become a link becomes a code span, because many renderers ignore backslashes in URLs.
    """
    return literal(excerpt(str(value)))


def sentence(text: str) -> str:
    """Return a plain text from `phrase` as Markdown; what stands between backticks is code."""
    parts = enumerate(text.split("`"))
    return "".join(code(part) if place % 2 else literal(part) for place, part in parts)


def code(value: object) -> str:
    """Return text as a Markdown code span, not for tables: the fence is longer than any backticks inside.

    White space does not change, so that people can copy the text.
    """
    text = shortened(escape_unseen(str(value)))
    if not text:
        return "` `"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    # Renderers remove one space on each side (CommonMark 6.1), unless there are only spaces.
    padding = " " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def number_range(low: int, high: int) -> str:
    """Return a range of whole numbers, or the number if both ends are the same."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def day(moment: datetime | None) -> str:
    """Return the date of a moment in UTC, or a dash."""
    return "–" if moment is None else moment.date().isoformat()


def quote_of(item: Capability, most: int = 120) -> str:
    """Return what somebody said about a capability, in quotation marks and at most `most` characters.

    Prefer a text with a word of the label. If all texts only repeat the label, return what people did
    instead. If nothing is known, return an empty text.
    """
    said = [each.said or each.wording for each in item.examples]
    label = surface(item.label)
    telling = [each for each in said if not surface(each).endswith(label)]
    own = _stems(item.label)
    near = [each for each in telling if own & _stems(each)]
    if not telling and item.workarounds:
        return _cut(f"instead: {item.workarounds[0].workaround}", most)
    text = next(iter([*near, *telling, *said]), "")
    return f"“{_cut(text, most - 2)}”" if text else ""


def _stems(text: str) -> set[str]:
    return {stem(word) for word in {*words(text)} - FUNCTION_WORDS - REQUEST_WORDS}


def _cut(text: str, most: int) -> str:
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def sparkline(weekly: tuple[int, ...]) -> str:
    """Return the mentions of each week as bars, newest last; the lowest bar means none."""
    bars, most = "▁▂▃▄▅▆▇█", max(weekly, default=0)
    return "".join(bars[-(-number * (len(bars) - 1) // most)] if most else bars[0] for number in weekly)


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def environment(unit: str, *, autoescape: bool, **filters: Callable[..., object]) -> jinja2.Environment:
    """Return the template environment of one format and unit, with the filters of this format.

    In templates, `unit` and `units` are the singular and the plural of what `images` counts.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([_TEMPLATES, *(each.folder / "templates" for each in extensions())]),
        autoescape=autoescape,  # noqa: S701 - only HTML and SVG need it
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
    )
    functions = (capital, day, in_seconds, iso, number_range, rating, sparkline, to_minute)
    templates.filters |= FILTERS | {each.__name__: each for each in functions} | filters
    templates.filters |= {"quote": quote_of, "excerpt": excerpt}
    templates.filters["number"] = "{:,}".format
    templates.filters["units"] = lambda number, adjective="": in_units(number, unit, adjective)
    templates.globals |= dict(zip(("unit", "units"), unit_names(unit), strict=True)) | _GLOBALS
    return templates


def _shown(value: object) -> str:
    return excerpt(str(value))


# A test checks that every text from a log goes through `data`, `code` or `strong`.
@cache
def markdown_templates(unit: str) -> jinja2.Environment:
    """Return the template environment of Markdown."""
    strong = {"strong": lambda value: f"**{escape(value)}**"}
    return environment(unit, autoescape=False, data=escape, code=code, sentence=sentence, **strong)


@cache
def _plain(unit: str) -> jinja2.Environment:
    return environment(unit, autoescape=False, data=_shown, code=lambda value: f"`{value}`", strong=_shown)
