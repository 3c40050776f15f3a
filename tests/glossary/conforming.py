"""What whole runs of the glossary come to: of its middlewares, and of its commands.

Where the published implementation does something else than its own documents say, this one follows those; a
case that records it is compared with what they have in common, and told of the difference.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import msgspec

from conforming.cases import AnyOf, Case, Noted, Operation
from glossary.conforming_values import OPERATIONS as VALUES
from glossary.conforming_values import SCOPES, read_strictness
from vocabgap.doors.cli.app import run
from vocabgap.errors import DEBUG_VARIABLE
from vocabgap.glossary.conflicts import BlockedByConflictError, strictness_of
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import Answer, Defer, Define, Question, Select
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import SemanticConflict, Strictness
from vocabgap.glossary.session import ExecutionContext
from vocabgap.model.loading import CONFIG_NAME

Input = Mapping[str, Any]
SEEDS: Final = ".kittify/glossaries"
LOGS: Final = ".kittify/events/glossary"
CHECKPOINT, BLOCKED = "StepCheckpointed", "GenerationBlockedBySemanticConflict"
REQUESTED, ACTIVATED = "GlossaryClarificationRequested", "GlossaryScopeActivated"
# The settings under which the commands find what a case has written.
SETTINGS: Final = f"""
[glossary]
folder = "{SEEDS}"
events = "{LOGS}"
scopes = {list(SCOPES.names)}
"""
ROWS: Final = (
    "sense",
    "conflict",
)  # the events that the published implementation prints as one list
FAILED: Final = (1, 2)  # its exit codes of what fails
OFF: Final = "with strictness off, a weak conflict asks nothing here"
EARLY: Final = "the checkpoint is written before anybody is asked here"


def pipeline(given: Input, _: Mapping[str, Case]) -> object:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / SEEDS).mkdir(
            parents=True
        )  # without a folder, a step is not checked here but refused
        write_files(folder, given.get("files") or {})
        write_seeds(folder / SEEDS, given.get("glossary") or ())
        runtime = GlossaryRuntime(
            folder=folder / SEEDS,
            events=folder / LOGS,
            scopes=SCOPES,
            strictness=read_strictness(folder / ".kittify/config.yaml"),
        )
        person = Person(given.get("answers") or ())
        asks = given.get("mode") == "interactive"
        context = ExecutionContext(
            given.get("step_id", "step"),
            given.get("mission_id", "mission"),
            given.get("run_id", "run"),
            given.get("inputs") or {},
            given.get("metadata") or {},
            given.get("config") or {},
            step_output=given.get("outputs") or {},
        )
        message = None
        try:
            runtime.run(
                context,
                strictness=strictness_of(given.get("runtime")),
                ask=person if asks else None,
            )
        except BlockedByConflictError as error:
            message = error.message
        listed = [type(each.event).__name__ for each in read_events(folder / LOGS).events]
        events = [
            name for name in listed if name != ACTIVATED
        ]  # the cases leave out the start of a run
    observed = {
        "blocked": message is not None,
        "strictness": context.effective_strictness and context.effective_strictness.value,
        "conflicts": told(context.conflicts),
        "events": events,
        "prompted": person.asked,
        "resolved": [each.term.surface_text for each in context.resolved_conflicts],
        "message": message,
    }
    if context.effective_strictness is Strictness.OFF and REQUESTED not in events:
        return Noted({**observed, "events": AnyOf([*events, REQUESTED])}, OFF)
    if CHECKPOINT in events:
        return Noted({**observed, "events": checkpoint_last(events)}, EARLY)
    return observed


def checkpoint_last(events: list[str]) -> list[str]:
    """The events with the checkpoint where the published implementation writes it: when a step is blocked."""
    others = [event for event in events if event != CHECKPOINT]
    if BLOCKED in others:
        others.insert(others.index(BLOCKED), CHECKPOINT)
    return others


def told(conflicts: Iterable[SemanticConflict]) -> list[list[str]]:
    return [
        [each.term.surface_text, each.conflict_type.value, each.severity.value]
        for each in conflicts
    ]


class Person:
    """Somebody who gives the answers of a case in their order, and then none."""

    def __init__(self, answers: Iterable[Sequence[Any]]) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    def __call__(self, question: Question) -> Answer:
        self.asked.append(question.term)
        answer: Sequence[Any] = next(self._answers, ("defer", None))
        kind, value = answer
        if kind == "raise":
            raise RuntimeError("the prompt fails")
        if kind == "select":
            return Select(value)
        return Define(value) if kind == "custom" else Defer()


def write_seeds(folder: Path, terms: Iterable[Mapping[str, Any]]) -> None:
    """Write the senses of a case to the seed files of their scopes."""
    scopes: dict[str, list[dict[str, Any]]] = {}
    for term in terms:
        fields = {"status": "active", **term}
        scopes.setdefault(fields.pop("scope", "team_domain"), []).append(fields)
    for scope, listed in scopes.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{scope}.yaml").write_bytes(msgspec.json.encode({"terms": listed}))


def write_files(folder: Path, files: Mapping[str, Any]) -> None:
    """Write the files of a case: text, or events one a line; null is an empty folder."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (
            [content]
            if isinstance(content, str)
            else [msgspec.json.encode(each).decode() + "\n" for each in content]
        )
        path.write_text("".join(lines), encoding="utf-8")


def command(given: Input, _: Mapping[str, Case]) -> object:
    arguments = [each for each in given["argv"] if each != "--json"]
    as_json = len(arguments) < len(given["argv"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, given.get("files") or {})
        (folder / CONFIG_NAME).write_text(SETTINGS, encoding="utf-8")
        before = read_events(folder / LOGS).events
        code, out, err = printed(
            folder,
            [*(["--json"] if as_json else []), "glossary", *arguments],
            given.get("stdin", ""),
        )
        new = [each.event for each in read_events(folder / LOGS).events if each not in before]
    text = out + err
    observed = {
        "contains": Parts(text),
        "contains_ci": Parts(text, in_any_case=True),
        "excludes": Parts(text, are_there=False),
        "new_events": [type(each).__name__ for each in new],
        "last": msgspec.to_builtins(new[-1]) if new else None,
    }
    if as_json:
        events = [msgspec.json.decode(line) for line in out.splitlines()]
        rows = [each for each in events if each["event"] in ROWS]
        observed["json"] = AnyOf(
            [without(row, "schema_version", "event") for row in rows], events[-1]
        )
    if code:
        return Noted(
            {**observed, "exit": AnyOf(code, *FAILED)},
            f"exit code {code} here, where codes say why",
        )
    return {**observed, "exit": 0}


def printed(folder: Path, arguments: Sequence[str], typed: str) -> tuple[int, str, str]:
    """The exit code of a command that is called in some folder, and what it prints; a bug is an error."""
    out, err = io.StringIO(), io.StringIO()
    variables = {"COLUMNS": "200", DEBUG_VARIABLE: "1"}
    with (
        chdir(folder),
        patch.dict("os.environ", variables),
        patch("sys.stdin", io.StringIO(typed)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


class Parts:
    """A text of which a case lists parts, that are to be there or not."""

    def __init__(self, text: str, *, in_any_case: bool = False, are_there: bool = True) -> None:
        self.values = text
        self._in_any_case, self._are_there = in_any_case, are_there

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list):
            return NotImplemented
        text = self.values.lower() if self._in_any_case else self.values
        parts = [part.lower() if self._in_any_case else part for part in other]
        return all((part in text) is self._are_there for part in parts)

    __hash__ = object.__hash__


def without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


OPERATIONS: Final[Mapping[str, Operation]] = {**VALUES, "pipeline": pipeline, "cli": command}
