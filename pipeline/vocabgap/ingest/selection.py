"""Narrow a scan to the records that a report is about. The rest is marked, never dropped."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

import polars as pl
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError, alike
from vocabgap.ingest.accounting import FILTERED
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.moments import LAST, iso
from vocabgap.model.record import CATEGORY_ALIASES, OPERATION_ALIASES
from vocabgap.model.selection import Selection
from vocabgap.model.tables import GAPS, NAMES, stripped
from vocabgap.text import count, excerpt

_SHOWN: Final = 5  # names of those that exist
_Aliases = Mapping[str, Mapping[str, str]]
_ALIASES: Final = {"category_aliases": CATEGORY_ALIASES, "operation_aliases": OPERATION_ALIASES}


def select(gaps: pl.DataFrame, selection: Selection, **aliases: Mapping[str, str]) -> pl.DataFrame:
    """Return table `gaps` in which the rows that counted and are not selected are marked as `filtered`."""
    GAPS.require(gaps, ("timestamp", "counted", "why_not"))
    if not selection:
        return gaps
    wanted = pl.lit(value=True)
    for filtered, value in selection.in_force():
        if filtered.where is not None:
            wanted &= filtered.where(value)
            continue
        fold, column = filtered.folding({**_ALIASES, **aliases}), filtered.column
        folded = set(map(fold, value))
        spellings = [raw for raw in _values(gaps, column) if fold(raw) in folded]
        if gaps.schema[column] == NAMES:
            wanted &= pl.col(column).list.set_intersection(spellings).list.len() > 0
        else:
            wanted &= pl.col(column).is_in(spellings)
    left_out = pl.col("counted") & ~wanted.fill_null(value=False)
    return gaps.with_columns(
        pl.when(left_out).then(pl.lit(FILTERED)).otherwise(pl.col("why_not")).alias("why_not"),
        (pl.col("counted") & ~left_out).alias("counted"),
    )


def unmatched(gaps: pl.DataFrame, selection: Selection, **aliases: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each value of a selection that no record has, with the nearest values.

    For a corpus without a record there are only those about tenants and repositories.
    """
    GAPS.require(gaps)
    if gaps.is_empty():  # nothing else was read of a shared corpus
        selection = Selection(tenants=selection.tenants, repositories=selection.repositories)
    sentences = []
    for noun, value, names in _absent(gaps, selection, aliases):
        near = ", ".join(map(excerpt, alike(value, names)))
        sentences.append(_missing(noun, value) + (f"; the nearest: {near}" if near else ""))
    return (*sentences, *_outside(gaps["timestamp"], selection))


def require_known(gaps: pl.DataFrame, selection: Selection, **aliases: Mapping[str, str]) -> None:
    """Refuse a selection by a name that no record has.

    Raises:
        InvalidInputError: It names the nearest values, or some that exist.
    """
    for noun, value, names in _absent(gaps, selection, aliases):
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        there = f"there are {', '.join(map(excerpt, names[:_SHOWN]))}{more}"
        none = f"check the spelling; no other {noun} was read"
        raise InvalidInputError(
            _missing(noun, value), hint=did_you_mean(value, names) or (there if names else none)
        )


def with_newest_session(gaps: pl.DataFrame, selection: Selection) -> tuple[Selection, str | None]:
    """Replace a session called `last` by the newest one of the selected images and time; return both.

    Where no record has a session, the selection stays as it is.
    """
    if LAST not in selection.sessions:
        return selection, None
    wider = replace(selection, sessions=(), categories=(), operations=(), match=None, satisfaction=())
    known = select(gaps, wider).filter(
        pl.col("counted") & (stripped(pl.col("session_id")) != "").fill_null(value=False)
    )
    if known.is_empty():
        return selection, None
    session = str(newest(known, 1)["session_id"][0])
    names = tuple(session if name == LAST else name for name in selection.sessions)
    return replace(selection, sessions=names), session


def newest(records: pl.DataFrame, most: int | None = None) -> pl.DataFrame:
    """Return records by time, the newest first and those without a time last: all, or the first of them."""
    if most is not None and 0 < most < records.height - records["timestamp"].null_count():
        # Sort only the rows that can be among the first: sorting a million records takes far longer.
        records = records.filter(pl.col("timestamp") >= records["timestamp"].top_k(most).min())
    ordered = records.sort(
        "timestamp",
        "repo_slug",
        "source_path",
        "line",
        "tenant_id",
        descending=[True, False, False, True, False],
        nulls_last=True,
    )
    return ordered if most is None else ordered.head(min(most, ordered.height))


def _absent(
    gaps: pl.DataFrame, selection: Selection, aliases: _Aliases
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the noun, the name and the names that exist for each selected name that no record has."""
    for filtered, value in selection.in_force():
        if filtered.column:
            fold = filtered.folding({**_ALIASES, **aliases})
            names = sorted(set(map(fold, _values(gaps, filtered.column))))
            yield from ((filtered.noun, name, names) for name in value if fold(name) not in names)


def _values(gaps: pl.DataFrame, column: str) -> pl.Series:
    values = gaps[column].explode() if gaps.schema[column] == NAMES else gaps[column]
    return values.drop_nulls().unique()


def newest_moment(gaps: pl.DataFrame, clock: datetime) -> tuple[datetime, int]:
    """Return the newest timestamp of the records that count, and how many are later than the clock.

    These are left aside; if there are no others, the moment is that of the clock.
    """
    moments = gaps.filter("counted")["timestamp"].drop_nulls()
    known = moments.filter(moments <= clock)
    newest = known.max()
    return newest if isinstance(newest, datetime) else clock, len(moments) - len(known)


def ahead_in_words(number: int) -> str:
    """Describe how many records are later than the clock, if the newest was to be the present."""
    are = "is" if number == 1 else "are"
    return f"{count(number, 'record')} {are} dated later than now, and not counted as the present"


def undated(gaps: pl.DataFrame, selection: Selection) -> int:
    """Count the records without a readable timestamp that a selection by date has left out."""
    return gaps.filter(why_not=FILTERED)["timestamp"].null_count() if selection.dated else 0


def _missing(what: str, name: str) -> str:
    return f"no record has {what} '{excerpt(name)}'"


def _outside(timestamps: pl.Series, selection: Selection) -> tuple[str, ...]:
    """Return the sentence about dates if they leave nothing."""
    window = Selection(since=selection.since, until=selection.until)
    dated = timestamps.drop_nulls()
    within = [filtered.where(value) for filtered, value in window.in_force() if filtered.where]
    if not within or dated.to_frame("timestamp").filter(within).height:
        return ()
    span = [f"since {iso(selection.since)}"] if selection.since is not None else []
    span += [f"before {iso(selection.until)}"] if selection.until is not None else []
    sentence = f"no record {' and '.join(span)}"
    if dated.is_empty():
        return (f"{sentence}: no timestamp can be read",)
    oldest, newest = (iso(moment) for moment in (dated.min(), dated.max()))  # type: ignore[arg-type]
    return (f"{sentence}: the oldest is of {oldest}, the newest of {newest}",)
