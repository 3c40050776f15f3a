"""The runtime: checks steps against a glossary in files, and records answers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from vocabgap.errors import Hint, NotFoundError, VocabgapError, expanded, require_kind, require_text
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.conflicts import BlockedByConflictError, effective_strictness
from vocabgap.glossary.events import (
    Actor,
    GlossaryEvent,
    GlossaryScopeActivated,
    ResolutionMode,
    package_event,
)
from vocabgap.glossary.extension import DEFAULT_GLOSSARY, GlossarySettings
from vocabgap.glossary.loading import GlossaryFiles, Loaded, changing, load_checkpoint, read_events
from vocabgap.glossary.middlewares import Session
from vocabgap.glossary.questions import LATER, Answer, Ask, OpenQuestion, answered
from vocabgap.glossary.senses import DEFAULT_SCOPES, ScopeRef, ScopeStack, Strictness, TermSense
from vocabgap.glossary.session import SERVICE, Confirm, ExecutionContext, clock, drop_state, load_state
from vocabgap.text import printable_name


@dataclass(frozen=True, kw_only=True)
class GlossaryRuntime:
    """A runtime that checks the words of steps against a glossary, and stops steps with conflicts.

    One runtime serves many steps: it reads the glossary once, and later only its changes.

    Attributes:
        events: The folder of the event logs; `events` within `folder` by default.
        logs: The folder that is used for them.
        strictness: The strictness if neither the run nor the step nor its mission names one.
        is_logged: Whether events are logged, so that questions can be answered later.
        keeps_steps: Whether a step that is stopped can be resumed later.
    """

    folder: Path
    events: Path | None = None
    scopes: ScopeStack = field(default_factory=ScopeStack)
    strictness: Strictness | None = None
    actor: Actor = SERVICE
    now: Callable[[], datetime] = clock
    is_logged: bool = True
    keeps_steps: bool = True
    logs: Path = field(init=False, repr=False, compare=False)
    files: GlossaryFiles = field(init=False, repr=False, compare=False)
    _started: set[tuple[str, str, ScopeRef]] = field(
        default_factory=set, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", expanded(self.folder))
        events = self.folder / "events" if self.events is None else expanded(self.events)
        object.__setattr__(self, "logs", events)
        require_kind("scopes", self.scopes, ScopeStack, "a ScopeStack")
        object.__setattr__(self, "files", GlossaryFiles(self.folder, self.logs, self.scopes))

    def require_folder(self) -> None:
        """Raise NotFoundError if the folder of the glossary does not exist."""
        if file_kind(self.folder) is not FileKind.FOLDER:
            raise NotFoundError(
                f"the glossary is not initialized: there is no folder '{printable_name(str(self.folder))}'",
                hint=Hint(
                    f"create it with a `{DEFAULT_SCOPES[1]}.yaml` as in {{}}, or give another --glossary",
                    (("manual", "glossary"),),
                ),
            )

    def load(self, mission_id: str | None = None, *, tolerant: bool = False) -> Loaded:
        """Load the glossary of all missions, or of one, and the problems of its files."""
        return self.files.load(mission_id, tolerant=tolerant)

    def load_version(self, version_id: str) -> tuple[TermSense, ...]:
        """Return the senses of a version; raise NotFoundError if it cannot be rebuilt."""
        return self.files.load_version(version_id)

    def package_events(self, **envelope: object) -> list[Any]:
        """Return the logged events as objects of `spec-kitty-events`."""
        place, logged = self.logs.resolve().as_uri(), read_events(self.logs).events
        return [
            package_event(it.event, it.log, place, {"lamport_clock": clock} | envelope)
            for clock, it in enumerate(logged)
        ]

    def start(self, context: ExecutionContext, strictness: Strictness | None = None) -> list[GlossaryEvent]:
        """Log the scopes of a run that have seed files, if the step is checked; log each version once."""
        level = self.in_force(context, strictness)
        if level is None:
            return []
        loaded, moment = self.load(context.mission_id, tolerant=level is Strictness.OFF), self.now()
        names = context.mission_id, context.run_id
        started = [ref for ref in loaded.activated if (*names, ref) not in self._started]
        self._started.update((*names, ref) for ref in started)
        files = self.files if self.is_logged else None
        return Session(context, loaded.glossary, files, self.actor, self.now).record(
            GlossaryScopeActivated(
                scope_id=ref.scope,
                glossary_version_id=ref.version_id,
                mission_id=context.mission_id,
                run_id=context.run_id,
                timestamp=moment,
            )
            for ref in started
        )

    def in_force(self, context: ExecutionContext, strictness: Strictness | None = None) -> Strictness | None:
        """Return the strictness that applies to a step; None if it is not checked."""
        require_kind("context", context, ExecutionContext, "an ExecutionContext")
        if strictness is not None:
            require_kind("strictness", strictness, Strictness, f"a Strictness: {', '.join(Strictness)}")
        if not context.is_checked:
            return None
        return effective_strictness(
            strictness, context.step_strictness, context.mission_strictness, self.strictness
        )

    def run(
        self,
        context: ExecutionContext,
        *,
        strictness: Strictness | None = None,
        ask: Ask | None = None,
        confirm: Confirm | None = None,
    ) -> ExecutionContext:
        """Take a step through all middlewares.

        Args:
            context: The step; with a `retry_token` it resumes from that checkpoint.
            strictness: The strictness of this run; it overrides the strictness of the step and its mission.
            ask: Asks a person what a term means; without it all questions stay open.
            confirm: Asks whether a step resumes with changed inputs; without it, the step does not resume.

        Raises:
            BlockedByConflictError: The gate stops the step.
            AbortResumeError: Its inputs have changed, and nobody confirmed them.
            VocabgapError: The glossary cannot be read.
        """
        require_kind("context", context, ExecutionContext, "an ExecutionContext")
        checkpoint = None
        if context.is_checked and context.retry_token:
            checkpoint = load_checkpoint(
                self.logs, context.step_id, mission_id=context.mission_id, retry_token=context.retry_token
            )
        # The strictness that stopped a step also applies when it resumes, unless this run names another.
        then = None if checkpoint is None else checkpoint.strictness
        context.effective_strictness = self.in_force(context, strictness or then)
        if context.effective_strictness is None:
            return context
        loaded = self.load(context.mission_id, tolerant=context.effective_strictness is Strictness.OFF)
        context.begin()
        if checkpoint is None:
            self.start(context, context.effective_strictness)
        context.notes += loaded.problems
        came_from = "" if checkpoint is None else checkpoint.retry_token
        files, keeps = self.files if self.is_logged else None, self.keeps_steps
        session = Session(
            context, loaded.glossary, files, self.actor, self.now, checkpoint, ask, confirm, keeps
        )
        try:
            session.run()
        except BlockedByConflictError as error:
            if error.retry_token:  # the state is stored under the new token now
                self._forget(context, {came_from} - {error.retry_token})
            raise
        self._forget(context, {came_from, context.retry_token or ""})
        return context

    def resume(
        self,
        retry_token: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        strictness: Strictness | None = None,
        ask: Ask | None = None,
        confirm: Confirm | None = None,
    ) -> ExecutionContext:
        """Resume a stopped step, perhaps with other inputs; raise NotFoundError if there is none."""
        context = self.stopped(retry_token, inputs)
        return self.run(context, strictness=strictness, ask=ask, confirm=confirm)

    def stopped(self, retry_token: str, inputs: Mapping[str, Any] | None = None) -> ExecutionContext:
        """Return a stopped step, ready to run again; raise NotFoundError if there is none."""
        require_text("retry_token", retry_token)
        checkpoint = load_checkpoint(self.logs, retry_token=retry_token)
        if checkpoint is None:
            raise NotFoundError(
                f"there is no checkpoint '{retry_token}' in '{self.logs}'",
                hint="a stopped step prints its token; run the step again to get a new one",
            )
        names = (checkpoint.step_id, checkpoint.mission_id, checkpoint.run_id)
        step = load_state(self.logs, retry_token)
        if step is None:  # it may have been critical
            step = ExecutionContext(*names, {}, {"critical_step": True})
        if inputs is not None:
            step.inputs, step.step_input = dict(inputs), dict(inputs)
        step.retry_token = retry_token
        return step

    def answer(self, question: OpenQuestion, answer: Answer) -> None:
        """Answer an open question, and log it.

        Raises:
            InvalidInputError: There is no such candidate, or the definition is blank.
        """
        with changing(self.logs):
            glossary = self.load(question.mission_id or None).glossary
            events = answered(
                glossary,
                answer,
                question.term,
                question.candidates(glossary),
                conflict_id=question.conflict_id,
                usage=question.usage,
                actor=self.actor,
                now=self.now(),
                mode=ResolutionMode.ASYNC,
                source=LATER,
            )
            self.files.append_changes(question.mission_id, events)

    def _forget(self, context: ExecutionContext, tokens: Iterable[str]) -> None:
        """Remove the stored states of finished steps: their inputs are private."""
        try:
            for token in filter(None, tokens):
                drop_state(self.logs, token)
        except VocabgapError as error:
            context.notes.append(f"not removed: {error.message}")


def configured_runtime(
    settings: GlossarySettings,
    *,
    actor: Actor = SERVICE,
    now: Callable[[], datetime] = clock,
    keeps_steps: bool = True,
) -> GlossaryRuntime:
    """Return the runtime of some settings."""
    return GlossaryRuntime(
        folder=Path(settings.folder or DEFAULT_GLOSSARY),
        events=None if settings.events is None else Path(settings.events),
        scopes=ScopeStack(settings.scopes or DEFAULT_SCOPES),
        strictness=Strictness(settings.strictness),
        actor=actor,
        now=now,
        keeps_steps=keeps_steps,
    )
