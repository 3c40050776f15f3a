"""Narrowing a scan to the records that a report is about. What is left out is marked, never dropped."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import polars as pl

from vocabgap.errors import InvalidInputError, alike
from vocabgap.ingest.accounting import FILTERED
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.moments import iso, require_offset
from vocabgap.model.record import CATEGORY_ALIASES, OPERATION_ALIASES, fold_category, fold_operation
from vocabgap.model.tables import GAPS, NAMES
from vocabgap.text import count, excerpt

_NAMES: Final = ("images", "categories", "modules", "sessions", "tenants", "repositories")
_SHOWN: Final = 5  # names that there are


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records a report is about. Several values of one field widen it, several fields narrow it.

    Attributes:
        since: Earliest moment, inclusive, with an offset.
        until: Latest moment, exclusive, with an offset.
        images: Image ids; one may be given as it is, here and below.
        categories: Categories; aliases fold on both sides.
        modules: Operations, matched whole; aliases fold on both sides.
        sessions: Session ids.
        tenants: Whose records.
        repositories: Repositories.
    """

    since: datetime | None = None
    until: datetime | None = None
    images: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a selection that cannot be meant.

        Raises:
            InvalidInputError: A moment has no offset, or the selection ends before it begins.
        """
        for name in _NAMES:
            value = getattr(self, name)
            # One name on its own would otherwise be read as a collection of letters.
            object.__setattr__(self, name, tuple(map(_text, (value,) if isinstance(value, str) else value)))
        for name in ("since", "until"):
            if getattr(self, name) is not None:
                require_offset(getattr(self, name), name=name)
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInputError(
                f"since {self.since.isoformat()} is not before until {self.until.isoformat()}",
                hint="swap the two, or leave one out",
            )

    @property
    def dated(self) -> bool:
        """Whether a record needs a readable timestamp to be selected."""
        return self.since is not None or self.until is not None

    def __bool__(self) -> bool:
        """Whether anything is asked for at all."""
        return self.dated or any(getattr(self, name) for name in _NAMES)


def select(
    gaps: pl.DataFrame,
    selection: Selection,
    *,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> pl.DataFrame:
    """Table `gaps` in which the rows that counted and are not selected are marked as `filtered`."""
    GAPS.require(gaps, ("timestamp", "counted", "why_not"))
    if not selection:
        return gaps
    wanted = _is_within(selection)
    for _, names, column, fold in _fields(selection, category_aliases, operation_aliases):
        folded = set(map(fold, names))
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


def unmatched(
    gaps: pl.DataFrame,
    selection: Selection,
    *,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> tuple[str, ...]:
    """What no record has of what is asked for, a sentence each, with the values that come nearest.

    For a corpus without a record there are only those about whose it is.
    """
    GAPS.require(gaps)
    if gaps.is_empty():  # of a shared corpus nothing else was read
        selection = Selection(tenants=selection.tenants, repositories=selection.repositories)
    absent = _absent(gaps, selection, category_aliases, operation_aliases)
    sentences = []
    for name, value, known in absent:
        near = ", ".join(map(excerpt, alike(value, known)))
        sentences.append(_missing(name, value) + (f"; the nearest: {near}" if near else ""))
    return (*sentences, *_outside(gaps["timestamp"], selection))


def require_known(
    gaps: pl.DataFrame,
    selection: Selection,
    *,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> None:
    """Refuse a selection by a name that no record has.

    Raises:
        InvalidInputError: It names the nearest, or some that there are.
    """
    for name, value, known in _absent(gaps, selection, category_aliases, operation_aliases):
        more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
        there = f"there are {', '.join(map(excerpt, known[:_SHOWN]))}{more}"
        hint = did_you_mean(value, known) or (
            there if known else f"check the spelling; no other {name} was read"
        )
        raise InvalidInputError(_missing(name, value), hint=hint)


def _fields(
    selection: Selection, category_aliases: Mapping[str, str], operation_aliases: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...], str, Callable[[str], str]]]:
    """What is asked for by name: of what, the names, the column of table `gaps`, and how both are folded."""
    category = partial(fold_category, aliases=category_aliases)
    operation = partial(fold_operation, aliases=operation_aliases)
    fields: tuple[tuple[str, tuple[str, ...], str, Callable[[str], str]], ...] = (
        ("image", selection.images, "image_id", str),
        ("category", selection.categories, "intent_category", category),
        ("operation", selection.modules, "operations_involved", operation),
        ("session", selection.sessions, "session_id", str),
        ("tenant", selection.tenants, "tenant_id", str),
        ("repository", selection.repositories, "repo_slug", str),
    )
    return (field for field in fields if field[1])


def _absent(
    gaps: pl.DataFrame,
    selection: Selection,
    category_aliases: Mapping[str, str],
    operation_aliases: Mapping[str, str],
) -> Iterator[tuple[str, str, list[str]]]:
    """What is asked for and no record has: of what, its name, and the names that there are."""
    for what, names, column, fold in _fields(selection, category_aliases, operation_aliases):
        known = sorted(set(map(fold, _values(gaps, column))))
        yield from ((what, name, known) for name in names if fold(name) not in known)


def _values(gaps: pl.DataFrame, column: str) -> pl.Series:
    values = gaps[column].explode() if gaps.schema[column] == NAMES else gaps[column]
    return values.drop_nulls().unique()


def _is_within(selection: Selection) -> pl.Expr:
    wanted = pl.lit(value=True)
    if selection.since is not None:
        wanted &= pl.col("timestamp") >= selection.since
    if selection.until is not None:
        wanted &= pl.col("timestamp") < selection.until
    return wanted


def _text(name: str) -> str:
    """A name as a frame holds it, also one that was given with bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def newest_moment(gaps: pl.DataFrame, clock: datetime) -> tuple[datetime, int]:
    """The newest timestamp of the records that count, and how many are later than the clock says it is.

    These do not count here; where there are no others the moment is that of the clock.
    """
    moments = gaps.filter("counted")["timestamp"].drop_nulls()
    known = moments.filter(moments <= clock)
    newest = known.max()
    return newest if isinstance(newest, datetime) else clock, len(moments) - len(known)


def ahead_in_words(number: int) -> str:
    """How many records are later than the clock says it is, where one was to be the present."""
    are = "is" if number == 1 else "are"
    return f"{count(number, 'record')} {are} dated later than now, and not counted as the present"


def undated(gaps: pl.DataFrame, selection: Selection) -> int:
    """How many of the records that a selection by date has left out have no readable timestamp."""
    return gaps.filter(why_not=FILTERED)["timestamp"].null_count() if selection.dated else 0


def _missing(what: str, name: str) -> str:
    return f"no record has {what} '{excerpt(name)}'"


def _outside(timestamps: pl.Series, selection: Selection) -> tuple[str, ...]:
    """The sentence about dates, where they leave nothing."""
    dated = timestamps.drop_nulls()
    if not selection.dated or dated.to_frame("timestamp").filter(_is_within(selection)).height:
        return ()
    span = [f"since {iso(selection.since)}"] if selection.since is not None else []
    span += [f"before {iso(selection.until)}"] if selection.until is not None else []
    sentence = f"no record {' and '.join(span)}"
    if dated.is_empty():
        return (f"{sentence}: no timestamp can be read",)
    oldest, newest = (iso(moment) for moment in (dated.min(), dated.max()))  # type: ignore[arg-type]
    return (f"{sentence}: the oldest is of {oldest}, the newest of {newest}",)
