"""Guarding: a report is published where a glossary settles its words, and waits where it does not."""

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from vocabgap.errors import NotFoundError, StateError, VocabgapError
from vocabgap.files.atomic import undisturbed
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.errors import AbortResumeError, BlockedByConflictError
from vocabgap.glossary.extracting import SIGNS, Field, extract
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.loading import changing
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.senses import TermSource
from vocabgap.glossary.step_state import clear_abandoned, drop_state, state_path
from vocabgap.glossary.strictness import Strictness, should_block
from vocabgap.records.moments import iso
from vocabgap.reporting.overviews import CapabilityTerms, CheckedTerms, OpenTerm, TermMeaning
from vocabgap.reporting.published_run import read_run
from vocabgap.reporting.writing import Published, render
from vocabgap.settings.model import GlossarySettings
from vocabgap.text import printable_name

MISSION: Final = "report"
_STEP: Final = "publish"
_OUT, _SHARE = "out", "share"  # in the metadata of the step
# The wordings of a need repeat its words, are spelled like the entry that is missing, and name people and
# places: that makes no terms of these. What
# the glossary lists is one, however it is written.
_SIGNS: Final = (TermSource.QUOTED_PHRASE.value, TermSource.ACRONYM.value, TermSource.KNOWN_TERM.value)
_SHOWN_DIGITS: Final = 8  # of the identifier of a question
_NAMED: Final = 3  # terms in an error


class Checked(NamedTuple):
    """What a check of a report came to.

    Attributes:
        terms: What its words mean.
        blocked: Why it is not published; null where it is.
    """

    terms: CheckedTerms
    blocked: BlockedByConflictError | None


def check_words(
    ranked: pl.DataFrame, settings: GlossarySettings, *, top: int, out: Path, share: bool
) -> Checked | None:
    """Check the labels and the wordings of the capabilities that a report shows.

    Args:
        ranked: Table `capabilities`.
        settings: The glossary, and what stops the report.
        top: How many capabilities it shows; 0 shows all.
        out: The folder that it is published in.
        share: Whether a page is written, too, that may leave the machine.

    Returns:
        What came of it; null where no glossary is named, or nothing is to be checked.

    Raises:
        NotFoundError: There is no such glossary.
        VocabgapError: It cannot be read.
    """
    if settings.folder is None or settings.strictness == Strictness.OFF.value:
        return None
    runtime = configured_runtime(settings)
    runtime.require_folder()
    texts = _texts(ranked, top)
    context = ExecutionContext(
        _STEP,
        MISSION,
        f"run-{iso(runtime.now())}",
        dict(texts),
        {
            "critical_step": True,
            "glossary_fields": list(texts),
            SIGNS: _SIGNS,
            _OUT: str(out),
            _SHARE: share,
        },
    )
    clear_abandoned(runtime.logs, MISSION)
    runtime.start(context)
    blocked = None
    try:
        runtime.run(context)
    except BlockedByConflictError as error:
        blocked = _with_hint(error, context, settings, error.retry_token)
    except BaseException:  # a signal may come between what is kept and what tells of it
        _forget(settings, context.retry_token)
        raise
    return Checked(_terms(context, runtime.load(MISSION).glossary, _labels(ranked, top)), blocked)


@contextmanager
def kept_whole(settings: GlossarySettings, blocked: BlockedByConflictError | None) -> Iterator[None]:
    """Keep nothing of a report that was stopped where its run cannot be written, or a signal ends that.

    Args:
        settings: The glossary.
        blocked: Why it is not published; null where it is.
    """
    try:
        yield
    except BaseException:
        if blocked is not None:
            _forget(settings, blocked.retry_token)
        raise


def kept_run(settings: GlossarySettings, retry_token: str) -> Path:
    """The folder in which a run waits that was not published."""
    return state_path(configured_runtime(settings).logs, retry_token).with_suffix("")


def publish_kept(
    settings: GlossarySettings,
    retry_token: str,
    *,
    out: str | Path | None = None,
    strictness: Strictness | None = None,
) -> Published:
    """Publish a run that waits, where the glossary settles its words by now.

    Args:
        settings: The glossary.
        retry_token: The token that the run was stopped with.
        out: The folder to publish; the one that it was meant for by default.
        strictness: What stops it now; what did then by default.

    Raises:
        NotFoundError: There is no such checkpoint, or no run waits there.
        BlockedByConflictError: Its words are not settled yet; it waits under the same token.
        VocabgapError: It cannot be read or published.
    """
    runtime = configured_runtime(settings)
    runtime.require_folder()
    with changing(runtime.logs):  # somebody else may publish it at this moment
        return _published(runtime, settings, retry_token, out, strictness)


def _published(
    runtime: GlossaryRuntime,
    settings: GlossarySettings,
    retry_token: str,
    out: str | Path | None,
    strictness: Strictness | None,
) -> Published:
    context = runtime.stopped(retry_token)
    place = kept_run(settings, retry_token)
    if file_kind(place) is not FileKind.FOLDER:
        raise NotFoundError(
            f"no report waits under '{retry_token}'", hint="it is published already, or make the report again"
        )
    manifest, ranked = read_run(place, option="--resume")
    top = 0 if manifest.rendering is None else manifest.rendering.top
    try:
        runtime.run(context, strictness=strictness)
    except AbortResumeError as error:
        raise StateError(
            f"what was kept of the report that waits under '{retry_token}' is damaged or lost",
            hint="make the report again",
        ) from error
    except BlockedByConflictError as error:
        raise _with_hint(error, context, settings, retry_token) from error
    terms = _terms(context, runtime.load(MISSION).glossary, _labels(ranked, top))
    target = context.metadata.get(_OUT) if out is None else out
    if target is None:
        raise StateError("where the report belongs is not known", hint="name the folder with --out")
    made = render(place, target, share=bool(context.metadata.get(_SHARE)), option="--resume", terms=terms)
    shutil.rmtree(place, ignore_errors=True)
    with suppress(VocabgapError):  # it is published, and that is what counts
        drop_state(runtime.logs, retry_token)
    return made


def _forget(settings: GlossarySettings, retry_token: str | None) -> None:
    """Keep nothing of a step that has no run: its inputs are what people wrote."""
    if retry_token:
        with undisturbed(), suppress(VocabgapError):
            drop_state(configured_runtime(settings).logs, retry_token)


def _texts(ranked: pl.DataFrame, top: int) -> dict[str, str]:
    """The label and the wordings of each capability, by its identifier."""
    rows = ranked.select("capability_id", "label", "variants").head(top or ranked.height)
    return {
        row["capability_id"]: ".\n".join(
            dict.fromkeys([row["label"], *(each["wording"] for each in row["variants"])])
        )
        for row in rows.iter_rows(named=True)
    }


def _labels(ranked: pl.DataFrame, top: int) -> dict[str, str]:
    return dict(ranked.select("capability_id", "label").head(top or ranked.height).iter_rows())


def _terms(context: ExecutionContext, glossary: Glossary, labels: Mapping[str, str]) -> CheckedTerms:
    """What a report says of its words."""
    open_terms = {each.term.surface_text for each in context.conflicts}
    strictness = context.effective_strictness or Strictness.MEDIUM
    questions = tuple(
        OpenTerm(
            question.conflict_id,
            question.term,
            question.conflict.conflict_type.value,
            question.conflict.severity.value,
            tuple(each.definition for each in question.candidates),
        )
        for question in context.questions
    )
    capabilities = tuple(
        CapabilityTerms(identifier, labels.get(identifier, identifier), meanings, names)
        for identifier, text in context.inputs.items()
        if isinstance(text, str)
        for meanings, names in [_of_capability(text, context.metadata, glossary, open_terms)]
        if meanings or names
    )
    return CheckedTerms(strictness.value, capabilities, questions)


def _of_capability(
    text: str, metadata: Mapping[str, Any], glossary: Glossary, open_terms: set[str]
) -> tuple[tuple[TermMeaning, ...], tuple[str, ...]]:
    """What the terms of one capability mean, and which of them are open."""
    names: Sequence[str] = [
        term.surface.surface_text for term in extract([Field("", text)], metadata, glossary.known)
    ]
    meanings = [(name, glossary.meaning(name)) for name in names if name not in open_terms]
    return (
        tuple(
            TermMeaning(name, sense.definition, sense.scope) for name, sense in meanings if sense is not None
        ),
        tuple(name for name in names if name in open_terms),
    )


def _with_hint(
    error: BlockedByConflictError, context: ExecutionContext, settings: GlossarySettings, retry_token: str
) -> BlockedByConflictError:
    """The error, with what to do about it."""
    place = f" --glossary {shlex.quote(printable_name(settings.folder or ''))}" if settings.folder else ""
    first = context.questions[0].conflict_id[:_SHOWN_DIGITS] if context.questions else "CONFLICT"
    then = f"`vocabgap report --resume {retry_token}{place}`" if retry_token else "make the report again"
    strictness = error.strictness or Strictness.MEDIUM
    stopping = [each for each in error.conflicts if should_block(strictness, [each.severity])]
    terms = ", ".join(f"'{each.term}'" for each in stopping[:_NAMED])
    return BlockedByConflictError(
        error.conflicts,
        error.strictness,
        f"{error.message.rstrip('.')}: {terms}. Nothing was published.",
        retry_token=retry_token,
        hint=f"answer with `vocabgap glossary resolve {first}{place}`, then {then}",
    )
