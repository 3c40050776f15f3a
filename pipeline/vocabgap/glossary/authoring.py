"""Authoring: import terms, add entries, and promote or deprecate senses."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.errors import Hint, InvalidInputError, NotFoundError, StateError, alike
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.events import Actor, NewSense
from vocabgap.glossary.extension import FOLDER, GlossarySettings
from vocabgap.glossary.glossary import Glossary, added, sense_id, with_status
from vocabgap.glossary.loading import BY_HAND, changing
from vocabgap.glossary.normal_form import definition_key, surface_of, term_key
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.seeds import SEED_ENDING, SeedTerm, add_terms, read_seed, seed_path
from vocabgap.glossary.senses import (
    GlossaryScope,
    ScopeStack,
    SenseStatus,
    TermSense,
)
from vocabgap.text import can_be_seen, words

LISTED: Final = Hint("{} lists them", (("glossary", "list"),), FOLDER)
# A scope of the glossaries that others keep, and what it is called here.
_ELSEWHERE: Final = {"spec_kitty_core": GlossaryScope.CORE_DOMAIN.value}
ReadEntries = Callable[[Path], Iterable[tuple[str, str]]]


class Imported(NamedTuple):
    """The outcome of an import.

    Attributes:
        drafts: The new terms that became drafts, because they have another meaning already.
        passed_over: The entries that were not imported, and why.
    """

    added: list[tuple[str, SeedTerm]]
    present: int
    drafts: list[str]
    passed_over: list[str]


def import_terms(
    runtime: GlossaryRuntime, source: Path, scope: str | None = None, *, read_entries: ReadEntries
) -> Imported:
    """Add the terms of a vocabulary, a table or another glossary to the seed files of a glossary.

    A term that already has another meaning becomes a draft. A term that is ambiguous in the source stays so.

    Args:
        runtime: The glossary; its folder is made if it does not exist.
        source: A seed file, a folder of seed files, or a file that `read_entries` reads.
        scope: The scope of all terms; by default seed files keep theirs.
        read_entries: Reads the names and meanings of a vocabulary or a table.
    """
    scopes = runtime.scopes
    if scope is not None and scope not in scopes.names:
        raise InvalidInputError(f"Invalid scope '{scope}'", hint=f"expected one of {', '.join(scopes.names)}")
    passed_over: list[str] = []
    read: dict[str, list[SeedTerm]] = {}
    for place, terms in _read(source, scopes, scope, passed_over, read_entries):
        read.setdefault(place, []).extend(terms)
    with changing(runtime.logs):
        return _merged(runtime, read, passed_over)


def _merged(runtime: GlossaryRuntime, read: Mapping[str, list[SeedTerm]], passed_over: list[str]) -> Imported:
    """Write the new terms by scope, and return the outcome."""
    glossary = runtime.load().glossary
    imported = {
        (place, *_identity(term)) for place, terms in read.items() for term in terms if _is_active(term)
    }
    outcome = Imported([], 0, [], passed_over)
    for place in sorted(read, key=runtime.scopes.precedence):
        path = seed_path(runtime.folder, place)
        known = set(map(_identity, read_seed(path).terms))
        new = []
        for term in read[place]:
            key, definition = _identity(term)
            if (key, definition) in known:
                continue
            rivals = glossary.rivals(term.surface, term.definition) if _is_active(term) else ()
            if any((each.scope, key, definition_key(each.definition)) not in imported for each in rivals):
                term = msgspec.structs.replace(term, status=SenseStatus.DRAFT)  # noqa: PLW2901 - still the term
                outcome.drafts.append(term.surface)
            known.add((key, definition))
            new.append(term)
        if new:
            add_terms(path, new)
            outcome.added.extend((place, term) for term in new)
    return outcome._replace(present=sum(map(len, read.values())) - len(outcome.added))


def _read(
    source: Path, scopes: ScopeStack, scope: str | None, passed_over: list[str], read_entries: ReadEntries
) -> Iterable[tuple[str, list[SeedTerm]]]:
    """Yield the terms of a source by scope."""
    if file_kind(source) is FileKind.NOTHING:
        raise NotFoundError(f"there is nothing to import at '{source}'", hint="check the path")
    seeds = _seed_files(source, scopes)
    if not seeds:
        yield scope or scopes.authored_scope, _terms(read_entries(source), passed_over)
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


def _seed_files(source: Path, scopes: ScopeStack) -> list[Path]:
    """Return the seed files at a path; none if it is a vocabulary or a table."""
    known = {*scopes.names, *_ELSEWHERE}
    listed = sorted(source.iterdir()) if source.is_dir() else [source]
    seed_files = [path for path in listed if path.suffix == SEED_ENDING]
    return [
        path for path in seed_files if path.stem in known or (path.stem != "manifest" and source.is_dir())
    ]


def _terms(entries: Iterable[tuple[str, str]], passed_over: list[str]) -> list[SeedTerm]:
    """Return the entries of a vocabulary or a table as terms."""
    terms = []
    for name, definition in entries:
        surface = surface_of(" ".join(words(name)))  # in texts its name is written so
        if surface is None or not can_be_seen(definition):
            passed_over.append(f"'{name}' has no definition")
            continue
        terms.append(SeedTerm(surface.surface_text, " ".join(definition.split())))
    return terms


def _identity(term: SeedTerm) -> tuple[str, str]:
    return term_key(term.surface), definition_key(term.definition)


def _is_active(term: SeedTerm) -> bool:
    return term.status == SenseStatus.ACTIVE


def promote_sense(
    runtime: GlossaryRuntime,
    term: str,
    scope: str | None = None,
    definition: str | None = None,
    *,
    define: str | None = None,
    is_replacing: bool | None = None,
) -> NewSense:
    """Activate a sense, or with `define` a new one; return it.

    Args:
        runtime: The glossary.
        term: The term, in any spelling.
        scope: The scope of the sense.
        definition: Its definition or the beginning, if there are several.
        define: The definition of a new sense.
        is_replacing: Whether it replaces the other active senses or stands beside them.

    Raises:
        StateError: Nobody decides about the others, or the draft has no definition.
    """
    with changing(runtime.logs):
        glossary = runtime.load().glossary
        facts: dict[str, Any] = {"actor": runtime.actor, "now": runtime.now()}
        if define is None:
            sense = require_sense(glossary, term, scope, definition, likely=SenseStatus.DRAFT)
            if sense.is_placeholder:
                raise StateError(f"'{sense.surface}' has no definition yet", hint="say it with --define TEXT")
        rivals = glossary.rivals(term, sense.definition if define is None else define)
        if rivals and is_replacing is None:
            rival = rivals[0]
            raise StateError(
                f"'{rival.surface}' means something else in {rival.scope} already: {rival.definition}",
                hint="say --replace to take its place, or --beside to have both: the term is ambiguous then",
            )
        if define is None:
            replaced = rivals if is_replacing else ()
            event = with_status(sense, SenseStatus.ACTIVE, replacing=replaced, **facts)
        else:
            event = added(glossary, term, define, scope=scope, replacing=bool(is_replacing), **facts)
        runtime.files.append_changes(BY_HAND, [event])
        return event.new_sense


def deprecate_sense(
    runtime: GlossaryRuntime, term: str, scope: str | None, definition: str | None
) -> NewSense:
    """Deprecate a sense; return it."""
    with changing(runtime.logs):
        sense = require_sense(runtime.load().glossary, term, scope, definition, likely=SenseStatus.ACTIVE)
        event = with_status(sense, SenseStatus.DEPRECATED, actor=runtime.actor, now=runtime.now())
        runtime.files.append_changes(BY_HAND, [event])
        return event.new_sense


def require_sense(
    glossary: Glossary,
    term: str,
    scope: str | None = None,
    definition: str | None = None,
    *,
    likely: SenseStatus | None = None,
) -> TermSense:
    """Return the one sense that is meant; without a definition, the only one of the likely status."""
    begins = "" if definition is None else definition_key(definition)
    senses = [
        sense
        for sense in glossary.history(term)
        if scope in {None, sense.scope} and definition_key(sense.definition).startswith(begins)
    ]
    of_status = [sense for sense in senses if sense.status == likely]
    if definition is None and len(of_status) == 1:
        return of_status[0]
    if not senses:
        known = {sense.surface.surface_text for sense in glossary}
        near = [] if glossary.history(term) else alike(term, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else LISTED
        raise NotFoundError(f"there is no such sense of '{term}'", hint=hint)
    if len(senses) > 1:
        listed = "; ".join(f"[{sense.scope}] {sense.definition}" for sense in senses)
        raise InvalidInputError(
            f"'{term}' has {len(senses)} senses: {listed}",
            hint="name the scope, or how the definition begins",
        )
    return senses[0]


def add_entry(
    settings: GlossarySettings, name: str, meaning: str, *, actor: str, is_draft: bool = False
) -> NewSense:
    """Add an entry of a vocabulary as a term, or as a draft; return its sense, also if it was there already.

    An entry whose term has another meaning already becomes a draft.
    """
    runtime = configured_runtime(settings, actor=Actor(f"user:{actor or 'cli'}", display_name=actor))
    runtime.require_folder()
    term = " ".join(words(name))
    if not term:
        raise InvalidInputError(f"'{name}' is no term", hint="name an entry that has a word in it")
    with changing(runtime.logs):
        glossary = runtime.load().glossary
        event = added(glossary, term, meaning, actor=runtime.actor, now=runtime.now())
        sense = event.new_sense
        for each in glossary.history(term):
            if each.is_active and sense_id(each) == sense_id(sense):
                surface = each.surface.surface_text
                return NewSense(surface, each.scope, each.definition, each.confidence, each.status)
        if is_draft or glossary.rivals(term, meaning):
            sense = msgspec.structs.replace(sense, status=SenseStatus.DRAFT)
            event = msgspec.structs.replace(event, new_sense=sense)
        runtime.files.append_changes(BY_HAND, [event])
        return sense
