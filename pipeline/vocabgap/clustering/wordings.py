"""What is clustered: the distinct surfaces of some records, weighted by mentions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

import polars as pl

from vocabgap.clustering.arrays import FloatArray
from vocabgap.clustering.cutting import sentence_shares
from vocabgap.schema import phrase
from vocabgap.text import content_words, ignored_stems, surface, synonym_table

# From records to the distinct phrases they ask with, and from phrases to weighted surfaces.


def wordings_of(records: pl.DataFrame) -> pl.DataFrame:
    """The distinct phrases of some records.

    Args:
        records: Columns `missing_capability`, `description` and `intent` of table `records`.

    Returns:
        Columns `wording`, `mentions` and `surface`, ordered by wording, so that nothing after it can
        depend on the order of the input.
    """
    counted = (
        records.select(phrase().alias("wording"))
        .drop_nulls()
        .group_by("wording")
        .len("mentions")
        .sort("wording")
    )
    surfaces = pl.Series("surface", [surface(wording) for wording in counted["wording"]], dtype=pl.String)
    return counted.with_columns(pl.col("mentions").cast(pl.Int64), surfaces)


def surfaces_of(wordings: pl.DataFrame) -> pl.DataFrame:
    """The distinct surfaces of some wordings, ordered by surface: columns `surface` and `mentions`."""
    return wordings.group_by("surface").agg(pl.col("mentions").sum()).sort("surface")


# Words that the settings say mean the same, folded before anything is compared.


Folding = Callable[[list[str]], list[str]]


def folding(synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str]) -> Folding:
    """How to put the one wording in the place of those that mean the same.

    Args:
        synonyms: A word or phrase to the others that stand for it. Inflection, case, hyphens and ignored
            words do not matter on either side.
        ignored: The stems that tell no need from another.

    Returns:
        A function from the content words of a surface to those to be compared. The longest wording wins.

    Raises:
        InvalidInputError: A wording is empty, or stands for two different ones.
    """
    table = synonym_table(synonyms, ignored)
    if not table:
        return list
    longest = max(map(len, table))

    def fold(words: list[str]) -> list[str]:
        folded: list[str] = []
        start = 0
        while start < len(words):
            for length in range(min(longest, len(words) - start), 0, -1):
                found = table.get(tuple(words[start : start + length]))
                if found is not None:
                    folded += found
                    start += length
                    break
            else:
                folded.append(words[start])
                start += 1
        return folded

    return fold


NO_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


@dataclass(frozen=True)
class Points:
    """The distinct surfaces of some records.

    Attributes:
        wordings: Columns `wording`, `mentions` and `surface`, one row a distinct phrase.
        surfaces: Columns `surface` and `mentions`, one row a point.
        contents: The words of each surface that are compared, joined by spaces.
        shares: The share of words in each surface that only stand in sentences, shape (n,).
    """

    wordings: pl.DataFrame
    surfaces: pl.DataFrame
    contents: list[str]
    shares: FloatArray

    @cached_property
    def spoken(self) -> list[str]:
        """The most used wording of each surface."""
        by_use = self.wordings.sort("mentions", "wording", descending=[True, False])
        wording = dict(by_use.unique("surface", keep="first").select("surface", "wording").iter_rows())
        return [wording[surface] for surface in self.surfaces["surface"]]

    @cached_property
    def weights(self) -> FloatArray:
        """How often each surface was mentioned, shape (n,)."""
        return self.surfaces["mentions"].cast(pl.Float64).to_numpy()


def points_of(
    records: pl.DataFrame,
    stop_words: Iterable[str] = (),
    synonyms: Mapping[str, Iterable[str]] = NO_SYNONYMS,
) -> Points:
    """The points that some records are clustered as.

    Args:
        records: Columns `missing_capability`, `description` and `intent` of table `records`.
        stop_words: Words to ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it.

    Raises:
        InvalidInputError: A synonym stands for two different words.
    """
    ignored = ignored_stems(stop_words)
    fold = folding(synonyms, ignored)
    wordings = wordings_of(records)
    surfaces = surfaces_of(wordings)
    contents = [" ".join(fold(content_words(surface, ignored))) for surface in surfaces["surface"]]
    return Points(wordings, surfaces, contents, sentence_shares(surfaces["surface"]))
