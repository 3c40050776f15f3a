"""Messages of programs that refuse the call of a tool: it does not exist, or it is not granted.

Agents' frameworks word this in many ways: "Unknown tool: close_gate", "close_gate is not a valid tool". These
patterns serve wordings of gaps, logs, traces and hooks. The call names the tool, and the message says what
happened. A message about another thing (a file, a function, another tool) comes from a tool that exists. If a
shell does not find a program, the environment has a gap, and the program is its name.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

_TOOL: Final = (
    r"(?:mcp )?(?:tool(?: ?call(?:back)?)?|function(?: call(?:back)?)?|call|action|command)(?:s|\(s\))?"
)
_ADVERSE: Final = (
    r"(?:unknown|unsupported(?: custom)?|undefined|unrecogni[sz]ed|unregistered|undeclared|unavailable"
    r"|invalid|non-?existent)"
)
_NAMED: Final = (
    r"(?: (?:is )?(?:named|called)| (?:with|by|for|matches) (?:the |that )?(?:(?:tool|function) )?name)"
)
_QUOTED: Final = r"\\?[`'\"“‘«<]([^`'\"“”‘’«»<>\\]{1,128})\\?[`'\"”’»>]"
# Parts of a tool, as in "invalid tool arguments".
_PARTS: Final = (
    r"(?!(?:arg(?:ument)?s?|param(?:eter)?s?|inputs?|outputs?|results?|types?|files?|schemas?|options?|servers?"
    r"|versions?|choices?|formats?|settings?|ids?|names?|calls?|directory|call_id|errors?)\b)"
)
_NAME: Final = rf"(?:{_QUOTED}|{_PARTS}(\w(?:[\w.:/-]*\w)?)(?:\(\))?)"
# Without quotes, a name has an inner sign or capital: "chaining" in "unsupported method chaining" has none.
_SURE_NAME: Final = rf"(?=\\?[`'\"“‘«<]|\S*(?:\w[_.:/-]\w|(?-i:[a-z][A-Z]))){_NAME}"
_MISSING: Final = (
    r"(?:is |was |are )?(?:not (?:found|registered|advertised|declared|recogni[sz]ed)|unknown)"
    r"|(?:does not|doesn't|don't) exist"
)
# But "not available for booked rooms" is a message of the tool itself.
_UNAVAILABLE: Final = r"(?:is |was )?not (?:available(?! (?!on|in|from)\w)|defined|supported)"
_PREAMBLE: Final = (
    r"\s*(?:<\w+[^>]*>\s*)?(?:\{[^{}]{0,80}?\\?\"\w+\\?\":\s*\\?\")?"
    r"(?:(?:[\w.-]+ ){0,5}?[\w.]*(?:error|exception|failed|notfound)\b[^:]{0,40}:\s*){0,4}"
    r"(?:the )?(?:requested )?"
)


def _passed(words: str) -> str:
    """Return a pattern of optional words, which are no name; possessive ones fail before Python 3.11.5."""
    return rf"(?: (?:{words})\b|(?! (?:{words})\b))"


_BEFORE: Final = (
    rf"(?:no such|{_ADVERSE}) {_TOOL}{_passed('available|found|exists|registered|names?|called|requested')}",
    (
        r"(?:\w+ ){0,4}(?:(?:tried|attempted) to (?:call|use)|called|call (?:for|of|to)) (?:an? )?"
        rf"{_ADVERSE} {_TOOL}"
    ),
    rf"no (?:handler|matching (?:\w+ ){{1,3}}?)(?: ?found| ?registered) for(?: {_TOOL})?(?: name)?",
    rf"(?:there(?:'s| is| was) )?(?:no|not an?) {_TOOL}(?: found)?{_NAMED}(?: tool name)?",
    (
        rf"(?:could not|couldn't|cannot|can't|unable to|failed to) (?:find|locate|resolve)"
        rf" (?:an? |the |any )?{_TOOL}{_NAMED}?"
    ),
    rf"(?:{_TOOL}|method)[_ ]not[_ ]found",
)
_MESSAGES: Final = (
    rf"(?:{'|'.join(_BEFORE)})(?:(?::\s*|(?<=tool|name|amed|lled) (?!call\b)){_NAME}| {_SURE_NAME})",
    (
        rf"(?:i |you )?(?:tried|attempted) to (?:call|use) (?:an? |the )?{_TOOL}:? {_NAME}"
        r"(?=,? (?:which|that|but)\b|\. this tool does not exist)"
    ),
    rf"[\w ]{{0,20}}\btrying to (?:execute|call|use) the {_NAME} {_TOOL}(?=, but no such {_TOOL} exists)",
    rf"{_TOOL}{_NAMED}?:? {_SURE_NAME} (?:{_MISSING}|{_UNAVAILABLE})",
    rf"tool{_NAMED}? (?!call\b){_NAME} (?:{_MISSING})",
    rf"{_SURE_NAME}(?: {_TOOL} (?:{_MISSING})|: no such {_TOOL})",
    rf"{_NAME} (?:is not|isn't|was not) an? (?:valid|known|registered|recogni[sz]ed|available) {_TOOL}",
    rf"\w*tool_?not_?found\w*:\s*{_SURE_NAME}",
    rf"tool_name={_QUOTED}[^|]{{0,999}}\| tool not found in registry",
)
_REST: Final = (
    r"(?:(?: (?:which|that|but|in|on|at|from|by|with|for|was|is|found|exists?)\b"
    r"| [-–—]|\s*[.,;:!()\[<\"\\]).*)?$"
)
_FLAGS: Final = re.IGNORECASE | re.DOTALL
_UNKNOWN_TOOL: Final = rf"{_PREAMBLE}(?:{'|'.join(_MESSAGES)}){_REST}"
# Programs that a shell does not find.
_SHELL_NAME: Final = r"(?:[\w./-]*/)?(?:(?:ba|z|da|k|fi|tc|a)?sh|env|nohup|xargs|sudo|exec|time): "
_PROGRAM: Final = r"\\?[`'\"“‘]?([a-z0-9][\w.+-]{0,63}(?<!\.))\\?[`'\"”’]?"
_SHELL: Final = (
    rf"(?:{_SHELL_NAME}(?:\d+: )?)?command not found:\s*{_PROGRAM}(?=\s|$)",
    rf"fish: unknown command:? {_PROGRAM}",
    rf"(?:{_SHELL_NAME})?(?:line \d+: )?{_PROGRAM}: command not found(?!:)",
    rf"{_SHELL_NAME}(?:line )?(?:\d+: )?{_PROGRAM}: not found",
    rf"{_SHELL_NAME}(?:failed to run command )?{_PROGRAM}: (?:no such file or directory|executable file not)",
    (
        rf"(?:the term )?{_PROGRAM} is not recogni[sz]ed as"
        r" (?:an?|the) (?:internal or external command|name of a cmdlet)"
    ),
    rf"spawn {_PROGRAM} enoent",
)
_UNKNOWN_PROGRAM: Final = rf"{_PREAMBLE}(?:{'|'.join(_SHELL)}){_REST}"
_REQUESTED: Final = (
    rf"(?:claude requested permissions? to use {_NAME}, but you haven't granted"
    rf"|permission to use {_NAME}(?: with command .{{0,300}})? has been denied)"
)
# Messages without a name, which count only if the tool is known from elsewhere.
_NAMELESS: Final = (
    rf"{_PREAMBLE}(?:(?:(?:custom|specified|called|mcp|such|that|this|a) ){{0,2}}(?:tool|function|method) "
    r"(?:could not be found|(?:was |is )?not found"
    r"|does not exist(?: or is not available)?|is unknown)"
    r"|(?:unknown|no such|unrecogni[sz]ed|undefined) (?:tool|function)"
    r"|(?:function|tool) call request for an? (?:function|tool) that (?:was not|wasn't|isn't) \w+"
    r"|unknown tool: invalid_tool_name"
    r"|(?:could not|cannot|unable to) find (?:the )?(?:tool|function)(?: to call)?)"
    r"(?: (?:in|on)\b[^.:]*)?(?:[.!]?\s*$|[.!<]\s*\S)"
)
_OFF: Final = (
    r"not (?:enabled|activated|loaded)|disabled"
    r"|not available (?:yet|(?:inside|to|in|for) (?:\w+ )?(?:subagents|mode))"
)
_DENIED: Final = r"not (?:allowed|permitted|granted)|denied|blocked|forbidden"
_GRANT: Final = (
    rf"(?:exists,? but (?:it )?)?(?:is |was |has been )?(?:currently )?(?:(?P<off>{_OFF})|(?:{_DENIED}))\b"
)
_WITHHELD: Final = rf"{_PREAMBLE}(?:tool|function) {_SURE_NAME}(?: on (?:the )?server \S+)? {_GRANT}"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern; compiling one takes some milliseconds, and most commands need none."""
    return re.compile(text, _FLAGS)


class RefusedCall(NamedTuple):
    """A call of a tool that a program refused."""

    tool: str  # or the program, if the environment lacks one
    reason: str  # why the tool is not granted, or `ENVIRONMENT`; empty if there is no such tool


ENVIRONMENT: Final = "environment"


def unknown_name(phrase: str) -> str:
    """Return the tool or program that a phrase calls unknown as a whole; empty for any other phrase."""
    return _unknown_tool(phrase) or _unknown_program(phrase)


def is_refusal(line: str) -> bool:
    """Check whether a line begins with the refusal of a call; it may quote one later."""
    patterns = (_WITHHELD, _REQUESTED)
    line = line[:2_000]
    return bool(unknown_name(line)) or any(_pattern(pattern).match(line) for pattern in patterns)


def _unknown_program(message: str) -> str:
    lowered = message.lower()
    may_be = any(map(lowered.__contains__, ("not found", "no such", "recogni", "enoent", "unknown command")))
    return _name_in(_pattern(_UNKNOWN_PROGRAM).match(message)) if may_be else ""


def _unknown_tool(message: str) -> str:
    lowered = message.lower()
    may_be = "tool" in lowered or "call" in lowered or "ction" in lowered or "not found" in lowered
    return _name_in(_pattern(_UNKNOWN_TOOL).match(message)) if may_be else ""


def _name_in(found: re.Match[str] | None) -> str:
    return next(filter(None, found.groups()), "") if found else ""


_CALLED: Final = "the_called_tool"  # stands for its name in a message
_NAMESPACE: Final = re.compile(r"^.*(?:__|[:./])(?=\w)")  # the server or namespace before the name of a tool
_NO_NAMES: Final = frozenset(("undefined", "null", "none", "invalid_tool_name"))


def refused_call(message: str, tool: str = "") -> RefusedCall | None:
    """Return the call that a message refuses, because the tool does not exist or is not granted.

    `tool` is the called tool, if the caller knows it. Then a message may lack its name, but must not name
    another thing. If a shell does not find a program, the call has its name, whatever the tool. The result is
    None for any other message.
    """
    tool = re.sub("^(?:execute_tool|tools/call) ", "", tool)  # the name of a span
    short = _NAMESPACE.sub("", tool)
    if tool in _NO_NAMES or (tool and not short):
        return None
    message = message[:2_000]
    if tool:  # its name is found whatever it looks like
        message = re.sub(rf"(?<![\w.-])(?:{re.escape(tool)}|{re.escape(short)})(?![\w-])", _CALLED, message)
    for sentence in _sentences(message):
        if program := _unknown_program(sentence):
            return RefusedCall(short if program == _CALLED else program, ENVIRONMENT)
        withheld = _pattern(_WITHHELD).match(sentence)
        requested = _name_in(_pattern(_REQUESTED).match(sentence))
        is_nameless = bool(tool and _pattern(_NAMELESS).match(sentence))
        name = requested or (_name_in(withheld) if withheld else _CALLED if is_nameless else "")
        name = name or _unknown_tool(sentence)
        if not name:
            continue
        if (tool and _NAMESPACE.sub("", name) != _CALLED) or name in _NO_NAMES:
            return None
        grant = withheld or re.search(rf"\b{re.escape(name)} {_GRANT}", sentence, _FLAGS)
        reason = "permission" if requested else ""
        if grant is not None:
            reason = "not_enabled" if grant["off"] else "permission"
        return RefusedCall(tool or name, reason)
    return None


def _sentences(message: str) -> Iterator[str]:
    """Yield a message from its beginning, its last line, and the message from each of its first sentences."""
    yield message
    yield message.rstrip().rpartition("\n")[2].lstrip()
    for boundary in islice(re.finditer(r"(?<=[.!:;>|])\s+|\n\s*", message), 12):
        yield message[boundary.end() :]
