"""Text from logs inside Markdown: shown as it is, never obeyed.

Backslashes before ASCII punctuation are CommonMark (section 2.4). What GitHub adds, bare links and
mentions, is disarmed too.
"""

import re
from typing import Final

from vocabgap.text import escape_unseen, shortened, visible

_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$^]")
_OPENING: Final = re.compile(r"^(\s*)([-+=])")  # a list item, a heading's underline
_NUMBERED: Final = re.compile(r"^(\s*\d{1,9})([.)])")
_BARE_LINK: Final = re.compile(r"(?i)(?<=www)\.|:(?=//)|(?<=mailto):|(?<=xmpp):")
_MENTION: Final = re.compile(r"@")
_BACKTICKS: Final = re.compile(r"`+")
WORD_JOINER: Final = "\u2060"


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
