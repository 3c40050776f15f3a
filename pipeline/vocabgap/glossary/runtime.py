"""The runtime: checks steps and reports against a glossary in files, and records answers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vocabgap.errors import Hint, NotFoundError, VocabgapError, expanded, require_kind, require_text
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary import questions
from vocabgap.glossary.conflicts import (
    BlockedByConflictError,
    effective_strictness,
    should_block,
    strictness_of,
)
from vocabgap.glossary.events import Actor, GlossaryScopeActivated, ResolutionMode
from vocabgap.glossary.extension import DEFAULT_GLOSSARY, GlossarySettings
from vocabgap.glossary.extracting import WANTED
from vocabgap.glossary.loading import GlossaryFiles, Loaded, changing, load_checkpoint, read_events
from vocabgap.glossary.middlewares import Session
from vocabgap.glossary.seeds import seed_scope
from vocabgap.glossary.senses import DEFAULT_SCOPES, ScopeStack, Strictness, TermSense, TermSource
from vocabgap.glossary.session import SERVICE, Confirm, ExecutionContext, clock, drop_state, load_state
from vocabgap.model.moments import iso
from vocabgap.text import printable_name

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.model.settings import Settings


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
        is_configured: Whether commands use this folder by default, so that hints need not name it.
    """

    folder: Path
    events: Path | None = None
    scopes: ScopeStack = field(default_factory=ScopeStack)
    strictness: Strictness | None = None
    actor: Actor = SERVICE
    now: Callable[[], datetime] = clock
    is_logged: bool = True
    keeps_steps: bool = True
    is_configured: bool = False
    logs: Path = field(init=False, repr=False, compare=False)
    files: GlossaryFiles = field(init=False, repr=False, compare=False)
    _started: set[tuple[object, ...]] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", expanded(self.folder))
        events = self.folder / "events" if self.events is None else expanded(self.events)
        object.__setattr__(self, "logs", events)
        object.__setattr__(self, "strictness", strictness_of(self.strictness))
        require_kind("actor", self.actor, Actor, "an Actor")
        require_kind("scopes", self.scopes, ScopeStack, "a ScopeStack")
        object.__setattr__(self, "files", GlossaryFiles(self.folder, self.logs, self.scopes))

    def require_folder(self) -> None:
        """Raise NotFoundError if the folder of the glossary does not exist."""
        if file_kind(self.folder) is not FileKind.FOLDER:
            name = printable_name(str(self.folder))
            message = f"the glossary is not initialized: there is no folder '{name}'"
            create = f"create it with a `{DEFAULT_SCOPES[1]}.yaml` as in {{}}, or give another --glossary"
            raise NotFoundError(message, hint=Hint(create, (("manual", "glossary"),)))

    def load(self, mission_id: str | None = None, *, tolerant: bool = False) -> Loaded:
        """Load the glossary of all missions or of one."""
        return self.files.load(mission_id, tolerant=tolerant)

    def load_whole(self, mission_id: str | None = None, *, tolerant: bool = False) -> Loaded:
        """Load the whole glossary, or raise an error."""
        self.require_folder()
        loaded = self.load(mission_id, tolerant=tolerant)
        if not tolerant:
            loaded.require_read()
        return loaded

    def load_version(self, version_id: str) -> tuple[TermSense, ...]:
        """Return the senses of a version; raise NotFoundError if it is lost."""
        return self.files.load_version(version_id)

    def run(
        self,
        context: ExecutionContext,
        *,
        strictness: Strictness | None = None,
        ask: questions.Ask | None = None,
        confirm: Confirm | None = None,
    ) -> ExecutionContext:
        """Take a step through all middlewares.

        Args:
            context: The step; with a `retry_token` it resumes from that checkpoint.
            strictness: The strictness of this run; it overrides the strictness of the step and its mission.
            ask: Asks a person what a term means; without it all questions stay open.
            confirm: Asks whether a changed step resumes; without it, the step does not resume.

        Raises:
            BlockedByConflictError: The gate stops the step.
            AbortResumeError: It has changed, and nobody confirmed it.
            VocabgapError: The glossary cannot be read.
        """
        require_kind("context", context, ExecutionContext, "an ExecutionContext")
        names = (context.step_id, context.mission_id, context.run_id)
        context.take(ExecutionContext(*names, retry_token=context.retry_token))
        if not context.is_checked:
            return context
        step, checkpoint, token = context.copied(), None, context.retry_token or ""
        if token:
            checkpoint = load_checkpoint(
                self.logs, step.step_id, mission_id=step.mission_id, retry_token=token
            )
        # The strictness that stopped a step also applies when it resumes, unless this run names another.
        earlier = None if checkpoint is None else checkpoint.strictness
        earlier = None if earlier is Strictness.OFF else earlier  # it never stopped a step
        step.effective_strictness = applied = effective_strictness(
            strictness_of(strictness), earlier, *step.named_strictness, self.strictness
        )
        loaded = self.load_whole(step.mission_id, tolerant=applied is Strictness.OFF)
        state = None if checkpoint is None else load_state(self.logs, checkpoint)
        session = Session(self, applied, step, loaded.glossary, checkpoint, state, ask, confirm)
        if checkpoint is None:
            self._activate(session, loaded)
        step.notes += loaded.problems
        try:
            session.run()
            self._forget(step, {token if checkpoint else "", step.retry_token or ""})
        except BlockedByConflictError:  # of this step, or of another that `confirm` runs
            if step.is_stopped and step.retry_token:  # the state is stored under this token now
                self._forget(step, {token} - {step.retry_token})
            raise
        finally:
            context.take(step)
        return context

    def _activate(self, session: Session, loaded: Loaded) -> None:
        """Log the scopes of a run that have seed files; log each version once."""
        run = {"mission_id": session.context.mission_id, "run_id": session.context.run_id}
        seeded = {seed_scope(seed.path, self.scopes) for seed in loaded.seeds}
        used = (ref for ref in loaded.glossary.scope_refs if ref.scope in seeded)
        started = [ref for ref in used if (*run.values(), ref) not in self._started]
        self._started.update((*run.values(), ref) for ref in started)
        session.record(
            GlossaryScopeActivated(
                scope_id=ref.scope, glossary_version_id=ref.version_id, timestamp=self.now(), **run
            )
            for ref in started
        )

    def resume(
        self,
        retry_token: str,
        inputs: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - those of `run`
    ) -> ExecutionContext:
        """Resume a stopped step, perhaps with other inputs."""
        return self.run(self.stopped(retry_token, inputs), **options)

    def stopped(self, retry_token: str, inputs: Mapping[str, Any] | None = None) -> ExecutionContext:
        """Return a stopped step; raise NotFoundError if there is no such checkpoint."""
        require_text("retry_token", retry_token)
        checkpoint = load_checkpoint(self.logs, retry_token=retry_token)
        if checkpoint is None:
            hint = "a stopped step prints its token; run the step again to get a new one"
            raise NotFoundError(f"there is no checkpoint '{retry_token}' in '{self.logs}'", hint=hint)
        names = (checkpoint.step_id, checkpoint.mission_id, checkpoint.run_id)
        step = load_state(self.logs, checkpoint) or ExecutionContext(*names, {}, {"critical_step": True})
        if inputs is not None:
            require_kind("inputs", inputs, Mapping, "a mapping of names to values")
            step.inputs, step.step_input = dict(inputs), None
        step.retry_token = retry_token
        return step

    def answer(
        self, question: questions.OpenQuestion | questions.Question | str, answer: questions.Answer
    ) -> str | None:
        """Answer a question, or that of an identifier; return the definition that the answer replaces.

        Raises:
            InvalidInputError: It is no answer to this question.
            NotFoundError: No such question is logged.
        """
        if not isinstance(question, questions.OpenQuestion):
            name: Any = getattr(question, "conflict_id", question)
            require_text("question", name, "a question, or its identifier")
            events = (logged.event for logged in read_events(self.logs).events)
            question = questions.require_questions(questions.questions_of(events), name)[0]
        with changing(self.logs):
            glossary = self.load(question.mission_id or None).glossary
            is_open = not questions.is_settled(glossary, question.term, question.usage)
            earlier = [] if is_open else self.files.answers(question.term)
            facts = {"actor": self.actor, "now": self.now(), "usage": question.usage}
            candidates, mode = question.candidates(glossary), ResolutionMode.ASYNC
            changes = questions.answered(glossary, answer, question, candidates, mode=mode, **facts)
            self.files.append_changes(question.mission_id, changes)
        return earlier[-1].sense.definition if earlier and changes else None

    def _forget(self, context: ExecutionContext, tokens: Iterable[str]) -> None:
        """Remove the stored states of finished steps: their inputs are private."""
        try:
            for token in filter(None, tokens):
                drop_state(self.logs, token)
        except VocabgapError as error:
            context.notes.append(f"not removed: {error.message}")


def configured_runtime(settings: GlossarySettings, **facts: Any) -> GlossaryRuntime:  # noqa: ANN401
    """Return the runtime of some settings, with other facts of a `GlossaryRuntime`."""
    return GlossaryRuntime(
        folder=Path(settings.folder or DEFAULT_GLOSSARY),
        events=None if settings.events is None else Path(settings.events),
        scopes=ScopeStack(settings.scopes or DEFAULT_SCOPES),
        strictness=Strictness(settings.strictness),
        is_configured=True,
        **facts,
    )


def check_report(ranked: "pl.DataFrame", settings: "Settings") -> None:
    """Check the labels and the wordings of the capabilities that a report shows.

    Wordings repeat words, contain identifiers, and name people and places. So only quotation marks and
    acronyms are signs of a term here. A word of the glossary is a term in any spelling.

    Raises:
        BlockedByConflictError: Words have open meanings.
        VocabgapError: There is no such glossary, or it cannot be read.
    """
    ours = settings.of(GlossarySettings)
    if ours.folder is None:
        return
    runtime = configured_runtime(ours, keeps_steps=False)
    texts = {
        name: "\n\n".join(dict.fromkeys([label, *(variant["wording"] for variant in variants)]))
        for name, label, variants in ranked.select("capability_id", "label", "variants")
        .head(settings.report.top or ranked.height)
        .iter_rows()
    }
    signs = (TermSource.QUOTED_PHRASE.value, TermSource.ACRONYM.value, TermSource.KNOWN_TERM.value)
    metadata = {"critical_step": True, "glossary_fields": list(texts), WANTED: signs}
    step = ExecutionContext("publish", "report", f"run-{iso(runtime.now())}", dict(texts), metadata)
    try:
        runtime.run(step)
    except BlockedByConflictError as error:
        conflicts, hint, shown = error.conflicts, error.commands or error.hint, 3
        strictness = error.strictness or Strictness.MEDIUM
        stopping = (f"'{it.term}'" for it in conflicts if should_block(strictness, [it.severity]))
        terms = ", ".join(islice(stopping, shown))
        message = f"{error.message.rstrip('.')}: {terms}. Nothing was published."
        raise BlockedByConflictError(conflicts, strictness, message, hint=hint) from error
