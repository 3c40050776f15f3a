"""The shareable report: only facts that several images have in common."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

import msgspec
import polars as pl
from msgspec import structs

from vocabgap.files.parts import Parts
from vocabgap.model.capability import Capability, Covered, Tally, Wording
from vocabgap.model.frames import label_of, need
from vocabgap.model.record import OPERATION_ALIASES, UNCATEGORIZED, fold_operation
from vocabgap.model.tables import CAPABILITIES, MENTIONS, default_of, phrase
from vocabgap.ranking.evidence import folded
from vocabgap.ranking.priority import ORDER, in_order
from vocabgap.reporting.listed import DECIDED, TO_AUTHOR, Listed
from vocabgap.reporting.overviews import Withheld, categories_of
from vocabgap.reporting.summary import Summary, ties_of
from vocabgap.text import can_be_seen, surface

NO_WORDING: Final = "(wording withheld)"
# The origin of a record: itself, its image, which it may invent, and the folder of its log. If it names no
# image, its top folder is both. Tenants do not count: several may have the same logs.
_FOLDER: Final = pl.col("source_path").str.replace("[^/]*$", "")
_TOP: Final = _FOLDER.str.replace("/.*", "")
_WHERE: Final = tuple(
    pl.concat_str("repo_slug", pl.when("named").then(own).otherwise(_TOP), separator="/").alias(name)
    for name, own in (("image", pl.col("image_id")), ("folder", _FOLDER))
)
_ORIGIN: Final = ("record_id", "image", "folder")
_PLACES: Final = pl.min_horizontal(pl.col(_ORIGIN).n_unique()).alias("places")
_Pairs = frozenset[tuple[str, str]]
_Struct = TypeVar("_Struct", bound=msgspec.Struct)

# Fields that are shared, moments by their week. A field that is not listed here or below gets its default.
SUMMARY_AS_IT_IS: Final = (
    *("now", "total", "mentions", "images", "single", "first_seen", "last_seen", "ranked_by"),
    *("fewest", "stale_days", "unit"),
)
CAPABILITY_AS_IT_IS: Final = (
    *("rank", "rank_low", "rank_high", "mentions", "images", "sessions", "first_seen", "last_seen"),
    *("unsatisfied", "neutral", "satisfied", "unrated", "cohesion", "trend"),
    *("priority", "tie_group", "weekly", "repeats", "established"),
    *("mentions_low", "mentions_high", "mixed", "seen", "largest_session"),
)
ACCOUNT_AS_IT_IS: Final = (
    *("files", "unreadable", "lines", "records", "counted", "filtered", "duplicates", "superseded"),
    *("rejects", "passed_over", "repairs", "reasons", "unread", "not_a_gap", "not_granted", "repeating"),
)


class CommonWords(msgspec.Struct, frozen=True):
    """Names that occur on enough images of a capability: pairs of capability and name."""

    wordings: dict[tuple[str, str], tuple[str, int]]  # capability and surface to shown words and mentions
    categories: _Pairs
    operations: _Pairs
    entries: _Pairs  # vocabulary entries that were used


def shareable(
    summary: Summary, gaps: Parts, fewest: int, operation_aliases: Mapping[str, str] = OPERATION_ALIASES
) -> Summary:
    """Reduce a summary to what may be shared; `gaps` is table `gaps`.

    Numbers, weeks, and words on at least `fewest` images of one capability stay. There must be as many
    records and folders, because a record may invent an image.
    """
    step = partial(_common_words, fewest=fewest, operation_aliases=operation_aliases)
    tables = gaps.by(["capability_id"], step, _spoken)
    common = CommonWords(
        {(name, form): (words, often) for name, form, words, often in tables["wordings"].iter_rows()},
        *(frozenset(tables[name].iter_rows()) for name in ("categories", "operations", "entries")),
    )
    rows = tables["rows"]
    rare = rows.filter(pl.col("places") < fewest)
    frequent = {*rows.filter(pl.col("places") >= fewest)["capability_id"]}
    everything = _without_pins(summary)
    many = [each for each in everything if each.capability.capability_id in frequent]
    # Decisions stay private, so settled capabilities are not listed.
    undecided = [each for each in many if each.group != DECIDED]
    shared = tuple(_shared(each, common) for each in undecided)
    open_ = tuple(each.capability for each in shared if each.group == TO_AUTHOR)
    most = len(summary.capabilities)
    shown = open_[:most] if most < summary.open_total else open_
    tallies = [[structs.asdict(tally) for tally in each.capability.categories] for each in shared]
    ranks = [(each.capability.tie_group, each.capability.rank) for each in everything]
    return _allowed(
        summary,
        SUMMARY_AS_IT_IS,
        capabilities=shown,
        open_total=len(open_),
        categories=categories_of(pl.DataFrame({"categories": tallies}, _schema_of("categories"))),
        account=summary.account and _allowed(summary.account, ACCOUNT_AS_IT_IS),
        selection=tuple(
            (name, value if name in {"since", "until"} else None) for name, value in summary.selection
        ),
        covered_total=sum(each.exists for each in open_),
        ties=ties_of(pl.DataFrame(ranks, _schema_of("tie_group", "rank"), orient="row"), shown),
        everything=shared,
        deciding=None,
        withheld=Withheld(
            fewest=fewest,
            capabilities=rare.height,
            mentions=int(rare["mentions"].sum()),
            decided=len(many) - len(undecided),
            unlisted=summary.total - rare.height - len(many),
        ),
    )


def _shared(listed: Listed, common: CommonWords) -> Listed:
    """Return a capability without facts about single images."""
    item = listed.capability
    name = item.capability_id
    variants = _variants(item, common)
    categories = _common_tallies(item.categories, name, common.categories) or (
        Tally("(withheld)", item.mentions),
    )
    return Listed(
        capability=_allowed(
            item,
            CAPABILITY_AS_IT_IS,
            capability_id=f"cap-{item.rank}",  # the real identifier is derived from a wording
            label=_label(item, variants, common),
            intent_category=min(categories, key=lambda each: each.name == UNCATEGORIZED).name,
            categories=categories,
            operations=_common_tallies(item.operations, name, common.operations),
            vocabulary_used=_common_tallies(item.vocabulary_used, name, common.entries),
            variants=variants,
            covered=(Covered("", item.total, ()),) if item.exists else (),  # without the entry
        ),
        group=listed.group,
    )


def _without_pins(summary: Summary) -> tuple[Listed, ...]:
    """Rank capabilities by their counts alone, because decisions stay private."""
    names = ("capability_id", "label", "status", "pinned", *ORDER)
    columns = dict.fromkeys((*names, summary.ranked_by, *summary.fewest))
    rows = [[getattr(each.capability, name) for name in columns] for each in summary.everything]
    frame = pl.DataFrame(rows, _schema_of(*columns), orient="row").with_row_index("place")
    ordered = in_order(frame, summary.ranked_by, summary.fewest, pins=False)
    return tuple(
        structs.replace(listed, capability=structs.replace(listed.capability, rank=rank))
        for rank, listed in enumerate((summary.everything[place] for place in ordered["place"]), 1)
    )


def _allowed(struct: _Struct, as_it_is: Sequence[str], **rewritten: object) -> _Struct:
    """Copy the allowed fields and rewrite some; all other fields get their default."""
    withheld = {field.name: default_of(field) for field in structs.fields(struct)}
    kept = {name: _by_week(getattr(struct, name)) for name in as_it_is}
    return type(struct)(**{**withheld, **kept, **rewritten})


def _by_week(value: object) -> object:
    """Return the Monday of a moment, and other values as they are."""
    if not isinstance(value, datetime):
        return value
    return (value - timedelta(value.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)


def _common_tallies(tallies: tuple[Tally, ...], name: str, common: _Pairs) -> tuple[Tally, ...]:
    return tuple(each for each in tallies if (name, each.name) in common)


def _variants(item: Capability, common: CommonWords) -> tuple[Wording, ...]:
    """Return one wording of each common surface, most mentions first."""
    similarity = {surface(each.wording): each.similarity for each in item.variants}
    shown = [(common.wordings.get((item.capability_id, form)), alike) for form, alike in similarity.items()]
    variants = [Wording(*each, alike) for each, alike in shown if each]
    return tuple(sorted(variants, key=lambda each: (-each.mentions, each.wording)))


def _label(item: Capability, variants: tuple[Wording, ...], common: CommonWords) -> str:
    own = common.wordings.get((item.capability_id, surface(item.label)))
    if own is not None:
        return own[0]
    return label_of(need(variants[0].wording)) if variants else NO_WORDING


def _schema_of(*columns: str) -> dict[str, pl.DataType]:
    return {name: CAPABILITIES.schema[name] for name in columns}


def _spoken(part: pl.LazyFrame) -> pl.LazyFrame:
    wording = phrase().alias("wording")
    columns = ("capability_id", "count", "category", "record_id", "operations_involved", "vocabulary_used")
    return part.filter("counted").select(*columns, wording, *_WHERE)


def _name(written: str) -> str:
    """Return the name of an image or a folder without case, white space and marks, as some disks fold it."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", written).casefold())
    return "".join(filter(can_be_seen, folded))


def _common_words(
    counted: pl.DataFrame, fewest: int, operation_aliases: Mapping[str, str]
) -> dict[str, pl.DataFrame]:
    """Return the words in enough places of a capability, and the places and mentions of each capability."""
    fold = partial(fold_operation, aliases=operation_aliases)
    counted = counted.with_columns(folded(counted[place], _name) for place in ("image", "folder"))
    involving, using = counted.explode("operations_involved"), counted.explode("vocabulary_used")
    return {
        "wordings": _wordings(counted, fewest),
        "categories": _common(counted, counted["category"].fill_null(UNCATEGORIZED), fewest),
        "operations": _common(involving, folded(involving["operations_involved"], fold), fewest),
        "entries": _common(using, folded(using["vocabulary_used"], str.strip), fewest),
        "rows": counted.group_by("capability_id").agg(_PLACES, MENTIONS),
    }


def _common(rows: pl.DataFrame, values: pl.Series, fewest: int) -> pl.DataFrame:
    """Return the values (one per row) that are in enough places of a capability."""
    return (
        rows.select("capability_id", *_ORIGIN, values.alias("value"))
        .group_by("capability_id", "value")
        .agg(_PLACES)
        .filter(pl.col("places") >= fewest, pl.col("value").is_not_null())
        .select("capability_id", "value")
    )


def _wordings(counted: pl.DataFrame, fewest: int) -> pl.DataFrame:
    worded = counted.filter(pl.col("wording").is_not_null())
    worded = worded.with_columns(folded(worded["wording"], surface).alias("surface"))
    needs = (
        worded.group_by("capability_id", "surface")
        .agg(MENTIONS, _PLACES)
        .filter(pl.col("places") >= fewest)
        .drop("places")
    )
    spellings = (
        worded.group_by("capability_id", "surface", "wording")
        .agg(_PLACES, MENTIONS.alias("written"))
        .filter(pl.col("places") >= fewest)
        .sort("places", "written", "wording", descending=[True, True, False])
        .unique(["capability_id", "surface"], keep="first", maintain_order=True)
    )
    spelled = needs.join(spellings, on=["capability_id", "surface"], how="left")
    wording = pl.coalesce("wording", "surface")  # show word stems if each spelling is in too few places
    return spelled.select("capability_id", "surface", wording, "mentions")
