"""`log` and the tools `log_vocabulary_gap` and `similar_gaps`: write a gap down, and find similar ones."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from vocabgap.doors.verbs import Answer, Panel, Place, Request, argument, extended, option, verb
from vocabgap.errors import InvalidInputError, VocabgapError
from vocabgap.model.record import given_fields, need_of
from vocabgap.text import count, escape_unseen, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vocabgap.doors.cli.calls import Call
    from vocabgap.listing.similar import SimilarGap
    from vocabgap.logbook.log import LoggedGap

_DIGITS: Final = 12  # of an identifier, enough to name a record
_WIDTH: Final = 60  # characters of a label


class LogOptions(Request, kw_only=True):
    """What `log` takes beside the fields of the record."""

    image: Annotated[str, argument("Folder of the image. Its log is created if it does not exist.")]
    corrects: Annotated[
        str | None, option("The record_id of the record that this one replaces.", panel=Panel.RECORD)
    ] = None
    suggest: Annotated[
        bool, option("Name the nearest capabilities of the last report and the nearest entries.")
    ] = False
    fsync: Annotated[bool, option("Return only when the line is on the disk.", "--fsync/--no-fsync")] = True
    run: Annotated[
        Place | None, option("Folder of the report that --suggest looks at.", panel=Panel.READ)
    ] = None


_FIELDS: Final = given_fields("cli")


@verb(extended(LogOptions, _FIELDS, Panel.RECORD), settings=("--vocabulary",))
def log(call: "Call", request: LogOptions) -> Answer:
    """Write a gap down in the log of an image: one line, whole or not at all."""
    from vocabgap.logbook.log import log_gap

    near = None
    if request.suggest:
        near = _finder(call, request.run)
    elif request.run or call.flags or call.config:
        raise InvalidInputError(
            "--run, --vocabulary and --config say what --suggest looks at, which was not asked for",
            hint="add --suggest, or leave them out",
        )
    given = {name: _given(getattr(request, name)) for name, *_ in _FIELDS}
    logged = log_gap(
        request.image,
        **given,
        corrects=request.corrects,
        fsync=request.fsync,
        on_wait=partial(call.note, "waiting for another writer of this log ..."),
    )
    similar, problem = _similar(near, logged) if near else ([], "")
    note = _category_note(call, request, given["intent_category"])
    return Answer(
        result={
            "success": True,
            "gap_id": logged.gap_id,
            "path": str(logged.path),
            "record": logged.record,
            "similar": similar,
            "note": note or None,
        },
        text=""
        if call.output.as_json
        else "\n".join(_lines(logged, similar if near and not problem else None)),
        notes=[message for message in (problem, note) if message],
        done=f"the gap was logged, as {logged.gap_id}",
    )


def _given(value: Any) -> Any:  # noqa: ANN401 - a field of the record
    """Return a field as `log_gap` takes it. An empty text was not given: a variable may be unset."""
    if value in ("", ()):
        return None
    return [*value] if isinstance(value, tuple) else value


def _lines(logged: "LoggedGap", similar: "Sequence[SimilarGap] | None") -> list[str]:
    """Return the text for a person; Jinja would take longer than the log itself."""
    category = visible(logged.record["intent_category"])
    lines = [escape_unseen(f"logged {logged.gap_id[:_DIGITS]} in {logged.path}, category {category}")]
    for gap in similar or ():
        name = (
            f"{gap.kind} {gap.name}"
            if gap.mentions is None
            else f"{gap.name}, {count(gap.mentions, 'mention')}"
        )
        label = visible(shortened(gap.label, _WIDTH))
        if gap.wording is not None and gap.wording != gap.label:
            label += f", as in '{visible(shortened(gap.wording, _WIDTH))}'"
        lines.append(f"  near: {label} ({visible(name)}, {gap.similarity:.2f})")
    if similar is not None and not similar:
        lines.append("  no known need comes near")
    return lines


def _similar(
    near: "Callable[[str], list[SimilarGap]]", logged: "LoggedGap"
) -> "tuple[list[SimilarGap], str]":
    """Return what is near, or a message; the gap is logged, so an error must not end the command."""
    try:
        return near(need_of(logged.record)), ""
    except VocabgapError as error:
        return [], f"similar gaps are not available: {error.message}"


def _category_note(call: "Call", request: LogOptions, category: str | None) -> str:
    """Return a note on a category that is not known; none if the settings cannot be read."""
    if category:
        from vocabgap.listing.finding import unknown_category

        with suppress(VocabgapError):
            return unknown_category(category, call.settings, request.run or call.settings.report.out)
    return ""


def _finder(call: "Call", run: str | None) -> "Callable[[str], list[SimilarGap]]":
    """Return the function that finds what is near; without a report, in the vocabulary alone."""
    from vocabgap.listing.finding import published_in
    from vocabgap.listing.similar import similar_gaps
    from vocabgap.ranking.vocabulary import configured_vocabulary

    settings = call.settings
    published, why_not = published_in(run, settings.report.out)
    if why_not:  # a gap is not lost because of a report that nobody named
        call.note(why_not)
    ranked = None if published is None else published.ranked
    known = configured_vocabulary(settings.vocabulary)
    entries = known if settings.vocabulary.paths else None
    return partial(similar_gaps, capabilities=ranked, vocabulary=entries, settings=settings)
