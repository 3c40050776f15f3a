"""The lists of a report: capabilities, and what people may decide about them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import polars as pl

from vocabgap.files.parts import Parts
from vocabgap.model.capability import SETTLED, Asker, Capability, Tally, means
from vocabgap.model.tables import IMAGE_KEY, MENTIONS, OWNER, counted

if TYPE_CHECKING:  # a program that only reads runs does not load clustering
    from vocabgap.clustering.grouping import Clusters
    from vocabgap.clustering.screens import Screen

TO_AUTHOR: Final = "open"  # to be authored
DECIDED: Final = "settled"  # dismissed or authored by people
HIDDEN: Final = "hidden"  # not established
MOST_LISTED: Final = 10_000
MOST_IMAGES: Final = 100  # of a capability
# Of each group on paper and without a script; a script shows all.
SHOWN: Final = 50
_OURS: Final = re.compile(r"cap-[0-9a-f]{12}")  # an identifier that vocabgap made; it is safe in a shell

MOST_DOUBTS: Final = 5
LIKELY: Final = 0.25  # least probability that two groups are one need; few pairs have more


def beside(item: Capability, perhaps: str = "") -> tuple[str, ...]:
    """Return what stands beside a capability, as phrases; `perhaps` is the phrase on similar groups."""
    from vocabgap.reporting.wording import phrase  # noqa: PLC0415 - loads SciPy and Jinja

    names = ("pinned_by", "exists", "asked_again", "claimed", "several", "one_session")
    return tuple(filter(None, (*(phrase(name, item) for name in names), perhaps)))


class Past(msgspec.Struct, frozen=True):
    """A capability in an earlier run."""

    moment: datetime
    rank: int
    mentions: int
    pinned: bool = False
    status: str = ""


class Choices(msgspec.Struct, frozen=True):
    """The groups that may be the same need as a capability, and its parts that may be another one."""

    capability_id: str
    near: Annotated[tuple[tuple[str, float], ...], means("these groups, and how likely each is")] = ()
    parts: Annotated[tuple[tuple[int, ...], ...], means("positions of their wordings in `variants`")] = ()
    likely: Annotated[tuple[float, ...], means("how likely each part is another need")] = ()


class Listed(msgspec.Struct, frozen=True):
    """A capability with facts for the list of all capabilities."""

    capability: Capability
    group: str  # `TO_AUTHOR`, `DECIDED` or `HIDDEN`
    on_images: tuple[Tally, ...] = ()  # the first `MOST_IMAGES`, most mentions first; empty without records
    on_days: tuple[tuple[date, int], ...] = ()  # stretches with mentions, in UTC: first day and length
    lineage: tuple[dict[str, Any], ...] = ()  # rows of table `lineage`
    history: tuple[Past, ...] = ()  # in some runs up to this run, oldest first
    choices: Choices | None = None  # only of the first capabilities


class Doubt(msgspec.Struct, frozen=True):
    """Two capabilities that may be one need."""

    capability_id: str
    other_id: str
    label: str
    other_label: str
    mentions: int
    other_mentions: int


def listed(
    ranked: pl.DataFrame,
    groups: Mapping[str, pl.DataFrame],
    *,
    gaps: Parts | None = None,
    places: pl.DataFrame | None = None,
    relations: pl.DataFrame | None = None,
    covered_from: float,
    history: Mapping[str, tuple[Past, ...]] = {},
    choices: Mapping[str, Choices] = {},
) -> tuple[Listed, ...]:
    """Return the capabilities in order of rank: the first `MOST_LISTED`, and the first of each group.

    `places` are the images of the counted lines of table `gaps`, from `places_in`.
    """
    group_of = {each: name for name, rows in groups.items() for each in rows["capability_id"]}
    first = _first(ranked, groups)
    own: Mapping[str, pl.DataFrame] = {}
    if gaps is not None and places is not None:
        numbers = first.select("capability_id").with_row_index("capability")
        images_of = places.drop("name")

        def lines_of(part: pl.LazyFrame) -> pl.LazyFrame:
            ours = counted(part).join(numbers.lazy(), on="capability_id")
            placed = ours.join(images_of.lazy(), on=IMAGE_KEY, nulls_equal=True)
            return placed.select("capability", "place", "count", pl.col("timestamp").dt.date().alias("day"))

        own = gaps.by(["capability"], _where_and_when, lines_of)
    known = [] if places is None else places["name"].to_list()
    images, days = _lists(own.get("images")), _lists(own.get("days"))
    lineages = {} if relations is None else relations.rows_by_key("capability_id", named=True)
    return tuple(
        Listed(
            Capability.of(row, covered_from),
            group_of.get(name, HIDDEN),
            tuple(Tally(known[place], mentions) for place, mentions in images.get(number, ())),
            days.get(number, ()),
            tuple(lineages.get(name, ())),
            history.get(name, ()),
            choices.get(name),
        )
        for number, row in enumerate(first.iter_rows(named=True))
        for name in [row["capability_id"]]
    )


def named_by(
    overview: pl.DataFrame | None, rejects: pl.DataFrame | None, askers: tuple[Asker, ...]
) -> tuple[str, ...]:
    """Return which of `tenant_id` and `repo_slug` vary; they precede the names of images and logs."""
    owners = pl.DataFrame([{name: getattr(each, name) for name in OWNER} for each in askers])
    tables = [owners] if overview is None else [overview] if rejects is None else [overview, rejects]

    def varies(name: str) -> bool:
        values = [table[name] for table in tables if name in table.columns]
        return bool(values) and pl.concat(values).n_unique() > 1

    return tuple(filter(varies, OWNER))


def _first(ranked: pl.DataFrame, groups: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the capabilities that a page lists: not more than a browser can show."""
    if ranked.height <= MOST_LISTED:
        return ranked
    first = [rows.head(SHOWN)["capability_id"] for rows in groups.values()]
    chosen = pl.concat([ranked.head(MOST_LISTED)["capability_id"], *first])
    return ranked.filter(pl.col("capability_id").is_in(chosen.unique().implode()))


def _where_and_when(lines: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the mentions of each capability by image, and its stretches of days with mentions."""
    images = (
        lines.group_by("capability", "place")
        .agg(MENTIONS)
        .sort("capability", "mentions", "place", descending=[False, True, False])
        .group_by("capability", maintain_order=True)
        .head(MOST_IMAGES)
    )
    days = lines.select("capability", "day").drop_nulls().unique().sort("capability", "day")
    stretch = pl.col("day") - pl.duration(days=pl.int_range(pl.len()).over("capability"))
    stretches = days.group_by("capability", stretch.alias("stretch"), maintain_order=True)
    return {"images": images, "days": stretches.agg(pl.col("day").first(), pl.len()).drop("stretch")}


def _lists(pairs: pl.DataFrame | None) -> dict[int, tuple[tuple[Any, Any], ...]]:
    """Return pairs of the two other columns by capability."""
    if pairs is None:
        return {}
    columns = pairs.group_by("capability", maintain_order=True).agg(pl.all())
    return {capability: tuple(zip(*lists, strict=True)) for capability, *lists in columns.iter_rows()}


def numbers_of(clusters: "Clusters", ranked: pl.DataFrame) -> list[int]:
    """Return the group of each capability, by its most used wording."""
    wording = ranked.select(pl.col("variants").list.first().struct.field("wording"))
    return wording.join(clusters.wordings, on="wording", maintain_order="left")["cluster"].to_list()


def choices_of(screens: Iterable["Screen"], ranked: pl.DataFrame) -> tuple[Choices, ...]:
    """Return what people may answer about capabilities; wordings that are not in `ranked` are left out."""
    screens = [*screens]
    place = _places_of_wordings(ranked, {wording for each in screens for wording in each.all_wordings})
    choices: list[Choices] = []
    for screen in screens:
        own = _capability(place, screen.wordings)
        near = ((_capability(place, each.wordings), each.probability) for each in screen.neighbours)
        placed = (
            (tuple(sorted(place[each][1] for each in part.wordings if each in place)), part.probability)
            for part in screen.parts
        )
        parts = [each for each in placed if each[0]]
        if own is not None:
            others = tuple((name, likely) for name, likely in near if name is not None)
            choices.append(Choices(own, others, *(tuple(column) for column in zip(*parts, strict=True))))
    return tuple(choices)


def doubts_of(choices: Iterable[Choices], ranked: pl.DataFrame) -> tuple[Doubt, ...]:
    """Return pairs of the first 30 capabilities and others that may be one need, without settled ones."""
    first = {*ranked["capability_id"].head(30)}
    rows = ranked.filter(~pl.col("status").is_in(SETTLED)).select("capability_id", "label", "mentions")
    facts = {name: (label, mentions) for name, label, mentions in rows.iter_rows() if _OURS.fullmatch(name)}
    doubts: dict[frozenset[str], Doubt] = {}
    for each in choices:
        own = each.capability_id
        for other, likely in each.near:
            if own in first and likely >= LIKELY and own in facts and other in facts:
                (label, mentions), (other_label, other_mentions) = facts[own], facts[other]
                doubt = Doubt(own, other, label, other_label, mentions, other_mentions)
                doubts.setdefault(frozenset((own, other)), doubt)
    return tuple(islice(doubts.values(), MOST_DOUBTS))


def doubted(doubts: Iterable[Doubt]) -> dict[str, str]:
    """Return a phrase for each capability of a pair: how many others may be the same need."""
    from vocabgap.reporting.wording import phrase  # noqa: PLC0415 - loads SciPy and Jinja

    sizes: dict[str, dict[str, int]] = defaultdict(dict)
    for each in doubts:
        for own in (each.capability_id, each.other_id):
            sizes[own] |= {each.capability_id: each.mentions, each.other_id: each.other_mentions}
    return {own: phrase("perhaps", len(each) - 1, sum(each.values())) for own, each in sizes.items()}


def _places_of_wordings(ranked: pl.DataFrame, wordings: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return, for each of some wordings, its capability and its position in `variants`."""
    own = ranked.select(
        "capability_id",
        pl.col("variants").list.eval(pl.element().struct.field("wording")),
        place=pl.int_ranges(pl.col("variants").list.len()),
    ).explode("variants", "place")
    held = own.filter(pl.col("variants").is_in(pl.Series([*wordings], dtype=pl.String).implode()))
    return {wording: (name, place) for name, wording, place in held.iter_rows()}


def _capability(place: Mapping[str, tuple[str, int]], wordings: Iterable[str]) -> str | None:
    """Return the capability with some of these wordings, if any."""
    return next((place[each][0] for each in wordings if each in place), None)
