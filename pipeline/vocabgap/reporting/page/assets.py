"""Style and script of the page, and what the page is allowed to do: use these two, and nothing else."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

_FOLDER: Final = files("vocabgap.reporting") / "templates" / "page"
_LAST: Final = "start.js"
# A comment that has its lines to itself; one beside code stays, as the code does.
_COMMENT: Final = re.compile(r"^[ ]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
_BLANK: Final = re.compile(r"^[ ]+|^\n", re.MULTILINE)
_BETWEEN: Final = re.compile(
    r" (?=\{)|(?<=[:;{]) | (?=\})"
)  # what a style sheet means without this space, too


@cache
def style() -> str:
    """The text of the one `style` element."""
    return _BETWEEN.sub("", bare((_FOLDER / "page.css").read_text(encoding="utf-8")))


@cache
def script() -> str:
    """The text of the one `script` that runs: the files in the order of their names, `start.js` last."""
    parts = sorted(
        (part for part in (_FOLDER / "script").iterdir() if part.name.endswith(".js")),
        key=lambda part: (part.name == _LAST, part.name),
    )
    joined = bare("\n".join(part.read_text(encoding="utf-8") for part in parts))
    return f"(() => {{\n'use strict';\n{joined}}})();\n"


def bare(text: str) -> str:
    """Without indentation, blank lines, and lines of nothing but comments: every page carries this along."""
    return _BLANK.sub("", _COMMENT.sub("", text))


def policy() -> str:
    """The page's Content-Security-Policy."""
    return (
        f"default-src 'none'; script-src '{_digest(script())}'; style-src '{_digest(style())}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
