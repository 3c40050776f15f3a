"""Adapters: turn the files of agents and traces into one plain object per call of a tool.

An adapter reads the values of a file (its lines, its document or its rows), and yields one object per call,
with the keys of `_call`. A source names its adapter. The call names the tool, the answer tells its fate.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from vocabgap.ingest.decoding import noted
from vocabgap.ingest.reading import Adapter
from vocabgap.messages import RefusedCall, is_refusal
from vocabgap.model.sources import pointer_of, value_at

Call = dict[str, Any]
DENIED: Final = "denied"
UNKNOWN: Final = "unknown"
# Questions to the user, and a plan: no permission is missing if nobody answers.
_QUESTIONS: Final = frozenset(("AskUserQuestion", "ExitPlanMode"))


def _call(
    tool: Any,  # noqa: ANN401 - here and below: any JSON
    error: object = None,
    call: object = None,
    verdict: str | None = None,
    **others: object,
) -> Call:
    """Return a call. `error` is a text if the call may have failed, else None.

    `verdict` is DENIED or UNKNOWN if the file says so, else None. The others are `time`, `session` and
    `folder`.
    """
    refused = RefusedCall(str(tool), "permission" if verdict == DENIED else "")
    notes = noted(refused, str(call)) if verdict else call
    return {"tool": tool, "error": error, "call": call, "verdict": verdict, "notes": notes, **others}


def _at(value: Any, *paths: str) -> Any:  # noqa: ANN401
    """Return the value at the first path that leads to one; None if none does."""
    for path in paths:
        if (found := value_at(value, pointer_of(path))) not in (None, ""):
            return found
    return None


def _name(value: Any, *paths: str) -> str | None:  # noqa: ANN401
    """Return the text or the number at the first path that leads to a value, as text."""
    found = _at(value, *paths)
    return str(found) if isinstance(found, str | int) else None


def _objects(values: Iterable[Any], *wrappers: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file: the values, the members of lists, and of the lists at `wrappers`."""
    for value in values:
        wrapped = next((found for path in wrappers if isinstance(found := _at(value, path), list)), value)
        yield from _dicts(wrapped if isinstance(wrapped, list) else [wrapped])


def _dicts(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield the objects in a list; nothing if the value is no list."""
    return (member for member in value if isinstance(member, dict)) if isinstance(value, list) else iter(())


def _inner(value: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object at a key, or the object itself."""
    return value[key] if isinstance(value.get(key), dict) else value


def _text(content: Any) -> str | None:  # noqa: ANN401
    """Return the text of a message: a text, or the texts of its blocks."""
    if isinstance(content, list):
        return "\n".join(text for block in content if isinstance(text := _at(block, "text"), str))
    return content if isinstance(content, str) else None


def _settled(calls: Iterable[Call]) -> list[Call]:
    """Merge equal calls, and clear the error of a tool that answers later: it was only loaded late."""
    once: dict[object, Call] = {}
    for place, call in enumerate(calls):
        known = once.setdefault(call["call"] or place, call)
        known |= {key: call[key] for key in ("verdict", "notes")} if call["verdict"] else {}
    last = {call["tool"]: place for place, call in enumerate(once.values()) if call["error"] is None}
    return [
        call | {"error": None} if place < last.get(call["tool"], -1) and not call["verdict"] else call
        for place, call in enumerate(once.values())
    ]


def messages(values: Iterable[Any]) -> Iterator[Call]:
    """Read messages: of Claude Code, of its execution files, and of the APIs of Anthropic and OpenAI."""
    names: dict[str | None, str | None] = {}
    beside: Call = {}
    for value in _objects(values, "messages"):
        found = {"session": _name(value, "sessionId", "session_id"), "folder": _name(value, "cwd")}
        beside |= {key: text for key, text in found.items() if text}
        beside["time"] = _at(value, "timestamp", "created_at")
        message = _inner(value, "message")
        for block in (*_dicts(message.get("content")), *_dicts(message.get("tool_calls"))):
            identifier = _name(block, "tool_use_id", "id")
            if block.get("type") == "tool_result":
                error = _text(block.get("content")) if block.get("is_error") else None
                if error and identifier not in names:  # what follows may quote another call
                    error = first if is_refusal(first := error.partition("\n")[0]) else ""
                yield _call(names.get(identifier), error, call=identifier, **beside)
            elif called := _name(block, "function.name", "name"):
                names[identifier] = called
        if "tool" in (message.get("role"), message.get("type")):
            identifier = _name(message, "tool_call_id")
            tool = names.get(identifier) or _name(message, "name")
            yield _call(tool, _text(message.get("content")), call=identifier, **beside)
        denied = value.get("permission_denials") or [value] * (value.get("subtype") == "permission_denied")
        for denial in _dicts(denied):
            if (tool := _name(denial, "tool_name")) not in _QUESTIONS:
                yield _call(tool, "", call=_name(denial, "tool_use_id"), verdict=DENIED, **beside)


def codex(values: Iterable[Any]) -> Iterator[Call]:
    """Read the rollouts of Codex; older ones have no `payload`."""
    names: dict[str | None, str] = {}
    session = folder = None
    for value in _objects(values):
        item = _inner(value, "payload")
        folder = _name(item, "cwd") or folder
        if value.get("type") == "session_meta":
            session = _name(item, "id")
        kind, identifier = item.get("type"), _name(item, "call_id")
        if kind in ("function_call", "custom_tool_call"):
            names[identifier] = f"{_name(item, 'namespace') or ''}{_name(item, 'name') or ''}"
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = _text(_at(item, "output.content", "output.output", "output"))
            known = {"call": identifier, "time": value.get("timestamp"), "session": session}
            yield _call(names.get(identifier), output, folder=folder, **known)


def gemini(values: Iterable[Any]) -> Iterator[Call]:
    """Read the sessions of Gemini CLI: the last of several messages with the same `id` counts."""
    session = None
    said: dict[str | None, dict[str, Any]] = {}
    for value in _objects(values):
        session = _name(value, "sessionId") or session
        change = _inner(value, "$set")
        if isinstance(change.get("messages"), list):
            said = {_name(message, "id"): message for message in _dicts(change["messages"])}
        elif "$rewindTo" in value:
            target = _name(value, "$rewindTo")
            while said:
                last, _ = said.popitem()
                if last == target:
                    break
        elif "id" in value:
            said[_name(value, "id")] = value
    for message in said.values():
        for call in _dicts(message.get("toolCalls")):
            error = _text(_at(call, "result.0.functionResponse.response.error", "resultDisplay"))
            time = _at(call, "timestamp") or message.get("timestamp")
            failed = (error or "") if call.get("status") in ("error", "cancelled") else None
            yield _call(_name(call, "name"), failed, call=_name(call, "id"), time=time, session=session)


def opencode(values: Iterable[Any]) -> Iterator[Call]:
    """Read the parts of opencode, alone or in an export; its tool `invalid` stands for an unknown one."""
    for value in _objects(values):
        several = [part for each in _dicts(value.get("messages")) for part in _dicts(each.get("parts"))]
        for part in several or [value]:
            if part.get("type") != "tool":
                continue
            tool, error = _name(part, "tool"), _text(_at(part, "state.error"))
            if tool == "invalid":
                tool, error = _name(part, "state.input.tool"), _text(_at(part, "state.input.error"))
            time = _at(part, "state.time.end", "state.time.start")
            known = {"session": _name(part, "sessionID"), "folder": _name(value, "info.directory")}
            yield _call(tool, error, call=_name(part, "callID"), time=time, **known)


def openhands(values: Iterable[Any]) -> Iterator[Call]:
    """Read the events of OpenHands: errors of the agent, and actions that the user rejects."""
    tools: dict[str | None, str | None] = {}
    for value in _objects(values, "trajectory", "history"):
        tool = _name(value, "tool_name", "tool_call_metadata.function_name")
        tools[_name(value, "id")] = tool or _name(value, "action")
        known = {"call": _name(value, "tool_call_id", "id"), "time": value.get("timestamp")}
        kind = value.get("kind") or value.get("observation")
        if kind in ("UserRejectObservation", "user_rejected"):
            yield _call(tool or tools.get(_name(value, "action_id", "cause")), "", verdict=DENIED, **known)
        elif kind is not None:
            error = _text(_at(value, "error", "content")) if kind in ("AgentErrorEvent", "error") else None
            yield _call(tool, error, **known)


def copilot(values: Iterable[Any]) -> Iterator[Call]:
    """Read the events of Copilot CLI; the end of a call does not repeat its name."""
    names: dict[str | None, str | None] = {}
    session = folder = None
    for value in _objects(values):
        session = _name(value, "data.sessionId") or session
        folder = _name(value, "data.context.cwd") or folder
        for asked in (*_dicts(_at(value, "data.toolRequests")), value):
            if name := _name(asked, "name", "data.toolName"):
                names[_name(asked, "toolCallId", "data.toolCallId")] = name
        if value.get("type") == "tool.execution_complete":
            identifier, error = _name(value, "data.toolCallId"), None
            if _at(value, "data.success") is False:
                error = _text(_at(value, "data.error.message")) or ""
            is_denied = _at(value, "data.error.code") in ("denied", "rejected")
            known = {"time": value.get("timestamp"), "session": session, "folder": folder}
            verdict = DENIED if error is not None and is_denied else None
            yield _call(names.get(identifier), error, call=identifier, verdict=verdict, **known)


def cursor(values: Iterable[Any]) -> Iterator[Call]:
    """Read transcripts of Cursor, which have no answers of tools."""
    return iter([_call(None) for _ in values][:0])


def langsmith(values: Iterable[Any]) -> Iterator[Call]:
    """Read the runs of LangSmith: tools, LangChain's `invalid_tool`, and the messages of a node of tools."""
    for run in _objects(values, "runs", "data"):
        known = {"time": _at(run, "start_time"), "session": _name(run, *_THREADS)}
        identifier = _name(run, "id", "run_id")
        if run.get("name") == "invalid_tool":
            tool = _name(run, "inputs.requested_tool_name")
            yield _call(tool, "", call=identifier, verdict=UNKNOWN, **known)
        elif run.get("run_type") == "tool":
            error = _text(_at(run, "error"))  # the last line of a traceback has the message
            last = error and error.strip().rpartition("\n")[2]
            yield _call(_name(run, "name"), last, call=identifier, **known)
        elif run.get("name") == "tools":
            for outer in _dicts(_at(run, "outputs.messages", "outputs.output")):
                message = _inner(outer, "kwargs")
                error = _text(message.get("content")) if message.get("status") == "error" else None
                identifier = _name(message, "tool_call_id")
                yield _call(_name(message, "name"), error, call=identifier, **known)


_THREADS: Final = (
    *(f"extra.metadata.{key}" for key in ("thread_id", "session_id", "conversation_id")),
    "custom_metadata.thread_id",
    "trace_id",
)


def otlp(values: Iterable[Any]) -> Iterator[Call]:
    """Read spans and log records of OTLP as JSON, as Collectors and Tempo write them."""
    for value in _objects(values):
        for lists, scopes, items in _OTLP:
            for resource in _dicts(_at(_inner(value, "trace"), *lists)):
                named = _attributes(_at(resource, "resource.attributes"))
                for scope in _dicts(_at(resource, *scopes)):
                    for item in _dicts(_at(scope, *items)):
                        yield _of_otlp(item, named, is_log="log" in items[0])


# The keys of lists of batches, of their scopes, and of the items of these, old and new.
_OTLP: Final = (
    (
        ("resourceSpans", "resource_spans", "batches"),
        ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
        ("spans",),
    ),
    (
        ("resourceLogs", "resource_logs"),
        ("scopeLogs", "scope_logs", "instrumentationLibraryLogs"),
        ("logRecords", "log_records"),
    ),
)
_SESSIONS: Final = (
    "/mcp.session.id", "/gen_ai.conversation.id", "/session.id", "/mcp.session_id", "/conversation.id",
)  # fmt: skip
_AGENTS: Final = ("/gen_ai.agent.name", "/mcp.client_name", "/service.name")
_TOOLS: Final = ("/gen_ai.tool.name", "/tool.name", "/traceloop.entity.name", "function_name", "tool_name")
_TIMES: Final = (
    "startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano",
)  # fmt: skip
_FAILURES: Final = ("warn", "warning", "error", "fatal", "critical", *map(str, range(13, 25)))  # severities
_VERDICTS: Final = {
    "tool_not_registered": UNKNOWN, "policy_violation": DENIED, "reject": DENIED, "denied": DENIED,
}  # fmt: skip


def _attributes(pairs: Any) -> dict[str | None, Any]:  # noqa: ANN401
    """Return the attributes of OTLP by key, each value without the name of its type."""
    values = ((_name(pair, "key"), pair.get("value")) for pair in _dicts(pairs))
    return {
        key: next(iter(value.values()), None) if isinstance(value, dict) else value for key, value in values
    }


def _of_otlp(item: dict[str, Any], named: dict[str | None, Any], *, is_log: bool) -> Call:
    own = _attributes(item.get("attributes"))
    tool, verdict = _at(own, *_TOOLS), None
    exceptions = (_attributes(each.get("attributes")) for each in _dicts(item.get("events")))
    error = _at(item, "status.message")
    if is_log:
        body = _at(item, "body.stringValue", "body.string_value")
        event = str(own.get("event.name") or item.get("eventName") or body)
        is_call = event.endswith(("tool_call", "tool_result", "tool_decision"))
        severity = str(_name(item, "severityText", "severity_text") or _name(item, "severityNumber")).lower()
        failed = str(own.get("success")).lower() == "false" if is_call else severity in _FAILURES
        if is_call and own.get("source") != "user_abort":
            verdict = _VERDICTS.get(str(_at(own, "error_type", "/error.type", "decision")))
        if tool == "mcp_tool":  # the details of the call hold its name
            tool = _at(own.get("tool_parameters"), "mcp_tool_name")
        error = _at(own, "error", "/error.message", "output") or (None if is_call else body)
    else:
        failed = _at(item, "status.code") in (2, "2", "STATUS_CODE_ERROR")
        name = re.match(r"(?:execute_tool|tools/call) (\S+)", str(item.get("name")))
        tool = tool or (name and name[1])
    errors = {
        "error": error,
        "exception": next(filter(None, (each.get("exception.message") for each in exceptions)), None)
        or own.get("exception.message"),
        "message": own.get("error.message"),
    }
    return _call(
        tool,
        **(errors if failed else {}),
        verdict=verdict,
        call=_at(own, "tool_use_id", "call_id") or _in_hex(_name(item, "spanId", "span_id")),
        time=next((item[key] for key in _TIMES if item.get(key) not in (None, "", "0", 0)), None)
        or own.get("event.timestamp"),
        session=_at(named | own, *_SESSIONS),
        folder=_at(named | own, *_AGENTS),
        asked=own.get("mcp.user_intent") if own.get("mcp.resource_name") == "get_more_tools" else None,
    )


def _in_hex(identifier: str | None) -> str | None:
    """Return the identifier of a span in hexadecimal digits; Tempo writes it in base64."""
    with suppress(ValueError):
        if identifier and not re.fullmatch("[0-9a-fA-F]*", identifier):
            return base64.b64decode(identifier, validate=True).hex()
    return identifier


def _of_sessions(adapter: Callable[[Iterable[Any]], Iterator[Call]]) -> Adapter:
    return lambda values: _settled(adapter(values))


ADAPTERS: Final[Mapping[str, Adapter]] = {
    **{each.__name__: _of_sessions(each) for each in (messages, codex, gemini, opencode, openhands, copilot)},
    **{each.__name__: each for each in (cursor, langsmith, otlp)},
}
