"""What is clustered: the distinct surfaces of some records, weighted by mentions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

import polars as pl

from vocabgap.clustering.arrays import FloatArray
from vocabgap.clustering.cutting import sentence_shares
from vocabgap.clustering.phrases import surfaces_of, wordings_of
from vocabgap.clustering.synonyms import folding
from vocabgap.text import content_words, ignored_stems

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
