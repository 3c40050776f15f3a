"""A linter for prose: where files use words that a glossary says not to use, and what to say instead."""

import os
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from vocabgap import __version__
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError
from vocabgap.files.refusals import FileKind, content_of, file_kind, refusing
from vocabgap.glossary.extracting import SIGNS, Field, extract
from vocabgap.glossary.loading import Loaded
from vocabgap.glossary.normal_form import KnownTerms, keys_of, normal_form, places_of, term_key
from vocabgap.glossary.prose import MARKDOWN, PYTHON, prose_of, sentence_at
from vocabgap.glossary.senses import EXTRACTED, SenseStatus, TermSource
from vocabgap.text import escape_unseen, printable_name, visible

_SUFFIXES: Final = MARKDOWN | PYTHON | {".txt", ".rst"}
_FOREIGN: Final = frozenset({"node_modules", "__pycache__", "site-packages"})
_RUN: Final = re.compile(r"\S+|\n[ \t]*\n")
# What a term looks like; words that come often, and names of people and places, need no glossary.
_SIGNS: Final = (TermSource.QUOTED_PHRASE, TermSource.ACRONYM, TermSource.CASING_PATTERN)


class Rule(StrEnum):
    """What is wrong with a word."""

    AVOIDED = "avoided-synonym"
    DEPRECATED = "deprecated-term"
    AMBIGUOUS = "ambiguous-term"
    UNKNOWN = "unknown-term"

    @property
    def fails(self) -> bool:
        """Whether a file that has it does not pass."""
        return self is not Rule.AMBIGUOUS

    @property
    def level(self) -> str:
        """How bad it is, in the words of other tools."""
        return "error" if self.fails else "warning"


_DESCRIPTIONS: Final[Mapping[Rule, str]] = {
    Rule.AVOIDED: "Another word for a term, which the glossary asks not to use",
    Rule.DEPRECATED: "A term that does not count any more",
    Rule.AMBIGUOUS: "A term with several meanings, of which none was chosen",
    Rule.UNKNOWN: "What looks like a term, and is not in the glossary",
}


class Finding(msgspec.Struct, frozen=True):
    """A word that should not stand where it does.

    Attributes:
        path: As the system has it, which may hold bytes that are no text.
        line: Counted from 1, as the column, which is counted in characters.
        end_column: Of the character after it.
        instead: What can be said in its place.
    """

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
    """Finds the words of texts that a glossary says not to use.

    What the seed files list as `synonyms_to_avoid` of a term that has a meaning is avoided, unless it has one
    itself. Of several terms at a place the longest is meant.

    Args:
        unknown: Whether terms that the glossary does not have are found as well.
        excluded: What is no term.
    """

    def __init__(self, loaded: Loaded, *, unknown: bool = False, excluded: Iterable[str] = ()) -> None:
        self._glossary, self._unknown, self._excluded = loaded.glossary, unknown, [*excluded]
        self._instead: dict[str, dict[str, None]] = {}  # by the key of what is avoided
        self._spellings: dict[str, str] = {}  # of terms, that are avoided: the term by their normal form
        deprecated = {
            sense.surface.surface_text: sense.definition
            for sense in loaded.glossary
            if sense.status is SenseStatus.DEPRECATED and sense.provenance.source != EXTRACTED
        }
        self._deprecated = {term_key(name): definition for name, definition in deprecated.items()}
        for term in (each for seed in loaded.seeds for each in seed.terms):
            if self._glossary.resolve(term.surface):
                for wording in term.synonyms_to_avoid or ():
                    if term_key(wording) == term_key(term.surface):
                        self._spellings[normal_form(wording)] = term.surface
                    self._instead.setdefault(term_key(wording), {})[term.surface] = None
            for name in (value for also in term.see_also or () for value in also.values()):
                if term_key(term.surface) in self._deprecated and self._glossary.resolve(name):
                    self._instead.setdefault(term_key(term.surface), {})[name] = None
        active = [sense.surface.surface_text for sense in self._glossary if sense.is_active]
        self._known = KnownTerms([*active, *deprecated, *self._instead])

    def findings(self, path: str, text: str, suffix: str) -> Iterator[Finding]:
        """What is found in a text, in the order of the text; what is ambiguous or unknown once."""
        prose = prose_of(text, suffix)
        lines = [0, *(match.end() for match in re.finditer("\n", text))]
        found = sorted([*self._known_terms(prose), *(self._unknown_terms(prose) if self._unknown else ())])
        told: set[tuple[Rule, str]] = set()
        for start, end, rule, message, instead in found:
            written = text[start:end]
            said = rule, term_key(written)
            if said in told and rule in {Rule.AMBIGUOUS, Rule.UNKNOWN}:
                continue
            told.add(said)
            line, end_line = bisect(lines, start), bisect(lines, end - 1)
            yield Finding(
                path,
                line,
                start - lines[line - 1] + 1,
                end_line,
                end - lines[end_line - 1] + 1,
                rule,
                " ".join(written.split()),
                visible(message),
                sentence_at(text, prose, start, end),
                instead,
            )

    def _known_terms(self, prose: str) -> Iterator[tuple[int, int, Rule, str, tuple[str, ...]]]:
        matches = list(_RUN.finditer(prose))
        runs = [keys_of(match[0]) or ("\n",) for match in matches]  # no term goes on in another paragraph
        ends = list(accumulate(map(len, runs)))
        for each in self._known.occurrences(runs):
            first, last = bisect(ends, each.start), bisect(ends, each.end - 1)
            begin, _ = places_of(matches[first][0])[each.start - ends[first]]  # from the end of its run
            _, stop = places_of(matches[last][0])[each.end - 1 - ends[last]]
            start, end = matches[first].start() + begin, matches[last].start() + stop
            if (verdict := self._verdict(each.term, prose[start:end])) is not None:
                yield start, end, *verdict

    def _verdict(self, term: str, written: str) -> tuple[Rule, str, tuple[str, ...]] | None:
        """What is wrong with a term as it is written; none where nothing is."""
        key, shown = term_key(term), " ".join(written.split())
        senses = self._glossary.resolve(term)
        instead = tuple(self._instead.get(key, ()))
        if senses:
            own = self._spellings.get(normal_form(shown))
            if own is not None and normal_form(shown) != normal_form(own):
                return Rule.AVOIDED, f"say '{own}' instead of '{shown}'", (own,)
            if self._glossary.meaning(term) is None:
                meanings = "; ".join(dict.fromkeys(each.definition for each in senses))
                return Rule.AMBIGUOUS, f"'{shown}' may mean: {meanings}", ()
            return None
        say = " or ".join(f"'{each}'" for each in instead)
        if key in self._deprecated:
            what = f"say {say} instead" if say else f"it meant: {self._deprecated[key]}"
            return Rule.DEPRECATED, f"'{shown}' is deprecated; {what}", instead
        return Rule.AVOIDED, f"say {say} instead of '{shown}'", instead

    def _unknown_terms(self, prose: str) -> Iterator[tuple[int, int, Rule, str, tuple[str, ...]]]:
        metadata = {SIGNS: _SIGNS, "glossary_exclude_terms": self._excluded}
        for term in extract([Field("", prose)], metadata, self._known):
            start = prose.find(term.original)
            if start >= 0 and self._known.name(term_key(term.surface.surface_text)) is None:
                message = f"'{term.original}' is not in the glossary"
                yield start, start + len(term.original), Rule.UNKNOWN, message, ()


class Report(NamedTuple):
    """What was found in files, how many they are, and why others were not checked.

    Attributes:
        refused: The first error of a file that was named itself; the others are among the problems.
    """

    findings: list[Finding]
    files: int
    problems: list[str]
    refused: VocabgapError | None


def lint(linter: Linter, paths: Iterable[Path]) -> Report:
    """What is found in files and folders, in each file once.

    Raises:
        VocabgapError: One that was named does not exist, or a folder cannot be listed.
    """
    findings: list[Finding] = []
    files, problems, refused = 0, [], None
    named: dict[Path, bool] = {}
    for path, is_named in files_to_check(paths):
        named[path] = is_named or named.get(path, False)
    for path, is_named in named.items():
        try:
            findings += linter.findings(str(path), text_of(path), path.suffix.lower())
            files += 1
        except VocabgapError as error:
            problem = f"{escape_unseen(printable_name(str(path)))}: {error.message}"
            if is_named and refused is None:
                refused = type(error)(problem, hint=error.hint)
            else:
                problems.append(problem)
    return Report(findings, files, problems, refused)


def files_to_check(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """The files that some paths name, and whether each was named itself.

    Of a folder those of Markdown, text and Python, in order; hidden ones are not, and no packages of others.

    Raises:
        NotFoundError: There is no such file or folder.
        InvalidInputError: It is an address.
    """
    for path in paths:
        name, kind = printable_name(str(path)), file_kind(path)
        if kind is FileKind.FOLDER:
            yield from ((each, False) for each in _files_within(path))
        elif re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", name):
            raise InvalidInputError(f"'{name}' is an address", hint="name files or folders of this machine")
        elif kind is FileKind.NOTHING:
            raise NotFoundError(
                f"there is no file or folder '{name}'", hint="name another one, or give a text with --text"
            )
        else:
            yield path, True


def _files_within(folder: Path) -> Iterator[Path]:
    with refusing(f"'{printable_name(str(folder))}' cannot be read", hint="check its permissions"):
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _FOREIGN:
            continue
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False) and not (path / "pyvenv.cfg").exists():
            yield from _files_within(path)
        elif path.suffix.lower() in _SUFFIXES:
            yield path


def text_of(path: Path) -> str:
    """The text of a file, with line feeds alone.

    Raises:
        InvalidInputError: It is no file, or not UTF-8.
        VocabgapError: It cannot be read.
    """
    content = content_of(path, "file")
    if isinstance(content, FileKind):
        raise InvalidInputError(f"it is {content}, expected a regular file", hint="name files or folders")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"byte {error.start}: expected UTF-8 text", hint="save it in UTF-8"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def sarif(findings: Iterable[Finding]) -> dict[str, Any]:
    """Findings as a log of SARIF 2.1.0."""
    rules = list(Rule)
    described = [{"id": rule.value, "shortDescription": {"text": _DESCRIPTIONS[rule]}} for rule in rules]
    results = [
        {
            "ruleId": each.rule.value,
            "ruleIndex": rules.index(each.rule),
            "level": each.rule.level,
            "message": {"text": each.message},
            "locations": [{"physicalLocation": _place(each)}],
        }
        for each in findings
    ]
    driver = {"name": "vocabgap", "version": __version__, "rules": described}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _place(finding: Finding) -> dict[str, Any]:
    path = Path(finding.path)
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
        "snippet": {"text": finding.text},
    }
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path))
    return {"artifactLocation": {"uri": uri}, "region": region}


def github(finding: Finding) -> str:
    """A finding as a command of a workflow, which shows it beside the line."""
    place = {"file": printable_name(finding.path), "line": finding.line, "endLine": finding.end_line}
    if finding.line == finding.end_line:  # columns of several lines are refused
        place |= {"col": finding.column, "endColumn": finding.end_column}
    place |= {"title": finding.rule.value}
    properties = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in place.items()
    )
    return f"::{finding.rule.level} {properties}::{_escaped(finding.message)}"


def _escaped(value: object) -> str:
    text = str(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escape_unseen(text)
