"""`vocabgap log`: write a gap down."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.doors.cli.groups import Panel
from vocabgap.doors.cli.options import ConfigOption, TrustOption, VocabularyOption, settings_of
from vocabgap.doors.cli.output import Output, output_of
from vocabgap.errors import InvalidInputError, StateError, VocabgapError
from vocabgap.model.record import need_of
from vocabgap.text import count, escape_unseen, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vocabgap.gaplog.log import LoggedGap
    from vocabgap.gaplog.nearest import SimilarGap
    from vocabgap.model.settings import Settings

_DIGITS = 12  # of an identifier, which names a record well enough
_WIDTH = 60  # characters of what is near


def log(
    context: typer.Context,
    image: Annotated[str, typer.Argument(help="Folder of the image; its log is made where there is none.")],
    description: Annotated[
        str | None,
        Panel.RECORD.option(
            "--description", "-d", help="What was missing; by default the capability, else the intent."
        ),
    ] = None,
    missing_capability: Annotated[
        str | None,
        Panel.RECORD.option(
            "--missing-capability", "--need", help="What would have been the right word or tool."
        ),
    ] = None,
    intent: Annotated[str | None, Panel.RECORD.option(help="What the person wanted.")] = None,
    intent_category: Annotated[
        str | None,
        Panel.RECORD.option("--intent-category", "--category", help="The kind of need; judged by default."),
    ] = None,
    workaround: Annotated[str | None, Panel.RECORD.option(help="What was done instead.")] = None,
    operation: Annotated[
        list[str] | None, Panel.RECORD.option(help="An operation that it touched; may be repeated.")
    ] = None,
    used: Annotated[
        list[str] | None, Panel.RECORD.option(help="An entry that it used; may be repeated.")
    ] = None,
    satisfaction: Annotated[
        str | None,
        Panel.RECORD.option(help="How well it served: -1, 0, 1, or bad, mediocre, acceptable, good."),
    ] = None,
    notes: Annotated[str | None, Panel.RECORD.option(help="Anything else.")] = None,
    session: Annotated[
        str | None, Panel.RECORD.option(help="The session.  [default: VOCABGAP_SESSION]")
    ] = None,
    snapshot: Annotated[
        str | None,
        Panel.RECORD.option(help="The state of the image.  [default: VOCABGAP_SNAPSHOT, else HEAD]"),
    ] = None,
    image_id: Annotated[
        str | None, Panel.RECORD.option(help="The image.  [default: the name of the folder]")
    ] = None,
    timestamp: Annotated[str | None, Panel.RECORD.option(help="When, in ISO 8601.  [default: now]")] = None,
    corrects: Annotated[
        str | None, Panel.RECORD.option(help="The record that this one takes the place of, by its record_id.")
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Name what comes nearest in the last report and the vocabulary.")
    ] = False,
    fsync: Annotated[
        bool, typer.Option("--fsync/--no-fsync", help="Return only when the line is on the disk.")
    ] = True,
    run: Annotated[
        str | None, Panel.READ.option(help="Folder of the report that --suggest looks at.")
    ] = None,
    vocabulary: VocabularyOption = None,
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """Write a gap down in the log of an image: one line, whole or not at all."""
    from vocabgap.gaplog.log import log_gap

    output = output_of(context)
    near = None
    if suggest:
        near = _finder(output, settings_of(context).settings, run)
    elif not (run is None and vocabulary is None and config is None):
        raise InvalidInputError(
            "--run, --vocabulary and --config say what --suggest looks at, which was not asked for",
            hint="add --suggest, or leave them out",
        )
    logged = log_gap(
        image,
        description,
        workaround=workaround,
        intent=intent,
        intent_category=intent_category,
        missing_capability=missing_capability,
        operations_involved=operation,
        vocabulary_used=used,
        satisfaction=_rating(satisfaction),
        notes=notes,
        session_id=session or None,  # a variable of the shell may be unset
        snapshot_hash=snapshot or None,
        image_id=image_id,
        timestamp=timestamp,
        corrects=corrects,
        fsync=fsync,
        on_wait=lambda: output.note("waiting for another writer of this log ..."),
    )
    similar = _similar(output, near, logged) if near else []
    try:
        _tell(output, logged, similar if suggest else None, _unknown(context) if intent_category else "")
    except OSError as error:
        raise StateError(
            f"the gap was logged, as {logged.gap_id}, but that cannot be told: {error.strerror}",
            hint="do not log it again; see to where the output goes",
        ) from error


def _tell(output: Output, logged: "LoggedGap", similar: "Sequence[SimilarGap] | None", note: str) -> None:
    output.event(
        "result",
        success=True,
        gap_id=logged.gap_id,
        path=str(logged.path),
        record=logged.record,
        similar=similar or [],
        note=note or None,
    )
    category = logged.record["intent_category"]
    output.text(
        escape_unseen(f"logged {logged.gap_id[:_DIGITS]} in {logged.path}, category {visible(category)}")
    )
    if note:
        output.note(escape_unseen(note))
    for each in similar or ():
        known = f"{each.kind} {each.name}"
        if each.mentions is not None:
            known = f"{each.name}, {count(each.mentions, 'mention')}"
        label = visible(shortened(each.label, _WIDTH))
        if each.wording is not None and each.wording != each.label:
            label += f", as in '{visible(shortened(each.wording, _WIDTH))}'"
        output.text(f"  near: {label} ({visible(known)}, {each.similarity:.2f})")
    if similar is not None and not similar:
        output.text("  nothing known comes near")


def _similar(
    output: Output, near: "Callable[[str], list[SimilarGap]]", logged: "LoggedGap"
) -> "list[SimilarGap]":
    """What comes near; nothing where that cannot be said: the gap is logged, and must not be logged again."""
    try:
        return near(need_of(logged.record))
    except VocabgapError as error:
        output.note(f"what comes near cannot be said: {error.message}")
        return []


def _unknown(context: typer.Context) -> str:
    """What is to be said of the category that was given; nothing where the settings cannot be read."""
    from vocabgap.gaplog.entry import unknown_category

    with suppress(VocabgapError):
        settings = settings_of(context).settings
        run = context.params["run"] or settings.report.out
        return unknown_category(context.params["intent_category"], settings, run)
    return ""


def _rating(typed: str | None) -> int | str | None:
    """A rating as it was typed: digits are a number."""
    return int(typed) if typed in {"-1", "0", "1"} else typed


def _finder(output: Output, settings: "Settings", run: str | None) -> "Callable[[str], list[SimilarGap]]":
    """What finds what comes near to a need; without a report that was asked for, in the vocabulary alone."""
    from vocabgap.gaplog.finding import published_in
    from vocabgap.gaplog.nearest import similar_gaps
    from vocabgap.ranking.vocabulary import configured_vocabulary

    published, why_not = published_in(run, settings.report.out)
    if why_not:  # a gap is not lost for a report that nobody named
        output.note(why_not)
    ranked = None if published is None else published.ranked
    known = configured_vocabulary(settings.vocabulary)
    entries = known if settings.vocabulary.paths else None
    return partial(similar_gaps, capabilities=ranked, vocabulary=entries, settings=settings)
