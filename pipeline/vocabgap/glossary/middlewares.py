"""The middlewares that check a step: restore, extract terms, check them, guard the gate, and clarify.

A step passes the gate only in one of these ways; everything else stops it, or aborts the run:

1. not checked: the step or its mission says so (`glossary_check`, `enabled`);
2. off: the first strictness that is given is `off`;
3. nothing stops it: no conflict has a severity that the strictness stops;
4. answered: an answer to each such conflict was checked and stored, and settles the term;
5. resumed: everything that is checked has the digest of the checkpoint, and 2, 3 or 4 holds now;
6. resumed with changes: the old text is still there, `confirm` returns True, and 2, 3 or 4 holds;
7. a report: the settings name no glossary, or 2 or 3 holds.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from vocabgap.errors import Hint, InvalidInputError, VocabgapError
from vocabgap.glossary.conflicts import BlockedByConflictError, check, should_block, verdict
from vocabgap.glossary.events import (
    Actor,
    GenerationBlockedBySemanticConflict,
    GlossaryChange,
    GlossaryClarificationRequested,
    GlossaryEvent,
    ResolutionMode,
    SemanticCheckEvaluated,
    StepCheckpointed,
    TermCandidateObserved,
)
from vocabgap.glossary.extension import FOLDER
from vocabgap.glossary.extracting import ALIASES, Field, extract, scanned_fields
from vocabgap.glossary.glossary import Glossary, added
from vocabgap.glossary.loading import GlossaryFiles, append_events, changing, identified
from vocabgap.glossary.questions import Ask, Question, answered, is_settled, question_of
from vocabgap.glossary.senses import (
    EXTRACTED,
    PLACEHOLDER,
    ConflictType,
    ExtractedTerm,
    SenseStatus,
    Severity,
    Strictness,
)
from vocabgap.glossary.session import (
    SERVICE,
    AbortResumeError,
    Confirm,
    ExecutionContext,
    changes_of,
    digest_of,
    hash_inputs,
    save_state,
)

MOST_ASKED: Final = 3  # questions that one run asks


@dataclass
class Session:
    """One run of a step through the middlewares; each adds its findings to the step.

    Attributes:
        files: The files of the glossary; None if nothing is logged.
        state: The step as it was stopped; None if its text is gone.
    """

    files: GlossaryFiles | None
    actor: Actor
    now: Callable[[], datetime]
    keeps_steps: bool
    strictness: Strictness
    context: ExecutionContext
    glossary: Glossary
    checkpoint: StepCheckpointed | None = None
    state: ExecutionContext | None = None
    ask: Ask | None = None
    confirm: Confirm | None = None

    def run(self) -> None:
        """Take the step through all middlewares."""
        self.restore()
        self.extract_terms()
        self.check_terms()
        self.guard()  # decides before anybody is asked, and writes the checkpoint
        self.clarify()
        self.guard()

    def record(self, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
        """Log events, apply them to the glossary, and return them; none if they cannot be logged."""
        mission, logged = self.context.mission_id, list(map(identified, events))
        if self.files is not None:
            try:
                if any(isinstance(event, GlossaryChange) for event in logged):
                    logged = self.files.append_changes(mission, logged)
                else:
                    append_events(self.files.events, mission, logged)
            except VocabgapError as error:
                self.context.notes.append(f"not logged: {error.message}")
                return []
        self.glossary = self.glossary.applied(logged)
        return logged

    def restore(self) -> None:
        """Restore a step from the checkpoint of its token.

        A step that is the same is not logged again. A changed one starts again if a person confirms it.
        """
        context, checkpoint, state = self.context, self.checkpoint, self.state
        if not context.retry_token:
            return
        if checkpoint is None:
            context.notes.append(f"there is no checkpoint '{context.retry_token}'; the step starts again")
            context.retry_token = None
            return
        is_same = digest_of(context) == checkpoint.step_digest
        if not is_same:
            self._require_confirmed(checkpoint)
        context.scope_refs = checkpoint.scope_refs
        for ref in set(context.scope_refs) - set(self.glossary.scope_refs):
            try:
                if self.files is not None:
                    self.files.load_version(ref.version_id)
            except VocabgapError as error:
                context.notes.append(f"{ref.scope}: {error.message}")
        context.resumed_from_checkpoint = True
        if is_same and state is not None:
            context.extracted_terms = state.extracted_terms
            context.check_event_id = state.check_event_id
            context.is_restored = True

    def _require_confirmed(self, checkpoint: StepCheckpointed) -> None:
        """Raise AbortResumeError if nobody confirms a changed step, or its old text is gone."""
        again = Hint("{} checks the text as a new step", (("glossary", "check"),), FOLDER)
        if self.state is None:
            raise AbortResumeError("the step is done, or its text is gone", hint=again)
        if self.confirm is None:
            message = "the inputs of the step have changed, and nobody confirmed them"
            raise AbortResumeError(message, hint=again)
        if self.confirm(changes_of(checkpoint.input_hash, self.state, self.context)) is not True:
            raise AbortResumeError("User declined resumption due to context change")

    def extract_terms(self) -> None:
        """Find the terms in the texts of the step; those of a restored step are logged already."""
        context = self.context
        aliases = context.metadata.get(ALIASES)
        wrong = [key for key in aliases if not isinstance(key, str)] if isinstance(aliases, dict) else []
        context.notes += [f"{ALIASES}: key {key!r} is not text; its alias is not used" for key in wrong]
        glossary = self.glossary
        found = extract(self._fields(), context.metadata, glossary.known, glossary.no_terms)
        earlier = [it for it in context.extracted_terms if not glossary.is_no_term(it.surface.surface_text)]
        by_surface = {term.surface: term for term in [*found.terms, *earlier]}
        context.extracted_terms = sorted(by_surface.values(), key=lambda term: term.place)
        context.drafts = found.drafts
        if context.is_restored:
            return
        fields = self._named()
        step_id = fields.pop("step_id")
        self.record(
            TermCandidateObserved(
                term=term.surface.surface_text,
                source_step=step_id,
                actor_id=SERVICE.actor_id,
                confidence=term.confidence,
                extraction_method=term.source,
                context=term.context,
                **fields,
            )
            for term in context.extracted_terms
        )

    def check_terms(self) -> None:
        """Find the conflicts of the step; a restored step logs them again only if the glossary changed."""
        context = self.context
        refs = self.glossary.scope_refs
        if not context.resumed_from_checkpoint:
            context.scope_refs = refs
        context.conflicts = check(
            context.extracted_terms,
            self.glossary,
            critical=context.is_critical,
            output="\n".join(value for value in context.step_output.values() if isinstance(value, str)),
            texts=(field.text for field in self._fields()),
        )
        if context.is_restored and (refs == context.scope_refs or not context.conflicts):
            return
        evaluated = SemanticCheckEvaluated(
            findings=tuple(context.conflicts),
            effective_strictness=self.strictness.value,
            **verdict(context.conflicts, self.strictness),
            **self._named(),
        )
        for event in self.record([evaluated]):
            context.check_event_id = event.event_id

    def guard(self) -> None:
        """Decide if the step is stopped. The first call writes a checkpoint, the second raises an error."""
        context, was_stopped = self.context, self.context.is_stopped
        names = [term.surface.surface_text for term in context.extracted_terms]
        meanings = {name: self.glossary.meaning(name) for name in names}
        context.meanings = {name: sense.definition for name, sense in meanings.items() if sense is not None}
        context.is_stopped = should_block(self.strictness, (it.severity for it in context.conflicts))
        if not context.is_stopped:
            return
        if not was_stopped:
            self._checkpoint()
            return
        blocked = GenerationBlockedBySemanticConflict(
            conflicts=tuple(context.conflicts),
            strictness_mode=self.strictness.value,
            effective_strictness=self.strictness.value,
            refused=tuple(context.refused),
            **self._named(),
        )
        self.record([blocked])
        raise self._error()

    def _error(self) -> BlockedByConflictError:
        """Return the error for a step that is stopped, with a hint."""
        conflicts, token = self.context.conflicts, self.context.retry_token or ""
        number, high = len(conflicts), sum(should_block(Strictness.MEDIUM, [it.severity]) for it in conflicts)
        detected = f"{number} unresolved semantic conflict(s) detected"
        if high:
            detected = f"{high} high-severity semantic conflict(s) detected (out of {number} total)"
        message = f"Generation blocked: {detected}. Resolve conflicts before proceeding."
        hint: str | Hint = "nothing was logged; to answer the questions, name the step with --step"
        if self.context.questions:
            resolve = self.context.questions[0].command
            hint = Hint("answer with {}, then try again", (resolve,), FOLDER)
            if token:
                hint = Hint("answer with {}, then {}", (resolve, ("glossary", "resume", token)), FOLDER)
        return BlockedByConflictError(conflicts, self.strictness, message, retry_token=token, hint=hint)

    def clarify(self) -> None:
        """Ask or log the questions of the step, the worst first.

        A conflict is a question if it stops the step, has high severity, or is ambiguous. If somebody can
        answer, up to `MOST_ASKED` that stop it are asked; the others stay open. Weak finds become drafts.
        """
        context = self.context
        remaining = MOST_ASKED
        sources = {term.surface: term.source for term in context.extracted_terms}
        context.questions = []
        stays = []
        unlogged: list[GlossaryEvent] = []  # logged together, because each write waits for the disk
        for conflict in sorted(context.conflicts, key=lambda it: it.place):
            stops = should_block(self.strictness, [conflict.severity])
            is_ambiguous = conflict.conflict_type is ConflictType.AMBIGUOUS
            if not (stops or conflict.severity is Severity.HIGH or is_ambiguous):
                stays.append(conflict)
                continue
            question = question_of(conflict, context.mission_id, self.glossary, sources[conflict.term])
            unlogged.append(
                GlossaryClarificationRequested(
                    question=question.text,
                    term=question.term,
                    options=tuple(sense.definition for sense in question.candidates),
                    urgency=conflict.severity,
                    conflict_id=question.conflict_id,
                    semantic_check_event_id=context.check_event_id or None,
                    **self._named(),
                )
            )
            if stops and remaining > 0 and self.ask is not None:
                remaining -= 1
                self.record(unlogged)
                unlogged = []
                if self._is_settled(question, self.ask):
                    context.resolved_conflicts.append(conflict)
                    continue
            if self.files is not None:  # nobody can answer what is not logged
                context.questions.append(question)
            stays.append(conflict)
        drafts = (it for it in context.drafts if not self.glossary.history(it.surface.surface_text))
        self.record([*unlogged, *map(self._draft, drafts)])
        context.conflicts = stays

    def _fields(self) -> list[Field]:
        context = self.context
        return scanned_fields(context.step_input or {}, context.step_output, context.metadata)

    def _named(self) -> dict[str, Any]:
        """Return the fields of an event about the step."""
        names = ("step_id", "mission_id", "run_id")
        return {name: getattr(self.context, name) for name in names} | {"timestamp": self.now()}

    def _checkpoint(self) -> None:
        """Store what the step needs to resume, and name its token; a restored step keeps its token."""
        context = self.context
        earlier = self.checkpoint if context.is_restored else None
        context.retry_token = earlier.retry_token if earlier else None
        if self.files is None or not self.keeps_steps:
            return
        token = context.retry_token or str(uuid4())
        try:
            # The state is saved before the event that names it, so that each logged token has a state.
            stored = earlier.state_digest if earlier else save_state(self.files.events, token, context)
            checkpoint = StepCheckpointed(
                strictness=self.strictness,
                scope_refs=self.glossary.scope_refs,
                input_hash=hash_inputs(context.inputs),
                cursor="pre_generation_gate",
                retry_token=token,
                step_digest=digest_of(context),
                state_digest=stored,
                **self._named(),
            )
            if self.record([checkpoint]):
                context.retry_token = token
        except VocabgapError as error:
            context.notes.append(f"no checkpoint was written: {error.message}")

    def _is_settled(self, question: Question, ask: Ask) -> bool:
        """Ask a question, and store the answer in the newest glossary; tell whether it settles the term."""
        try:
            answer = ask(question)
            with ExitStack() as lock:
                self._load_newest(lock)
                changes = answered(
                    self.glossary,
                    answer,
                    question.term,
                    question.candidates,
                    mode=ResolutionMode.INTERACTIVE,
                    conflict_id=question.conflict_id,
                    usage=question.conflict.usage,
                    actor=self.actor,
                    now=self.now(),
                )
                is_stored = bool(self.record(changes))
        except InvalidInputError as error:
            self.context.refused.append(f"'{question.term}': {error}")
            self.context.notes.append(f"not accepted: {self.context.refused[-1]}")
            return False
        except Exception as error:  # a terminal that fails must not let the step pass
            self.context.notes.append(f"'{question.term}' was not asked: {type(error).__name__}: {error}")
            return False
        return is_stored and is_settled(self.glossary, question.term, question.conflict.usage)

    def _load_newest(self, lock: ExitStack) -> None:
        """Lock and reload the glossary; add a note if that fails."""
        try:
            if self.files is not None:
                lock.enter_context(changing(self.files.events))
                self.glossary = self.files.load(self.context.mission_id).glossary
        except VocabgapError as error:
            self.context.notes.append(f"the newest answers of others could not be read: {error.message}")

    def _draft(self, term: ExtractedTerm) -> GlossaryEvent:
        surface = term.surface.surface_text
        return added(
            self.glossary,
            surface,
            f"{PLACEHOLDER} Found as '{term.original}' in {term.context or 'a step'}.",
            actor=SERVICE,
            now=self.now(),
            source=EXTRACTED,
            confidence=term.confidence,
            status=SenseStatus.DRAFT,
        )
