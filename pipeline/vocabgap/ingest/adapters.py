"""Adapters: what each shape of document says about calls of tools, as plain objects of one shape.

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
from vocabgap.messages import RefusedCall
from vocabgap.model.sources import value_at

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
    """Return a call: its tool, its error (a text, if it may have failed), its identifier, and the verdict.

    A verdict tells why the call was refused, if a file does. The others are `time`, `session` and `folder`.
    """
    refused = RefusedCall(str(tool), "permission" if verdict == DENIED else "")
    notes = noted(refused, str(call)) if verdict else call
    return {"tool": tool, "error": error, "call": call, "verdict": verdict, "notes": notes, **others}


def _at(value: Any, *paths: str) -> Any:  # noqa: ANN401
    """Return the value at the first path of keys that leads to one; None if none does."""
    for path in paths:
        if (found := value_at(value, tuple(path.split(".")))) not in (None, ""):
            return found
    return None


def _objects(values: Iterable[Any], *wrappers: str) -> Iterator[dict[str, Any]]:
    """Yield the objects among values, in lists, and in the lists at the paths of wrappers."""
    for value in values:
        wrapped = next((found for path in wrappers if isinstance(found := _at(value, path), list)), value)
        members = wrapped if isinstance(wrapped, list) else [wrapped]
        yield from (member for member in members if isinstance(member, dict))


def _dicts(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield the objects in a list; nothing if the value is no list."""
    return (member for member in value if isinstance(member, dict)) if isinstance(value, list) else iter(())


def _text(content: Any) -> str | None:  # noqa: ANN401
    """Return the text of a content: a text itself, or blocks of texts."""
    if isinstance(content, list):
        return "\n".join(text for block in content if isinstance(text := _at(block, "text"), str))
    return content if isinstance(content, str) else None


def _settled(calls: Iterable[Call]) -> list[Call]:
    """Return calls, each once; a tool that answers later in the same file was only not loaded yet."""
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
    names: dict[object, object] = {}
    beside: Call = {}
    for value in _objects(values, "messages"):
        found = {"session": _at(value, "sessionId", "session_id"), "folder": _at(value, "cwd")}
        beside |= {key: text for key, text in found.items() if text}
        beside["time"] = _at(value, "timestamp", "created_at")
        message = value["message"] if isinstance(value.get("message"), dict) else value
        for block in _dicts(message.get("content")):
            if block.get("type") == "tool_use":
                names[block.get("id")] = block.get("name")
            elif block.get("type") == "tool_result":
                error = _text(block.get("content")) if block.get("is_error") else None
                identifier = block.get("tool_use_id")
                if error and identifier not in names:  # what follows may quote another call
                    error = error.partition("\n")[0]
                yield _call(names.get(identifier), error, call=identifier, **beside)
        for asked in _dicts(message.get("tool_calls")):
            names[asked.get("id")] = _at(asked, "function.name", "name")
        if message.get("role") == "tool" or message.get("type") == "tool":
            identifier = message.get("tool_call_id")
            name = names.get(identifier) or message.get("name")
            yield _call(name, _text(message.get("content")), call=identifier, **beside)
        denied = value.get("permission_denials") or [value] * (value.get("subtype") == "permission_denied")
        for denial in _dicts(denied):
            if (tool := denial.get("tool_name")) not in _QUESTIONS:
                yield _call(tool, "", call=denial.get("tool_use_id"), verdict=DENIED, **beside)


def codex(values: Iterable[Any]) -> Iterator[Call]:
    """Read the rollouts of Codex; older ones have no `payload`."""
    names: dict[object, str] = {}
    session = folder = None
    for value in _objects(values):
        item = value["payload"] if isinstance(value.get("payload"), dict) else value
        folder = item.get("cwd") or folder
        if value.get("type") == "session_meta":
            session = item.get("id")
        kind, identifier = item.get("type"), item.get("call_id")
        if kind in ("function_call", "custom_tool_call"):
            names[identifier] = f"{item.get('namespace') or ''}{item.get('name') or ''}"
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = _text(_at(item, "output.content", "output.output", "output"))
            known = {"call": identifier, "time": value.get("timestamp"), "session": session}
            yield _call(names.get(identifier), output, folder=folder, **known)


def gemini(values: Iterable[Any]) -> Iterator[Call]:
    """Read the sessions of Gemini CLI: of messages with one `id`, the last counts."""
    session = None
    said: dict[object, dict[str, Any]] = {}
    for value in _objects(values):
        session = _at(value, "sessionId") or session
        change = value["$set"] if isinstance(value.get("$set"), dict) else value
        if isinstance(change.get("messages"), list):
            said = {message.get("id"): message for message in _dicts(change["messages"])}
        elif "$rewindTo" in value:
            kept = [*said].index(value["$rewindTo"]) if value["$rewindTo"] in said else 0
            said = dict([*said.items()][:kept])
        elif "id" in value:
            said[value["id"]] = value
    for message in said.values():
        for call in _dicts(message.get("toolCalls")):
            error = _at(call, "result.0.functionResponse.response.error", "resultDisplay")
            time = _at(call, "timestamp") or message.get("timestamp")
            failed = error if call.get("status") in ("error", "cancelled") else None
            yield _call(call.get("name"), failed, call=call.get("id"), time=time, session=session)


def opencode(values: Iterable[Any]) -> Iterator[Call]:
    """Read the parts of opencode, alone or in an export; its tool `invalid` stands for an unknown one."""
    for value in _objects(values):
        folder = _at(value, "info.directory")
        several = [part for each in _dicts(value.get("messages")) for part in _dicts(each.get("parts"))]
        for part in several or [value]:
            if part.get("type") != "tool":
                continue
            tool, error = part.get("tool"), _at(part, "state.error")
            if tool == "invalid":
                tool, error = _at(part, "state.input.tool"), _at(part, "state.input.error")
            time, session = _at(part, "state.time.end", "state.time.start"), part.get("sessionID")
            yield _call(tool, error, call=part.get("callID"), time=time, session=session, folder=folder)


def openhands(values: Iterable[Any]) -> Iterator[Call]:
    """Read the events of OpenHands: errors of the agent, and actions that the user rejects."""
    tools: dict[object, object] = {}
    for value in _objects(values, "trajectory", "history"):
        tool = _at(value, "tool_name", "tool_call_metadata.function_name")
        tools[value.get("id")] = tool or value.get("action")
        known = {"call": _at(value, "tool_call_id", "id"), "time": value.get("timestamp")}
        kind = value.get("kind") or value.get("observation")
        if kind in ("UserRejectObservation", "user_rejected"):
            yield _call(tool or tools.get(_at(value, "action_id", "cause")), "", verdict=DENIED, **known)
        elif kind is not None:
            failed = kind in ("AgentErrorEvent", "error")
            yield _call(tool, _text(_at(value, "error", "content")) if failed else None, **known)


def copilot(values: Iterable[Any]) -> Iterator[Call]:
    """Read the events of Copilot CLI; the end of a call does not repeat its name."""
    names: dict[object, object] = {}
    session = folder = None
    for value in _objects(values):
        session = _at(value, "data.sessionId") or session
        folder = _at(value, "data.context.cwd") or folder
        for asked in _dicts(_at(value, "data.toolRequests")):
            names[asked.get("toolCallId")] = asked.get("name")
        identifier = _at(value, "data.toolCallId")
        if value.get("type") == "tool.execution_start":
            names[identifier] = _at(value, "data.toolName")
        elif value.get("type") == "tool.execution_complete":
            failed = _at(value, "data.success") is False
            is_denied = _at(value, "data.error.code") in ("denied", "rejected")
            known = {"call": identifier, "time": value.get("timestamp"), "session": session, "folder": folder}
            error = _at(value, "data.error.message") if failed else None
            verdict = DENIED if failed and is_denied else None
            yield _call(names.get(identifier), error or "" if failed else None, verdict=verdict, **known)


def cursor(values: Iterable[Any]) -> Iterator[Call]:
    """Read transcripts of Cursor, which have no answers of tools."""
    yield from ()
    for _ in values:
        pass


def langsmith(values: Iterable[Any]) -> Iterator[Call]:
    """Read the runs of LangSmith: tools, LangChain's `invalid_tool`, and the messages of a node of tools."""
    for run in _objects(values, "runs", "data"):
        known = {
            "time": _at(run, "start_time"),
            "session": _at(
                run,
                *(f"{place}.{key}" for place in ("extra.metadata", "custom_metadata") for key in _THREADS),
                "trace_id",
            ),
            "folder": _at(run, "session_name"),
        }
        identifier = _at(run, "id", "run_id")
        if run.get("name") == "invalid_tool":
            tool = _at(run, "inputs.requested_tool_name")
            yield _call(tool, "", call=identifier, verdict=UNKNOWN, **known)
        elif run.get("run_type") == "tool":
            error = _text(_at(run, "error"))
            yield _call(
                run.get("name"), error and error.strip().rpartition("\n")[2], call=identifier, **known
            )
        elif run.get("name") == "tools":
            for outer in _dicts(_at(run, "outputs.messages", "outputs.output")):
                message = outer["kwargs"] if isinstance(outer.get("kwargs"), dict) else outer
                error = _text(message.get("content")) if message.get("status") == "error" else None
                yield _call(message.get("name"), error, call=message.get("tool_call_id"), **known)


_THREADS: Final = ("thread_id", "session_id", "conversation_id")


def otlp(values: Iterable[Any]) -> Iterator[Call]:
    """Read spans and log records of OTLP as JSON, as Collectors and Tempo write them."""
    for value in _objects(values):
        batches = _at(value, "trace") if isinstance(_at(value, "trace"), dict) else value
        for lists, scopes, items in _OTLP:
            for resource in _dicts(_either(batches, lists)):
                named = _attributes(_at(resource, "resource.attributes"))
                for scope in _dicts(_either(resource, scopes)):
                    for item in _dicts(_either(scope, items)):
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
    "mcp.session.id", "gen_ai.conversation.id", "session.id", "mcp.session_id", "conversation.id",
)  # fmt: skip
_AGENTS: Final = ("gen_ai.agent.name", "mcp.client_name", "service.name")
_TOOLS: Final = ("gen_ai.tool.name", "tool.name", "traceloop.entity.name", "function_name", "tool_name")
_REFUSALS: Final = {
    "tool_not_registered": UNKNOWN, "policy_violation": DENIED, "reject": DENIED, "denied": DENIED,
}  # fmt: skip


def _either(value: Any, keys: Iterable[str]) -> Any:  # noqa: ANN401
    return next((value[key] for key in keys if isinstance(value, dict) and key in value), None)


def _attributes(pairs: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the attributes of OTLP by their keys, each without the name of its type."""
    found = {}
    for pair in _dicts(pairs):
        value = pair.get("value")
        found[pair.get("key", "")] = next(iter(value.values()), None) if isinstance(value, dict) else value
    return found


def _of_otlp(item: Mapping[str, Any], named: Mapping[str, Any], *, is_log: bool) -> Call:
    own = _attributes(item.get("attributes"))
    everything = {**named, **own}
    tool = _either(own, _TOOLS)
    status = {"code": _at(item, "status.code"), "message": _at(item, "status.message")}
    event = str(own.get("event.name") or item.get("eventName") or _at(item, "body.stringValue") or "")
    if is_log:
        failed = str(own.get("success")).lower() == "false"
        verdict = _REFUSALS.get(str(_either(own, ("error_type", "error.type", "decision"))))
        verdict = None if own.get("source") == "user_abort" else verdict
        if tool == "mcp_tool":  # the details of the call hold its name
            tool = _at(own, "tool_parameters.mcp_tool_name") or None
        if not event.endswith(("tool_call", "tool_result", "tool_decision")):
            failed, verdict = False, None
    else:
        failed, verdict = status["code"] in (2, "2", "STATUS_CODE_ERROR"), None
        name = re.match(r"(?:execute_tool|tools/call) (\S+)", str(item.get("name")))
        tool = tool or (name and name[1])
    exceptions = (_attributes(each.get("attributes")) for each in _dicts(item.get("events")))
    thrown = next(filter(None, (each.get("exception.message") for each in exceptions)), None)
    errors = {
        "error": _either(own, ("error", "error.message", "output")) if is_log else status["message"],
        "exception": thrown or own.get("exception.message"),
        "message": own.get("error.message"),
    }
    times = (
        "startTimeUnixNano",
        "start_time_unix_nano",
        "endTimeUnixNano",
        "timeUnixNano",
        "observedTimeUnixNano",
    )
    return _call(
        tool,
        **(errors if failed else {}),
        verdict=verdict,
        failed=failed,
        call=_in_hex(_either(item, ("spanId", "span_id"))) or _either(own, ("tool_use_id", "call_id")),
        time=next(
            (item[key] for key in times if item.get(key) not in (None, "", "0", 0)),
            own.get("event.timestamp"),
        ),
        session=_either(everything, _SESSIONS),
        folder=_either(everything, _AGENTS),
        asked=own.get("mcp.user_intent") if own.get("mcp.resource_name") == "get_more_tools" else None,
    )


def _in_hex(identifier: Any) -> str | None:  # noqa: ANN401
    """Return the identifier of a span in hexadecimal digits; Tempo writes it in base64."""
    if not isinstance(identifier, str) or re.fullmatch("[0-9a-fA-F]*", identifier):
        return identifier or None
    with suppress(ValueError):
        return base64.b64decode(identifier, validate=True).hex()
    return identifier


def _of_sessions(adapter: Callable[[Iterable[Any]], Iterator[Call]]) -> Adapter:
    return lambda values: _settled(adapter(values))


ADAPTERS: Final[Mapping[str, Adapter]] = {
    **{each.__name__: _of_sessions(each) for each in (messages, codex, gemini, opencode, openhands, copilot)},
    **{each.__name__: each for each in (cursor, langsmith, otlp)},
}
