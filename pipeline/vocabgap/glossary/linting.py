"""A linter for prose, which finds words to avoid and names the terms to use instead."""

import os
import re
from bisect import bisect
from collections.abc import Container, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, chain, pairwise
from math import inf
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.errors import InvalidInputError, VocabgapError
from vocabgap.files.budget import MIB
from vocabgap.files.refusals import named_content, refusal
from vocabgap.glossary.loading import Loaded
from vocabgap.glossary.normal_form import KnownTerms, keys_of, normal_form, places_of, spaced_key, term_key
from vocabgap.glossary.senses import EXTRACTED, SenseStatus
from vocabgap.text import HYPHEN, escape_unseen, printable_name, visible

MARKDOWN: Final = frozenset({".md", ".markdown", ".mdown", ".mkd"})
NO_PROSE: Final = "\ufffc"  # no term contains this mark
_SEEN: Final = re.compile(r"\S")
_EMPTY: Final = re.compile(rf"^[{NO_PROSE} \t]+$", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"\A(---|\+\+\+)[ \t]*\n(?:.*\n)*?\1[ \t]*(?:\n|\Z)")
_PARAGRAPH: Final = re.compile(r"(?:^[^\S\n]*\S.*\n?)+", re.MULTILINE)
# Code between back-ticks, and sessions of Python.
_CODE: Final = re.compile(r"(?<![`\\])(`+)(?!`)(?s:.+?)(?<!`)\1(?!`)|^[ \t]*(?:>>>|\.\.\.) .*$", re.MULTILINE)
_INLINE: Final = re.compile(
    # Comments, code of HTML, tags, and addresses in angle brackets; targets of links; other addresses.
    r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->"
    r"|<(?i:(?P<code>code|pre|kbd|samp|tt|var|script|style)\b[^<>]*>(?:[^<]|<(?!/?(?P=code)\b))*</(?P=code))\s*>"
    r"|</?[A-Za-z](?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*>"
    r"|(?<=\])(?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|\[[^\[\]]*\])|\[\^[^\[\]]*\]"
    r"|\{(?:[^{}]|\{[^{}]*\})*\}"
)
# Marks of quotations and of emphasis by underscores, and entities.
_MARKS: Final = re.compile(
    r"^[ \t]*>[> \t]*|&#?\w{1,20};|(?<!\w)__?(?=[^\W_][^\n]{0,80}[^\W_]_)|(?<=[^\W_])__?(?!\w)", re.MULTILINE
)
# A path, an address or an identifier: no white space, and a sign that words do not have.
_ENDS: Final = r"\s,;()\[\]<>\"'“”„‘’«»|*`—–…" + NO_PROSE
_PART: Final = rf"(?:[^{_ENDS}]|[-=]>|[<>]=)"
_CODE_WORD: Final = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s<>]+|\bwww\.[^\s<>]+"
    rf"|(?<![^{_ENDS}]){_PART}*?(?:(?<!\.)\.\w|\\[A-Za-z0-9]|[@#]\w|(?<!\w)[$%][A-Za-z_]|[-=]>\w|[={{}}]|\w\$(?!\w)|:[:\w]"
    rf"|\w\+\+|\w\(\)|(?<!\w)/|/(?!\w)|/\w[\w-]*/|[A-Z]-\d\d|-\w+-\w+-\w|(?<![^{_ENDS}])--[A-Za-z]){_PART}*"
)
# Of reStructuredText: explicit markup with its directive, options with prose, marks of items, and directives
# whose content is prose.
_EXPLICIT: Final = re.compile(
    r"\.\.(?:$|[ \t]+(?:\|[^|]+\|[ \t]+)?(?:(?P<directive>[\w:.+-]*\w)[ \t]?::(?=\s|$))?(?P<note>\[)?)"
)
_OPTION: Final = re.compile(r"[ \t]+:(?P<prose>alt|caption|title)?[\w-]*:(?=\s|$)")
_ITEMS: Final = re.compile(r"(?:(?:[-*+•]|#\.|\(?(?:\d{1,4}|[A-Za-z]|[ivxIVX]{2,5})[.)]|\.\.)[ \t]+)*")
_PROSE: Final = re.compile(
    r"attention|caution|danger|error|hint|important|note|tip|warning|admonition|seealso|todo|topic|sidebar|rubric"
    r"|epigraph|highlights|pull-quote|compound|figure|(?:csv-|list-)?table|replace|header|footer|centered|hlist|acks"
    r"|version(?:added|changed|removed)|deprecated|glossary|dropdown|details|card|tab-set|tab-item|grid(?:-item(?:-card)?)?"
    r"|container|only|option|envvar|describe|(?:(?:py|c|cpp|js|rst):)?(?:class|function|data|type|member|macro|module"
    r"|exception|(?:class|static|abstract)?method|attribute|property|decorator|directive|role)"
)
_IGNORE: Final = re.compile(
    r"^(?P<before>.*?)<!--[ \t]*vocabgap[-:][ \t]*ignore\b(?:[ \t]*-->)?(?P<after>.*)", re.MULTILINE
)
# The end of a sentence: after its mark, and before an empty line or an item of a list.
_END: Final = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]*_]*\s+(?![a-z])"
    r"|^(?:[ \t]*\n)+|\n(?=[ \t]*(?:[-*+>|#]|\d+[.)]\s))",
    re.MULTILINE,
)
_AROUND: Final = 100  # characters before and after a place that may belong to its sentence
_MARKUP: Final = " \t\n#>|*+-\"'`"  # no part of a sentence at its beginning or end
# The hyphen of a noun that is made of a verb: set-up.
_NOUN: Final = re.compile(rf"{HYPHEN}((?:in|out|up|down|on|off|over|away|back|through|by)s?)$", re.IGNORECASE)
_SUFFIXES: Final = MARKDOWN | {".txt", ".rst"}
_FOREIGN: Final = frozenset({"node_modules", "__pycache__", "site-packages"})
_RUN: Final = re.compile(r"[^\s…]+|…|\n[ \t]*\n")


def prose_of(text: str, suffix: str) -> str:
    """Return the prose of a file; all characters keep their positions.

    Everything else (code, front matter, targets of links) becomes a mark that no term contains.
    """
    if suffix in MARKDOWN:
        prose, comments = _markdown(text)
    else:
        comments = _PARAGRAPH.sub(lambda block: _CODE.sub(_hidden, block[0]), text)
        prose = _INLINE.sub(_hidden, _without(comments, _rst(text) if suffix == ".rst" else ()))
    if "vocabgap" in comments:
        ignored = {  # a comment alone on its line is about the next line
            comments.count("\n", 0, match.start()) + (not (match["before"] + match["after"]).strip(". \t"))
            for match in _IGNORE.finditer(comments)
        }
        prose = _without(prose, ignored)
    for pattern in (_MARKS, _EMPTY):
        prose = pattern.sub(lambda blank: " " * len(blank[0]), prose)
    return prose


def without_code(text: str, known: KnownTerms) -> str:
    """Hide the paths, addresses and identifiers in a text, except known terms."""

    def shown(code: re.Match[str]) -> str:
        names = code[0], code[0].rstrip(".!?"), code[0].removesuffix(":")
        return code[0] if any(map(known.name, map(term_key, names))) else _hidden(code)

    return _CODE_WORD.sub(shown, text)


def sentence_at(text: str, prose: str, start: int, end: int) -> str:
    """Return the sentence around a place in a text, on one line; a long one is cut."""
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    begin = max((match.end() for match in _END.finditer(prose, first, start)), default=first)
    after = _END.search(prose, end, last)
    stop = last if after is None else after.start()
    sentence = " ".join(re.sub(r"\n[ \t]*[#>]+", "\n", text[begin:stop]).split()).strip(_MARKUP)
    return "…" * (0 < begin == first) + sentence + "…" * (stop == last < len(text))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    ends = [match.end() for match in _END.finditer(text)]
    parts = (text[start:end] for start, end in pairwise([0, *ends, len(text)]))
    return list(filter(None, (" ".join(each.split()).lstrip("#>|*+- ") for each in parts)))


def _hidden(match: re.Match[str]) -> str:
    return _SEEN.sub(NO_PROSE, match[0])


def _without(text: str, hidden: Container[int]) -> str:
    """Hide lines of a text; they count from 0."""
    lines = enumerate(text.split("\n"))
    return "\n".join(_SEEN.sub(NO_PROSE, line) if place in hidden else line for place, line in lines)


def _rst(text: str) -> set[int]:
    """Return the lines of reStructuredText that are code, comments, targets or options; they count from 0."""
    hidden: set[int] = set()
    edge: float = inf  # lines that are indented more are hidden
    is_head = is_literal = is_code = False
    for place, (line, after) in enumerate(pairwise([*text.expandtabs().split("\n"), ""])):
        content, indent = line.strip(), len(line) - len(line.lstrip())
        option = _OPTION.match(line) if is_head else None
        is_head = option is not None
        is_quote = is_literal and indent == edge and not content[:1].isalnum() and content[:2] != ".."
        is_code = bool(content) and (is_code or is_quote or content.startswith(">>> "))  # until an empty line
        if option or is_code or indent > edge or not content:
            hidden.update(() if option and option["prose"] else (place,))
            is_literal = is_literal and not content
            continue
        explicit, edge, is_literal = _EXPLICIT.match(content), inf, False
        name = explicit["directive"] if explicit else ""
        is_head = bool(name)
        is_comment = explicit and not name and not explicit["note"] and (content != ".." or after.strip())
        if is_comment or (name and not _PROSE.fullmatch(name)):
            hidden.add(place)
            edge = indent
        elif content.endswith("::") and not (after.strip() or (explicit and content == explicit[0])):
            is_literal = True
            edge = indent + len(_ITEMS.findall(content)[0])
    return hidden


def _markdown(text: str) -> tuple[str, str]:
    """Return the prose of Markdown, and its text with comments but without code."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - loads what only a linter needs

    reader = MarkdownIt("commonmark")
    reader.core.ruler.disable("inline")  # it does not keep positions
    blocks = reader.parse(_FRONT_MATTER.sub(lambda front: "\n" * front[0].count("\n"), text))
    lines = text.split("\n")
    prose = _SEEN.sub(NO_PROSE, text).split("\n")
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


class Rule(StrEnum):
    """The kind of a finding."""

    AVOIDED = "avoided-synonym"
    DEPRECATED = "deprecated-term"
    AMBIGUOUS = "ambiguous-term"

    @property
    def fails(self) -> bool:
        """Tell whether a finding of this kind makes the check fail."""
        return self is not Rule.AMBIGUOUS


class Finding(msgspec.Struct, frozen=True):
    """A word that should not be used; lines and columns count from 1."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    rule: Rule
    text: str
    message: str
    sentence: str
    instead: tuple[str, ...] = ()


class Linter:
    """A linter that finds words that a glossary says not to use.

    A word in `synonyms_to_avoid` or `banned_synonyms` of a term is a finding, unless it is a term itself. An
    alias is a spelling of its term. Of several terms at one place, the longest counts.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._glossary = loaded.glossary
        self._instead: dict[str, dict[str, None]] = {}  # by the key of an avoided word
        self._wordings: dict[str, list[str]] = {}  # the avoided words by their key
        deprecated = {
            sense.surface.surface_text: sense.definition
            for sense in loaded.glossary
            if sense.status is SenseStatus.DEPRECATED and sense.provenance.source != EXTRACTED
            if not loaded.glossary.is_no_term(sense.surface.surface_text)
        }
        self._deprecated = {term_key(name): definition for name, definition in deprecated.items()}
        for term in chain.from_iterable(seed.terms for seed in loaded.seeds):
            if self._glossary.resolve(term.surface):
                for wording in (*(term.synonyms_to_avoid or ()), *(term.banned_synonyms or ())):
                    self._wordings.setdefault(term_key(wording), []).append(wording)
                    self._instead.setdefault(term_key(wording), {})[term.surface] = None
            related = ((also,) if isinstance(also, str) else also.values() for also in term.see_also or ())
            for name in chain.from_iterable(related):
                if term_key(term.surface) in self._deprecated and self._glossary.resolve(name):
                    self._instead.setdefault(term_key(term.surface), {})[name] = None
        active = [sense.surface.surface_text for sense in self._glossary if sense.is_active]
        wordings = chain.from_iterable(self._wordings.values())
        self._known = KnownTerms([*active, *deprecated, *wordings], loaded.glossary.aliases)

    def findings(self, path: str, text: str, suffix: str) -> Iterator[Finding]:
        """Yield the findings of a text in order; report each ambiguous term once."""
        prose = without_code(prose_of(text, suffix), self._known)
        lines = [0, *(match.end() for match in re.finditer("\n", text))]
        ambiguous: set[str] = set()
        matches = list(_RUN.finditer(prose))
        runs = [keys_of(match[0]) or ("\n",) for match in matches]  # no term continues in the next paragraph
        ends = list(accumulate(map(len, runs)))
        for place in self._known.occurrences(runs):
            first, last = bisect(ends, place.start), bisect(ends, place.end - 1)
            begin, _ = places_of(matches[first][0])[place.start - ends[first]]  # from the end of its run
            _, stop = places_of(matches[last][0])[place.end - 1 - ends[last]]
            start, end = matches[first].start() + begin, matches[last].start() + stop
            spelling = " ".join(prose[start:end].replace("*", "").split())
            verdict, key = self._verdict(place.term, spelling), term_key(spelling)
            if verdict is None or (verdict[0] is Rule.AMBIGUOUS and key in ambiguous):
                continue
            rule, message, instead = verdict
            if rule is Rule.AMBIGUOUS:
                ambiguous.add(key)
            line, end_line = bisect(lines, start), bisect(lines, end - 1)
            places = line, start - lines[line - 1] + 1, end_line, end - lines[end_line - 1] + 1
            sentence = sentence_at(text, prose, start, end)
            yield Finding(path, *places, rule, spelling, visible(message), sentence, instead)

    def _verdict(self, term: str, shown: str) -> tuple[Rule, str, tuple[str, ...]] | None:
        key = term_key(term)
        senses = self._glossary.resolve(term)
        instead = tuple(self._instead.get(key, ()))
        if senses:
            own = [name for name in instead if term_key(name) == key]
            avoided = {normal_form(wording) for wording in self._wordings.get(key, ())}
            if own and normal_form(shown) in avoided.difference(map(normal_form, own)):
                return Rule.AVOIDED, f"use '{own[0]}' instead of '{shown}'", (own[0],)
            if self._glossary.meaning(term) is None:
                meanings = "; ".join(dict.fromkeys(sense.definition for sense in senses))
                return Rule.AMBIGUOUS, f"'{shown}' may mean: {meanings}", ()
            return None
        say = " or ".join(f"'{name}'" for name in instead)
        if key in self._deprecated:
            what = f"use {say} instead" if say else f"it meant: {self._deprecated[key]}"
            return Rule.DEPRECATED, f"'{shown}' is deprecated; {what}", instead
        words = spaced_key(_NOUN.sub(lambda noun: noun[1].lower(), shown)).count(" ")
        listed = self._wordings.get(key, ())
        longer = [wording for wording in listed if len(wording.split()) > words + 1]
        if len(longer) == len(listed):
            return None  # 'log in' does not list the noun 'login'
        variant = f", a variant of '{longer[0]}'" if longer else ""
        return Rule.AVOIDED, f"use {say} instead of '{shown}'{variant}", instead


def lint(linter: Linter, paths: Sequence[Path]) -> tuple[list[Finding], int, dict[Path, VocabgapError]]:
    """Check files and folders; return the findings, the number of files, and the error of each unread path.

    Each file is checked once. Raise the error of a named path if no file can be read.
    """
    findings: list[Finding] = []
    problems: dict[Path, VocabgapError] = {}
    files = dict.fromkeys(chain.from_iterable(files_within(path, problems) for path in paths))
    for path in files:
        try:
            findings += linter.findings(printable_name(str(path)), text_of(path), path.suffix.lower())
        except VocabgapError as error:
            problems[path] = error
    checked = len(files.keys() - problems.keys())
    if not checked and (named := [problems[path] for path in paths if path in problems]):
        raise named[0]
    return findings, checked, problems


def files_within(path: Path, problems: dict[Path, VocabgapError]) -> list[Path]:
    """Return the Markdown and text files of a folder, without hidden ones and those of other packages.

    A named file is returned as it is. The error of an unreadable folder is added to `problems`.
    """

    def unread(error: OSError) -> None:
        problem = f"'{printable_name(error.filename)}' cannot be read"
        problems[Path(error.filename)] = refusal(problem, error, hint="check its permissions")

    files = [] if os.path.isdir(path) else [path]  # noqa: PTH112 - never raises
    for parent, folders, names in os.walk(path, onerror=None if files else unread):
        inner = (name for name in folders if name not in _FOREIGN and name[0] != ".")
        folders[:] = [name for name in inner if not os.path.exists(f"{parent}/{name}/pyvenv.cfg")]  # noqa: PTH110
        files += [
            Path(parent, name) for name in names if name[0] != "." and Path(name).suffix.lower() in _SUFFIXES
        ]
    return sorted(files)


def text_of(path: Path) -> str:
    """Read the text of a file; all its lines end with line feeds."""
    content = named_content(path, "file", "name files or folders, or give a text with --text", 8 * MIB)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"file '{path}': byte {error.start}: expected UTF-8 text", hint="save it in UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def github(finding: Finding) -> str:
    """Return a finding as a command of a GitHub workflow."""
    place = {"file": finding.path, "line": finding.line, "endLine": finding.end_line}
    if finding.line == finding.end_line:  # GitHub refuses columns for several lines
        place |= {"col": finding.column, "endColumn": finding.end_column}
    place |= {"title": finding.rule.value}
    properties = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in place.items()
    )
    level = "error" if finding.rule.fails else "warning"
    return f"::{level} {properties}::{_escaped(finding.message)}"


def _escaped(value: object) -> str:
    text = str(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escape_unseen(text)
