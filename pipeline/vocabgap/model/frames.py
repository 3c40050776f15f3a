"""Needs: wordings without the frames that only say that something is missing.

"No way to crop to a circle", "the editor has no circular crop" and "cannot crop to a circle from here" ask
for one thing in three frames. Frames say nothing about the need, so they are removed from a wording. No list
has all frames. A wording in an unknown frame, or one that would become empty, stays as it is.

A need must not become its opposite. So the absence in a condition stays ("layers that have no mask"). A list
of absences loses all of them ("no tide table, no swell chart").
"""

import re
from functools import lru_cache
from typing import Final

from vocabgap.clutter import without_clutter
from vocabgap.text import plain, without_message

_MEANS: Final = (
    r"(?:ways?|tools?|means|options?|methods?|calls?|commands?|functions?|operations?|ops?|primitives?|parameters?"
    r"|switch(?:es)?|settings?|endpoints?|possibility|ability|support|features?|entry|entries|counterpart)"
)
_TO: Final = r"(?:to|for|of|that|which)"
_MEANS_TO: Final = rf"(?:(?:\w+ )?{_MEANS}(?: \w+)? {_TO} (?:(?:be able to|lets? me|would|will|can) )?)"
_UNABLE: Final = (
    r"(?:cannot|can't|cant|can not|could not|couldn't|unable to|(?:am )?(?:not|no longer) able to"
    r"|(?:it )?(?:isn't|is not|was not) possible to|impossible to|(?:not|no longer) possible to|failed to)"
)
_WANTED: Final = (
    r"(?:wanted|want|wish|tried|had|needed|needs?|would (?:need|like)|would have needed|supposed|asked)"
)
_LACKING: Final = (
    r"(?:doesn't|does not|don't|do not) (?:support|expose|offer|provide|allow|have|let (?:me|us))(?: any)?"
)
_ABSENT: Final = (
    r"(?:possible|supported|available|exposed|wrapped|part of|among|implemented|offered|provided|there"
    r"|allowed|permitted|enabled|covered)"
)
_LOST: Final = r"(?:missing|unsupported|unavailable|impossible|unreachable)"
_REFUSED: Final = r"(?:401|403|404|405|501)(?: forbidden| error)?"
_TRYING: Final = r"(?:trying to|(?:i|we) (?:try|tried|want|wanted) to)"
# Where "no" means "do not", as in "no exportar en color".
_NOT_SPANISH: Final = r"(?!(?:.* )?(?:hay|se|el|los|las|una|del|por|para|que|en|puedo|puede)\b)"
_THERE: Final = r"(?:there(?:'s| is| are| was) )?"
# What no tool does. Without "no", "no tool deletes a label" would become its opposite.
_TOOL: Final = r"(?:tool|command|operation|function|method|endpoint|entry)"
_DOES: Final = r"\w*[^\Ws]s"
_A_THING: Final = r"(?:an?|the|any|all|my|our|its|this|these|those)"
_LINK: Final = r"(?:in|for|of|on|from|with|per|and|or|to)"
# Openings before the need. Several may follow each other: "feature request: add support for ...".
_OPENINGS: Final = (
    r"\[?missing[ _-](?:tool|data|capability|operation)\b\]?\s*[:–-]*\s*",
    r"missing\s*[:–-]\s*|missing (?=[a-z])",
    r"(?:feature request|feature|request|enhancement|feat)\s*(?:\([^)]*\)|\[[^]]*\])?\s*[:–-]\s*",
    r"\[(?:feature(?: request)?|request|enhancement|feat|bug)\]\s*:?\s*",
    rf"(?:(?:an?|the) )?(?:lack|absence) of (?:(?:an?|the|any) )?(?:{_MEANS_TO})?",
    rf"(?:(?:http|error|status|got|gets?|an?|returns?) )*{_REFUSED} (?:when|on|while|for) (?:{_TRYING} )?",
    rf"(?:(?:there(?:'s| is| was)|there isn't|i have|i've|we have|have|had|got) )?(?:no|any) {_MEANS_TO}",
    (
        rf"(?:(?:i|we|agents?|it|one) )?(?:(?:was|were|am|are) )?{_UNABLE} "
        rf"(?:find (?:(?:an?|any|the) )?{_MEANS_TO})?"
    ),
    rf"(?:(?:i|we|you) )?(?:don't|do not) (?:have|see|get|find) (?:(?:an?|any|the) )?(?:{_MEANS_TO})?",
    rf"(?:(?:i|we) )?{_WANTED} (?:to )?(?:be able to )?(?:(?:an?|the|some|one) )?(?:{_MEANS_TO})?",
    rf"(?:add|allow|support|enable|provide|expose|implement|introduce) (?:(?:an?|the) )?{_MEANS} {_TO} ",
    rf"(?:(?:an?|the) )?{_MEANS} (?:to|for) ",
    rf"{_THERE}no {_TOOL} (?!(?:is|was|has|does)\b)(?={_DOES} {_A_THING}\b)",
    rf"{_THERE}no (?=[\w`])(?!(?:longer|such)\b|{_TOOL} {_DOES} (?!{_LINK}\b)\w){_NOT_SPANISH}",
)
_WITHOUT: Final = re.compile(r"^without (?:(?:an?|any|the) )?(.+?) available\b.*$", re.IGNORECASE)
# Further parts of a list whose first part was in such an opening: "no tide table, no swell chart".
_ALSO_ABSENT: Final = re.compile(
    rf"(,|,? (?:and|or|nor)\b) {_THERE}(?:no|any|missing|lack of|{_UNABLE}) (?:{_MEANS_TO})?", re.IGNORECASE
)
_MORE: Final = re.compile(",| (?:and|or|nor) ", re.IGNORECASE)
_ABSENT_FIRST: Final = re.compile(rf"{_THERE}(?:no|missing|lack of|(?:i )?{_UNABLE})\b", re.IGNORECASE)
# Behind these words, an absence is part of the need: "list the users that have no avatar".
_CONDITION: Final = r"\b(?:that|which|who|whose|what|if|when|where|unless|until|while)\b"
_WORD: Final = rf"(?!{_CONDITION})[\w./-]+"
_OWNER_NAME: Final = rf"(?:(?!{_CONDITION}).){{2,60}}?"
# A tool that lacks the need: "the connector has no ...", "X-bridge doesn't expose ...".
_OWNERS: Final = (
    rf"{_OWNER_NAME}\b(?:has|have|had|offers?|exposes?|provides?|gives?) no (?:{_MEANS_TO})?",
    rf"{_OWNER_NAME}\b(?:lacks?|misses|is missing) (?:(?:an?|the|any) )?(?:{_MEANS_TO})?",
    rf"{_OWNER_NAME}\b{_LACKING} (?:{_MEANS_TO})?",
    rf"(?:the )?{_WORD}(?: {_WORD}){{0,3}}? (?:can't|cannot|couldn't|could not|won't) (?!be )",
)
# The name of a tool before a colon: "Forge MCP: retry a job".
_NAME: Final = re.compile(
    r"(?:[A-Z][\w.+-]*|[a-z]+-(?:mcp|bridge|server|connector))"
    r"(?: (?:[A-Z][\w.+-]*|mcp|server|connector|bridge|plugin|integration|tools?|api|cli))*: +"
)
# Endings behind the need: its absence ...
_ABSENCES: Final = (
    rf" (?:is |are |was |were )?(?:not|isn't|aren't|wasn't|weren't) (?:yet )?{_ABSENT}\b.*$",
    rf" (?:is |are )?{_LOST}(?: (?:from|in|on|here|via)\b.*)?$",
    r" (?:isn't|aren't)\b.*$",
)
# ... its reason, its workaround.
_ENDINGS: Final = (
    r" (?:from|in) (?:here|this (?:session|sandbox|environment|tool|server))\b",
    r" as (?:an?|one|its own) (?:[\w-]+ ){0,3}?(?:primitive|move|op|operation|entry|command|tool|call|step)$",
    r"[,;] (?:but(?! not)|so|which|because|since|as|hence|therefore|though|although|while)\b.*$",
    r" (?:but (?!not )|because |so that ).*$",
    r";.*$",
    r" [–—-]+ .*$",
)
_PASSIVE: Final = re.compile(
    rf"^((?:(?!{_CONDITION}).)*?) (?:can't|cannot|couldn't|could not) be"
    r" (\w+(?: (?:out|off|down|up|back|away)\b)?).*$",
    re.IGNORECASE,
)
_JOINTS: Final = re.compile(r"[_`]+")  # snake_case, `code`
_CAMEL: Final = re.compile(r"\b[a-z]{2,}(?:[A-Z][a-z]+)+\b")  # listIssues, but neither GitHub nor dB
_HUMP: Final = re.compile(r"(?=[A-Z])")


def _compiled(patterns: tuple[str, ...], anchor: str = "") -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(f"{anchor}(?:{pattern})", re.IGNORECASE) for pattern in patterns)


# Most wordings have no frame, or one: testing a single pattern first is faster, most of all one that begins
# with a certain sign.
_ANY_OPENING: Final = re.compile(f"^(?:({')|('.join(_OPENINGS)})|without )", re.IGNORECASE)
_BEHIND_SPACE: Final = [ending[1:] for ending in (*_ABSENCES, *_ENDINGS) if ending.startswith(" ")]
_ANY_ENDING: Final = re.compile(f" (?=[abfimnsuw–—-])(?:{'|'.join(_BEHIND_SPACE)})", re.IGNORECASE)
_THRICE, _OWNER = 3 * _compiled(_OPENINGS, "^"), _compiled(_OWNERS, "^")
_ABSENCE, _ENDING = _compiled(_ABSENCES, rf"^((?:(?!{_CONDITION}).)*?)"), _compiled(_ENDINGS)


@lru_cache(maxsize=100_000)
def need(wording: str) -> str:
    """Return a wording without frame and clutter, with tool names (`circular_crop`) as words."""
    text = " ".join(plain(without_clutter(wording)).replace("’", "'").split())
    tool = without_message(text)
    return tool if tool != text else _without_frame(text) or wording


def label_of(text: str) -> str:
    """Return text as a label: one line of at most `LABEL_CHARACTERS`, cut between words."""
    text = " ".join(text.split())
    if len(text) <= LABEL_CHARACTERS:
        return text
    kept = text[: LABEL_CHARACTERS - 1]
    whole_words = kept.rpartition(" ")[0] if not text[LABEL_CHARACTERS - 1].isspace() else kept
    return f"{(whole_words if 2 * len(whole_words) > LABEL_CHARACTERS else kept).rstrip(' ,;:-')}…"


LABEL_CHARACTERS: Final = 80


def _without_frame(text: str) -> str:
    name = _NAME.match(text)
    if name:
        text = _kept(text[name.end() :], text)
    if _ANY_OPENING.match(text):
        text = _without_opening(text)
    lowered = text.lower()
    if " no " in lowered or "not" in lowered or "n't" in lowered or "lack" in lowered or "miss" in lowered:
        for pattern in _OWNER:
            text = _kept(pattern.sub("", text), text)
    if "," in text or ";" in text or _ANY_ENDING.search(text):
        for pattern in _ABSENCE:
            text = _kept(pattern.sub(r"\1", text), text)
        for pattern in _ENDING:
            text = _kept(pattern.sub("", text), text)
    if " be " in lowered:
        text = _PASSIVE.sub(r"\1 \2", text)  # the verb is part of the need: "notes can't be exported"
    if text != text.lower() or "_" in text or "`" in text:
        text = _CAMEL.sub(lambda match: _HUMP.sub(" ", match[0]).lower(), _JOINTS.sub(" ", text))
    return " ".join(text.split())


def _without_opening(text: str) -> str:
    is_absent = _ABSENT_FIRST.match(text) and _MORE.search(text)
    if found := _WITHOUT.match(text):
        text = _kept(found[1], text)
    first = _ANY_OPENING.match(text)
    for pattern in _THRICE[first.lastindex - 1 :] if first and first.lastindex else ():
        if found := pattern.match(text):
            text = _kept(text[found.end() :], text)
            if not _ANY_OPENING.match(text):
                break
    return _ALSO_ABSENT.sub(r"\1 ", text) if is_absent else text


def _kept(shorter: str, text: str) -> str:
    least = 3  # letters and digits that must be left
    is_enough = shorter[:least].isalnum() or sum(map(str.isalnum, shorter)) >= least
    return shorter if is_enough and len(shorter) >= least else text
