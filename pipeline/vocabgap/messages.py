"""Messages of programs that refuse the call of a tool: it does not exist, or it is not granted.

Agents' frameworks word this in many ways: "Unknown tool: close_gate", "close_gate is not a valid tool". These
patterns serve wordings of gaps, logs, traces and hooks.
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
# Words such as "chaining" in "unsupported method chaining" are no names of tools.
_SURE_NAME: Final = rf"(?=\\?[`'\"“‘«<]|\S*(?:\w[_.:/-]\w|(?-i:[a-z][A-Z]))){_NAME}"
_MISSING: Final = r"(?:is |was )?(?:not (?:found|registered)|unknown)|(?:does not|doesn't|don't) exist"
_NOISE: Final = (
    r"\s*(?:<\w+[^>]*>\s*)?(?:\{[^{}]{0,80}?\\?\"\w+\\?\":\s*\\?\")?"
    r"(?:(?:[\w.-]+ ){0,5}?[\w.]*(?:error|exception|failed|notfound)\b[^:]{0,40}:\s*){0,4}"
    r"(?:the )?(?:requested )?"
)


def _passed(words: str) -> str:
    """Return a pattern of optional words, which are no name; possessive ones fail before Python 3.11.5."""
    return rf"(?: (?:{words})\b|(?! (?:{words})\b))"


_BEFORE: Final = (
    rf"no such {_TOOL}{_passed('available|found|exists|registered')}",
    (
        r"(?:\w+ ){0,4}(?:(?:tried|attempted) to (?:call|use)|called|call (?:for|of|to)) (?:an? )?"
        rf"{_ADVERSE} {_TOOL}"
    ),
    rf"no (?:handler|matching {_TOOL}) (?:found|registered) for(?: {_TOOL})?",
    rf"{_ADVERSE} {_TOOL}{_passed('names?|called|requested')}",
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
    rf"{_TOOL}{_NAMED}?:? {_SURE_NAME} (?:{_MISSING}|(?:is |was )?not (?:available|defined|supported))",
    rf"tool{_NAMED}? (?!call\b){_NAME} (?:{_MISSING})",
    rf"{_SURE_NAME} {_TOOL} (?:{_MISSING})",
    rf"{_NAME} (?:is not|isn't|was not) an? (?:valid|known|registered|recogni[sz]ed|available) {_TOOL}",
    rf"{_SURE_NAME}: no such {_TOOL}",
    rf"\w*tool_?not_?found\w*:\s*{_SURE_NAME}",
    rf"tool_name={_QUOTED}[^|]{{0,999}}\| tool not found in registry",
)
_REST: Final = r"(?:(?: (?:which|that|but|in|on|at|from|by|with|for|was|is|found)\b|\s*[.,;:!()\[<\"\\]).*)?$"
_FLAGS: Final = re.IGNORECASE | re.DOTALL
_UNKNOWN_TOOL: Final = rf"{_NOISE}(?:{'|'.join(_MESSAGES)}){_REST}"
# Programs that a shell does not find: part of a need, but no call of a tool.
_SHELL: Final = (
    rf"(?:\w+: )?command not found:\s*{_NAME}",
    rf"(?:\w+: )?(?:line \d+: )?{_NAME}: command not found",
    rf"\w+: \d+: {_NAME}: not found",
)
_UNKNOWN_PROGRAM: Final = rf"{_NOISE}(?:{'|'.join(_SHELL)}){_REST}"
_REQUESTED: Final = rf"claude requested permissions? to use {_NAME}, but you haven't granted"
# Messages without a name, which count only if the tool is known from elsewhere.
_NAMELESS: Final = (
    rf"{_NOISE}(?:(?:\w+ ){{0,2}}(?:tool|function|method) (?:could not be found|(?:was |is )?not found"
    r"|does not exist(?: or is not available)?|is unknown)"
    r"|(?:unknown|no such|unrecogni[sz]ed|undefined) (?:tool|function)"
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
_WITHHELD: Final = rf"{_NOISE}(?:tool|function) {_SURE_NAME}(?: on (?:the )?server \S+)? {_GRANT}"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern; compiling one takes some milliseconds, and most commands need none."""
    return re.compile(text, _FLAGS)


class RefusedCall(NamedTuple):
    """A call of a tool that a program refused."""

    tool: str
    reason: str  # why the tool is not granted; empty if there is no such tool


def unknown_name(phrase: str) -> str:
    """Return the tool or program that a phrase calls unknown as a whole; empty for any other phrase."""
    return _unknown_tool(phrase) or (
        _name_in(_pattern(_UNKNOWN_PROGRAM).match(phrase)) if "ot found" in phrase else ""
    )


def _unknown_tool(message: str) -> str:
    lowered = message.lower()
    may_be = "tool" in lowered or "call" in lowered or "ction" in lowered or "not found" in lowered
    return _name_in(_pattern(_UNKNOWN_TOOL).match(message)) if may_be else ""


def _name_in(found: re.Match[str] | None) -> str:
    return next(filter(None, found.groups()), "") if found else ""


def refused_call(message: str, tool: str = "") -> RefusedCall | None:
    """Return the call that a message refuses, because the tool does not exist or is not granted.

    `tool` is the called tool, if it is known from elsewhere; then a message without its name counts, too.
    """
    tool = re.sub("^(?:execute_tool|tools/call) ", "", tool)  # the name of a span
    for sentence in _sentences(message[:2_000]):
        if withheld := _pattern(_WITHHELD).match(sentence):
            name = next(filter(None, withheld.group(1, 2)))
            return RefusedCall(tool or name, "not_enabled" if withheld["off"] else "permission")
        if name := _name_in(_pattern(_REQUESTED).match(sentence)):
            return RefusedCall(tool or name, "permission")
        name = _unknown_tool(sentence) or (tool if tool and _pattern(_NAMELESS).match(sentence) else "")
        if name:
            grant = re.search(rf"\b{re.escape(name)} {_GRANT}", sentence, _FLAGS)
            reason = "" if grant is None else "not_enabled" if grant["off"] else "permission"
            return RefusedCall(tool or name, reason)
    return None


def _sentences(message: str) -> Iterator[str]:
    """Yield a message from its beginning, and from each of its first sentences."""
    yield message
    for boundary in islice(re.finditer(r"(?<=[.!:;>|\n])\s+", message), 12):
        yield message[boundary.end() :]
