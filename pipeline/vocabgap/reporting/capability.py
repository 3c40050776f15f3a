"""A capability as a report shows it: its row, and what a list of all of them adds."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.model.capability import Asker, Capability, Tally
from vocabgap.model.tables import IMAGE_KEY

OPEN: Final = "open"  # to be authored
COVERED: Final = "covered"  # probably, by an entry of the vocabulary
SETTLED: Final = "settled"  # by people, who have dismissed or authored it
HIDDEN: Final = "hidden"  # not established
TITLES: Final = {
    OPEN: "To author",
    COVERED: "Probably covered",
    SETTLED: "Decided",
    HIDDEN: "Too rare so far",
}
MOST_LISTED: Final = 10_000
# Of each group without a script, and on paper; with one there are all of them.
SHOWN: Final = 50
_OURS: Final = re.compile(r"cap-[0-9a-f]{12}")  # an identifier of our making
_OWNER: Final = IMAGE_KEY[:-1]  # of an image: its tenant and repository


class Relation(msgspec.Struct, frozen=True):
    """What became of a capability since the run before: columns of table `lineage`."""

    relation: str
    label: str | None
    previous_label: str | None
    previous_mentions: int | None
    previous_rank: int | None
    shared_mentions: int | None


class Past(msgspec.Struct, frozen=True):
    """What a capability was in a run; the rank of one that was pinned is that which its counts give."""

    moment: datetime
    rank: int
    mentions: int
    pinned: bool = False


class Listed(msgspec.Struct, frozen=True):
    """A capability with what only a list of all of them needs."""

    capability: Capability
    group: str  # one of `TITLES`
    on_images: tuple[Tally, ...] = ()  # that it came up on, most mentions first; empty without records
    on_days: tuple[tuple[date, int], ...] = ()  # UTC, the earliest first; empty without records
    lineage: tuple[Relation, ...] = ()
    history: tuple[Past, ...] = ()  # in some of the runs up to this one, the oldest first


class Command(msgspec.Struct, frozen=True):
    """What a command does, and its words before and after the capability's identifier."""

    does: str
    before: str
    after: str  # what is in capitals is for the person to fill in
    group: str | None = None  # of capabilities that it is for; null for all

    def line(self, capability_id: str) -> str:
        """The whole line. Nothing that a log says is in it, so that it can be pasted unread."""
        return f"{self.before}{capability_id}{self.after}"


_COMMANDS: Final = (
    ("merge", "vocabgap decide merge ", " OTHER", None),
    ("split", "vocabgap decide split ", " --wording 'WORDING'", None),
    ("rename", "vocabgap decide rename ", " 'NEW LABEL'", None),
    ("pin", "vocabgap decide pin ", "", None),
    ("dismiss", "vocabgap decide dismiss ", " --why 'REASON'", None),
    ("author", "vocabgap decide author ", " --entry ENTRY", None),
    ("reopen", "vocabgap decide reopen ", "", SETTLED),
)


def listed(
    ranked: pl.DataFrame,
    groups: Mapping[str, pl.DataFrame],
    *,
    counted: pl.DataFrame | None = None,
    relations: pl.DataFrame | None = None,
    named: tuple[str, ...] = (),
    covered_from: float,
    history: Mapping[str, tuple[Past, ...]] = {},
) -> tuple[Listed, ...]:
    """The capabilities, in order of rank: the first `MOST_LISTED`, and the first of each group."""
    group_of = {each: name for name, rows in groups.items() for each in rows["capability_id"]}
    images = {} if counted is None else _lists(_on_images(counted, named))
    days = {} if counted is None else _lists(_on_days(counted))
    lineages = {} if relations is None else lineage_of(relations)
    everything = []
    for row in _first(ranked, groups).iter_rows(named=True):
        name = row["capability_id"]
        on_images = tuple(Tally(image, mentions) for image, mentions in images.get(name, ()))
        everything.append(
            Listed(
                Capability.of(row, covered_from),
                group_of.get(name, HIDDEN),
                on_images,
                tuple(days.get(name, ())),
                lineages.get(name, ()),
                history.get(name, ()),
            )
        )
    return tuple(everything)


def commands(everything: Sequence[Listed], deciding: str | None) -> tuple[Command, ...]:
    """The commands for every capability, with the options that all of them end in; none where these are null.

    Nor are there any if an identifier is not of our making: what a shell would make of it is not known.
    """
    ours = all(is_ours(each.capability.capability_id) for each in everything)
    if deciding is None or not everything or not ours:
        return ()
    options = f" {deciding}" if deciding else ""
    return tuple(Command(does, before, after + options, group) for does, before, after, group in _COMMANDS)


def named_by(
    gaps: pl.DataFrame | None, rejects: pl.DataFrame | None, askers: tuple[Asker, ...]
) -> tuple[str, ...]:
    """Which of `tenant_id` and `repo_slug` stand before the name of an image or a log: those that vary."""
    owners = pl.DataFrame([{name: getattr(each, name) for name in _OWNER} for each in askers])
    tables = [owners] if gaps is None else [gaps] if rejects is None else [gaps, rejects]

    def varies(name: str) -> bool:
        values = [table[name] for table in tables if name in table.columns]
        return bool(values) and pl.concat(values).n_unique() > 1

    return tuple(filter(varies, _OWNER))


def lineage_of(relations: pl.DataFrame) -> dict[str, tuple[Relation, ...]]:
    """Return the rows of table `lineage` by the capability of this run."""
    known: dict[str, tuple[Relation, ...]] = {}
    for row in relations.drop_nulls("capability_id").iter_rows(named=True):
        relation = msgspec.convert({name: row[name] for name in Relation.__struct_fields__}, Relation)
        known[row["capability_id"]] = (*known.get(row["capability_id"], ()), relation)
    return known


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


def is_ours(capability_id: str) -> bool:
    """Whether an identifier is of our making, so that it is known what a shell makes of it."""
    return _OURS.fullmatch(capability_id) is not None
