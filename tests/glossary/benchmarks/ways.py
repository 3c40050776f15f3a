"""Random answers and interrupted steps against the table of ways through the gate.

The table is in `vocabgap.glossary.middlewares`. Here it is written again, as a model that knows no code of
the gate: each word of a text has some meanings, each answer needs some candidates, and each trouble takes
something away. A walk runs a step and mostly resumes it. It fails if the step passes though the model does
not allow it, or the other way round, or if an accepted answer is not in the log.
Run `PYTHONPATH=tests python -m glossary.benchmarks.ways 10000`.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from glossary.steps import LIFT, STAIN, runtime_in, write_scope
from vocabgap.errors import StateError, VocabgapError
from vocabgap.glossary.events import GlossaryChange, StepCheckpointed
from vocabgap.glossary.loading import load_checkpoint, read_events
from vocabgap.glossary.middlewares import Session
from vocabgap.glossary.questions import Defer, Define, NoTerm, Question, Select, questions_of
from vocabgap.glossary.senses import EXTRACTED, Strictness
from vocabgap.glossary.session import ExecutionContext, state_path

SENSES: Final = {"lift": (LIFT, STAIN), "stain": (STAIN, LIFT), "mask": ("A region",)}
# The words of each text: unknown ones and those with meanings.
TEXTS: Final = {
    "Please lift it.": ("lift",),
    'Use the "gobo".': ("gobo",),
    'Lift the stain, then the "gobo".': ("lift", "stain", "gobo"),
    "The mask stays.": ("mask",),
    "Nothing to do here.": (),
}
NEVER: Final = 99


class Other(Select):
    """A class that looks like an answer."""


NO_ANSWERS: Final[list[Any]] = [
    Defer(), None, "1", 1, True, Defer, Select, NoTerm, (0,), [], ("select", 0), {"place": 0}, Other(0),
    Select(2), Select(-1), Select(True), Select(1.0), Select("0"), Select(None),  # type: ignore[arg-type]
    Define(""), Define("  "), Define("\u200b"), Define("No definition yet."), Define("NOT A TERM"),
    Define(None), Define(7), Define("\ud800"), Define(b"x"),  # type: ignore[arg-type]
    OSError("no terminal"), KeyboardInterrupt(),
]  # fmt: skip
# Answers, each with the number of candidates that it needs. A question has none or two.
ANSWERS: Final[list[tuple[Any, int]]] = [
    (Select(0), 1),
    (Select(1), 2),
    (Define("Brighten the eyes"), 0),
    (NoTerm(), 0),
    *((answer, NEVER) for answer in NO_ANSWERS),
]
CONFIRMATIONS: Final[list[Any]] = [None, False, True, True, 1, "yes", "no", [True]]


class Walk:
    """A step with its glossary, and the model of both.

    Whoever is asked may change the step, or damage the glossary.
    """

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng = rng
        self.edition = 0
        self.folder = folder
        self.write_seeds()
        self.runtime = runtime_in(folder)
        self.settled = {"mask"}
        self.accepted = 0  # answers
        self.fails = False  # no answer can be stored
        self.is_damaged = False  # the state of the step
        self.repair: Callable[[], object] | None = None  # of the damaged glossary
        self.used: ExecutionContext | None = None  # the step that a run has

    def write_seeds(self) -> None:
        terms = [(term, meaning) for term in SENSES for meaning in SENSES[term]]
        write_scope(self.folder, [*terms, (f"edition {self.edition}", "A version of this file")])

    def run(self) -> list[str]:
        """Run a step, and resume it if it was stopped; return what the table does not allow."""
        rng = self.rng
        critical, strictness = rng.random() < 0.7, rng.choice([*Strictness, Strictness.MEDIUM])
        text, output = rng.choice([*TEXTS]), rng.choice(["", *TEXTS])
        metadata: dict[str, Any] = {"critical_step": critical}
        if (unchecked := rng.random() < 0.05) or rng.random() < 0.2:
            metadata["glossary_check"] = not unchecked
        if rng.random() < 0.05:
            self.damage()
        self.used = step = self.step(text, output, metadata)
        problems = self.tried(
            "run",
            lambda: self.may_pass(text, output, critical, strictness) or unchecked,
            lambda ask: self.runtime.run(step, strictness=strictness, ask=ask),
            kills=rng.random() < 0.1,
        )
        self.mend()
        checkpoint = load_checkpoint(self.runtime.logs)
        if (
            checkpoint is None and not unchecked
        ):  # nothing has stopped it: it is used for another text
            text = rng.choice([*TEXTS])
            problems += self.tried(
                "run again",
                lambda: self.may_pass(text, output, critical, strictness),
                lambda ask: self.runtime.run(
                    self.reused(text, output, metadata), strictness=strictness, ask=ask
                ),
            )
            self.mend()
        for _ in range(rng.choice([0, 1, 2]) if checkpoint else 0):
            assert checkpoint is not None
            self.answer_later()
            if rng.random() < 0.1:
                self.edition += 1
                self.write_seeds()
            if rng.random() < 0.1:
                self.damage()
            problems += self.resume(checkpoint.retry_token, text, output, metadata, strictness)
            self.mend()
        return problems + self.lost()

    def step(self, text: str, output: str, metadata: dict[str, Any]) -> ExecutionContext:
        outputs = {"output": output} if output else {}
        return ExecutionContext(
            "develop",
            "retouch",
            "run-1",
            {"description": text},
            dict(metadata),
            step_output=outputs,
        )

    def reused(self, text: str, output: str, metadata: dict[str, Any]) -> ExecutionContext:
        """Return the used step with what is given, and with the results of its last run."""
        assert self.used is not None
        new = self.step(text, output, metadata)
        for name in ("mission_id", "inputs", "step_input", "step_output", "metadata", "config"):
            setattr(self.used, name, getattr(new, name))
        return self.used

    def damage(self) -> None:
        """Damage the glossary, if it is whole."""
        folder, log = self.folder, self.runtime.logs / "a.events.jsonl"
        if self.repair is not None:
            return
        match self.rng.choice(["folder", "log", "entry", "name"]):
            case "folder":
                moved = folder.with_name("moved")
                folder.rename(moved)
                self.repair = lambda: moved.rename(folder)
            case "log":
                log.parent.mkdir(exist_ok=True)
                log.write_bytes(b'{"event_type": "GlossarySenseUpd\n')
                self.repair = log.unlink
            case "entry":
                path = folder / "team_domain.yaml"
                path.write_bytes(
                    path.read_bytes() + b"  - surface: WP\n    definition: upper case\n"
                )
                self.repair = self.write_seeds
            case "name":
                path = folder / "team-domain.yaml"
                path.write_bytes(b"terms: []\n")
                self.repair = path.unlink

    def mend(self) -> None:
        """Repair the glossary; leave a log as a killed writer does."""
        if self.repair is not None:
            self.repair()
            self.repair = None
        log = self.runtime.logs / "retouch.events.jsonl"
        if log.exists() and self.rng.random() < 0.1:
            log.write_bytes(log.read_bytes() + b'{"event_type": "GlossarySenseUpd')

    def may_pass(self, text: str, output: str, critical: bool, strictness: Strictness) -> bool:
        """Ways 2 to 4: off, or the glossary is whole and nothing is left that stops the step."""
        terms = {*TEXTS[text], *(TEXTS[output] if output else ())} - self.settled
        severe = critical and terms & SENSES.keys()
        passes = {"off": True, "medium": not severe, "max": not terms}[strictness.value]
        is_off = strictness is Strictness.OFF and self.folder.exists()
        return passes and (self.repair is None or is_off)

    def tried(
        self,
        name: str,
        may_pass: Callable[[], bool],
        go: Callable[[Callable[[Question], Any] | None], object],
        *,
        kills: bool = False,
    ) -> list[str]:
        """Go through the gate once; return what differs from the model."""
        self.fails = self.rng.random() < 0.15
        error: BaseException | None = None
        try:
            with self.troubled(kills=kills):
                go(self.ask if self.rng.random() < 0.8 else None)
        except (VocabgapError, KeyboardInterrupt) as raised:
            error = raised
        interrupted = isinstance(error, KeyboardInterrupt)
        passed, allowed = error is None, may_pass()
        self.fails = False
        if passed == allowed or (interrupted and not passed):
            return []
        return [f"{name}: passed {passed}, allowed {allowed}: {error!r}"]

    def troubled(self, *, kills: bool) -> Any:  # noqa: ANN401 - a patch
        record, append = Session.record, self.runtime.files.append_changes

        def recording(session: Session, events: Any) -> Any:  # noqa: ANN401
            listed = list(events)
            checkpoints = [each for each in listed if isinstance(each, StepCheckpointed)]
            if kills and checkpoints:
                raise KeyboardInterrupt
            return record(session, listed)

        def appending(mission: str, events: Any) -> Any:  # noqa: ANN401
            if self.fails:
                raise StateError("the disk is full")
            return append(mission, events)

        setattr(self.runtime.files, "append_changes", appending)  # noqa: B010 - a method
        return patch.object(Session, "record", recording)

    def ask(self, question: Question) -> Any:  # noqa: ANN401 - anything but an answer
        answer, needed = self.rng.choice(ANSWERS)
        if self.rng.random() < 0.3:
            self.loosen()
        if self.rng.random() < 0.05:
            self.damage()
        if isinstance(answer, BaseException):
            raise answer
        self.note(question.term, len(question.candidates), needed)
        return answer

    def loosen(self) -> None:
        """Change everything about the step that could let it pass."""
        if (step := self.used) is None:
            return
        for findings in (step.conflicts, step.extracted_terms, step.questions, step.inputs):
            findings.clear()
        step.is_stopped, step.effective_strictness, step.mission_id = False, Strictness.OFF, "other"
        step.metadata, step.step_output = {"glossary_check": False}, {}
        step.config = {"glossary": {"enabled": False, "strictness": "off"}}

    def note(self, term: str, candidates: int, needed: int) -> bool:
        is_accepted = needed <= candidates and not self.fails and self.repair is None
        if is_accepted:
            self.settled.add(term)
            self.accepted += 1
        return is_accepted

    def answer_later(self) -> None:
        """Answer an open question by `runtime.answer`."""
        runtime, rng = self.runtime, self.rng
        events = [logged.event for logged in read_events(runtime.logs).events]
        questions = [each for each in questions_of(events) if each.term not in self.settled]
        if not questions or rng.random() < 0.4:
            return
        question, (answer, needed) = rng.choice(questions), rng.choice(ANSWERS)
        self.fails = rng.random() < 0.15
        candidates = len(question.candidates(runtime.load().glossary))
        is_accepted = self.note(question.term, candidates, needed)
        try:
            runtime.answer(question, answer)
        except VocabgapError:
            assert not is_accepted, answer
        self.fails = False

    def trouble(self, place: Path, content: bytes) -> str:
        """Damage the state of a step, or leave it."""
        trouble = self.rng.choice(["none", "none", "none", "gone", "edited", "empty"])
        if trouble == "edited":
            place.write_bytes(content.replace(b"critical_step", b"critical_stop") + b" ")
        elif trouble == "empty":
            place.write_bytes(b"")
        elif trouble == "gone":
            place.unlink(missing_ok=True)
        self.is_damaged |= trouble != "none"
        return trouble

    def resume(
        self, token: str, text: str, output: str, metadata: dict[str, Any], strictness: Strictness
    ) -> list[str]:
        """Resume a step, perhaps with another text, after something happened to its state."""
        rng, place = self.rng, state_path(self.runtime.logs, token)
        critical = metadata["critical_step"]
        content = place.read_bytes() if place.exists() else b""
        trouble = self.trouble(place, content) if place.parent.exists() else "no folder"
        is_there = bool(content) and not self.is_damaged
        given = rng.choice([None, text, text, *TEXTS, ""])
        by_run = rng.random() < 0.4
        confirm = rng.choice(CONFIRMATIONS)
        wanted = text if given is None else given
        inputs = None if given is None else ({"description": given} if given else {})
        same = wanted == text
        if not by_run and not is_there:  # only the text of a plain critical step is known
            same = given == text and metadata == {"critical_step": True} and not output
        of_output, of_step = (output, critical) if is_there or by_run else ("", True)

        def may_pass() -> bool:
            if not (same or (is_there and confirm is True)):
                return False
            if not wanted:
                return self.may_pass("Nothing to do here.", of_output, of_step, strictness)
            return self.may_pass(wanted, of_output, of_step, strictness)

        options: dict[str, Any] = {} if confirm is None else {"confirm": lambda _: confirm}

        def go(ask: Callable[[Question], Any] | None) -> object:
            if not by_run:
                self.used = None
                return self.runtime.resume(token, inputs, ask=ask, **options)
            again = self.step(wanted, output, metadata)
            if self.used is not None and rng.random() < 0.5:
                again = self.reused(wanted, output, metadata)
            again.inputs = {"description": wanted} if wanted else {}
            again.step_input = rng.choice([None, {}, dict(again.inputs)])
            again.retry_token = token
            self.used = again
            return self.runtime.run(again, ask=ask, **options)

        return self.tried(
            f"resume ({trouble}, {given!r}, {confirm!r}, run {by_run})",
            may_pass,
            go,
        )

    def lost(self) -> list[str]:
        """Compare the accepted answers with those in the log."""
        logged = [each.event for each in read_events(self.runtime.logs).events]
        changes = [each for each in logged if isinstance(each, GlossaryChange)]
        answers = {(each.conflict_id, each.term_surface) for each in changes}
        drafts = {
            (e.conflict_id, e.term_surface)
            for e in changes
            if e.provenance and e.provenance.source == EXTRACTED
        }
        found = {term for _, term in answers - drafts}
        missing = self.settled - {"mask"} - found
        return [f"lost: {sorted(missing)}"] if missing else []


def walked(walks: int, seed: int = 0) -> Counter[str]:
    """Return the problems of some walks."""
    problems = Counter[str]()
    for number in range(walks):
        with tempfile.TemporaryDirectory() as name:
            problems.update(Walk(random.Random(seed + number), Path(name) / "words").run())
    return problems


def main() -> None:
    """Print the problems of many walks."""
    walks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    problems = walked(walks)
    print(f"{walks:,} walks: {sum(problems.values())} problems")
    for problem, times in problems.most_common(20):
        print(f"{times:6}  {problem}")


if __name__ == "__main__":
    main()
