"""What is clustered: the distinct surfaces of some records, weighted by mentions.

A wording is a phrase as somebody wrote it, a surface its normal form, and a point a distinct surface.
Synonyms are folded before anything is compared. Beside its words a point knows how far it is a
sentence, for sentences that mean the same share fewer words than noun phrases do.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.frames import need
from vocabgap.model.tables import phrase, stripped
from vocabgap.text import content_words, ignored_stems, stem, surface, synonym_table

NO_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})

# Words of somebody who speaks in sentences; noun phrases have none of them. Prepositions, articles and
# conjunctions stand in both.
_CLAUSE_WORDS: Final = """
it its there here is are was were am be been being do does did has have had having
can could may might must shall should will would
i me my we our you your he him his she her they them their
what which who whom whose when where how why
im ive dont doesnt didnt cant couldnt wont wouldnt isnt arent whats wheres hows youre theres lets
"""
# Nouns as well ("can crop tool", "doe eyes"): they count only beside another clause word. The mean B-cubed F1
# and ARI of eight labelled sets were the same without this.
_NOUNS_TOO: Final = "can will may might must does"
CLAUSE_STEMS: Final = frozenset(map(stem, _CLAUSE_WORDS.split()))
_AMBIGUOUS_STEMS: Final = frozenset(map(stem, _NOUNS_TOO.split()))
_SENTENCE_FROM: Final = 0.10  # share of clause words from which on a wording is a sentence
_DETAILS: Final = (
    "intent",
    "description",
    "workaround",
)  # columns that say more of a need, in this order ...
_OPERATIONS: Final = "operations_involved"  # ... and names of what was used instead


@dataclass(frozen=True)
class Points:
    """The distinct surfaces of some records.

    Attributes:
        wordings: Columns `wording`, `mentions` and `surface`, one row a distinct phrase.
        surfaces: Columns `surface` and `mentions`, one row a point.
        contents: The words of each surface that are compared, joined by spaces.
        clause_shares: The share of words in each surface that only stand in sentences, shape (n,).
        words_of: Gives the words of a surface that are compared, joined by spaces.
        texts: Of each surface its need, then intent, description, workaround and operations of the record
            that says most of it. Empty without `with_texts`.
        text_contents: The words of each text that are compared, joined by spaces.
    """

    wordings: pl.DataFrame
    surfaces: pl.DataFrame
    contents: list[str]
    clause_shares: npt.NDArray[np.float64]
    words_of: Callable[[str], str]
    texts: tuple[str, ...] = ()
    text_contents: tuple[str, ...] = ()

    @cached_property
    def spoken(self) -> list[str]:
        """The most used wording of each surface."""
        by_use = self.wordings.sort("mentions", "wording", descending=[True, False])
        wording = dict(by_use.unique("surface", keep="first").select("surface", "wording").iter_rows())
        return [wording[surface] for surface in self.surfaces["surface"]]

    @cached_property
    def needs(self) -> list[str]:
        """The most used wording of each surface, without the frame in which it was said."""
        return list(map(need, self.spoken))

    @cached_property
    def need_stems(self) -> list[list[str]]:
        """The stems of each need."""
        known = zip(self.needs, self.spoken, self.surfaces["surface"], strict=True)
        return [(own if need == said else surface(need)).split() for need, said, own in known]

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """How often each surface was mentioned, shape (n,)."""
        return self.surfaces["mentions"].cast(pl.Float64).to_numpy()

    @cached_property
    def sentence_shares(self) -> npt.NDArray[np.float64]:
        """How far each surface is a sentence, 0 to 1, shape (n,)."""
        return sentence_share(self.clause_shares)

    def with_texts(self, records: pl.DataFrame, wordings: pl.DataFrame | None = None) -> "Points":
        """The same with what the records say beside their phrase.

        Args:
            records: Those that the points were made of, with `workaround` and `operations_involved`, too, if
                they are there.
            wordings: Columns `wording` and `surface`: what is said of which surface, by default its own.
        """
        said, used = _details_of(records, self.wordings if wordings is None else wordings)
        names = self.surfaces["surface"].to_list()
        without_names = [
            f"{need}. {said[name]}" if name in said else need
            for need, name in zip(self.needs, names, strict=True)
        ]
        texts = tuple(
            f"{text}. {used[name]}" if name in used else text
            for text, name in zip(without_names, names, strict=True)
        )
        text_contents = tuple(self.words_of(surface(text)) for text in without_names)
        return replace(self, texts=texts, text_contents=text_contents)


def points_of(
    records: pl.DataFrame,
    stop_words: Iterable[str] = (),
    synonyms: Mapping[str, Iterable[str]] = NO_SYNONYMS,
) -> Points:
    """The points that some records are clustered as.

    Args:
        records: Columns `missing_capability`, `description` and `intent` of table `records`.
        stop_words: Words to ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it; none stands for two.
    """
    ignored = ignored_stems(stop_words)
    fold = folding(synonyms, ignored)
    wordings = wordings_of(records)
    surfaces = surfaces_of(wordings)
    clause_shares = np.fromiter(map(clause_share, surfaces["surface"]), np.float64, surfaces.height)

    def words_of(surface: str) -> str:
        return " ".join(fold(content_words(surface, ignored)))

    return Points(wordings, surfaces, list(map(words_of, surfaces["surface"])), clause_shares, words_of)


def represented(
    points: Points, groups: npt.NDArray[np.int64], standing: npt.NDArray[np.int64]
) -> tuple[Points, pl.DataFrame]:
    """Groups of points as points: one surface stands for each, with the mentions of all.

    Args:
        points: All of them.
        groups: The group of each, shape (n,); those behind the last one that something stands for are left.
        standing: The point that stands for each group.

    Returns:
        The points, and columns `wording` and `surface`: of the wordings of each group what stands for them.
    """
    surfaces = points.surfaces.select(
        "surface", "mentions", pl.Series("group", groups), pl.Series("clauses", points.clause_shares)
    )
    summed = (
        surfaces.group_by("group")
        .agg(pl.col("mentions").sum(), pl.col("clauses").dot("mentions") / pl.col("mentions").sum())
        .sort("group")
        .head(len(standing))
    )
    names = points.surfaces["surface"].gather(standing)
    of_group = surfaces.join(
        pl.DataFrame({"group": np.arange(len(standing)), "standing": names}), on="group"
    ).select("surface", "standing")
    wordings = points.wordings.join(of_group, on="surface", maintain_order="left")
    chosen = Points(
        wordings.filter(pl.col("surface") == pl.col("standing")).drop("standing"),
        pl.DataFrame({"surface": names, "mentions": summed["mentions"]}),
        [points.contents[point] for point in standing.tolist()],
        summed["clauses"].to_numpy(),
        points.words_of,
    )
    return chosen, wordings.select("wording", pl.col("standing").alias("surface"))


def wordings_of(records: pl.DataFrame) -> pl.DataFrame:
    """The distinct phrases of some records: columns `wording`, `mentions` and `surface`.

    They are ordered by wording, so that nothing after it can depend on the order of the input.
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


def _details_of(records: pl.DataFrame, wordings: pl.DataFrame) -> tuple[dict[str, str], dict[str, str]]:
    """What the record of each surface that says most says beside the phrase, and what was used there."""
    columns = [stripped(pl.col(name)) for name in _DETAILS if name in records.columns]
    said = [pl.when(column != "").then(column) for column in columns]
    used = pl.lit("")
    if _OPERATIONS in records.columns:
        used = pl.col(_OPERATIONS).list.join(", ", ignore_nulls=True).str.replace_all("_", " ").fill_null("")
    details = (
        records.select(
            phrase().alias("wording"),
            pl.concat_str(said, separator=". ", ignore_nulls=True).alias("detail"),
            used.alias("used"),
        )
        .filter((pl.col("detail") != "") | (pl.col("used") != ""))
        .join(wordings.select("wording", "surface"), on="wording")
        .select("surface", "detail", "used")
        .unique()
        .sort(
            "surface",
            pl.col("detail").str.len_chars(),
            "detail",
            "used",
            descending=[False, True, False, False],
        )
        .unique("surface", keep="first", maintain_order=True)
    )
    said_of, used_for = (
        dict(details.filter(pl.col(name) != "").select("surface", name).iter_rows())
        for name in ("detail", "used")
    )
    return said_of, used_for


def surfaces_of(wordings: pl.DataFrame) -> pl.DataFrame:
    """The distinct surfaces of some wordings, ordered by surface: columns `surface` and `mentions`."""
    return wordings.group_by("surface").agg(pl.col("mentions").sum()).sort("surface")


def folding(
    synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str]
) -> Callable[[list[str]], list[str]]:
    """A function that puts the one wording in the place of those that mean the same; the longest wins.

    It takes the content words of a surface. Inflection, case, hyphens and ignored words do not matter in the
    synonyms.
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
                replacement = table.get(tuple(words[start : start + length]))
                if replacement is not None:
                    folded += replacement
                    start += length
                    break
            else:
                folded.append(words[start])
                start += 1
        return folded

    return fold


def clause_share(surface: str) -> float:
    """The share of the words of a surface that only stand in sentences."""
    every = surface.split()
    clause_words = [word for word in every if word in CLAUSE_STEMS]
    return 0.0 if _AMBIGUOUS_STEMS.issuperset(clause_words) else len(clause_words) / len(every)


def sentence_share(clause_shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How far wordings are sentences rather than noun phrases, 0 to 1, from their share of clause words."""
    return np.minimum(1.0, clause_shares / _SENTENCE_FROM)
