"""The report as GitHub-flavoured Markdown; text from logs is shown as it is, and never obeyed.

Backslashes before ASCII punctuation are CommonMark (section 2.4). What GitHub adds, bare links and mentions,
is disarmed too.
"""

import re
from typing import Final

import jinja2

from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import FIGURES, FILTERS, SHOWN_WORDINGS
from vocabgap.text import escape_unseen, shortened, visible

_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$^]")
_OPENING: Final = re.compile(r"^(\s*)([-+=])")  # a list item, a heading's underline
_NUMBERED: Final = re.compile(r"^(\s*\d{1,9})([.)])")
_BARE_LINK: Final = re.compile(r"(?i)(?<=www)\.|:(?=//)|(?<=mailto):|(?<=xmpp):")
_MENTION: Final = re.compile(r"@")
_BACKTICKS: Final = re.compile(r"`+")
WORD_JOINER: Final = "\u2060"


def render_markdown(summary: Summary) -> str:
    """Render a report as Markdown, ending in a newline."""
    return _ENVIRONMENT.get_template("report.md.j2").render(run=summary, shown_wordings=SHOWN_WORDINGS)


def escape(value: object) -> str:
    """Text as one line of Markdown that renders as itself, in a paragraph, a heading or a table cell."""
    text = _SPECIAL.sub(r"\\\g<0>", shortened(visible(str(value))))
    text = _NUMBERED.sub(r"\1\\\2", text)
    text = _OPENING.sub(r"\1\\\2", text)
    text = _BARE_LINK.sub(r"\\\g<0>", text)
    # Nothing that Markdown knows keeps GitHub from notifying a person or linking an address; this does.
    return _MENTION.sub(f"@{WORD_JOINER}", text)


def code(value: object) -> str:
    """Text as a Markdown code span, outside tables: the fence is longer than any backticks inside.

    White space stays as it is: what is shown as code is there to be copied.
    """
    text = shortened(escape_unseen(str(value)))
    if not text:
        return "` `"
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    # One space on both sides is taken off again (CommonMark 6.1), unless there is nothing but spaces.
    padding = " " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


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
    environment.filters.update(FILTERS, data=escape, code=code, strong=_strong)
    environment.globals.update(FIGURES)
    return environment


_ENVIRONMENT: Final = _environment()
