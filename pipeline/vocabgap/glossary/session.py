"""A step that is about to generate something, and what the middlewares of one run share about it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid5

from vocabgap.errors import InvalidInputError, StateError, VocabgapError, require_kind, require_text
from vocabgap.glossary.conflicts import ConflictType, SemanticConflict, Strictness, strictness_of
from vocabgap.glossary.event_log import GivenAnswer, append_events, changing, identified
from vocabgap.glossary.events import (
    Actor,
    ActorType,
    GlossaryChange,
    GlossaryEvent,
    ResolutionMode,
    StepCheckpointed,
    in_mission,
)
from vocabgap.glossary.glossary import Glossary, added, selected
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.normal_form import definition_key, term_key
from vocabgap.glossary.senses import ExtractedTerm, ScopeRef, SenseRef, SenseStatus
from vocabgap.text import can_be_seen

MOST_ASKED: Final = 3  # questions of one round
_OURS: Final = UUID("6f0c8f0e-0b0e-5b61-9d5c-6a1b0c7d4e2f")  # the name space of the identifiers


class Question(NamedTuple):
    """What a term means.

    Attributes:
        conflict_id: What names the question: the same for the same term, candidates and mission, and the same
            use of the term where it is about one.
        candidates: What can be chosen, the likeliest first.
        earlier: What somebody has said of the term before; none where nobody has.
    """

    conflict_id: str
    conflict: SemanticConflict
    candidates: tuple[SenseRef, ...]
    earlier: GivenAnswer | None = None

    @property
    def term(self) -> str:
        """The term."""
        return self.conflict.term.surface_text

    @property
    def text(self) -> str:
        """The question in words."""
        return f"What does '{self.term}' mean in this context?"


class Select(NamedTuple):
    """One of the candidates is meant, by its place, counted from 0."""

    place: int


class Define(NamedTuple):
    """The answer that something else is meant."""

    definition: str


class Defer(NamedTuple):
    """The answer that the question stays open."""


Answer = Select | Define | Defer
Ask = Callable[[Question], Answer]


def question_of(conflict: SemanticConflict, mission_id: str, glossary: Glossary) -> Question:
    """The question that a conflict puts.

    Where a term has no active sense, the drafts that somebody has written can be chosen; those that were made
    when the term was found say nothing of what it means.
    """
    candidates = conflict.candidate_senses
    if conflict.conflict_type in {ConflictType.UNKNOWN, ConflictType.UNRESOLVED_CRITICAL}:
        candidates = tuple(
            sense.ref
            for sense in glossary.history(conflict.term.surface_text)
            if sense.status == SenseStatus.DRAFT and not sense.is_placeholder
        )
    return Question(_identifier(conflict, mission_id, candidates), conflict, candidates)


def answered(
    glossary: Glossary,
    answer: Answer,
    term: str,
    candidates: Sequence[SenseRef],
    *,
    mode: ResolutionMode = ResolutionMode.INTERACTIVE,
    **said: Any,  # noqa: ANN401 - checked by those two
) -> list[GlossaryEvent]:
    """What an answer changes: a candidate, or another definition, takes the place of all that there is.

    What is `said` is which question and use it is about, who answers, when and by which way, as `selected`
    and `added` take it.

    Raises:
        InvalidInputError: There is no such candidate, or the definition is blank.
    """
    match answer:
        case Select(place):
            if 0 <= place < len(candidates):
                return [selected(glossary, candidates[place], mode=mode, **said)]
            raise InvalidInputError(
                f"Invalid selection: {place + 1}", hint=f"there are {len(candidates)} candidates"
            )
        case Define(definition):
            updated = added(glossary, term, definition, replacing=True, **said)
            if mode is ResolutionMode.INTERACTIVE:
                return [updated]
            new = updated.new_sense
            ref = SenseRef(new.surface, new.scope, new.definition, new.confidence)
            return [selected(glossary, ref, mode=mode, **said), updated]
    return []


def parse_answer(text: str, candidates: Sequence[SenseRef]) -> Answer | None:
    """What somebody has typed: the number of a candidate from 1, `d` to defer, `c` to define the term.

    Returns:
        The answer; a definition that is still empty for `c`; none where it is no answer.
    """
    typed = text.strip().casefold()
    if typed in {"c", "custom"}:
        return Define("")
    if not typed or typed in {"d", "defer"}:
        return Defer()
    if typed.isascii() and typed.isdecimal() and 1 <= int(typed[:9]) <= len(candidates):
        return Select(int(typed) - 1)
    return None


def defined(text: str) -> Define | Defer:
    """What a typed definition is: the question stays open where there is nothing to see in it."""
    return Define(text.strip()) if can_be_seen(text) else Defer()


def _identifier(conflict: SemanticConflict, mission_id: str, candidates: Sequence[SenseRef]) -> str:
    # Identifiers of random would make other reports of the same logs.
    choices = sorted((each.scope, definition_key(each.definition)) for each in candidates)
    parts = [mission_id, term_key(conflict.term.surface_text), conflict.conflict_type.value, choices]
    if conflict.usage:
        parts.append(conflict.usage)
    return str(uuid5(_OURS, json.dumps(parts)))


@dataclass
class ExecutionContext:
    """A step that is about to generate something; each middleware adds what it finds out.

    Attributes:
        step_input: What is scanned for terms; a copy of the inputs where nothing else is given.
        conflicts: Those whose meaning is open.
        meanings: What the others mean, by term.
        questions: What was asked or put off, with the identifiers by which it can be answered later.
        is_stopped: Whether the gate would not let the step go on.
        retry_token: What resumes the step; none where it has no checkpoint.
        is_restored: Whether its terms and conflicts come from its checkpoint, too.
        notes: What a person should know: events that could not be logged, seed files with errors.

    Raises:
        InvalidInputError: What names it is no text, or what it is given is no mapping.
    """

    step_id: str
    mission_id: str
    run_id: str
    inputs: dict[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    step_input: dict[str, Any] | None = None
    step_output: dict[str, Any] = field(default_factory=dict)
    extracted_terms: list[ExtractedTerm] = field(default_factory=list)
    conflicts: list[SemanticConflict] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    resolved_conflicts: list[SemanticConflict] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    check_event_id: str = ""
    is_stopped: bool = False
    effective_strictness: Strictness | None = None
    scope_refs: tuple[ScopeRef, ...] = ()
    retry_token: str | None = None
    checkpoint_cursor: str | None = None
    resumed_from_checkpoint: bool = False
    is_restored: bool = False
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("step_id", "mission_id", "run_id"):
            require_text(name, getattr(self, name))
        for name in ("inputs", "metadata", "config", "step_output"):
            require_kind(name, getattr(self, name), Mapping, "a mapping of names to values")
        if self.step_input is None:
            self.step_input = dict(self.inputs)

    def begin(self) -> None:
        """Forget what an earlier run found out; what the step was given and its token stay."""
        self.extracted_terms, self.conflicts, self.resolved_conflicts, self.questions = [], [], [], []
        self.meanings, self.notes = {}, []
        self.check_event_id, self.scope_refs, self.checkpoint_cursor = "", (), None
        self.is_stopped = self.is_restored = self.resumed_from_checkpoint = False

    @property
    def checkpoint_token(self) -> str | None:
        """Another name of `retry_token`."""
        return self.retry_token

    @checkpoint_token.setter
    def checkpoint_token(self, token: str | None) -> None:
        self.retry_token = token

    @property
    def is_critical(self) -> bool:
        """Whether it is a step in which nothing may go wrong."""
        return bool(self.metadata.get("critical_step"))

    @property
    def is_checked(self) -> bool:
        """Whether the step is checked at all."""
        return is_enabled(self.metadata, self.config)

    @property
    def mission_strictness(self) -> Strictness | None:
        """What the mission says of strictness, if anything."""
        return mission_strictness(self.config)

    @property
    def step_strictness(self) -> Strictness | None:
        """What the step says of strictness, if anything."""
        return strictness_of(self.metadata.get("glossary_check_strictness"))


SERVICE: Final = Actor("system:vocabgap", ActorType.SERVICE, "vocabgap")


class ChangedInputs(NamedTuple):
    """That a step is given something else than when it was stopped.

    Attributes:
        old: The first digits of the hash of its inputs then.
        changes: What is different, by key, as `input_diff` has it; empty where the inputs were not kept.
    """

    old: str
    new: str
    changes: Mapping[str, tuple[Any, Any]]


Confirm = Callable[[ChangedInputs], bool]


def clock() -> datetime:
    """The moment it is, in UTC."""
    return datetime.now(UTC)


@dataclass
class Session:
    """What the middlewares of one run share.

    Attributes:
        files: The files of the glossary; without them nothing is kept.
        checkpoint: What the step goes on from; none where it begins anew.
        ask: Asks a person; none where there is nobody to be asked.
        confirm: Asks whether a step goes on with other inputs; it does not where there is nobody.
        keeps_steps: Whether a step that is stopped gets a checkpoint.
        contradictions: Whether what a step has generated is looked through for uses against a definition.
        unlogged: The events that no log holds.
    """

    glossary: Glossary
    files: GlossaryFiles | None = None
    actor: Actor = SERVICE
    now: Callable[[], datetime] = clock
    checkpoint: StepCheckpointed | None = None
    ask: Ask | None = None
    confirm: Confirm | None = None
    keeps_steps: bool = True
    contradictions: bool = True
    unlogged: list[GlossaryEvent] = field(default_factory=list)

    def record(self, context: ExecutionContext, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
        """Log events and let the glossary follow them.

        What cannot be logged counts in this run all the same, and is told in the notes of the step: nothing
        that was to be stopped goes on because a disk is full.
        """
        logged = [in_mission(identified(event), context.mission_id) for event in events]
        if self.files is not None:
            try:
                if any(isinstance(each, GlossaryChange) for each in logged):
                    logged = self.files.append_changes(context.mission_id, logged)
                else:
                    append_events(self.files.events, context.mission_id, logged)
            except VocabgapError as error:
                context.notes.append(f"not logged: {error.message}")
                self.unlogged += logged
        self.glossary = self.glossary.applied(logged)
        return logged

    @contextmanager
    def alone(self, context: ExecutionContext) -> Iterator[None]:
        """Have the glossary as it is by now, and nobody else change it, while an answer becomes part of it.

        A person may have thought about it for an hour. Where that cannot be had, the answer counts beside
        what others have said meanwhile, and the notes of the step tell so.
        """
        with ExitStack() as held:
            if self.files is not None:
                try:
                    held.enter_context(changing(self.files.events))
                    self.glossary = self.files.load(context.mission_id).glossary.applied(self.unlogged)
                except VocabgapError as error:
                    context.notes.append(f"what others have said meanwhile was not read: {error.message}")
            yield


def is_enabled(metadata: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether a step is checked."""
    wanted = metadata.get("glossary_check")
    if wanted is None:
        return _glossary_section(config).get("enabled") is not False
    if isinstance(wanted, str):
        return wanted.strip().casefold() not in {"disabled", "false"}
    return wanted is not False


def mission_strictness(config: Mapping[str, Any]) -> Strictness | None:
    """What a mission's configuration says: `glossary.strictness`; none where that names no strictness."""
    return strictness_of(_glossary_section(config).get("strictness"))


def _glossary_section(config: object) -> Mapping[str, Any]:
    section = config.get("glossary") if isinstance(config, Mapping) else None
    return section if isinstance(section, Mapping) else {}


class DeferredToAsyncError(StateError):
    """A person puts the answer off."""

    def __init__(self, conflict_id: str) -> None:
        super().__init__(f"conflict {conflict_id} is deferred", hint="resolve it later by this identifier")
        self.conflict_id = conflict_id


class AbortResumeError(StateError):
    """A step does not go on with what has changed: a person does not want it to, or none was asked."""

    def __init__(self, reason: str, *, hint: str = "") -> None:
        super().__init__(reason, hint=hint)
        self.reason = reason


class MiddlewareError(VocabgapError, RuntimeError):
    """A middleware failed; what went wrong is its cause."""

    def __init__(self, name: str, cause: Exception) -> None:
        cause_message = (
            cause.message if isinstance(cause, VocabgapError) else f"{type(cause).__name__}: {cause}"
        )
        super().__init__(f"{name}: {cause_message}", hint=getattr(cause, "hint", ""))
        self.exit_code = getattr(cause, "exit_code", VocabgapError.exit_code)
