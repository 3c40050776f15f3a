"""The runtime: the middlewares in their order, over a glossary that lies in files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from vocabgap.errors import Hint, NotFoundError, VocabgapError, expanded, require_kind, require_text
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.checkpoints import drop_state, load_state, state_path
from vocabgap.glossary.conflicts import BlockedByConflictError, Strictness, effective_strictness
from vocabgap.glossary.event_log import load_checkpoint, require_checkpoint
from vocabgap.glossary.events import Actor, GlossaryEvent, GlossaryScopeActivated, StepCheckpointed
from vocabgap.glossary.extension import DEFAULT_GLOSSARY, GlossarySettings
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.loading import GlossaryFiles, Loaded
from vocabgap.glossary.middlewares import Middleware, check_terms, clarify, extract_terms, guard, restore
from vocabgap.glossary.senses import DEFAULT_SCOPES, ScopeStack
from vocabgap.glossary.session import (
    SERVICE,
    AbortResumeError,
    Ask,
    Confirm,
    DeferredToAsyncError,
    ExecutionContext,
    MiddlewareError,
    Session,
    clock,
)
from vocabgap.text import printable_name

EVENTS: Final = "events"  # the folder of the logs, within that of the seed files
# The gate decides before anybody is asked, so that a checkpoint is there when somebody is; and again
# afterwards, when what was settled counts.
MIDDLEWARES: Final[tuple[Middleware, ...]] = (restore, extract_terms, check_terms, guard, clarify, guard)


@dataclass(frozen=True, kw_only=True)
class GlossaryRuntime:
    """Checks the words of steps against a glossary, and stops those whose words are not settled.

    It parses the glossary when it is first needed, and again only what has changed, so that one runtime
    serves many steps.

    Attributes:
        events: The folder of the event logs; `events` within `folder` by default.
        strictness: What applies where neither the run nor the step nor its mission says anything.
        is_logged: Whether what happens is kept, to be answered and resumed later.
        keeps_steps: Whether a step that is stopped is kept, to be resumed later.
        contradictions: Whether uses against a definition are looked for, word by word.
        stages: The middlewares, in their order.
    """

    folder: Path
    events: Path | None = None
    scopes: ScopeStack = field(default_factory=ScopeStack)
    strictness: Strictness | None = None
    actor: Actor = SERVICE
    now: Callable[[], datetime] = clock
    is_logged: bool = True
    keeps_steps: bool = True
    contradictions: bool = True
    stages: Sequence[Middleware] = MIDDLEWARES
    files: GlossaryFiles = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", expanded(self.folder))
        if self.events is not None:
            object.__setattr__(self, "events", expanded(self.events))
        require_kind("scopes", self.scopes, ScopeStack, "a ScopeStack")
        object.__setattr__(self, "files", GlossaryFiles(self.folder, self.logs, self.scopes))

    @property
    def logs(self) -> Path:
        """The folder of the event logs."""
        return self.folder / EVENTS if self.events is None else self.events

    def require_folder(self) -> None:
        """Refuse a glossary whose folder does not exist."""
        if file_kind(self.folder) is not FileKind.FOLDER:
            raise NotFoundError(
                f"the glossary is not initialized: there is no folder '{printable_name(str(self.folder))}'",
                hint=Hint(
                    "{} makes it, or name another one with --glossary", (("glossary", "import", "PATH"),)
                ),
            )

    def load(self, mission_id: str | None = None) -> Loaded:
        """The glossary as it stands, and what is wrong in its files.

        Args:
            mission_id: The mission whose own scope counts; that of all missions by default.

        Raises:
            VocabgapError: A file cannot be read.
        """
        return self.files.load(mission_id)

    def start(self, context: ExecutionContext, strictness: Strictness | None = None) -> list[GlossaryEvent]:
        """Log which scopes count in a run of a mission, in which version; nothing where it is not checked."""
        if self.in_force(context, strictness) in {None, Strictness.OFF}:
            return []
        glossary = self.load(context.mission_id).glossary
        moment = self.now()
        return self.session(glossary).record(
            context,
            [
                GlossaryScopeActivated(
                    scope_id=each.scope,
                    glossary_version_id=each.version_id,
                    mission_id=context.mission_id,
                    run_id=context.run_id,
                    timestamp=moment,
                )
                for each in glossary.scope_refs
            ],
        )

    def in_force(self, context: ExecutionContext, strictness: Strictness | None = None) -> Strictness | None:
        """The strictness that applies to a step; none where it is not checked."""
        require_kind("context", context, ExecutionContext, "an ExecutionContext")
        if strictness is not None:
            require_kind("strictness", strictness, Strictness, f"a Strictness: {', '.join(Strictness)}")
        if not context.is_checked:
            return None
        return effective_strictness(
            strictness, context.step_strictness, context.mission_strictness, self.strictness
        )

    def session(
        self,
        glossary: Glossary,
        checkpoint: StepCheckpointed | None = None,
        ask: Ask | None = None,
        confirm: Confirm | None = None,
    ) -> Session:
        """What the middlewares of one run share."""
        files = self.files if self.is_logged else None
        return Session(
            glossary,
            files,
            self.actor,
            self.now,
            checkpoint,
            ask,
            confirm,
            keeps_steps=self.keeps_steps,
            contradictions=self.contradictions,
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
            context: The step; with a `retry_token` it goes on from that checkpoint.
            strictness: What the gate lets pass in this run, whatever the step and its mission say.
            ask: Asks a person what a term means; without it all questions stay open.
            confirm: Asks whether a step goes on though its inputs have changed; without it it does not.

        Raises:
            BlockedByConflictError: Its words are not settled.
            DeferredToAsyncError: Whoever was asked puts all off.
            AbortResumeError: Its inputs have changed, and it does not go on.
            MiddlewareError: A middleware failed.
            VocabgapError: The glossary cannot be read.
        """
        if context is None:
            raise ValueError("context must not be None")
        require_kind("context", context, ExecutionContext, "an ExecutionContext")
        checkpoint = None
        if context.is_checked and context.retry_token:
            checkpoint = load_checkpoint(
                self.logs, context.step_id, mission_id=context.mission_id, retry_token=context.retry_token
            )
        # What stopped a step decides whether it goes on, too; only this run itself may say otherwise.
        then = None if checkpoint is None else checkpoint.strictness
        context.effective_strictness = self.in_force(context, strictness or then)
        if context.effective_strictness in {None, Strictness.OFF}:
            return context
        loaded = self.load(context.mission_id)
        context.begin()
        context.notes += loaded.problems
        session = self.session(loaded.glossary, checkpoint, ask, confirm)
        came_from = "" if checkpoint is None else checkpoint.retry_token
        try:
            for stage in self.stages:
                context = _passed(stage, context, session)
        except BlockedByConflictError as error:
            if error.retry_token:  # what was kept of it is kept under this one by now
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
        """Let a step go on that was stopped, with other inputs where there are any; else as `run` does it.

        Raises:
            NotFoundError: There is no such checkpoint.
        """
        context = self.stopped(retry_token, inputs)
        return self.run(context, strictness=strictness, ask=ask, confirm=confirm)

    def newest(self) -> str | None:
        """The token of the step that was stopped last and still waits; none where none does."""
        checkpoint = load_checkpoint(self.logs, accepted=lambda token: state_path(self.logs, token).is_file())
        return None if checkpoint is None else checkpoint.retry_token

    def stopped(self, retry_token: str, inputs: Mapping[str, Any] | None = None) -> ExecutionContext:
        """A step that was stopped, ready to be run again.

        Raises:
            NotFoundError: There is no such checkpoint.
        """
        require_text("retry_token", retry_token)
        checkpoint = require_checkpoint(self.logs, retry_token)
        names = (checkpoint.step_id, checkpoint.mission_id, checkpoint.run_id)
        state = load_state(self.logs, retry_token)
        if state is None:  # nothing says so any more, and it may be one in which nothing may go wrong
            given = dict(inputs or {})
            return ExecutionContext(*names, given, {"critical_step": True}, retry_token=retry_token)
        return ExecutionContext(
            *names,
            dict(state.inputs if inputs is None else inputs),
            state.metadata,
            state.config,
            step_input=state.step_input if inputs is None else None,
            step_output=state.step_output,
            retry_token=retry_token,
        )

    def _forget(self, context: ExecutionContext, tokens: Iterable[str]) -> None:
        """Keep nothing of a step under tokens that are done: its inputs are what people wrote."""
        try:
            for token in filter(None, tokens):
                drop_state(self.logs, token)
        except VocabgapError as error:
            context.notes.append(f"not removed: {error.message}")


def _passed(stage: Middleware, context: ExecutionContext, session: Session) -> ExecutionContext:
    """A step after one middleware; what goes wrong in there names it."""
    name = getattr(stage, "__name__", type(stage).__name__)
    try:
        after = stage(context, session)
    except (BlockedByConflictError, DeferredToAsyncError, AbortResumeError):
        raise
    except Exception as error:
        raise MiddlewareError(name, error) from error
    if after is None:
        raise MiddlewareError(name, VocabgapError("returned None instead of the step"))
    return after


def configured_runtime(
    settings: GlossarySettings,
    *,
    actor: Actor = SERVICE,
    now: Callable[[], datetime] = clock,
    keeps_steps: bool = True,
) -> GlossaryRuntime:
    """The runtime that settings mean.

    Raises:
        InvalidInputError: The scopes are none.
    """
    return GlossaryRuntime(
        folder=Path(settings.folder or DEFAULT_GLOSSARY),
        events=None if settings.events is None else Path(settings.events),
        scopes=ScopeStack(settings.scopes or DEFAULT_SCOPES, settings.local, settings.authored),
        strictness=Strictness(settings.strictness),
        actor=actor,
        now=now,
        keeps_steps=keeps_steps,
        contradictions=settings.contradictions,
    )
