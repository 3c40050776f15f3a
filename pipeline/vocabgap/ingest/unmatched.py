"""What a selection asks for and no record has. A mistyped name would otherwise just leave nothing."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

import polars as pl

from vocabgap.ingest.corrections import FILTERED
from vocabgap.ingest.selection import Selection
from vocabgap.records.moments import iso
from vocabgap.records.record import CATEGORY_ALIASES, OPERATION_ALIASES, fold_category, fold_operation
from vocabgap.schema import GAPS
from vocabgap.text import shortened, visible

_ALIKE: Final = 3  # values to propose where none fits
_NEAR: Final = 0.5  # ratio of matching characters (difflib) from which on a value is proposed


def unmatched(
    gaps: pl.DataFrame,
    selection: Selection,
    *,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> tuple[str, ...]:
    """What no record has of what is asked for, a sentence each, with the values that come nearest.

    Args:
        gaps: Table `gaps`, narrowed or not.
        selection: What is asked for.
        category_aliases: Lower-case spelling to category.
        operation_aliases: Lower-case name to operation.

    Returns:
        The sentences, without full stops; for a corpus without a record only those about whose it is.

    Raises:
        InvalidInputError: The frame is not a `gaps` frame.
    """
    GAPS.require(gaps)
    if gaps.is_empty():
        # Of a shared corpus nothing else was read.
        nobody = (("tenant", selection.tenants), ("repository", selection.repositories))
        return tuple(_missing(name, value, ()) for name, wanted in nobody for value in wanted)
    category = partial(fold_category, aliases=category_aliases)
    operation = partial(fold_operation, aliases=operation_aliases)
    fields: tuple[tuple[str, tuple[str, ...], pl.Series, Callable[[str], str]], ...] = (
        ("image", selection.images, gaps["image_id"], str),
        ("category", selection.categories, gaps["intent_category"], category),
        ("operation", selection.modules, gaps["operations_involved"].explode(), operation),
        ("session", selection.sessions, gaps["session_id"], str),
        ("tenant", selection.tenants, gaps["tenant_id"], str),
        ("repository", selection.repositories, gaps["repo_slug"], str),
    )
    told = []
    for name, wanted, values, folded in fields:
        if wanted:
            known = {folded(value) for value in values.drop_nulls().unique()}
            told += [_missing(name, value, known) for value in wanted if folded(value) not in known]
    return (*told, *_outside(gaps["timestamp"], selection))


def undated(gaps: pl.DataFrame, selection: Selection) -> int:
    """How many of the records that a selection by date leaves out have no readable timestamp.

    Args:
        gaps: Table `gaps`, as `select` gives it.
        selection: What it was narrowed to.
    """
    return gaps.filter(why_not=FILTERED)["timestamp"].null_count() if selection.dated else 0


def _missing(name: str, wanted: str, known: Iterable[str]) -> str:
    lowered = wanted.casefold()
    by_folded = {value.casefold(): value for value in sorted(known, reverse=True)}
    holding = sorted(value for folded, value in by_folded.items() if lowered.strip() and lowered in folded)
    alike = [by_folded[each] for each in difflib.get_close_matches(lowered, by_folded, _ALIKE, _NEAR)]
    near = ", ".join(shortened(visible(value)) for value in (holding or alike)[:_ALIKE])
    return f"no record has {name} '{shortened(visible(wanted))}'" + (f"; the nearest: {near}" if near else "")


def _outside(timestamps: pl.Series, selection: Selection) -> tuple[str, ...]:
    """The sentence about dates, where they leave nothing."""
    dated = timestamps.drop_nulls()
    wanted = pl.lit(value=True)
    if selection.since is not None:
        wanted &= pl.col("timestamp") >= selection.since
    if selection.until is not None:
        wanted &= pl.col("timestamp") < selection.until
    if not selection.dated or dated.to_frame("timestamp").filter(wanted).height:
        return ()
    span = [f"since {iso(selection.since)}"] if selection.since is not None else []
    span += [f"before {iso(selection.until)}"] if selection.until is not None else []
    asked = f"no record {' and '.join(span)}"
    if dated.is_empty():
        return (f"{asked}: no timestamp can be read",)
    oldest, newest = (iso(moment) for moment in (dated.min(), dated.max()))  # type: ignore[arg-type]
    return (f"{asked}: the oldest is of {oldest}, the newest of {newest}",)
