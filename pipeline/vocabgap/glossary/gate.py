"""The gate of a report, which stops the report if words in it have open meanings."""

from typing import Final

import polars as pl

from vocabgap.glossary.conflicts import BlockedByConflictError, should_block
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.extracting import SIGNS
from vocabgap.glossary.runtime import configured_runtime
from vocabgap.glossary.senses import Strictness, TermSource
from vocabgap.glossary.session import ExecutionContext
from vocabgap.model.moments import iso
from vocabgap.model.settings import Settings

_MISSION: Final = "report"
_STEP: Final = "publish"
# The wordings of a need repeat words, contain identifiers, and name people and places. These are no signs of
# a term here. A word of the glossary is a term in any spelling.
_SIGNS: Final = (TermSource.QUOTED_PHRASE.value, TermSource.ACRONYM.value, TermSource.KNOWN_TERM.value)
_SHOWN_TERMS: Final = 3  # in a message


def check_report(ranked: pl.DataFrame, settings: Settings) -> None:
    """Check the labels and the wordings of the capabilities that a report shows.

    Raises:
        BlockedByConflictError: Words have open meanings.
        VocabgapError: There is no such glossary, or it cannot be read.
    """
    ours = settings.of(GlossarySettings)
    if ours.folder is None:
        return
    runtime = configured_runtime(ours, keeps_steps=False)
    runtime.require_folder()
    if ours.strictness != Strictness.OFF.value:
        runtime.load().require_read()
    texts = {
        name: "\n\n".join(dict.fromkeys([label, *(variant["wording"] for variant in variants)]))
        for name, label, variants in ranked.select("capability_id", "label", "variants")
        .head(settings.report.top or ranked.height)
        .iter_rows()
    }
    metadata = {"critical_step": True, "glossary_fields": list(texts), SIGNS: _SIGNS}
    context = ExecutionContext(_STEP, _MISSION, f"run-{iso(runtime.now())}", dict(texts), metadata)
    try:
        runtime.run(context)
    except BlockedByConflictError as error:
        strictness = context.effective_strictness or Strictness.MEDIUM
        stopping = [conflict for conflict in error.conflicts if should_block(strictness, [conflict.severity])]
        terms = ", ".join(f"'{conflict.term}'" for conflict in stopping[:_SHOWN_TERMS])
        message = f"{error.message.rstrip('.')}: {terms}. Nothing was published."
        raise BlockedByConflictError(
            error.conflicts, strictness, message, hint=error.commands or ""
        ) from error
