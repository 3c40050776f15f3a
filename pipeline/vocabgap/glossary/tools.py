"""Tools of the MCP server for agents at the gate: check a text, answer its questions, and resume."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from msgspec import NODEFAULT, structs

from vocabgap.doors.mcp.tools import Limit, Rows, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Answer, Fields, Request
from vocabgap.errors import InvalidInputError, require_text
from vocabgap.glossary import checks
from vocabgap.glossary.commands import standing_questions
from vocabgap.glossary.events import Actor, ActorType
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.session import ExecutionContext
from vocabgap.model.moments import iso

_QUESTIONS: Final = Rows("question")


def _fields(request: type[Request], **defaults: Any) -> Fields:  # noqa: ANN401
    """Return some fields of a command's request, with the defaults of the tool."""
    kinds = {field.name: field.type for field in structs.fields(request)}
    return [(name, kinds[name], default) for name, default in defaults.items()]


def _runtime(workspace: Workspace) -> GlossaryRuntime:
    settings = workspace.settings.of(GlossarySettings)
    if settings.folder is None:
        hint = "start it with --glossary, or set `folder` under [glossary] in its settings"
        raise InvalidInputError("the server has no glossary", hint=hint)
    return configured_runtime(settings, actor=Actor("agent:mcp", ActorType.LLM, "agent"))


def _answer(step: ExecutionContext, run: Callable[[ExecutionContext], object]) -> Answer:
    answer = checks.answer_of(step, partial(run, step), str)
    return replace(answer, result={**answer.result, "meanings": step.meanings, "notes": step.notes})


_CHECK: Final = _fields(checks.CheckWords, text=NODEFAULT, step="check", mission="check", critical=True)


@tool(checks.check, Limit.WRITE, _CHECK, _QUESTIONS, "glossary")
def glossary_check(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Check the words of a text before you act on it.

    If `blocked` is true, do not go on: show the questions to the person, give the answers with
    glossary_answer, then call glossary_resume with the `retry_token`.
    """
    runtime = _runtime(workspace)
    require_text("text", request.text)
    inputs, metadata = {"description": request.text}, {"critical_step": request.critical}
    step = ExecutionContext(request.step, request.mission, f"run-{iso(runtime.now())}", inputs, metadata)
    return _answer(step, runtime.run)


_ANSWER: Final = _fields(
    checks.Resolve, conflict=NODEFAULT, select=None, define=None, no_term=False, mission=None
)


@tool(checks.resolve, Limit.WRITE, _ANSWER, Rows(), "glossary")
def glossary_answer(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Answer a question of glossary_check with one of `select`, `define` and `no_term`."""
    runtime = _runtime(workspace)
    return checks.answered(runtime, standing_questions(runtime, None)[0], request)


@tool(checks.resume, Limit.WRITE, _fields(checks.Resume, token=NODEFAULT), _QUESTIONS, "glossary")
def glossary_resume(workspace: Workspace, request: Any) -> Answer:  # noqa: ANN401
    """Check a blocked step again, with its text, after its questions were answered."""
    runtime = _runtime(workspace)
    return _answer(runtime.stopped(request.token), runtime.run)
