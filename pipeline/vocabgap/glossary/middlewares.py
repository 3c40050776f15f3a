"""The middlewares that check a step: restore, extract terms, check them, guard the gate, and clarify.

A step passes the gate only in one of these ways; everything else stops it, or aborts the run:

1. not checked: the step or its mission says so (`glossary_check`, `enabled`);
2. off: the first strictness that is given is `off`, and the folder of the glossary exists;
3. nothing stops it: the whole glossary was read, and no conflict has a severity that the strictness stops.
   Files in inner folders, hidden files and an unfinished last line of a log do not belong to it;
4. answered: an answer to each such conflict was checked and stored, and 3 holds for the newest glossary.
   With `is_logged=False`, the answer is for this run only, and the glossary is not read again;
5. resumed: everything that is checked has the digest of the checkpoint, each scope of its glossary still
   exists, and 2, 3 or 4 holds now;
6. resumed with changes: the old text is still there, `confirm` returns True, and 2, 3 or 4 holds;
7. a report: the settings name no glossary, or 2 or 3 holds;
8. not looked for: `glossary_fields` (by default `description`, `prompt` and `output`), `glossary_signs`,
   `glossary_exclude_terms` or `glossary_aliases` leaves the word out. An entry of a wrong type hides nothing.
   A critical step whose input has texts, but none in these default fields, is refused;
9. not seen: the word is in a path, address or identifier (`lift=1`, `lift.Then`), or a script without spaces.
"""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final
from uuid import uuid4

from vocabgap.errors import Hint, VocabgapError
from vocabgap.glossary import events, senses, session
from vocabgap.glossary.conflicts import BlockedByConflictError, check, should_block, verdict
from vocabgap.glossary.extension import FOLDER
from vocabgap.glossary.extracting import Field, extract, scanned_fields, texts_in
from vocabgap.glossary.glossary import Glossary, added
from vocabgap.glossary.loading import append_events, changing, identified
from vocabgap.glossary.questions import Ask, Question, answered, is_settled, question_of

MOST_ASKED: Final = 3  # questions that one run asks


@dataclass
class Session:
    """One run of a step through the middlewares.

    Attributes:
        context: A copy of the step, because `ask` and `confirm` may change the step itself.
        runtime: The runtime that checks the step; its module imports this one.
        state: The step as it was stopped; None if its text is gone.
    """

    runtime: Any
    strictness: senses.Strictness
    context: session.ExecutionContext
    glossary: Glossary
    checkpoint: events.StepCheckpointed | None
    state: session.ExecutionContext | None
    ask: Ask | None
    confirm: session.Confirm | None

    def run(self) -> None:
        """Take the step through all middlewares."""
        self.restore()
        self.extract_terms()
        self.check_terms()
        if self.stops():
            self._checkpoint()
        is_asked = self.ask is not None and self.stops()
        self.clarify()
        if is_asked:  # others may have changed the glossary meanwhile
            self.ask = None
            self._load_newest()
            self.extract_terms()
            self.check_terms()
            self.clarify()
        self.guard()

    def stops(self) -> bool:
        """Tell whether the conflicts stop the step."""
        return should_block(self.strictness, (conflict.severity for conflict in self.context.conflicts))

    def record(self, new: Iterable[events.GlossaryEvent]) -> list[events.GlossaryEvent]:
        """Log events, apply them to the glossary, and return them; none if they cannot be logged."""
        mission, files, logged = self.context.mission_id, self.runtime.files, list(map(identified, new))
        if self.runtime.is_logged:
            try:
                self.runtime.require_folder()  # which a writer creates
                if any(isinstance(event, events.GlossaryChange) for event in logged):
                    logged = files.append_changes(mission, logged)
                else:
                    append_events(files.events, mission, logged)
            except VocabgapError as error:
                self.context.notes.append(f"not logged: {error.message}")
                return []
        self.glossary = self.glossary.applied(logged)
        return logged

    def restore(self) -> None:
        """Restore a step from the checkpoint of its token.

        A step that is the same is not logged again. A changed one starts again if a person confirms it.
        An edited scope may settle the questions; a scope that is gone would hide them.
        """
        context, checkpoint, state = self.context, self.checkpoint, self.state
        if not context.retry_token:
            return
        if checkpoint is None:
            context.notes.append(f"there is no checkpoint '{context.retry_token}'; the step starts again")
            context.retry_token = None
            return
        is_same = session.digest_of(context) == checkpoint.step_digest
        context.scope_refs = self.glossary.scope_refs
        is_gone = not {ref.scope for ref in checkpoint.scope_refs} <= {it.scope for it in context.scope_refs}
        for ref in checkpoint.scope_refs:
            try:
                if ref not in context.scope_refs:
                    self.runtime.files.load_version(ref.version_id)
            except VocabgapError as error:
                context.notes.append(f"{ref.scope}: {error.message}")
        if is_gone or not is_same:
            self._require_confirmed(checkpoint)
        context.scope_refs = checkpoint.scope_refs
        context.resumed_from_checkpoint = True
        if is_same and state is not None:
            context.extracted_terms = state.extracted_terms
            context.check_event_id = state.check_event_id
            context.is_restored = True

    def _require_confirmed(self, checkpoint: events.StepCheckpointed) -> None:
        """Raise AbortResumeError if nobody confirms a changed step, or its old text is gone."""
        again = Hint("{} checks the text as a new step", (("glossary", "check"),), FOLDER)
        if self.state is None:
            raise session.AbortResumeError("the step is done, or its text is gone", hint=again)
        if self.confirm is None:
            message = "the step has changed since it was stopped, and nobody confirmed it"
            raise session.AbortResumeError(message, hint=again)
        self.state.scope_refs = checkpoint.scope_refs
        if self.confirm(session.changes_of(checkpoint.input_hash, self.state, self.context)) is not True:
            raise session.AbortResumeError("User declined resumption due to context change")
        self._load_newest()  # others may have changed the glossary meanwhile

    def extract_terms(self) -> None:
        """Find the terms in the texts of the step; log those that are not logged yet."""
        context, glossary = self.context, self.glossary
        found = extract(self._fields(), context.metadata, glossary.known, glossary.no_terms)
        earlier = {term.surface: term for term in context.extracted_terms}
        terms = ({term.surface: term for term in found.terms} | earlier).values()
        remaining = (term for term in terms if not glossary.is_no_term(term.surface.surface_text))
        context.extracted_terms = sorted(remaining, key=lambda term: term.place)
        context.drafts = found.drafts
        fields = self._named()
        step_id = fields.pop("step_id")
        self.record(
            events.TermCandidateObserved(
                term=term.surface.surface_text,
                source_step=step_id,
                actor_id=session.SERVICE.actor_id,
                confidence=term.confidence,
                extraction_method=term.source,
                context=term.context,
                **fields,
            )
            for term in context.extracted_terms
            if term.surface not in earlier
        )

    def check_terms(self) -> None:
        """Find the conflicts of the step; log them if they are new, or the glossary of a restored step is."""
        context, before, refs = self.context, self.context.conflicts, self.glossary.scope_refs
        context.conflicts = check(
            context.extracted_terms,
            self.glossary,
            critical=bool(context.metadata.get("critical_step")),
            output="\n".join(chain.from_iterable(map(texts_in, context.step_output.values()))),
            texts=(field.text for field in self._fields()),
        )
        is_known = refs == context.scope_refs or all(conflict in before for conflict in context.conflicts)
        context.scope_refs = context.scope_refs or refs
        if context.check_event_id and is_known:
            return
        evaluated = events.SemanticCheckEvaluated(
            findings=tuple(context.conflicts),
            effective_strictness=self.strictness.value,
            **verdict(context.conflicts, self.strictness),
            **self._named(),
        )
        for event in self.record([evaluated]):
            context.check_event_id = event.event_id

    def guard(self) -> None:
        """Add the results to the step; log a block and raise an error if the conflicts stop it."""
        context, conflicts = self.context, self.context.conflicts
        names = [term.surface.surface_text for term in context.extracted_terms]
        meanings = {name: self.glossary.meaning(name) for name in names}
        context.meanings = {name: sense.definition for name, sense in meanings.items() if sense is not None}
        still, resolved = {(it.term, it.usage) for it in conflicts}, context.resolved_conflicts
        context.resolved_conflicts = [it for it in resolved if (it.term, it.usage) not in still]
        context.questions = [question for question in context.questions if question.conflict in conflicts]
        context.is_stopped = self.stops()
        if not context.is_stopped:
            return
        blocked = events.GenerationBlockedBySemanticConflict(
            conflicts=tuple(conflicts),
            strictness_mode=self.strictness.value,
            effective_strictness=self.strictness.value,
            refused=tuple(context.refused),
            **self._named(),
        )
        self.record([blocked])
        token, number = context.retry_token or "", len(conflicts)
        high = sum(should_block(senses.Strictness.MEDIUM, [it.severity]) for it in conflicts)
        detected = f"{number} unresolved semantic conflict(s) detected"
        if high:
            detected = f"{high} high-severity semantic conflict(s) detected (out of {number} total)"
        message = f"Generation blocked: {detected}. Resolve conflicts before proceeding."
        hint: str | Hint = "nothing was logged; to answer the questions, name the step with --step"
        if self.runtime.is_logged:
            folder = () if self.runtime.is_configured else ("--glossary", str(self.runtime.folder))
            commands = [(*question.command, *folder) for question in context.questions[:1]]
            first = "answer with {}" if commands else "mend what the notes say, as nothing could be logged"
            commands += [("glossary", "resume", token, *folder)] if token else []
            hint = Hint(f"{first}, then {'{}' if token else 'try again'}", tuple(commands), FOLDER)
        raise BlockedByConflictError(conflicts, self.strictness, message, retry_token=token, hint=hint)

    def clarify(self) -> None:
        """Ask or log the new questions of the step, the worst first.

        A conflict is a question if it stops the step, has high severity, or is ambiguous. If somebody can
        answer, up to `MOST_ASKED` that stop it are asked; the others stay open. Weak finds become drafts.
        """
        context, remaining = self.context, MOST_ASKED
        sources = {term.surface: term.source for term in context.extracted_terms}
        unlogged: list[Question] = []  # logged together, because each write waits for the disk
        for conflict in sorted(context.conflicts, key=lambda it: it.place):
            stops = should_block(self.strictness, [conflict.severity])
            is_ambiguous = conflict.conflict_type is senses.ConflictType.AMBIGUOUS
            if not (stops or conflict.severity is senses.Severity.HIGH or is_ambiguous):
                continue
            question = question_of(conflict, context.mission_id, self.glossary, sources[conflict.term])
            if question in context.questions:
                continue
            unlogged.append(question)
            if stops and remaining > 0 and self.ask is not None:
                remaining -= 1
                self._request(unlogged)
                unlogged = []
                if self._is_settled(question, self.ask):
                    context.resolved_conflicts.append(conflict)
        drafts = (it for it in context.drafts if not self.glossary.history(it.surface.surface_text))
        self._request(unlogged, map(self._draft, drafts))

    def _request(self, questions: list[Question], drafts: Iterable[events.GlossaryEvent] = ()) -> None:
        """Log questions and drafts; nobody can answer a question that is not logged."""
        requested = (
            events.GlossaryClarificationRequested(
                question=question.text,
                term=question.term,
                options=tuple(sense.definition for sense in question.candidates),
                urgency=question.conflict.severity,
                conflict_id=question.conflict_id,
                semantic_check_event_id=self.context.check_event_id or None,
                **self._named(),
            )
            for question in questions
        )
        if self.record([*requested, *drafts]) and self.runtime.is_logged:
            self.context.questions += questions

    def _fields(self) -> list[Field]:
        context = self.context
        return scanned_fields(context.scanned, context.step_output, context.metadata)

    def _named(self) -> dict[str, Any]:
        """Return the fields of an event about the step."""
        names = ("step_id", "mission_id", "run_id")
        return {name: getattr(self.context, name) for name in names} | {"timestamp": self.runtime.now()}

    def _checkpoint(self) -> None:
        """Store what the step needs to resume, and name its token; a restored step keeps its token."""
        context, runtime = self.context, self.runtime
        earlier = self.checkpoint if context.is_restored else None
        context.retry_token = earlier.retry_token if earlier else None
        if not (runtime.is_logged and runtime.keeps_steps):
            return
        token = context.retry_token or str(uuid4())
        try:
            # The state is saved before the event that names it, so that each logged token has a state.
            stored = earlier.state_digest if earlier else session.save_state(runtime.logs, token, context)
            checkpoint = events.StepCheckpointed(
                strictness=self.strictness,
                scope_refs=self.glossary.scope_refs,
                input_hash=session.hash_inputs(context.inputs),
                cursor="pre_generation_gate",
                retry_token=token,
                step_digest=session.digest_of(context),
                state_digest=stored,
                **self._named(),
            )
            if self.record([checkpoint]):
                context.retry_token = token
        except VocabgapError as error:
            context.notes.append(f"no checkpoint was written: {error.message}")

    def _is_settled(self, question: Question, ask: Ask) -> bool:
        """Ask a question, and store the answer in the newest glossary; tell whether it settles the term."""
        runtime = self.runtime
        try:
            answer = ask(question)
            runtime.require_folder()
            with changing(runtime.logs) if runtime.is_logged else nullcontext():
                self._load_newest()
                facts = {"actor": runtime.actor, "now": runtime.now(), "usage": question.conflict.usage}
                changes = answered(self.glossary, answer, question, question.candidates, **facts)
                is_stored = bool(self.record(changes))
        except Exception as error:  # a terminal that fails must not let the step pass
            message = f"'{question.term}': {error if isinstance(error, VocabgapError) else repr(error)}"
            self.context.refused.append(message)
            self.context.notes.append(f"not accepted: {message}")
            return False
        return is_stored and is_settled(self.glossary, question.term, question.conflict.usage)

    def _load_newest(self) -> None:
        """Load the glossary again, with the answers of others."""
        if self.runtime.is_logged:
            self.glossary = self.runtime.load_whole(self.context.mission_id).glossary

    def _draft(self, term: senses.ExtractedTerm) -> events.GlossaryEvent:
        surface = term.surface.surface_text
        return added(
            self.glossary,
            surface,
            f"{senses.PLACEHOLDER} Found as '{term.original}' in {term.context or 'a step'}.",
            actor=session.SERVICE,
            now=self.runtime.now(),
            source=senses.EXTRACTED,
            confidence=term.confidence,
            status=senses.SenseStatus.DRAFT,
        )
