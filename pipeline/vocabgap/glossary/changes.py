"""Changes of a glossary, as the events that make them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.glossary.conflicts import SemanticConflict
from vocabgap.glossary.events import (
    Actor,
    GlossaryClarificationResolved,
    GlossarySenseUpdated,
    NewSense,
    ResolutionMode,
    UpdateType,
)
from vocabgap.glossary.glossary import CLARIFIED, Glossary, definition_key, sense_id
from vocabgap.glossary.normal_form import surface_of
from vocabgap.glossary.senses import (
    EXTRACTED,
    ExtractedTerm,
    Provenance,
    SenseRef,
    SenseStatus,
    TermSense,
    require_definition,
)

AUTHORED: Final = "authored"


def selected(
    glossary: Glossary,
    sense: SenseRef,
    *,
    conflict_id: str,
    actor: Actor,
    now: datetime,
    mode: ResolutionMode = ResolutionMode.INTERACTIVE,
    source: str = CLARIFIED,
    usage: str = "",
) -> GlossaryClarificationResolved:
    """That a question was answered with a sense that is there.

    What else the term could have meant by then is ruled out: deprecated in the scope of that sense, passed
    over in the others. A sense that is added later makes the term ambiguous again. Where the question was
    about a use of the term, that use is no conflict any more.
    """
    return GlossaryClarificationResolved(
        conflict_id=conflict_id,
        term_surface=sense.surface,
        selected_sense=sense,
        actor=actor,
        resolution_mode=mode,
        provenance=Provenance(actor.actor_id, now, source),
        overruled=tuple(each.ref for each in glossary.rivals(sense.surface, sense.definition)),
        usage=usage,
        timestamp=now,
    )


def custom(
    glossary: Glossary,
    conflict: SemanticConflict,
    definition: str,
    *,
    actor: Actor,
    now: datetime,
    source: str = CLARIFIED,
    conflict_id: str = "",
) -> GlossarySenseUpdated:
    """That a question was answered with a meaning of one's own: it takes the place of all that were there."""
    surface = conflict.term.surface_text
    return _added(
        glossary,
        surface,
        definition,
        actor=actor,
        now=now,
        source=source,
        conflict_id=conflict_id,
        overruled=tuple(each.ref for each in glossary.rivals(surface, definition)),
        usage=conflict.usage,
    )


def authored(
    glossary: Glossary,
    text: str,
    definition: str,
    *,
    actor: Actor,
    now: datetime,
    scope: str | None = None,
    replacing: bool = False,
) -> GlossarySenseUpdated:
    """That somebody gives a term a meaning."""
    surface = surface_of(text)
    if surface is None:
        raise InvalidInputError(f"{text!r} is no term", hint="expected text with something to see in it")
    rivals = glossary.rivals(surface.surface_text, definition) if replacing else ()
    return _added(
        glossary,
        surface.surface_text,
        definition,
        actor=actor,
        now=now,
        source=AUTHORED,
        scope=scope,
        overruled=tuple(each.ref for each in rivals),
    )


def drafted(
    glossary: Glossary, term: ExtractedTerm, definition: str, *, actor: Actor, now: datetime
) -> GlossarySenseUpdated:
    """That a term was found which may be none: a draft until somebody promotes or drops it."""
    return _added(
        glossary,
        term.surface.surface_text,
        definition,
        actor=actor,
        now=now,
        source=EXTRACTED,
        confidence=term.confidence,
        status=SenseStatus.DRAFT,
    )


def promoted(
    sense: TermSense, *, actor: Actor, now: datetime, replacing: Iterable[TermSense] = ()
) -> GlossarySenseUpdated:
    """That a sense answers from now on what its term means, in the place of others or beside them."""
    overruled = tuple(each.ref for each in replacing)
    return _with_status(sense, SenseStatus.ACTIVE, actor, now, overruled)


def deprecated(sense: TermSense, *, actor: Actor, now: datetime) -> GlossarySenseUpdated:
    """That a sense does not count any more; of a draft, that it is dropped."""
    return _with_status(sense, SenseStatus.DEPRECATED, actor, now)


def require_sense(
    glossary: Glossary, text: str, *, scope: str | None = None, definition: str | None = None
) -> TermSense:
    """The one sense of a term that is meant, of any status."""
    begins = "" if definition is None else definition_key(definition)
    senses = [
        sense
        for sense in glossary.history(text)
        if scope in {None, sense.scope} and sense_id(sense)[1].startswith(begins)
    ]
    if not senses:
        raise NotFoundError(f"there is no such sense of '{text}'", hint="list the senses that there are")
    if len(senses) > 1:
        listed = "; ".join(f"[{sense.scope}] {sense.definition}" for sense in senses)
        raise InvalidInputError(
            f"'{text}' has {len(senses)} senses: {listed}",
            hint="name the scope, or how the definition begins",
        )
    return senses[0]


def _added(
    glossary: Glossary,
    surface: str,
    definition: str,
    *,
    actor: Actor,
    now: datetime,
    source: str,
    scope: str | None = None,
    confidence: float = 1.0,
    status: SenseStatus = SenseStatus.ACTIVE,
    conflict_id: str = "",
    overruled: tuple[SenseRef, ...] = (),
    usage: str = "",
) -> GlossarySenseUpdated:
    place = glossary.scopes.authored_scope if scope is None else scope
    if place not in glossary.scopes.names:
        raise InvalidInputError(
            f"scope '{place}' is not active", hint=f"expected one of {', '.join(glossary.scopes.names)}"
        )
    require_definition(definition)
    return GlossarySenseUpdated(
        term_surface=surface,
        scope=place,
        new_sense=NewSense(surface, place, definition.strip(), confidence, status),
        actor=actor,
        update_type=UpdateType.CREATE,
        provenance=Provenance(actor.actor_id, now, source),
        conflict_id=conflict_id,
        overruled=overruled,
        usage=usage,
        timestamp=now,
    )


def _with_status(
    sense: TermSense,
    status: SenseStatus,
    actor: Actor,
    now: datetime,
    overruled: tuple[SenseRef, ...] = (),
) -> GlossarySenseUpdated:
    surface = sense.surface.surface_text
    return GlossarySenseUpdated(
        term_surface=surface,
        scope=sense.scope,
        new_sense=NewSense(surface, sense.scope, sense.definition, sense.confidence, status),
        actor=actor,
        update_type=UpdateType.UPDATE,
        provenance=Provenance(actor.actor_id, now, sense.provenance.source),
        overruled=overruled,
        timestamp=now,
    )
