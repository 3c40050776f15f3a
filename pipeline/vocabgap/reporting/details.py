"""What a page shows of every capability beside its row: where it came up, when, and what became of it."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.reporting.capability import Capability, Tally
from vocabgap.schema import CONTINUED, IMAGE_KEY, MERGED, NEW, SPLIT
from vocabgap.text import count

# What became of a capability since the run before, in words.


def lineage_in_words(relations: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """What is told of each capability, by its identifier.

    Args:
        relations: Table `lineage`; what has gone is not there.
    """
    told: dict[str, tuple[str, ...]] = {}
    for row in relations.drop_nulls("capability_id").iter_rows(named=True):
        name = row["capability_id"]
        told[name] = (*told.get(name, ()), _sentence(row))
    return told


def _sentence(row: dict[str, Any]) -> str:
    relation, previous = row["relation"], row["previous_label"]
    if relation == NEW:
        return "New: no wording of it was there in the run before"
    mentions = count(row["previous_mentions"], "mention")
    before = f"{mentions}, {_rank(row['previous_rank'])}"
    shared = count(row["shared_mentions"], "mention")
    if relation == CONTINUED:
        renamed = f", as {previous}" if previous != row["label"] else ""
        return f"In the run before{renamed}: {before}"
    if relation == MERGED:
        return f"Took in {previous}, which had {before}: {shared} of it"
    if relation == SPLIT:
        return f"Split off {previous}, which had {before}: {shared} of it"
    raise ValueError(relation)


def _rank(rank: int | None) -> str:
    return "not ranked" if rank is None else f"rank {rank:,}"


OPEN: Final = "open"
COVERED: Final = "covered"
SETTLED: Final = "settled"
HIDDEN: Final = "hidden"
TITLES: Final = {
    OPEN: "To author",
    COVERED: "Probably covered",
    SETTLED: "Decided",
    HIDDEN: "Too rare so far",
}
MOST_LISTED: Final = 10_000
# Of each group without a script, and on paper; with one there are all of them.
SHOWN: Final = 50


class Listed(msgspec.Struct, frozen=True):
    """A capability with what only a list of all of them needs.

    Attributes:
        capability: Its row of table `capabilities`.
        group: `open` if it is to be authored, `covered` if an entry of the vocabulary probably covers it,
            `settled` if people have dismissed or authored it, `hidden` if it is not established.
        on_images: The images that it came up on, most mentions first; empty where no records are at hand.
        on_days: The days (UTC) on which it came up, the earliest first.
        lineage: What became of it since the run before, in words.
    """

    capability: Capability
    group: str
    on_images: tuple[Tally, ...] = ()
    on_days: tuple[tuple[date, int], ...] = ()
    lineage: tuple[str, ...] = ()


def listed(
    ranked: pl.DataFrame,
    groups: Mapping[str, pl.DataFrame],
    *,
    counted: pl.DataFrame | None = None,
    relations: pl.DataFrame | None = None,
    named: tuple[str, ...] = (),
) -> tuple[Listed, ...]:
    """The capabilities, in order of rank: the first `MOST_LISTED`, and the first of each group.

    Args:
        ranked: Table `capabilities`.
        groups: Name of a group to those of its rows that are in it; what is in none is `hidden`.
        counted: The rows of table `gaps` that count.
        relations: Table `lineage`.
        named: What an image is named by beside its own name, as `naming.named_by` said.
    """
    group_of = {each: name for name, rows in groups.items() for each in rows["capability_id"]}
    images = {} if counted is None else _lists(_on_images(counted, named))
    days = {} if counted is None else _lists(_on_days(counted))
    told = {} if relations is None else lineage_in_words(relations)
    found = []
    for row in _first(ranked, groups).iter_rows(named=True):
        name = row["capability_id"]
        found.append(
            Listed(
                msgspec.convert(row, Capability),
                group_of.get(name, HIDDEN),
                tuple(Tally(image, mentions) for image, mentions in images.get(name, ())),
                tuple(days.get(name, ())),
                told.get(name, ()),
            )
        )
    return tuple(found)


def _first(ranked: pl.DataFrame, groups: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Those that a page lists: more of them no browser takes at once."""
    if ranked.height <= MOST_LISTED:
        return ranked
    first = [rows.head(SHOWN)["capability_id"] for rows in groups.values()]
    chosen = pl.concat([ranked.head(MOST_LISTED)["capability_id"], *first])
    return ranked.filter(pl.col("capability_id").is_in(chosen.unique().implode()))


def _on_images(counted: pl.DataFrame, named: tuple[str, ...]) -> pl.DataFrame:
    """Columns `capability_id`, `value`, `mentions`; an image is named as in examples."""
    name = pl.concat_str(*named, "image_id", separator="/")
    return (
        counted.group_by("capability_id", *IMAGE_KEY)
        .agg(pl.len().alias("mentions"))
        .select("capability_id", name.alias("value"), "mentions")
        .sort("capability_id", "mentions", "value", descending=[False, True, False])
    )


def _on_days(counted: pl.DataFrame) -> pl.DataFrame:
    return (
        counted.select("capability_id", pl.col("timestamp").dt.date().alias("value"))
        .drop_nulls()
        .group_by("capability_id", "value")
        .agg(pl.len().alias("mentions"))
        .sort("capability_id", "value")
    )


def _lists(pairs: pl.DataFrame) -> dict[str, list[tuple[Any, int]]]:
    lists: dict[str, list[tuple[Any, int]]] = {}
    for name, value, mentions in pairs.iter_rows():
        lists.setdefault(name, []).append((value, mentions))
    return lists
