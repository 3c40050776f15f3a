"""`check_terms`: whether a glossary settles what the words of a text mean."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from vocabgap.doors.mcp.tool import Answer, Checkpoint, Limit, fitting, tool
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.doors.verbs import Request
from vocabgap.errors import NotFoundError
from vocabgap.glossary.conflicts import verdict
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.middlewares import Session
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.senses import ExtractedTerm, SemanticConflict, Strictness
from vocabgap.glossary.session import ExecutionContext

_MOST_CHARACTERS: Final = 65_536
_MOST_MEANINGS: Final = 5
_STEP: Final = "check"


class TermsRequest(Request, kw_only=True):
    """The arguments of `check_terms`."""

    text: Annotated[
        str, Meta(min_length=1, max_length=_MOST_CHARACTERS, description="The text whose words are checked.")
    ]
    critical: Annotated[bool, Meta(description="Whether nothing may go wrong where the text is used.")] = (
        False
    )


class Term(msgspec.Struct):
    """A term of the text.

    Attributes:
        term: The term, in its normal form.
        found_as: The sign by which it was found.
        confidence: The confidence that this is a term, 0 to 1.
        means: Its meaning; null if that is open.
        open: The kind of conflict: `unknown`, `ambiguous`, `inconsistent` or `unresolved_critical`.
        severity: The severity: `low`, `medium` or `high`.
        candidates: The possible meanings, if it is open.
    """

    term: str
    found_as: str
    confidence: float
    means: str | None
    open: str | None
    severity: str | None
    candidates: list[str]


class Terms(Answer, kw_only=True):
    """The terms of a text.

    Attributes:
        blocked: Whether open terms stop a step with this strictness.
        strictness: The active strictness: `off`, `medium` or `max`.
        terms: The terms, the surest first.
        left_out: How many more there are.
        open: How many terms are open.
    """

    blocked: bool
    strictness: str
    terms: list[Term]
    left_out: int
    open: int


class NoGlossaryError(NotFoundError):
    """The server has no glossary to check terms with."""

    tool_code = "no_glossary"


@lru_cache(maxsize=4)
def _runtime(settings: GlossarySettings) -> GlossaryRuntime:
    return configured_runtime(settings)


@tool("Check terms against the glossary", Limit.LOOK)
def check_terms(workspace: Workspace, request: TermsRequest, _: Checkpoint) -> Terms:
    """Find the terms of a text, say what they mean by the glossary, and which are unknown or ambiguous.

    Use it before a wording is logged or an entry is named. The error `no_glossary` says that the server has
    none.
    """
    settings = workspace.settings.of(GlossarySettings)
    if settings.folder is None:
        raise NoGlossaryError(
            "this server has no glossary", hint="start it with --glossary DIR to let terms be checked"
        )
    runtime = _runtime(settings)
    runtime.require_folder()
    glossary = runtime.load().glossary
    step = ExecutionContext(
        _STEP, _STEP, _STEP, {"description": request.text}, {"critical_step": request.critical}
    )
    session = Session(step, glossary)
    session.extract_terms()
    session.check_terms()
    strictness = runtime.in_force(step) or Strictness.MEDIUM
    conflicts = {each.term.surface_text: each for each in step.conflicts}
    terms = [_described(each, conflicts, glossary) for each in step.extracted_terms]
    listed = fitting(terms)
    return Terms(
        blocked=verdict(step.conflicts, strictness).blocked,
        strictness=strictness.value,
        terms=listed,
        left_out=len(terms) - len(listed),
        open=len(conflicts),
    )


def _described(term: ExtractedTerm, conflicts: Mapping[str, SemanticConflict], glossary: Glossary) -> Term:
    name = term.surface.surface_text
    found, sense = (name, term.source, term.confidence), glossary.meaning(name)
    conflict = conflicts.get(name)
    if conflict is None:
        return Term(*found, None if sense is None else sense.definition, None, None, [])
    candidates = [each.definition for each in conflict.candidate_senses[:_MOST_MEANINGS]]
    return Term(*found, None, conflict.conflict_type.value, conflict.severity.value, candidates)
