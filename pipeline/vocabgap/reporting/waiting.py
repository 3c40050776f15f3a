"""A report whose words a glossary does not settle waits for an answer, and is published once there is one.

It waits whole, in a folder beside the glossary's log, under the token of the step that was stopped there. So
what is published later is what was ranked, and not what a second run would make of other logs.
"""

import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.errors import NotFoundError, StateError, VocabgapError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.files.signals import deferred_signals
from vocabgap.glossary.checkpoints import clear_abandoned, drop_state, waiting_folder
from vocabgap.glossary.conflicts import BlockedByConflictError, SemanticConflict, Strictness, should_block
from vocabgap.glossary.event_log import changing
from vocabgap.glossary.events import Actor
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.extracting import SIGNS, Field, extract
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.runtime import configured_runtime
from vocabgap.glossary.senses import TermSource
from vocabgap.glossary.session import SERVICE, AbortResumeError, Ask, ExecutionContext
from vocabgap.model.loading import login
from vocabgap.model.moments import iso
from vocabgap.reporting.overviews import CapabilityTerms, CheckedTerms, OpenTerm, TermMeaning
from vocabgap.reporting.published_run import read_run
from vocabgap.reporting.writing import Published, render
from vocabgap.text import printable_name

_MISSION: Final = "report"
_STEP: Final = "publish"
_OUT, _SHARE = "out", "share"  # in the metadata of the step
# The wordings of a need repeat its words, are spelled like the entry that is missing, and name people and
# places: none of that makes a term. What the glossary lists is one, however it is written.
_SIGNS: Final = (TermSource.QUOTED_PHRASE.value, TermSource.ACRONYM.value, TermSource.KNOWN_TERM.value)
_SHOWN_DIGITS: Final = 8  # of the identifier of a question
_SHOWN_TERMS: Final = 3  # in a message


@dataclass(frozen=True)
class Blocked:
    """Why a report is not published yet, and how to go on: `vocabgap report --resume TOKEN` publishes it."""

    message: str
    hint: str
    retry_token: str
    conflicts: tuple[SemanticConflict, ...]  # the terms whose meaning is open
    strictness: Strictness | None  # what was not let pass

    @property
    def error(self) -> BlockedByConflictError:
        """What a command that must fail raises."""
        return BlockedByConflictError(
            self.conflicts, self.strictness, self.message, retry_token=self.retry_token, hint=self.hint
        )


@dataclass(frozen=True)
class ReportCheck:
    """What a glossary says of the words of a report, and why it must wait, if it must."""

    terms: CheckedTerms
    blocked: Blocked | None


def check_report(
    ranked: pl.DataFrame,
    settings: GlossarySettings,
    *,
    top: int,
    out: Path,
    share: bool,
    ask: Ask | None = None,
) -> ReportCheck | None:
    """Check the labels and the wordings of the capabilities that a report shows.

    None where no glossary is named, or nothing is to be checked. Where the report is going to be published,
    and whether with a page that may leave the machine, is kept with what waits. What `ask` is answered is
    logged under the name of whoever is logged in.

    Raises:
        BlockedByConflictError: The report must wait, and the glossary's log cannot be written to keep it.
        VocabgapError: There is no such glossary, or it cannot be read.
    """
    if settings.folder is None or settings.strictness == Strictness.OFF.value:
        return None
    name = "" if ask is None else login() or "cli"
    runtime = configured_runtime(
        settings, actor=Actor(f"user:{name}", display_name=name) if name else SERVICE
    )
    runtime.require_folder()
    texts = _texts(ranked, top)
    metadata = {"critical_step": True, "glossary_fields": list(texts), SIGNS: _SIGNS}
    metadata |= {_OUT: str(out), _SHARE: share}
    context = ExecutionContext(_STEP, _MISSION, f"run-{iso(runtime.now())}", dict(texts), metadata)
    clear_abandoned(runtime.logs, _MISSION)
    runtime.start(context)
    blocked = None
    try:
        runtime.run(context, ask=ask)
    except BlockedByConflictError as error:
        blocked = _blocked(error, context, settings, error.retry_token)
        if not blocked.retry_token:
            raise blocked.error from error
    except BaseException:  # a signal may come between what is kept and what tells of it
        _forget(settings, context.retry_token)
        raise
    return ReportCheck(
        _terms_of_report(context, runtime.load(_MISSION).glossary, _labels(ranked, top)), blocked
    )


@contextmanager
def forgotten_unless_written(settings: GlossarySettings, blocked: Blocked | None) -> Iterator[None]:
    """Keep nothing of a report that must wait where its files cannot be written, or a signal ends that."""
    try:
        yield
    except BaseException:
        if blocked is not None:
            _forget(settings, blocked.retry_token)
        raise


def publish_waiting(
    settings: GlossarySettings,
    retry_token: str,
    *,
    out: str | Path | None = None,
    strictness: Strictness | None = None,
) -> Published | Blocked:
    """Publish a report that waits, where the glossary settles its words by now, or say why it waits on.

    The folder to publish is by default the one that it was meant for, and what stops it what did then.

    Raises:
        NotFoundError: There is no such checkpoint, or no report waits there.
        VocabgapError: It cannot be read or published.
    """
    runtime = configured_runtime(settings)
    runtime.require_folder()
    with changing(runtime.logs):  # somebody else may publish it at this moment
        context = runtime.stopped(retry_token)
        folder = waiting_folder(runtime.logs, retry_token)
        if file_kind(folder) is not FileKind.FOLDER:
            raise NotFoundError(
                f"no report waits under '{retry_token}'",
                hint="it is published already, or make the report again",
            )
        manifest, ranked = read_run(folder, option="--resume")
        try:
            runtime.run(context, strictness=strictness)
        except AbortResumeError as error:
            raise StateError(
                f"what was kept of the report that waits under '{retry_token}' is damaged or lost",
                hint="make the report again",
            ) from error
        except BlockedByConflictError as error:
            return _blocked(error, context, settings, retry_token)
        target = context.metadata.get(_OUT) if out is None else out
        if target is None:
            raise StateError("where the report belongs is not known", hint="name the folder with --out")
        labels = _labels(ranked, 0 if manifest.rendering is None else manifest.rendering.top)
        terms = _terms_of_report(context, runtime.load(_MISSION).glossary, labels)
        share = bool(context.metadata.get(_SHARE))
        run = render(folder, target, share=share, option="--resume", terms=terms)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(VocabgapError):  # it is published, and that is what counts
            drop_state(runtime.logs, retry_token)
        return run


def _forget(settings: GlossarySettings, retry_token: str | None) -> None:
    """Keep nothing of a step that has no files: its inputs are what people wrote."""
    if retry_token:
        with deferred_signals(), suppress(VocabgapError):
            drop_state(configured_runtime(settings).logs, retry_token)


def _texts(ranked: pl.DataFrame, top: int) -> dict[str, str]:
    """The label and the wordings of each capability, by its identifier."""
    rows = ranked.select("capability_id", "label", "variants").head(top or ranked.height).iter_rows()
    return {
        name: "\n\n".join(dict.fromkeys([label, *(each["wording"] for each in variants)]))
        for name, label, variants in rows
    }


def _labels(ranked: pl.DataFrame, top: int) -> dict[str, str]:
    return dict(ranked.select("capability_id", "label").head(top or ranked.height).iter_rows())


def _blocked(
    error: BlockedByConflictError, context: ExecutionContext, settings: GlossarySettings, retry_token: str
) -> Blocked:
    glossary = f" --glossary {shlex.quote(printable_name(settings.folder or ''))}" if settings.folder else ""
    question = context.questions[0].conflict_id[:_SHOWN_DIGITS] if context.questions else "CONFLICT"
    then = f"`vocabgap report --resume {retry_token}{glossary}`" if retry_token else "make the report again"
    strictness = error.strictness or Strictness.MEDIUM
    stopping = [each for each in error.conflicts if should_block(strictness, [each.severity])]
    terms = ", ".join(f"'{each.term}'" for each in stopping[:_SHOWN_TERMS])
    return Blocked(
        message=f"{error.message.rstrip('.')}: {terms}. Nothing was published.",
        hint=f"answer with `vocabgap glossary resolve {question}{glossary}`, then {then}",
        retry_token=retry_token,
        conflicts=error.conflicts,
        strictness=error.strictness,
    )


def _terms_of_report(
    context: ExecutionContext, glossary: Glossary, labels: Mapping[str, str]
) -> CheckedTerms:
    strictness = context.effective_strictness or Strictness.MEDIUM
    open_terms = {each.term.surface_text for each in context.conflicts}
    capabilities = []
    for identifier, text in context.inputs.items():
        if not isinstance(text, str):
            continue
        terms = extract([Field("", text)], context.metadata, glossary.known)
        names = [term.surface.surface_text for term in terms]
        senses = [(name, glossary.meaning(name)) for name in names if name not in open_terms]
        meanings = tuple(TermMeaning(name, sense.definition, sense.scope) for name, sense in senses if sense)
        still_open = tuple(name for name in names if name in open_terms)
        if meanings or still_open:
            label = labels.get(identifier, identifier)
            capabilities.append(CapabilityTerms(identifier, label, meanings, still_open))
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
    return CheckedTerms(strictness.value, tuple(capabilities), questions)
