"""Authoring: import terms, add entries, and promote or deprecate senses."""

from typing import Any, Final

from vocabgap.errors import Hint, InvalidInputError, NotFoundError, StateError
from vocabgap.glossary.events import NewSense
from vocabgap.glossary.extension import FOLDER
from vocabgap.glossary.glossary import Glossary, added, with_status
from vocabgap.glossary.loading import BY_HAND, changing
from vocabgap.glossary.normal_form import definition_key
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import SenseStatus, TermSense

LISTED: Final = Hint("{} lists them", (("glossary", "list"),), FOLDER)


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
