"""Tools of the MCP server for agents at the gate: check a text, answer its questions, and resume."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final

from msgspec import NODEFAULT, Meta

from vocabgap.doors.mcp.tools import Limit, Rows, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Answer
from vocabgap.errors import InvalidInputError
from vocabgap.glossary import checks
from vocabgap.glossary.events import Actor, ActorType
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import as_they_stand, questions_of
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.session import ExecutionContext
from vocabgap.model.moments import iso

_QUESTIONS: Final = Rows("question")


def _given(name: str, kind: Any, meaning: str, default: Any = None) -> tuple[str, Any, Any]:  # noqa: ANN401
    return name, Annotated[kind, Meta(description=meaning)], default


def _runtime(workspace: Workspace) -> GlossaryRuntime:
    settings = workspace.settings.of(GlossarySettings)
    if settings.folder is None:
        hint = "start it with --glossary, or set `folder` under [glossary] in its settings"
        raise InvalidInputError("the server has no glossary", hint=hint)
    runtime = configured_runtime(settings, actor=Actor("agent:mcp", ActorType.LLM, "agent"))
    runtime.require_folder()
    return runtime


def _answer(step: ExecutionContext, run: Callable[[], object]) -> Answer:
    answer = checks.answer_of(step, run, str)
    return replace(answer, result={**answer.result, "meanings": step.meanings, "notes": step.notes})


_CHECK: Final = (
    _given("text", str, "The text of the step.", NODEFAULT),
    _given("step", str, "The name of the step.", "check"),
    _given("mission", str, "Also use the senses of this mission.", "check"),
    _given("critical", bool, "False only if a wrong word does no harm.", True),
)


@tool(checks.check, Limit.WRITE, _CHECK, _QUESTIONS, "glossary")
def glossary_check(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Check the words of a text before you act on it.

    If `blocked` is true, do not go on: show the questions to the person, give the answers with
    glossary_answer, then call glossary_resume with the `retry_token`.
    """
    runtime = _runtime(workspace)
    inputs, metadata = {"description": request.text}, {"critical_step": request.critical}
    step = ExecutionContext(request.step, request.mission, f"run-{iso(runtime.now())}", inputs, metadata)
    return _answer(step, partial(runtime.run, step))


_ANSWER: Final = (
    _given("conflict", str, "The conflict_id of the question.", NODEFAULT),
    _given("select", int | None, "The number of the candidate that is meant, from 1."),
    _given("define", str | None, "A new definition of the term."),
    _given("no_term", bool, "True if it is no term.", False),
    _given("mission", str | None, "Only questions of this mission."),
)


@tool(checks.resolve, Limit.WRITE, _ANSWER, Rows(), "glossary")
def glossary_answer(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Answer a question of glossary_check with one of `select`, `define` and `no_term`."""
    runtime = _runtime(workspace)
    events = (logged.event for logged in read_events(runtime.logs).events)
    questions = as_they_stand(questions_of(events), lambda mission: runtime.load(mission).glossary)
    return checks.answered(runtime, questions, request, _nobody)


def _nobody(*_: object) -> None:
    raise InvalidInputError("there is no answer", hint="give one of select, define and no_term")


_RESUME: Final = (
    _given("token", str, "The retry_token of glossary_check.", NODEFAULT),
    _given("text", str | None, "The text of the step; by default the stored one."),
)


@tool(checks.resume, Limit.WRITE, _RESUME, _QUESTIONS, "glossary")
def glossary_resume(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Check a blocked step again, after its questions were answered."""
    runtime = _runtime(workspace)
    inputs = None if request.text is None else {"description": request.text}
    step = runtime.stopped(request.token, inputs)
    return _answer(step, partial(runtime.run, step))
