"""Prose: what of a file was written to be read, each character in its place.

All else (code, front matter, targets of links) is a mark that is in no term, so that what stands before and
after it makes none together; a line of nothing else is empty.
"""

import io
import re
import tokenize
from itertools import accumulate, pairwise
from typing import Final

from vocabgap.errors import InvalidInputError

MARKDOWN: Final = frozenset({".md", ".markdown", ".mdown", ".mkd"})
PYTHON: Final = frozenset({".py", ".pyi"})
_NO_PROSE: Final = "\ufffc"
_PROGRAM: Final = "\0"  # which also ends a sentence
_SEEN: Final = re.compile(r"\S")
_EMPTY: Final = re.compile(rf"^[{_NO_PROSE}{_PROGRAM} \t]+$", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"(---|\+\+\+)[ \t]*\n(?:.*\n)*?\1[ \t]*(?:\n|\Z)")
_PARAGRAPH: Final = re.compile(r"(?:[ \t]*\S.*\n?)+")
# Between back-ticks, and sessions of Python.
_CODE: Final = re.compile(r"(?<![`\\])(`+)(?!`)(?s:.+?)(?<!`)\1(?!`)|^[ \t]*(?:>>>|\.\.\.) .*$", re.MULTILINE)
_INLINE: Final = re.compile(
    # Comments, tags, and addresses in angle brackets; targets of links; other addresses.
    r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->|</?[A-Za-z][^<>]*>"
    r"|(?<=\])(?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|\[[^\[\]]*\])"
    r"|\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s<>]+|\bwww\.[^\s<>]+"
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # a long word is tried once, not at each of its characters
)
# Alone on its line, `ignore` is about the next one.
_DIRECTIVE: Final = (
    r"^(?P<before>.*?){opening}[ \t]*vocabgap[-:][ \t]*(?P<what>ignore|off|on)\b(?:[ \t]*-->)?(?P<after>.*)"
)
_OF_HTML: Final = re.compile(_DIRECTIVE.format(opening="<!--"), re.MULTILINE)
_OF_PYTHON: Final = re.compile(_DIRECTIVE.format(opening="#"), re.MULTILINE)
_STATEMENT: Final = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})  # after which one begins
_PASSED: Final = frozenset({tokenize.NL, tokenize.COMMENT})
_PLAIN: Final = re.compile(r"[rRuU]?[\"']")  # neither bytes nor formatted: those are never docstrings
# Where a sentence ends: after its mark, and before an empty line or an item of a list.
_END: Final = re.compile(
    rf"{_PROGRAM}[ \t]*|(?<=[.!?…])[\"'”’»)\]*_]*\s+(?![a-z])"
    r"|^(?:[ \t]*\n)+|\n(?=[ \t]*(?:[-*+>|#]|\d+[.)]\s))",
    re.MULTILINE,
)
_AROUND: Final = 100  # characters before and after a place, in which its sentence is looked for
_MARKUP: Final = " \t\n#>|*+-\"'`"  # what a sentence neither begins nor ends with


def prose_of(text: str, suffix: str) -> str:
    """The prose of a file, by its suffix: that of Markdown, comments and docstrings of Python, or any text.

    Raises:
        InvalidInputError: It is no Python.
    """
    directive, whole = _OF_HTML, list[range]()
    if suffix in MARKDOWN:
        prose, comments = _markdown(text)
    elif suffix in PYTHON:
        directive = _OF_PYTHON
        prose, comments, whole = _python(text)
    else:
        comments = _PARAGRAPH.sub(lambda block: _CODE.sub(_hidden, block[0]), text)
        prose = _INLINE.sub(_hidden, comments)
    if "vocabgap" in comments:
        ignored = _ignored(comments, directive)
        ignored |= {line for lines in whole if lines[-1] in ignored for line in lines}
        lines = enumerate(prose.split("\n"))
        kept = (_SEEN.sub(_NO_PROSE, line) if place in ignored else line for place, line in lines)
        prose = "\n".join(kept)
    return _EMPTY.sub(lambda line: " " * len(line[0]), prose)


def sentence_at(text: str, prose: str, start: int, end: int) -> str:
    """The sentence around a place in a text, as it is written but on one line; a long one is cut."""
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    begin = max((match.end() for match in _END.finditer(prose, first, start)), default=first)
    after = _END.search(prose, end, last)
    stop = last if after is None else after.start()
    sentence = " ".join(re.sub(r"\n[ \t]*[#>]+", "\n", text[begin:stop]).split()).strip(_MARKUP)
    return "…" * (0 < begin == first) + sentence + "…" * (stop == last < len(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    ends = [match.end() for match in _END.finditer(text)]
    parts = (text[start:end] for start, end in pairwise([0, *ends, len(text)]))
    return list(filter(None, (" ".join(each.split()).lstrip("#>|*+- ") for each in parts)))


def _hidden(match: re.Match[str]) -> str:
    return _SEEN.sub(_NO_PROSE, match[0])


def _said(text: str) -> str:
    return _INLINE.sub(_hidden, _CODE.sub(_hidden, text))


def _ignored(comments: str, directive: re.Pattern[str]) -> set[int]:
    """The lines, counted from 0, that comments take out."""
    ignored: set[int] = set()
    off: int | None = None
    for match in directive.finditer(comments):
        line = comments.count("\n", 0, match.start())
        if match["what"] == "ignore":
            ignored.add(line if (match["before"] + match["after"]).strip() else line + 1)
        elif match["what"] == "off":
            off = line if off is None else off
        elif off is not None:
            ignored.update(range(off, line))
            off = None
    return ignored if off is None else ignored.union(range(off, comments.count("\n") + 1))


def _markdown(text: str) -> tuple[str, str]:
    """The prose of Markdown, and its text without code, in which its comments are."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - loads what only a linter needs

    reader = MarkdownIt("commonmark")
    reader.core.ruler.disable("inline")  # what is in a block keeps no place
    front = _FRONT_MATTER.match(text)
    lost = "" if front is None else front[0]
    blocks = reader.parse("\n" * lost.count("\n") + text[len(lost) :])
    lines = text.split("\n")
    prose = _SEEN.sub(_NO_PROSE, text).split("\n")
    comments = prose.copy()
    for block in blocks:
        if block.map is not None and block.type in {"inline", "html_block"}:
            place = slice(*block.map)
            content = "\n".join(lines[place])
            if block.type == "inline":
                content = _CODE.sub(_hidden, content)
                prose[place] = _INLINE.sub(_hidden, content).split("\n")
            comments[place] = content.split("\n")
    return "\n".join(prose), "\n".join(comments)


def _python(text: str) -> tuple[str, str, list[range]]:
    """The comments and docstrings of Python, its comments alone, and the lines of each docstring."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    prose, comments = list(_SEEN.sub(_PROGRAM, text)), list(_SEEN.sub(_PROGRAM, text))
    before, docstrings = tokenize.NEWLINE, []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind, string, (row, column), (last, end), _ = token
            place = slice(starts[row - 1] + column, starts[last - 1] + end)
            if kind == tokenize.COMMENT:
                comments[place] = string
                prose[place] = " " + _said(string[1:])
            elif kind == tokenize.STRING and before in _STATEMENT and _PLAIN.match(string):
                prose[place] = _said(string)
                docstrings.append(range(row - 1, last))
            before = before if kind in _PASSED else kind
    except (tokenize.TokenError, SyntaxError) as error:
        raise InvalidInputError(f"no Python that can be read: {error.args[0]}") from error
    return "".join(prose), "".join(comments), docstrings
