"""What flows through the middlewares: one step, and what was found out about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vocabgap.errors import require_kind, require_text
from vocabgap.glossary.candidates import ExtractedTerm
from vocabgap.glossary.conflicts import SemanticConflict
from vocabgap.glossary.questions import Question
from vocabgap.glossary.scopes import ScopeRef
from vocabgap.glossary.strictness import Strictness, is_enabled, mission_strictness, step_strictness


@dataclass
class ExecutionContext:
    """A step that is about to generate something; each middleware adds what it finds out.

    Attributes:
        step_id: The step.
        mission_id: The mission that it belongs to.
        run_id: The run of it.
        inputs: What the step was given.
        metadata: What the step says of itself.
        config: What the mission says.
        step_input: What is scanned for terms; a copy of the inputs where nothing else is given.
        step_output: What the step has generated so far.
        extracted_terms: The terms that were found.
        conflicts: Those whose meaning is open.
        meanings: What the others mean, by term.
        resolved_conflicts: Those that were settled while the step waited.
        questions: What was asked or put off, with the identifiers by which it can be answered later.
        check_event_id: The event that tells of the check; empty where there is none.
        is_stopped: Whether the gate would not let the step go on.
        effective_strictness: The strictness in force; none until it is settled.
        scope_refs: The active scopes and their versions.
        retry_token: What resumes the step; none where it has no checkpoint.
        checkpoint_cursor: Where a resumed step goes on.
        resumed_from_checkpoint: Whether it goes on from a checkpoint.
        is_restored: Whether its terms and conflicts come from there, too.
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
        return step_strictness(self.metadata)
