"""Events of a glossary and of the steps that it guards; `spec-kitty-events` defines types and payloads."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, Final

import msgspec

from vocabgap.errors import InvalidInputError, require_kind
from vocabgap.glossary.senses import (
    EXTRACTED,
    Action,
    InvalidTermError,
    Provenance,
    ScopeRef,
    SemanticConflict,
    SenseRef,
    SenseStatus,
    Severity,
    Strictness,
    require_id,
    stored_surface,
)

_UUID: Final = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CURSORS: Final = ("pre_generation_gate", "post_clarification", "post_gate")
OURS: Final = "vocabgap"  # the key of our additions, beside the payload of a logged event


class ActorType(StrEnum):
    """The kind of an actor."""

    HUMAN = "human"
    LLM = "llm"
    SERVICE = "service"


class ResolutionMode(StrEnum):
    """The moment of an answer: while the step waited, or later."""

    INTERACTIVE = "interactive"
    ASYNC = "async"


class UpdateType(StrEnum):
    """The kind of change of a sense."""

    CREATE = "create"
    UPDATE = "update"


class Actor(msgspec.Struct, frozen=True):
    """A person, a model or a service that acts; by default, its name is its identifier."""

    actor_id: str
    actor_type: ActorType = ActorType.HUMAN
    display_name: str = ""

    def __post_init__(self) -> None:
        require_id("actor_id", self.actor_id)
        msgspec.structs.force_setattr(self, "display_name", self.display_name or self.actor_id)


class NewSense(SenseRef, frozen=True):
    """A sense that an event adds or changes."""

    status: SenseStatus = SenseStatus.ACTIVE


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event_type"):
    """Base of all events. A timestamp without an offset is in UTC; a logged event has a UUID."""

    ours: ClassVar[frozenset[str]] = frozenset()  # the fields that are not in the published payload
    timestamp: datetime
    event_id: str = ""

    def __post_init__(self) -> None:
        moment = self.timestamp
        require_kind("timestamp", moment, datetime, "a moment")
        in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        msgspec.structs.force_setattr(self, "timestamp", in_utc)


class RunEvent(Event, frozen=True, kw_only=True):
    """Base of events of a mission's run."""

    mission_id: str
    run_id: str


class StepEvent(RunEvent, frozen=True, kw_only=True):
    """Base of events of a step."""

    step_id: str


class GlossaryScopeActivated(RunEvent, frozen=True, kw_only=True, tag=True):
    """Event: a run uses a version of a scope."""

    scope_id: str
    glossary_version_id: str


class TermCandidateObserved(RunEvent, frozen=True, kw_only=True, tag=True):
    """Event: a term was found in a text of a step."""

    term: str
    source_step: str
    actor_id: str
    confidence: float
    extraction_method: str
    context: str


class SemanticCheckEvaluated(StepEvent, frozen=True, kw_only=True, tag=True):
    """Event: the terms of a step were checked."""

    findings: tuple[SemanticConflict, ...] = ()
    overall_severity: Severity
    confidence: float
    effective_strictness: str
    recommended_action: Action
    blocked: bool


class GenerationBlockedBySemanticConflict(StepEvent, frozen=True, kw_only=True, tag=True):
    """Event: the gate has stopped a step; `refused` are the answers that were none."""

    ours = frozenset({"refused"})
    conflicts: tuple[SemanticConflict, ...]
    strictness_mode: str
    effective_strictness: str
    refused: tuple[str, ...] = ()


class GlossaryClarificationRequested(StepEvent, frozen=True, kw_only=True, tag=True):
    """Event: a question is open."""

    question: str
    term: str
    options: tuple[str, ...]
    urgency: Severity
    conflict_id: str
    semantic_check_event_id: str | None = None


class GlossaryChange(Event, frozen=True, kw_only=True):
    """Base of events that change a meaning.

    Attributes:
        conflict_id: The question that it answers, if any.
        overruled: The replaced senses. If unset, an answer to a question replaces all others.
        usage: The use of the term that the question was about, if any.
        mission_id: The mission; empty outside missions, or if the log does not name it.
        sense: The sense that is chosen, added or changed.
    """

    ours = frozenset({"overruled", "usage", "mission_id"})
    term_surface: str
    sense: SenseRef
    actor: Actor
    provenance: Provenance | None = None
    conflict_id: str = ""
    overruled: tuple[SenseRef, ...] | msgspec.UnsetType = msgspec.UNSET
    usage: str = ""
    mission_id: str = ""


class GlossaryClarificationResolved(GlossaryChange, frozen=True, kw_only=True, tag=True):
    """Event: a question was answered with an existing sense."""

    conflict_id: str
    sense: SenseRef = msgspec.field(name="selected_sense")
    resolution_mode: ResolutionMode = ResolutionMode.INTERACTIVE


class GlossarySenseUpdated(GlossaryChange, frozen=True, kw_only=True, tag=True):
    """Event: a sense was added or changed."""

    ours = GlossaryChange.ours | {"conflict_id"}
    scope: str
    sense: NewSense = msgspec.field(name="new_sense")
    update_type: UpdateType = UpdateType.CREATE


class StepCheckpointed(StepEvent, frozen=True, kw_only=True, tag=True):
    """Event: a checkpoint of a stopped step, with the digests of what was checked and of its stored state."""

    ours = frozenset({"step_digest", "state_digest"})
    strictness: Strictness
    scope_refs: tuple[ScopeRef, ...]
    input_hash: str
    cursor: str
    retry_token: str
    step_digest: str = ""
    state_digest: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("mission_id", "run_id", "step_id"):
            require_id(name, getattr(self, name))
        digest, token, cursor = self.input_hash, self.retry_token, self.cursor
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise InvalidTermError(f"Invalid input_hash format: expected 64 of 0-9a-f, found {digest!r}")
        if cursor not in _CURSORS:
            raise InvalidTermError(f"Unknown cursor value {cursor!r}: expected one of {', '.join(_CURSORS)}")
        if not _UUID.fullmatch(token):
            raise InvalidTermError(f"Invalid retry_token format: expected a UUID, found {token!r}")


GlossaryEvent = (
    GlossaryScopeActivated
    | TermCandidateObserved
    | SemanticCheckEvaluated
    | GenerationBlockedBySemanticConflict
    | GlossaryClarificationRequested
    | GlossaryClarificationResolved
    | GlossarySenseUpdated
    | StepCheckpointed
)


def answers_of(events: Iterable[GlossaryEvent]) -> list[GlossaryChange]:
    """Return people's answers in order, without automatic drafts."""
    answers: dict[object, GlossaryChange] = {}
    for number, event in enumerate(it for it in events if isinstance(it, GlossaryChange)):
        if event.provenance is None or event.provenance.source != EXTRACTED:
            key = (event.conflict_id, event.timestamp) if event.conflict_id else number
            answers.setdefault(key, event)  # one answer may be logged as two events
    return list(answers.values())


def event_of(payload: Any) -> GlossaryEvent:  # noqa: ANN401 - any JSON value
    """Return the event of a JSON object, with or without a payload; a term may be a text or an object."""
    if not isinstance(payload, dict):
        raise InvalidTermError("expected an event as a JSON object")
    payload = dict(payload)
    for part in ("payload", OURS):
        if isinstance(payload.get(part), dict):
            payload = payload.pop(part) | payload
    if isinstance(payload.get("term"), dict):
        payload["term"] = payload["term"].get("surface_text")
    for name in ("findings", "conflicts"):
        if isinstance(payload.get(name), list | tuple):
            payload[name] = list(map(_nested_term, payload[name]))
    try:
        return msgspec.convert(payload, GlossaryEvent)  # type: ignore[no-any-return]
    except (msgspec.ValidationError, OverflowError) as error:
        kind = "checkpoint" if payload.get("event_type") == StepCheckpointed.__name__ else "glossary"
        raise InvalidTermError(f"Invalid {kind} event payload: {error}") from error


def _nested_term(conflict: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(conflict, dict) and isinstance(conflict.get("term"), str):
        return {**conflict, "term": stored_surface(conflict["term"]) or conflict["term"]}
    return conflict


def encoded(event: GlossaryEvent) -> bytes:
    """Return the event as one line of JSON, its keys sorted."""
    try:
        payload = msgspec.to_builtins(event)
        line = {name: payload.pop(name) for name in ("event_id", "event_type", "timestamp")}
        additions = {name: payload.pop(name) for name in event.ours & payload.keys()}
        line |= {"payload": payload} | ({OURS: additions} if additions else {})
        return msgspec.json.encode(line, order="sorted") + b"\n"
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{type(event).__name__} cannot be logged: {error}") from error
