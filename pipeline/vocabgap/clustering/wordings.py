"""The points that are clustered: the distinct surfaces of records, with their mentions and needs.

A wording is a phrase as somebody wrote it, a surface is its normal form, and a point is a distinct surface.
Synonyms are replaced before wordings are compared.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.spelling import spellings, spelt_out
from vocabgap.clustering.vectorizing import starts_of
from vocabgap.clutter import shared_lines, without_clutter, without_lines
from vocabgap.files.parts import Parts
from vocabgap.model.frames import need
from vocabgap.model.tables import MENTIONS, phrase, stripped
from vocabgap.text import content_words, form, ignored_stems, pieces, stem, surface, surface_of, synonym_table

# Words of sentences that noun phrases do not have.
_CLAUSE_WORDS: Final = """
it its there here is are was were am be been being do does did has have had having
can could may might must shall should will would
i me my we our you your he him his she her they them their
what which who whom whose when where how why
im ive dont doesnt didnt cant couldnt wont wouldnt isnt arent whats wheres hows youre theres lets
"""
# Nouns as well ("can crop tool"): they count only with another clause word.
_NOUNS_TOO: Final = "can will may might must does"
CLAUSE_STEMS: Final = frozenset(map(stem, _CLAUSE_WORDS.split()))
_AMBIGUOUS_STEMS: Final = frozenset(map(stem, _NOUNS_TOO.split()))
_SENTENCE_FROM: Final = 0.10  # share of clause words of a sentence


@dataclass(frozen=True)
class Points:
    """The distinct surfaces of some records."""

    wordings: pl.DataFrame  # columns `wording`, `mentions` and `surface`, one row per distinct phrase
    surfaces: pl.DataFrame  # columns `surface` and `mentions`, one row per point
    contents: list[str]  # the compared words of each surface, joined by spaces
    clause_shares: npt.NDArray[np.float64]  # share of clause words in each surface, shape (n,)
    words_of: Callable[[str], str]  # returns the compared words of a surface
    details: Callable[[], pl.DataFrame]  # reads the longest detail of each wording, and its operations
    texts: tuple[str, ...] = ()  # the need of each surface with the details of its longest record
    text_contents: tuple[str, ...] = ()  # the compared words of each text
    shared: frozenset[str] = frozenset()  # lines and sentences that several wordings share; not compared
    meant: Mapping[str, str] = field(default_factory=dict)  # short spellings to the words that they stand for

    @cached_property
    def shortest(self) -> list[str]:
        """The shortest wording of each surface, in words rather than an identifier."""
        order = (pl.col("wording").str.contains(" ").not_(), pl.col("wording").str.len_chars(), "wording")
        first = self.wordings.group_by("surface").agg(
            pl.col("wording").sort_by(*order, descending=[False, False, True]).first()
        )
        named = self.surfaces.join(first, on="surface", how="left", maintain_order="left")
        return named["wording"].to_list()

    @cached_property
    def plainest(self) -> list[str]:
        """The shortest wording of each surface, without clutter and shared lines, spelt out."""
        return [spelt_out(compared_text(wording, self.shared), self.meant) for wording in self.shortest]

    @cached_property
    def uses(self) -> "Uses":
        """The wordings of each surface."""
        placed = self.surfaces.select("surface").with_row_index("place").join(self.wordings, on="surface")
        ordered = placed.sort("place", "mentions", "wording", descending=[False, True, False])
        counts = np.bincount(ordered["place"].to_numpy(), minlength=self.surfaces.height)
        return Uses(ordered["wording"], ordered["mentions"], starts_of(counts))

    @cached_property
    def places(self) -> dict[str, int]:
        """The point of each surface."""
        return {name: point for point, name in enumerate(self.surfaces["surface"])}

    def needs(self) -> Iterator[str]:
        """Yield the need of each surface: its plainest wording without its frame."""
        return map(need, self.plainest)

    def need_stems(self) -> Iterator[list[str]]:
        """Yield the stems of each need."""
        triples = zip(self.needs(), self.plainest, self.surfaces["surface"], strict=True)
        return ((own if need == wording else surface(need)).split() for need, wording, own in triples)

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """The mentions of each surface, shape (n,)."""
        return self.surfaces["mentions"].cast(pl.Float64).to_numpy()

    @cached_property
    def sentence_shares(self) -> npt.NDArray[np.float64]:
        """The degree to which each surface is a sentence, 0 to 1, shape (n,)."""
        return sentence_share(self.clause_shares)

    def with_texts(self, wordings: pl.DataFrame | None = None) -> "Points":
        """Return the points with the details of their records.

        `wordings` may assign wordings, and so their details, to other surfaces.
        """
        details, operations = _longest(self.details(), self.wordings if wordings is None else wordings)
        names = self.surfaces["surface"].to_list()
        with_details = [
            f"{need}. {compared_text(details[name], self.shared)}" if name in details else need
            for need, name in zip(self.needs(), names, strict=True)
        ]
        texts = tuple(
            f"{text}. {operations[name]}" if name in operations else text
            for text, name in zip(with_details, names, strict=True)
        )
        text_contents = tuple(self.words_of(surface(text)) for text in with_details)
        return replace(self, texts=texts, text_contents=text_contents)

    def separated(self, forms: Collection[str]) -> "tuple[Points, npt.NDArray[np.int64]]":
        """Return the points with own points for the wordings of some forms, and the former place of each.

        The new points are last. If all wordings of a surface are separated, the first one takes its place.
        """
        bases = pl.Series(map(surface_of, forms), dtype=pl.String)
        concerned = self.wordings.filter(pl.col("surface").is_in(bases.implode()))
        own = {wording: form(wording, forms) for wording in concerned["wording"]}
        if not own:
            return self, np.arange(len(self.contents))
        named = pl.col("wording").replace_strict(own, default=pl.col("surface"), return_dtype=pl.String)
        wordings = self.wordings.with_columns(own=named)
        mentions = wordings.group_by("surface", "own").agg(pl.col("mentions").sum())
        kept = self.surfaces.select("surface").with_row_index("place")
        # The surface itself comes first, as the shorter name.
        is_new = pl.int_range(pl.len()).over("place") > 0
        table = mentions.join(kept, on="surface").sort("place", "own").sort(is_new, "place", "own")
        places = table["place"].cast(pl.Int64).to_numpy()
        points = replace(
            self,
            wordings=wordings.with_columns(surface="own").select(self.wordings.columns),
            surfaces=table.select(surface="own", mentions="mentions"),
            contents=[self.contents[place] for place in places.tolist()],
            clause_shares=self.clause_shares[places],
        )
        return points, places

    def labelled(self, labels: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return wordings that represent groups with their places among these points."""
        surface = dict(self.wordings.select("wording", "surface").iter_rows())
        return [(wording, self.places[surface[wording]]) for wording, _ in labels]


class Uses(NamedTuple):
    """The wordings of each surface, most used first, with their mentions."""

    wordings: pl.Series
    mentions: pl.Series
    starts: npt.NDArray[Any]  # of the wordings of each surface, shape (surfaces + 1,)

    def at(self, point: int) -> list[tuple[str, int]]:
        """Return the wordings of a point with their mentions, most used first."""
        part = slice(self.starts[point], self.starts[point + 1])
        return list(zip(self.wordings[part].to_list(), self.mentions[part].to_list(), strict=True))


def points_of(
    records: pl.DataFrame | Parts, stop_words: Iterable[str] = (), synonyms: Mapping[str, Iterable[str]] = {}
) -> Points:
    """Return the points of some records (columns `missing_capability`, `description` and `intent`)."""
    records = Parts.of(records)
    ignored = ignored_stems(stop_words)
    fold = folding(synonyms, ignored)
    wordings = wordings_of(records)
    surfaces = wordings.group_by("surface").agg(pl.col("mentions").sum()).sort("surface")

    def words_of(surface: str) -> str:
        return " ".join(pieces(fold(content_words(surface, ignored))))

    shared = shared_lines(wordings["wording"])
    points = Points(
        wordings, surfaces, [], np.zeros(0), words_of, partial(_details_of, records), shared=shared
    )
    points = replace(points, meant=spellings(list(points.needs())))
    forms = surfaces["surface"].to_list()
    if shared or points.meant:
        forms = [
            form if text == without_clutter(wording) else surface(text)
            for wording, text, form in zip(points.shortest, points.plainest, forms, strict=True)
        ]
    clause_shares = np.fromiter(map(clause_share, forms), np.float64, len(forms))
    return replace(points, contents=list(map(words_of, forms)), clause_shares=clause_shares)


def compared_text(text: str, shared: frozenset[str]) -> str:
    """Return a text without clutter and shared lines."""
    return without_lines(without_clutter(text), shared)


def represented(
    points: Points, groups: npt.NDArray[np.int64], representatives: npt.NDArray[np.int64]
) -> tuple[Points, pl.DataFrame]:
    """Return one point per group of points, and the surface that represents each wording.

    Groups without a representative are left out. The frame has columns `wording` and `surface`.
    """
    surfaces = points.surfaces.select(
        "surface", "mentions", pl.Series("group", groups), pl.Series("clauses", points.clause_shares)
    )
    summed = (
        surfaces.group_by("group")
        .agg(pl.col("mentions").sum(), pl.col("clauses").mean())
        .sort("group")
        .head(len(representatives))
    )
    names = points.surfaces["surface"].gather(representatives)
    of_group = surfaces.join(
        pl.DataFrame({"group": np.arange(len(names)), "represented_by": names}), on="group"
    ).select("surface", "represented_by")
    wordings = points.wordings.join(of_group, on="surface", maintain_order="left")
    chosen = replace(
        points,
        wordings=wordings.filter(pl.col("surface") == pl.col("represented_by")).drop("represented_by"),
        surfaces=pl.DataFrame({"surface": names, "mentions": summed["mentions"]}),
        contents=[points.contents[point] for point in representatives.tolist()],
        clause_shares=summed["clauses"].to_numpy(),
    )
    return chosen, wordings.select("wording", surface="represented_by")


def wordings_of(records: Parts) -> pl.DataFrame:
    """Return the distinct phrases of some records, sorted: columns `wording`, `mentions` and `surface`."""

    def summed(wordings: pl.DataFrame) -> dict[str, pl.DataFrame]:
        return {"wordings": wordings.group_by("wording").agg(pl.col("mentions").sum())}

    counted = records.by(["wording"], summed, _counting)["wordings"].sort("wording")
    surfaces = pl.Series("surface", [surface(wording) for wording in counted["wording"]], dtype=pl.String)
    return counted.with_columns(surfaces)


def _details_of(records: Parts) -> pl.DataFrame:
    def longest(details: pl.DataFrame) -> dict[str, pl.DataFrame]:
        return {"details": _longest_of(details, "wording")}

    return records.by(["wording"], longest, _details)["details"]


def _counting(records: pl.LazyFrame) -> pl.LazyFrame:
    names = records.collect_schema().names()
    times = pl.col("count").cast(pl.Int64) if "count" in names else pl.lit(1, pl.Int64).alias("count")
    phrases = records.select(phrase().alias("wording"), times).drop_nulls("wording")
    return phrases.group_by("wording").agg(MENTIONS)


def _details(records: pl.LazyFrame) -> pl.LazyFrame:
    names = records.collect_schema().names()
    described = [name for name in ("intent", "description", "workaround") if name in names]
    columns = [stripped(pl.col(name)) for name in described]
    filled = [pl.when(column != "").then(column) for column in columns]
    operations = pl.lit("")
    if "operations_involved" in names:
        listed = pl.col("operations_involved").list.join(", ", ignore_nulls=True)
        operations = listed.str.replace_all("_", " ").fill_null("")
    detail = pl.concat_str(filled, separator=". ", ignore_nulls=True)
    details = records.select(wording=phrase(), detail=detail, operations=operations)
    return details.filter((pl.col("detail") != "") | (pl.col("operations") != ""))


def _longest_of(details: pl.DataFrame, name: str) -> pl.DataFrame:
    """Keep the longest detail of each name; of equally long ones, the first in order."""
    length = pl.col("detail").str.len_chars()
    order, falling = (name, length, "detail", "operations"), [False, True, False, False]
    ordered = details.unique().sort(order, descending=falling)
    return ordered.unique(name, keep="first", maintain_order=True)


def _longest(details: pl.DataFrame, wordings: pl.DataFrame) -> tuple[dict[str, str], dict[str, str]]:
    """Return, for each surface, the details and the operations of its longest record."""
    named = details.join(wordings.select("wording", "surface"), on="wording").drop("wording")
    longest = _longest_of(named, "surface")
    details_of, operations_of = (
        dict(longest.filter(pl.col(name) != "").select("surface", name).iter_rows())
        for name in ("detail", "operations")
    )
    return details_of, operations_of


def folding(
    synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str]
) -> Callable[[list[str]], list[str]]:
    """Return a function that replaces synonyms in the content words of a surface; the longest match wins."""
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
    """Return the share of clause words in a surface."""
    words = surface.split()
    clause_words = [word for word in words if word in CLAUSE_STEMS]
    return 0.0 if _AMBIGUOUS_STEMS.issuperset(clause_words) else len(clause_words) / len(words)


def sentence_share(clause_shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the degree to which wordings are sentences, 0 to 1, from their shares of clause words."""
    return np.minimum(1.0, clause_shares / _SENTENCE_FROM)
