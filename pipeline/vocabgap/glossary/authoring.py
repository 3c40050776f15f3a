"""Authoring: what people bring into a glossary: terms of files, entries, and senses promoted or dropped."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.files.yaml import parse_yaml
from vocabgap.glossary.changes import authored, deprecated, promoted, require_sense
from vocabgap.glossary.conflicts import Strictness, effective_strictness
from vocabgap.glossary.event_log import BY_HAND, changing
from vocabgap.glossary.events import Actor, NewSense
from vocabgap.glossary.glossary import Glossary, definition_key, sense_id
from vocabgap.glossary.normal_form import surface_of, term_key
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.seeds import (
    SEED_ENDING,
    SeedTerm,
    read_seed,
    save_terms,
    seed_path,
)
from vocabgap.glossary.senses import GlossaryScope, ScopeStack, SenseStatus, TermSense
from vocabgap.glossary.session import mission_strictness
from vocabgap.ranking.vocabulary import configured_vocabulary, load_vocabulary
from vocabgap.settings.model import Settings, VocabularyFields
from vocabgap.text import can_be_seen, words

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
        return _merged(runtime, read, passed_over)


def _merged(runtime: GlossaryRuntime, read: Mapping[str, list[SeedTerm]], passed_over: list[str]) -> Imported:
    """What becomes of terms that were read, by the scope that they go to."""
    glossary = runtime.load().glossary
    imported = {
        (place, *_identity(term)) for place, terms in read.items() for term in terms if _is_active(term)
    }
    added, drafts, present = [], [], 0
    for place in sorted(read, key=runtime.scopes.precedence):
        path = seed_path(runtime.folder, place)
        there = list(read_seed(path).terms)
        known = set(map(_identity, there))
        before = len(there)
        meant: dict[str, str] = {}  # the definitions of what has become active, by term
        for term in read[place]:
            key, definition = _identity(term)
            if (key, definition) in known:
                present += 1
                continue
            has_rivals = _is_active(term) and any(
                rival.scope == place or (rival.scope, key, definition_key(rival.definition)) not in imported
                for rival in glossary.rivals(term.surface, term.definition)
            )
            if has_rivals or (_is_active(term) and meant.setdefault(key, definition) != definition):
                term = msgspec.structs.replace(term, status=SenseStatus.DRAFT)  # noqa: PLW2901 - still the term
                drafts.append(term.surface)
            known.add((key, definition))
            there.append(term)
        if len(there) > before:
            save_terms(path, there)
            added += [(place, term) for term in there[before:]]
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
    strictness = read_strictness(config)
    if strictness is effective_strictness(configured=runtime.strictness):
        return []
    return [
        f"{config}: strictness {strictness}; it is said here by `strictness` in [glossary] of the settings"
    ]


def _seed_files(source: Path, scopes: ScopeStack) -> list[Path]:
    """The seed files that a path leads to; none where it is a vocabulary or a table."""
    known = {*scopes.names, *_ELSEWHERE}
    listed = sorted(source.iterdir()) if source.is_dir() else [source]
    seed_files = [path for path in listed if path.suffix == SEED_ENDING]
    return [
        path for path in seed_files if path.stem in known or (path.stem != "manifest" and source.is_dir())
    ]


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
    """The strictness in section `glossary` of a YAML file, as other tools keep one."""
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidInputError):
        return Strictness.MEDIUM
    return mission_strictness(content if isinstance(content, Mapping) else {}) or Strictness.MEDIUM


def promote_sense(
    runtime: GlossaryRuntime,
    term: str,
    scope: str | None,
    definition: str | None,
    is_replacing: Callable[[Sequence[TermSense]], bool | None],
) -> TermSense:
    """Let a sense answer what its term means; gives the sense as it was.

    `is_replacing` says of the other active senses, of any scope, whether it takes their place (true) or
    stands beside them (false); none where nobody says so. It is asked again where the term changes meanwhile.

    Raises:
        StateError: There are others, and nobody says what becomes of them.
        VocabgapError: There is no such sense, or several, or the log cannot be written.
    """
    while True:
        glossary = runtime.load().glossary
        sense = _meant(glossary, term, scope, definition, SenseStatus.DRAFT)
        rivals = glossary.rivals(term, sense.definition)
        replaces = is_replacing(rivals) if rivals else False
        if replaces is None:
            rival = rivals[0]
            raise StateError(
                f"'{sense.surface}' means something else in {rival.scope} already: {rival.definition}",
                hint="say --replace to take its place, or --beside to have both: the term is ambiguous then",
            )
        with changing(runtime.logs):
            after = runtime.load().glossary
            if after.history(term) != glossary.history(term) or after.resolve(term) != glossary.resolve(term):
                continue  # somebody else has changed the term: what was asked is not what there is
            event = promoted(
                sense, actor=runtime.actor, now=runtime.now(), replacing=rivals if replaces else ()
            )
            runtime.files.append_changes(BY_HAND, [event])
            return sense


def deprecate_sense(
    runtime: GlossaryRuntime, term: str, scope: str | None, definition: str | None
) -> TermSense:
    """Let a sense count no more; gives the sense as it was.

    Raises:
        VocabgapError: There is no such sense, or several, or the log cannot be written.
    """
    with changing(runtime.logs):
        sense = _meant(runtime.load().glossary, term, scope, definition, SenseStatus.ACTIVE)
        runtime.files.append_changes(BY_HAND, [deprecated(sense, actor=runtime.actor, now=runtime.now())])
    return sense


def _meant(
    glossary: Glossary, term: str, scope: str | None, definition: str | None, status: SenseStatus
) -> TermSense:
    """The sense that is meant; where nothing else is said, the only one of some status."""
    likely = [
        each for each in glossary.history(term) if each.status == status and scope in {None, each.scope}
    ]
    if definition is None and len(likely) == 1:
        return likely[0]
    return require_sense(glossary, term, scope=scope, definition=definition)


def author_term(settings: Settings, entry: str, meaning: str, *, actor: str) -> NewSense:
    """Let an entry that was authored be a term of the glossary.

    Where the term means something else already it becomes a draft, for people to settle; a sense that is
    active stays as it is.
    """
    known = configured_vocabulary(settings.vocabulary)
    described = next((each.description for each in known.entries if each.name == entry), "")
    return _add(settings, entry, described or meaning, actor=actor, is_draft=False)


def draft_term(settings: Settings, entry: str, meaning: str, *, actor: str) -> NewSense:
    """Propose what an entry means that is yet to be authored: a draft, to be promoted or dropped.

    A sense that is active already stays as it is.
    """
    return _add(settings, entry, meaning, actor=actor, is_draft=True)


def _add(settings: Settings, entry: str, meaning: str, *, actor: str, is_draft: bool) -> NewSense:
    runtime = configured_runtime(settings.glossary, actor=Actor(f"user:{actor or 'cli'}", display_name=actor))
    runtime.require_folder()
    name = " ".join(words(entry))
    if not name:
        raise InvalidInputError(f"'{entry}' is no term", hint="name an entry that has a word in it")
    with changing(runtime.logs):
        glossary = runtime.load().glossary
        event = authored(glossary, name, meaning, actor=runtime.actor, now=runtime.now())
        present = {sense_id(each): each for each in glossary.history(name) if each.is_active}
        there = present.get(sense_id(event.new_sense))
        if there is not None:
            surface = there.surface.surface_text
            return NewSense(surface, there.scope, there.definition, there.confidence, there.status)
        if is_draft or glossary.rivals(name, meaning):
            sense = msgspec.structs.replace(event.new_sense, status=SenseStatus.DRAFT)
            event = msgspec.structs.replace(event, new_sense=sense)
        runtime.files.append_changes(BY_HAND, [event])
        return event.new_sense
