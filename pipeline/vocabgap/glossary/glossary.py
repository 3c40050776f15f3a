"""The glossary: the senses of terms in their scopes, and the events that change them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.events import (
    Actor,
    Event,
    GlossaryChange,
    GlossaryClarificationResolved,
    GlossarySenseUpdated,
    NewSense,
    ResolutionMode,
    UpdateType,
)
from vocabgap.glossary.normal_form import KnownTerms, definition_key, term_key
from vocabgap.glossary.senses import (
    NO_TERM,
    InvalidTermError,
    Provenance,
    ScopeRef,
    ScopeStack,
    SenseRef,
    SenseStatus,
    TermSense,
    require_definition,
    stored_surface,
)

# Sources of senses that answer a question. Such a sense rules out the earlier senses.
CLARIFIED: Final = "user_clarification"
LATER: Final = "cli_resolve"  # of an answer that is given later
AUTHORED: Final = "authored"  # the source of senses that people add unasked
ANSWERS: Final = frozenset({CLARIFIED, LATER, "clarification_resolved"})

SenseId = tuple[str, str]  # scope and `definition_key`
_Senses = tuple[TermSense, ...]


class Glossary:
    """The immutable senses and other spellings of terms; applying events returns another glossary."""

    def __init__(
        self,
        senses: Iterable[TermSense] = (),
        scopes: ScopeStack | None = None,
        aliases: Mapping[str, str] = {},
    ) -> None:
        self.aliases = aliases
        self.scopes = ScopeStack() if scopes is None else scopes
        grouped: dict[str, list[TermSense]] = {}
        for sense in senses:
            grouped.setdefault(term_key(sense.surface.surface_text), []).append(sense)
        self._senses: dict[str, _Senses] = {key: self._ranked(own) for key, own in grouped.items()}
        # By term: the senses that were ruled out, each with the preferred one.
        self._overruled: dict[str, dict[SenseId, SenseId]] = {}
        # By term: the uses that people have accepted, each with its sense.
        self._accepted: dict[str, dict[str, SenseId]] = {}

    def __iter__(self) -> Iterator[TermSense]:
        """Yield all senses by term, scope and confidence."""
        for key in sorted(self._senses):
            yield from self._senses[key]

    def history(self, surface: str) -> tuple[TermSense, ...]:
        """Return all senses of a term, of any status."""
        return self._senses.get(term_key(surface), ())

    def resolve(self, surface: str) -> tuple[TermSense, ...]:
        """Return the active senses of a term that no answer has ruled out."""
        overruled = self._overruled.get(term_key(surface), {})
        return tuple(
            sense
            for sense in self.history(surface)
            if sense.is_active and sense.scope in self.scopes.names and sense_id(sense) not in overruled
        )

    def meaning(self, surface: str) -> TermSense | None:
        """Return the one meaning of a term; None if it has no active sense, or several different ones."""
        senses = self.resolve(surface)
        return senses[0] if len({definition_key(sense.definition) for sense in senses}) == 1 else None

    def accepts(self, sense: TermSense, usage: str) -> bool:
        """Tell whether people have accepted a use of a term that seems to contradict this sense."""
        key = term_key(sense.surface.surface_text)
        return self._accepted.get(key, {}).get(usage) == sense_id(sense)

    def rivals(self, surface: str, definition: str) -> tuple[TermSense, ...]:
        """Return the senses that would make a term ambiguous beside a definition."""
        wanted = definition_key(definition)
        return tuple(sense for sense in self.resolve(surface) if definition_key(sense.definition) != wanted)

    @cached_property
    def known(self) -> KnownTerms:
        """The terms with a meaning, to find them in texts."""
        active = (sense for sense in self if sense.is_active and sense.scope in self.scopes.names)
        names = {sense.surface.surface_text for sense in active}
        terms = {name for name in names if not self.is_no_term(name)}
        return KnownTerms(terms, {alias: term for alias, term in self.aliases.items() if term in terms})

    def is_no_term(self, surface: str) -> bool:
        """Tell whether people have said that this is not a term, and nobody has defined it since."""
        return term_key(surface) in self.no_terms

    @cached_property
    def no_terms(self) -> frozenset[str]:
        """The keys of texts that are not terms."""
        refusals = (it for it in self if it.definition == NO_TERM)
        names = (it.surface.surface_text for it in refusals if it.scope in self.scopes.names)
        return frozenset(term_key(name) for name in names if not self.resolve(name))

    @cached_property
    def scope_refs(self) -> tuple[ScopeRef, ...]:
        """The scopes that hold senses; a digest of scope and senses is the version."""
        states: dict[str, list[object]] = {}
        for key in sorted(self._senses):
            overruled, accepted = self._overruled.get(key, {}), sorted(self._accepted.get(key, {}).items())
            for it in self._senses[key]:
                is_overruled = bool(overruled) and sense_id(it) in overruled
                state = it.surface, it.definition, it.confidence, it.status, is_overruled, accepted
                states.setdefault(it.scope, [it.scope]).append(state)
        active = [name for name in self.scopes.names if name in states]
        digests = [hashlib.sha256(msgspec.json.encode(states[name])).hexdigest() for name in active]
        return tuple(map(ScopeRef, active, (it[:16] for it in digests)))

    def applied(self, events: Iterable[Event]) -> "Glossary":
        """Return the glossary after some events, in their order."""
        changing = [event for event in events if isinstance(event, GlossaryChange)]
        if not changing:
            return self
        after = Glossary((), self.scopes, self.aliases)
        after._senses = dict(self._senses)
        after._overruled = dict(self._overruled)
        after._accepted = dict(self._accepted)
        return after if sum(map(after._change, changing)) else self  # each of them changes it

    def _change(self, event: GlossaryChange) -> bool:
        sense = sense_of(event)
        present, own, overruled = self.history(sense.surface.surface_text), sense_id(sense), event.overruled
        same = next((earlier for earlier in present if sense_id(earlier) == own), None)
        kind = event.update_type if isinstance(event, GlossarySenseUpdated) else None
        if isinstance(overruled, msgspec.UnsetType):
            is_answer = kind is None or sense.provenance.source in ANSWERS
            overruled = _refs(present) if is_answer else ()
        if kind is None:
            sense = msgspec.structs.replace(same or sense, status=SenseStatus.ACTIVE)
        elif kind == UpdateType.UPDATE and same is None:
            overruled += _refs(earlier for earlier in present if earlier.scope == sense.scope)
        elif (kind, sense.status) == (UpdateType.CREATE, SenseStatus.DRAFT) and same and same.is_active:
            return False  # the proposal is active already
        self._put(sense, overruled, event.usage)
        return True

    def _put(self, sense: TermSense, overruled: Iterable[SenseRef], usage: str) -> None:
        """Add or replace a sense; deprecate overruled senses of its scope, and rule out those of others."""
        key, identity = term_key(sense.surface.surface_text), sense_id(sense)
        if usage:
            self._accepted[key] = {**self._accepted.get(key, {}), usage: identity}
        decides = sense.is_active or sense.definition == NO_TERM
        losers = {loser for loser in map(sense_id, overruled) if loser[1] != identity[1] and decides}
        others = [
            msgspec.structs.replace(earlier, status=SenseStatus.DEPRECATED)
            if earlier.scope == sense.scope and sense_id(earlier) in losers
            else earlier
            for earlier in self._senses.get(key, ())
            if sense_id(earlier) != identity and not (sense.is_active and earlier.is_placeholder)
        ]
        self._senses[key] = self._ranked([*others, sense])
        ruled_out = {
            loser: winner
            for loser, winner in self._overruled.get(key, {}).items()
            if loser != identity and (decides or winner != identity)
        }
        ruled_out.update({loser: identity for loser in losers if loser[0] != sense.scope})
        self._overruled[key] = ruled_out

    def _ranked(self, senses: list[TermSense]) -> _Senses:
        def rank(it: TermSense) -> tuple[Any, ...]:
            precedence = self.scopes.precedence(it.scope)
            return precedence, it.scope, -it.confidence, it.definition, it.surface, it.status

        return tuple(sorted(senses, key=rank) if len(senses) > 1 else senses)


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
    """Return the event that a question was answered with an existing sense, which replaces all others."""
    return GlossaryClarificationResolved(
        conflict_id=conflict_id,
        term_surface=sense.surface,
        sense=sense,
        actor=actor,
        resolution_mode=mode,
        provenance=Provenance(actor.actor_id, now, source),
        overruled=_refs(glossary.rivals(sense.surface, sense.definition)),
        usage=usage,
        timestamp=now,
    )


def added(
    glossary: Glossary,
    term: str,
    definition: str,
    *,
    actor: Actor,
    now: datetime,
    source: str = AUTHORED,
    scope: str | None = None,
    confidence: float = 1.0,
    status: SenseStatus = SenseStatus.ACTIVE,
    replacing: bool = False,
    conflict_id: str = "",
    usage: str = "",
) -> GlossarySenseUpdated:
    """Return the event that adds a meaning to a term and keeps or replaces the others."""
    surface = stored_surface(term)
    if surface is None:
        raise InvalidInputError(f"{term!r} is not a term", hint="expected text with a visible character")
    scope = glossary.scopes.authored_scope if scope is None else scope
    if scope not in glossary.scopes.names:
        raise InvalidInputError(
            f"scope '{scope}' is not active", hint=f"expected one of {', '.join(glossary.scopes.names)}"
        )
    require_definition(definition)
    name = surface.surface_text
    return GlossarySenseUpdated(
        term_surface=name,
        scope=scope,
        sense=NewSense(name, scope, definition.strip(), confidence, status),
        actor=actor,
        provenance=Provenance(actor.actor_id, now, source),
        conflict_id=conflict_id,
        overruled=_refs(glossary.rivals(name, definition)) if replacing else (),
        usage=usage,
        timestamp=now,
    )


def with_status(
    sense: TermSense, status: SenseStatus, *, actor: Actor, now: datetime, replacing: Iterable[TermSense] = ()
) -> GlossarySenseUpdated:
    """Return the event that a sense was activated or deprecated."""
    surface = sense.surface.surface_text
    return GlossarySenseUpdated(
        term_surface=surface,
        scope=sense.scope,
        sense=NewSense(surface, sense.scope, sense.definition, sense.confidence, status),
        actor=actor,
        update_type=UpdateType.UPDATE,
        provenance=Provenance(actor.actor_id, now, sense.provenance.source),
        overruled=_refs(replacing),
        timestamp=now,
    )


def sense_id(sense: TermSense | SenseRef | NewSense) -> SenseId:
    """Return the identity of a sense within its term: scope and definition."""
    return sense.scope, definition_key(sense.definition)


def _refs(present: Iterable[TermSense]) -> tuple[SenseRef, ...]:
    return tuple(sense.ref for sense in present if sense.is_active)


def sense_of(event: GlossaryChange) -> TermSense:
    """Return the sense of an event; raise InvalidTermError if it is none."""
    new, status = event.sense, getattr(event.sense, "status", SenseStatus.ACTIVE)
    provenance = event.provenance or Provenance(event.actor.actor_id, event.timestamp, "event_log")
    surface = stored_surface(event.term_surface)
    if surface is None:
        raise InvalidTermError(f"{event.term_surface!r} is not a term")
    return TermSense(surface, new.scope, new.definition, provenance, new.confidence, status)
