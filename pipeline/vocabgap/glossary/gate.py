"""The gate of a report: it is published only if the glossary settles the words that it shows."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from vocabgap.errors import Hint
from vocabgap.extensions import TakenUp
from vocabgap.glossary.authoring import add_entry
from vocabgap.glossary.conflicts import BlockedByConflictError, should_block
from vocabgap.glossary.extension import FOLDER, GlossarySettings
from vocabgap.glossary.extracting import SIGNS, Field, extract
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.runtime import configured_runtime
from vocabgap.glossary.senses import SenseStatus, Strictness, TermSource
from vocabgap.glossary.session import ExecutionContext
from vocabgap.model.moments import iso
from vocabgap.model.settings import Settings
from vocabgap.text import visible

_MISSION: Final = "report"
_STEP: Final = "publish"
# The wordings of a need repeat its words, look like the missing entry, and name people and places: none of
# that makes a term. A word of the glossary is a term in any spelling.
_SIGNS: Final = (TermSource.QUOTED_PHRASE.value, TermSource.ACRONYM.value, TermSource.KNOWN_TERM.value)
_SHOWN_DIGITS: Final = 8  # of the identifier of a question
_SHOWN_TERMS: Final = 3  # in a message


def check_report(ranked: pl.DataFrame, settings: Settings) -> dict[str, Any] | None:
    """Check the labels and the wordings of the capabilities that a report shows.

    Returns:
        The meanings of the words; None if the settings name no glossary or switch the gate off.

    Raises:
        BlockedByConflictError: The glossary does not settle the words.
        VocabgapError: There is no such glossary, or it cannot be read.
    """
    ours = settings.of(GlossarySettings)
    if ours.folder is None or ours.strictness == Strictness.OFF.value:
        return None
    runtime = configured_runtime(ours, keeps_steps=False)
    runtime.require_folder()
    runtime.load().require_read()
    labels, texts = _labels_and_texts(ranked, settings.report.top)
    metadata = {"critical_step": True, "glossary_fields": list(texts), SIGNS: _SIGNS}
    context = ExecutionContext(_STEP, _MISSION, f"run-{iso(runtime.now())}", dict(texts), metadata)
    runtime.start(context)
    try:
        runtime.run(context)
    except BlockedByConflictError as error:
        raise _blocked(error, context) from error
    return _checked(context, runtime.load(_MISSION).glossary, labels)


def take_up(settings: Settings, entry: str, meaning: str, actor: str, is_draft: bool) -> TakenUp | None:
    """Make an entry that was authored a term, or propose a drafted one; None if no glossary is named."""
    ours = settings.of(GlossarySettings)
    if ours.folder is None:
        return None
    sense = add_entry(ours, entry, meaning, actor=actor, is_draft=is_draft)
    shown, status = f"{visible(sense.surface)}: {visible(sense.definition)}", sense.status
    proposed = status is SenseStatus.DRAFT
    if is_draft:
        what = "a draft of the glossary" if proposed else "in the glossary already"
        return TakenUp("sense", {"sense": sense}, f"{what}: {shown}")
    promote = ("glossary", "promote", sense.surface, "--replace")
    hint = Hint("it means something else already; {} settles that", (promote,), FOLDER) if proposed else None
    text = f"{visible(sense.surface)} [{sense.scope}] is {status}: {visible(sense.definition)}"
    return TakenUp("sense", {"sense": sense}, text, hint)


def _labels_and_texts(ranked: pl.DataFrame, top: int) -> tuple[dict[str, str], dict[str, str]]:
    rows = ranked.select("capability_id", "label", "variants").head(top or ranked.height).rows()
    return {name: label for name, label, _ in rows}, {
        name: "\n\n".join(dict.fromkeys([label, *(each["wording"] for each in variants)]))
        for name, label, variants in rows
    }


def _blocked(error: BlockedByConflictError, context: ExecutionContext) -> BlockedByConflictError:
    question = context.questions[0].conflict_id[:_SHOWN_DIGITS] if context.questions else "CONFLICT"
    strictness = error.strictness or Strictness.MEDIUM
    stopping = [each for each in error.conflicts if should_block(strictness, [each.severity])]
    terms = ", ".join(f"'{each.term}'" for each in stopping[:_SHOWN_TERMS])
    return BlockedByConflictError(
        error.conflicts,
        error.strictness,
        f"{error.message.rstrip('.')}: {terms}. Nothing was published.",
        hint=Hint("answer with {}, then run the report again", (("glossary", "resolve", question),), FOLDER),
    )


def _checked(context: ExecutionContext, glossary: Glossary, labels: Mapping[str, str]) -> dict[str, Any]:
    open_terms = {each.term.surface_text for each in context.conflicts}
    capabilities = []
    for identifier, text in context.inputs.items():
        terms = extract([Field("", text)], context.metadata, glossary.known)
        names = [term.surface.surface_text for term in terms]
        senses = [(name, glossary.meaning(name)) for name in names if name not in open_terms]
        meanings = [
            {"term": name, "definition": sense.definition, "scope": sense.scope}
            for name, sense in senses
            if sense
        ]
        still_open = [name for name in names if name in open_terms]
        if meanings or still_open:
            capabilities.append(
                {
                    "capability_id": identifier,
                    "label": labels[identifier],
                    "meanings": meanings,
                    "open": still_open,
                }
            )
    questions = [
        {
            "conflict_id": question.conflict_id,
            "term": question.term,
            "kind": question.conflict.conflict_type.value,
            "severity": question.conflict.severity.value,
            "definitions": [each.definition for each in question.candidates],
        }
        for question in context.questions
    ]
    strictness = context.effective_strictness or Strictness.MEDIUM
    return {"strictness": strictness.value, "capabilities": capabilities, "questions": questions}
