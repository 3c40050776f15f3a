"""Authoring: an entry that was authored, or drafted, is a term of the glossary from then on."""

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.changes import authored
from vocabgap.glossary.configured import configured_runtime
from vocabgap.glossary.event_log import BY_HAND
from vocabgap.glossary.events import Actor, NewSense
from vocabgap.glossary.glossary import sense_id
from vocabgap.glossary.logging_events import append_changes, changing
from vocabgap.glossary.senses import SenseStatus
from vocabgap.ranking.vocabulary import load_vocabulary
from vocabgap.settings.model import Settings
from vocabgap.text import words


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
        append_changes(runtime.logs, BY_HAND, [event])
        return event.new_sense
