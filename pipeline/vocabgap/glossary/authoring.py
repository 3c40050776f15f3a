"""Authoring: an entry that was authored, or drafted, is a term of the glossary from then on."""

from collections.abc import Callable, Sequence

import msgspec

from vocabgap.errors import InvalidInputError, StateError
from vocabgap.glossary.changes import authored, deprecated, promoted, require_sense
from vocabgap.glossary.event_log import BY_HAND, changing
from vocabgap.glossary.events import Actor, NewSense
from vocabgap.glossary.glossary import Glossary, sense_id
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.senses import SenseStatus, TermSense
from vocabgap.ranking.vocabulary import load_vocabulary
from vocabgap.settings.model import Settings
from vocabgap.text import words

# Promoting and dropping senses: what people do with drafts.


def promote_sense(
    runtime: GlossaryRuntime,
    term: str,
    scope: str | None,
    definition: str | None,
    is_replacing: Callable[[Sequence[TermSense]], bool | None],
) -> TermSense:
    """Let a sense answer what its term means.

    Args:
        runtime: The glossary.
        term: The term, in any spelling.
        scope: The scope of the sense, where there are several.
        definition: Its definition or the beginning, where there are several.
        is_replacing: Says of the other active senses, of any scope, whether it takes their place (true) or
            stands beside them (false); none where nobody says so. It is asked again where the term changes
            meanwhile.

    Returns:
        The sense that was meant, as it was.

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
    """Let a sense count no more.

    Args:
        runtime: As `promote_sense`.
        term: As there.
        scope: As there.
        definition: As there.

    Returns:
        The sense that was meant, as it was.

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

    Args:
        settings: The glossary, and the vocabulary, which may describe the entry.
        entry: The entry's name.
        meaning: What it means, where no vocabulary says so.
        actor: Who authored it.

    Returns:
        The sense that was added, or that was there.

    Raises:
        NotFoundError: There is no such glossary.
        VocabgapError: The vocabulary cannot be read, or the log cannot be written.
    """
    listed = settings.vocabulary
    known = load_vocabulary(listed.paths, fields=listed.fields, entries=listed.entries)
    described = next((each.description for each in known.entries if each.name == entry), "")
    return _add(settings, entry, described or meaning, actor=actor, is_draft=False)


def draft_term(settings: Settings, entry: str, meaning: str, *, actor: str) -> NewSense:
    """Propose what an entry means that is yet to be authored: a draft, to be promoted or dropped.

    A sense that is active already stays as it is.

    Args:
        settings: The glossary.
        entry: The name that is proposed for it.
        meaning: What it means.
        actor: Who asked for it.

    Returns:
        The sense that was added, or that was there.

    Raises:
        NotFoundError: There is no such glossary.
        VocabgapError: The log cannot be written.
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
