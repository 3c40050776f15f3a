"""Which words about a capability were used on several images, so that they tell of no single one."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec
import polars as pl

from vocabgap.ranking.evidence import folded, operation_sets
from vocabgap.records.record import OPERATION_ALIASES, UNCATEGORIZED, fold_operation
from vocabgap.schema import PHRASE_FIELDS, phrase, stripped
from vocabgap.text import stem, surface, words

_IMAGE: Final = pl.struct("tenant_id", "repo_slug", "image_id").alias("image")
_SEPARATOR: Final = "\n"
_Pairs = frozenset[tuple[str, str]]


class Spoken(msgspec.Struct, frozen=True):
    """Words that stand for a surface, and the records of the capability that hold it."""

    wording: str
    mentions: int


class CommonWords(msgspec.Struct, frozen=True):
    """What as many images as were asked for have in common.

    Attributes:
        wordings: Capability and surface, and the words that stand for it.
        categories: Capability and category.
        operations: Capability and operation.
        entries: Capability and entry of the vocabulary that was used.
        combinations: Capability and `together` of the operations that one record involves.
    """

    wordings: dict[tuple[str, str], Spoken]
    categories: _Pairs
    operations: _Pairs
    entries: _Pairs
    combinations: _Pairs


def together(operations: tuple[str, ...]) -> str:
    """A set of operations as one text."""
    return _SEPARATOR.join(operations)


def common_words(
    counted: pl.DataFrame, fewest: int, operation_aliases: Mapping[str, str] = OPERATION_ALIASES
) -> CommonWords:
    """The words that a capability has on enough images.

    Args:
        counted: The rows of table `gaps` that count.
        fewest: How many distinct images are enough.
        operation_aliases: Lower-case name to operation, as `rank` had them.
    """
    fold = partial(fold_operation, aliases=operation_aliases)
    used = counted.explode("vocabulary_used")["vocabulary_used"]
    involved = counted.explode("operations_involved")["operations_involved"]
    sets = operation_sets(counted["operations_involved"], fold)
    return CommonWords(
        wordings=_wordings(counted, fewest),
        categories=_common(counted, counted["category"].fill_null(UNCATEGORIZED), fewest),
        operations=_common(counted.explode("operations_involved"), folded(involved, fold), fewest),
        entries=_common(counted.explode("vocabulary_used"), folded(used, str.strip), fewest),
        combinations=_common(counted, sets.list.join(_SEPARATOR), fewest),
    )


def _common(rows: pl.DataFrame, values: pl.Series, fewest: int) -> _Pairs:
    """The values, one of each row, that are on enough images of a capability."""
    found = (
        rows.select("capability_id", _IMAGE, values.alias("value"))
        .group_by("capability_id", "value")
        .agg(pl.col("image").n_unique().alias("images"))
        .filter(pl.col("images") >= fewest, pl.col("value").is_not_null())
    )
    return frozenset(found.select("capability_id", "value").iter_rows())


def _wordings(counted: pl.DataFrame, fewest: int) -> dict[tuple[str, str], Spoken]:
    # What a person asked for stays private, even where nothing else says what was missing.
    told = pl.any_horizontal(stripped(pl.col(name)) != "" for name in PHRASE_FIELDS if name != "intent")
    spoken = counted.filter(told).select("capability_id", _IMAGE, phrase().alias("wording"))
    spoken = spoken.with_columns(folded(spoken["wording"], surface).alias("surface"))
    needs = (
        spoken.group_by("capability_id", "surface")
        .agg(pl.len().alias("mentions"), pl.col("image").n_unique().alias("on_images"))
        .filter(pl.col("on_images") >= fewest)
    )
    spellings = (
        spoken.group_by("capability_id", "surface", "wording")
        .agg(pl.col("image").n_unique().alias("images"), pl.len().alias("written"))
        .sort("images", "written", "wording", descending=[True, True, False])
        .unique(["capability_id", "surface"], keep="first", maintain_order=True)
    )
    found = needs.join(spellings, on=["capability_id", "surface"])
    own = {
        (row["capability_id"], row["surface"]): Spoken(row["wording"], row["mentions"])
        for row in found.filter(pl.col("images") >= fewest).iter_rows(named=True)
    }
    spelt_apart = found.filter(pl.col("images") < fewest).select("capability_id", "surface", "mentions")
    spelt = (
        spoken.join(spelt_apart, on=["capability_id", "surface"])
        .group_by("capability_id", "surface", "mentions")
        .agg("image", "wording")
    )
    return own | {
        (row["capability_id"], row["surface"]): Spoken(
            _common_forms(row["image"], row["wording"], fewest) or row["surface"], row["mentions"]
        )
        for row in spelt.iter_rows(named=True)
    }


def _common_forms(images: list[dict[str, str]], wordings: list[str], fewest: int) -> str:
    """The words of one surface, each in the form that most images have.

    Where fewer than enough have one form of a word, there is only the stem that all forms of it have.
    """
    places: dict[int, dict[str, set[object]]] = {}
    for image, wording in zip(images, wordings, strict=True):
        for place, word in enumerate(words(wording)):
            places.setdefault(place, {}).setdefault(word, set()).add(tuple(image.values()))
    return " ".join(_common_form(forms, fewest) for forms in places.values())


def _common_form(forms: Mapping[str, set[object]], fewest: int) -> str:
    most = min(forms, key=lambda form: (-len(forms[form]), form))
    return most if len(forms[most]) >= fewest else f"{stem(most)}…"
