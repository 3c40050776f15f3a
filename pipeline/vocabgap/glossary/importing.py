"""Importing: the terms of vocabularies and of other glossaries become terms of seed files."""

import os
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.files.atomic import write_whole
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.files.yaml import parse_yaml
from vocabgap.glossary.conflicts import Strictness, effective_strictness
from vocabgap.glossary.event_log import changing
from vocabgap.glossary.glossary import definition_key
from vocabgap.glossary.normal_form import surface_of, term_key
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.seeds import (
    SEED_ENDING,
    TERMS,
    SeedTerm,
    parse_seed,
    read_content,
    read_seed,
    seed_path,
)
from vocabgap.glossary.senses import GlossaryScope, ScopeStack, SenseStatus
from vocabgap.glossary.session import mission_strictness
from vocabgap.ranking.vocabulary import load_vocabulary
from vocabgap.settings.model import VocabularyFields
from vocabgap.text import can_be_seen, words

# Seed files, written so that what people put into them stays: comments, order and quotes.


_WIDTH: Final = 10_000  # characters of a line: definitions are not broken
_FILE_MODE: Final = 0o666


def save_terms(path: Path, terms: Iterable[SeedTerm]) -> None:
    """Have a seed file list some terms.

    A term that is there stays in its place, with its comments, and says what is new of it; the others are
    added at the end, in order. None is taken out: what does not count any more is deprecated.

    Args:
        path: The file; it is made, with its folder, where it does not exist. A link to one stays a link.
        terms: The terms, each surface with a definition once.

    Raises:
        SeedFileValidationError: The file that is there has errors: it would lose what is wrong in it.
        VocabgapError: It cannot be read or written.
    """
    content = read_content(path)
    there: tuple[SeedTerm, ...] = ()
    if content is not None:
        seed = parse_seed(path, content)
        seed.require_valid()
        there = seed.terms
    wanted = {(term.surface, term.definition): term for term in terms}
    written = _rewritten((content or b"").decode("utf-8-sig"), list(wanted.values()))
    together = {**{(term.surface, term.definition): term for term in there}, **wanted}
    found = parse_seed(path, written.encode())
    if {(term.surface, term.definition): term for term in found.terms} != together:
        raise InvalidInputError(
            f"the terms cannot be written to '{path}' as YAML",
            hint="leave out characters that cannot be seen, such as control characters",
        )
    _replace(path, written)


def _rewritten(text: str, terms: Iterable[SeedTerm]) -> str:
    """A seed file's content with some terms in it."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - loads what only writing needs
    from ruamel.yaml.comments import CommentedMap, CommentedSeq  # noqa: PLC0415
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString  # noqa: PLC0415

    editor = YAML(typ="rt", pure=True)
    editor.width = _WIDTH
    editor.preserve_quotes = True
    editor.indent(mapping=2, sequence=4, offset=2)
    document = editor.load(text) if text.strip() else None
    if document is None:
        document = CommentedMap()
    listed = document.get(TERMS)
    if not listed:
        listed = document[TERMS] = CommentedSeq()
    entries = {(entry["surface"], entry["definition"]): entry for entry in listed}
    for term in sorted(terms, key=lambda term: (term.surface, term.definition)):
        fields = _plain(term)
        entry = entries.get((term.surface, term.definition))
        if entry is not None:
            _edit(entry, fields)
            continue
        if ": " in term.definition or "'" in term.definition:
            fields["definition"] = DoubleQuotedScalarString(term.definition)
        listed.append(CommentedMap(fields))
    result = StringIO()
    editor.dump(document, result)
    return result.getvalue()


def _edit(entry: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Have an entry say what a term is, as far as it says something else."""
    unsaid = _plain(SeedTerm(fields["surface"], fields["definition"]))
    for name in set(entry) - set(fields):
        del entry[name]
    for name, value in fields.items():
        if entry.get(name, unsaid.get(name)) != value:
            entry[name] = value


def _plain(term: SeedTerm) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(term)
    found["confidence"] = float(term.confidence)
    return {name: value for name, value in found.items() if value is not None}


def _replace(path: Path, text: str) -> None:
    """Have a file, or the one that a link leads to, hold a text, all of it or what it held before."""
    try:
        file = path.resolve()
        mode = file.stat().st_mode if file.exists() else _FILE_MODE & ~_umask()
        write_whole(file, text.encode(), mode & 0o777)
    except OSError as error:
        kind: type[VocabgapError] = AccessDeniedError if isinstance(error, PermissionError) else StateError
        raise kind(
            f"seed file '{path}' cannot be written: {error.strerror or error}",
            hint="see to its folder; nothing was changed",
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# A scope of the glossaries that others keep, and what it is called here.
_ELSEWHERE: Final = {"spec_kitty_core": GlossaryScope.CORE_DOMAIN.value}
_CONFIG: Final = "config.yaml"  # beside the folder of such a glossary
# The names that people give to the columns of a list of terms.
_FIELDS: Final = VocabularyFields(
    name=("surface", "term", "name"), description=("definition", "meaning", "description")
)


class Imported(NamedTuple):
    """What an import came to.

    Attributes:
        added: The terms that are new, each with its scope.
        present: How many were there already.
        drafts: Those of the new ones that became drafts, since the term has another meaning.
        passed_over: What was not imported, in words.
    """

    added: list[tuple[str, SeedTerm]]
    present: int
    drafts: list[str]
    passed_over: list[str]


def import_terms(runtime: GlossaryRuntime, source: Path, scope: str | None = None) -> Imported:
    """Add the terms of a vocabulary, a table or another glossary to a glossary's seed files.

    A term that has another meaning already, in whatever scope, becomes a draft, for people to settle, and so
    does a second meaning in one scope. Where the source is a glossary whose scopes differ, they differ here,
    whether some of them are here already or not: an import that was interrupted is ended by another one.

    Args:
        runtime: The glossary; its folder is made where it does not exist.
        source: A vocabulary as `load_vocabulary` reads it, a table with the columns `surface` (or `term`) and
            `definition`, a seed file, or a folder of these.
        scope: The scope that all goes to; by default seed files keep theirs, and all else goes to that of
            people's own senses.

    Raises:
        NotFoundError: There is no such file, or nothing to import in it.
        InvalidInputError: The scope is not active, or a file is not in its format.
        VocabgapError: A file cannot be read or written.
    """
    scopes = runtime.scopes
    if scope is not None and scope not in scopes.names:
        raise InvalidInputError(f"Invalid scope '{scope}'", hint=f"expected one of {', '.join(scopes.names)}")
    passed_over = _strictness_elsewhere(source, runtime)
    read = dict[str, list[SeedTerm]]()
    for place, terms in _read(source, scopes, scope, passed_over):
        read.setdefault(place, []).extend(terms)
    with changing(runtime.logs):
        return _added(runtime, read, passed_over)


def _added(runtime: GlossaryRuntime, read: Mapping[str, list[SeedTerm]], passed_over: list[str]) -> Imported:
    """What becomes of terms that were read, by the scope that they go to."""
    glossary = runtime.load().glossary
    told = {(place, *_identity(term)) for place, terms in read.items() for term in terms if _is_active(term)}
    added, drafts, present = [], [], 0
    for place in sorted(read, key=runtime.scopes.precedence):
        path = seed_path(runtime.folder, place)
        there = list(read_seed(path).terms)
        known = set(map(_identity, there))
        kept = len(there)
        meant: dict[str, str] = {}  # the definitions of what has become active, by term
        for term in read[place]:
            key, definition = _identity(term)
            if (key, definition) in known:
                present += 1
                continue
            has_rivals = _is_active(term) and any(
                rival.scope == place or (rival.scope, key, definition_key(rival.definition)) not in told
                for rival in glossary.rivals(term.surface, term.definition)
            )
            if has_rivals or (_is_active(term) and meant.setdefault(key, definition) != definition):
                term = msgspec.structs.replace(term, status=SenseStatus.DRAFT)  # noqa: PLW2901 - still the term
                drafts.append(term.surface)
            known.add((key, definition))
            there.append(term)
        if len(there) > kept:
            save_terms(path, there)
            added += [(place, term) for term in there[kept:]]
    return Imported(added, present, drafts, passed_over)


def _read(
    source: Path, scopes: ScopeStack, scope: str | None, passed_over: list[str]
) -> Iterable[tuple[str, list[SeedTerm]]]:
    """The terms of a source, by the scope that they go to."""
    if file_kind(source) is FileKind.NOTHING:
        raise NotFoundError(f"there is nothing to import at '{source}'", hint="check the path")
    seeds = _seed_files(source, scopes)
    if not seeds:
        yield scope or scopes.authored_scope, _entries(source, passed_over)
        return
    for path in seeds:
        place = scope or _ELSEWHERE.get(path.stem, path.stem)
        if place not in scopes.names:
            passed_over.append(f"{path}: '{path.stem}' is no scope here; name one with --scope")
            continue
        seed = read_seed(path)
        if not seed.terms:
            seed.require_valid()
        passed_over += [f"{path}: {problem}" for problem in seed.problems]
        yield place, list(seed.terms)


def _strictness_elsewhere(source: Path, runtime: GlossaryRuntime) -> list[str]:
    """What is to be said of the strictness that is configured beside a glossary of others, if it differs."""
    config = source.parent / _CONFIG
    if not source.is_dir() or file_kind(config) is not FileKind.FILE:
        return []
    found = read_strictness(config)
    if found is effective_strictness(configured=runtime.strictness):
        return []
    return [f"{config}: strictness {found}; it is said here by `strictness` in [glossary] of the settings"]


def _seed_files(source: Path, scopes: ScopeStack) -> list[Path]:
    """The seed files that a path leads to; none where it is a vocabulary or a table."""
    known = {*scopes.names, *_ELSEWHERE}
    listed = sorted(source.iterdir()) if source.is_dir() else [source]
    found = [path for path in listed if path.suffix == SEED_ENDING]
    return [path for path in found if path.stem in known or (path.stem != "manifest" and source.is_dir())]


def _entries(source: Path, passed_over: list[str]) -> list[SeedTerm]:
    """The entries of a vocabulary or a table as terms."""
    terms = []
    for entry in load_vocabulary(source, fields=_FIELDS).entries:
        surface = surface_of(" ".join(words(entry.name)))  # in texts its name is written so
        if surface is None or not can_be_seen(entry.description):
            passed_over.append(f"'{entry.name}' has no definition")
            continue
        terms.append(SeedTerm(surface.surface_text, " ".join(entry.description.split())))
    return terms


def _identity(term: SeedTerm) -> tuple[str, str]:
    """What tells a term with its meaning from others of its scope."""
    return term_key(term.surface), definition_key(term.definition)


def _is_active(term: SeedTerm) -> bool:
    return term.status == SenseStatus.ACTIVE


def read_strictness(path: Path) -> Strictness:
    """The strictness in section `glossary` of a YAML file, as other tools keep one.

    Args:
        path: The file.

    Returns:
        The strictness; `medium` where there is no such file, or it says nothing that is one.
    """
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidInputError):
        return Strictness.MEDIUM
    return mission_strictness(content if isinstance(content, Mapping) else {}) or Strictness.MEDIUM
