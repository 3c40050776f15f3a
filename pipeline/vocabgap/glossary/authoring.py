"""Authoring: import terms, add entries, and promote or deprecate senses."""

from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.errors import Hint, InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.events import Actor, NewSense
from vocabgap.glossary.extension import FOLDER, GlossarySettings
from vocabgap.glossary.glossary import Glossary, added, sense_id, with_status
from vocabgap.glossary.loading import BY_HAND, changing
from vocabgap.glossary.normal_form import definition_key, surface_of, term_key
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.seeds import SeedTerm, add_terms, read_seed, seed_path
from vocabgap.glossary.senses import (
    SenseStatus,
    TermSense,
)
from vocabgap.model.settings import VocabularyFields
from vocabgap.text import can_be_seen, words

LISTED: Final = Hint("{} lists them", (("glossary", "list"),), FOLDER)
# The names that people give to the columns of a list of terms.
_COLUMNS: Final = VocabularyFields(
    name=("surface", "term", "name"), description=("definition", "meaning", "description")
)


class Imported(NamedTuple):
    """The outcome of an import."""

    added: list[tuple[str, SeedTerm]]
    present: int
    drafts: list[str]
    passed_over: list[str]


def import_terms(runtime: GlossaryRuntime, source: Path, scope: str | None = None) -> Imported:
    """Add the terms of a vocabulary or a table to the seed file of a scope, which is made if need be.

    A term that already has another meaning becomes a draft. A term that is ambiguous in the source stays so.
    """
    place = scope or runtime.scopes.authored_scope
    if place not in runtime.scopes.names:
        hint = f"expected one of {', '.join(runtime.scopes.names)}"
        raise InvalidInputError(f"Invalid scope '{place}'", hint=hint)
    if file_kind(source) is FileKind.NOTHING:
        raise NotFoundError(f"there is nothing to import at '{source}'", hint="check the path")
    terms, passed_over = _read(source)
    imported = set(map(_identity, terms))
    new: list[SeedTerm] = []
    drafts: list[str] = []
    with changing(runtime.logs):
        glossary = runtime.load().glossary
        path = seed_path(runtime.folder, place)
        present = set(map(_identity, read_seed(path).terms))
        for term in terms:
            key, definition = _identity(term)
            if (key, definition) in present:
                continue
            present.add((key, definition))
            rivals = glossary.rivals(term.surface, definition)
            if all(it.scope == place and (key, definition_key(it.definition)) in imported for it in rivals):
                new.append(term)
            else:
                new.append(msgspec.structs.replace(term, status=SenseStatus.DRAFT))
                drafts.append(term.surface)
        if new:
            add_terms(path, new)
    return Imported([(place, term) for term in new], len(terms) - len(new), drafts, passed_over)


def _read(source: Path) -> tuple[list[SeedTerm], list[str]]:
    """Return the terms of a vocabulary or a table, and the entries that are none."""
    from vocabgap.ranking.vocabulary import read_entries  # noqa: PLC0415 - loads Polars

    terms, passed_over = [], []
    for entry in (entry for _, _, placed in read_entries(source, fields=_COLUMNS) for _, entry in placed):
        surface = surface_of(" ".join(words(entry.name)))  # in texts its name is written so
        if surface is None or not can_be_seen(entry.description):
            passed_over.append(f"'{entry.name}' has no definition")
            continue
        terms.append(SeedTerm(surface.surface_text, " ".join(entry.description.split())))
    return terms, passed_over


def _identity(term: SeedTerm) -> tuple[str, str]:
    return term_key(term.surface), definition_key(term.definition)


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

    With `is_replacing` it replaces the other active senses; if that is false, it stands beside them.

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
        raise NotFoundError(f"there is no such sense of '{term}'", hint=LISTED)
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
        raise InvalidInputError(f"'{name}' is not a term", hint="name an entry that has a word in it")
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
