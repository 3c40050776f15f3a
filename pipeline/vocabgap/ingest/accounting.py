"""Which readable lines count: not the second copy of a record, and not one that was corrected later."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import numpy as np
import polars as pl

from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import Segment
from vocabgap.schema import FILES, GAPS, IMAGE_KEY, phrase
from vocabgap.text import surface

DUPLICATE: Final = "duplicate"
SUPERSEDED: Final = "superseded"
FILTERED: Final = "filtered"

_SHA256: Final = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_ROW: Final = "_row"
_LOG: Final = ["repo_slug", "source_path"]
# What only the stages after the scan know.
_LATER: Final = ("capability_id", "category", "category_by", "category_probability", "rule")
# Why a line does not count, by the number that stands for it while a scan goes on.
WHY_NOT: Final = (None, DUPLICATE, SUPERSEDED)


_Marks = np.ndarray[tuple[int], np.dtype[np.uint8]]
_Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]


def mark_batches(batches: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Make table `gaps` of the readable lines of a scan: say of each whether it counts, and why not.

    Args:
        batches: Table `records`, ordered by repository, file and line; at least one frame. They stay apart
            inside the result: put together first, all of them would be copied for the new columns.

    Returns:
        The same rows in the same order, with the three further columns.
    """
    found = marks(pl.concat(batches).lazy())
    ends = accumulate(batch.height for batch in batches)
    return pl.concat(
        [with_marks(batch, found[end - batch.height : end]) for batch, end in zip(batches, ends, strict=True)]
    )


def marks(lines: pl.LazyFrame) -> _Marks:
    """Which lines count: one number a line, its place in `WHY_NOT`.

    Of the lines that hold the same record under the same tenant one stays: the first one whose folder is
    named as its image, so that the original stays and not its copy, else the first one. A record is
    superseded when the notes of a later record of the same image name its `snapshot_hash`.

    Args:
        lines: Columns of `records`, ordered by repository, file and line. Only the rows that may be
            duplicates, corrections or corrected are taken into memory.
    """
    hashes = lines.select(pl.col("record_id").hash()).collect().to_series().to_numpy()
    found = np.zeros(len(hashes), dtype=np.uint8)
    numbered = lines.with_row_index(_ROW)
    alike = _repeated(hashes)
    copies = _second_copies(numbered.filter(_is_one_of(alike)).collect()) if len(alike) else []
    found[copies] = WHY_NOT.index(DUPLICATE)
    firsts = numbered.filter(~_is_one_of(copies))
    found[sorted(corrected for corrected, _ in _corrections(firsts, numbered))] = WHY_NOT.index(SUPERSEDED)
    return found


def corrections(gaps: pl.DataFrame) -> list[tuple[str, str]]:
    """Which record was corrected by which: their identities.

    Args:
        gaps: Table `gaps`, ordered by repository, file and line, whole logs of it.
    """
    numbered = gaps.with_row_index(_ROW).lazy()
    firsts = numbered.filter(pl.col("why_not").fill_null("") != DUPLICATE)
    identities = gaps["record_id"]
    return [
        (identities[corrected], identities[correcting])
        for corrected, correcting in _corrections(firsts, numbered)
    ]


def with_marks(lines: pl.DataFrame, found: _Marks) -> pl.DataFrame:
    """Table `gaps` of lines and their marks."""
    why_not = pl.Series("why_not", WHY_NOT, dtype=pl.String).gather(found)
    later = [pl.lit(None, GAPS.schema[name]).alias(name) for name in _LATER]
    return lines.with_columns(why_not.is_null().alias("counted"), why_not, *later).select(GAPS.names)


def _repeated(hashes: _Hashes) -> list[int]:
    """Rows whose hash another one has, too. Sorting takes a tenth of the memory of a hash table."""
    ordered = np.sort(hashes)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    rows: list[int] = np.flatnonzero(np.isin(hashes, repeated)).tolist() if len(repeated) else []
    return rows


def _is_one_of(rows: list[int]) -> pl.Expr:
    return pl.col(_ROW).is_in(pl.Series(rows, dtype=pl.UInt32).implode())


def _second_copies(alike: pl.DataFrame) -> list[int]:
    folder = pl.concat_str("repo_slug", "source_path", separator="/").str.split("/").list.get(-2)
    ranked = alike.sort(folder != pl.col("image_id"), _ROW)
    return ranked.filter(~pl.struct("tenant_id", "record_id").is_first_distinct())[_ROW].to_list()


def _corrections(records: pl.LazyFrame, lines: pl.LazyFrame) -> list[tuple[int, int]]:
    """The records that a later one corrects, each with that one, as row numbers.

    Corrections are replayed in order of time. Where several records share the snapshot, the one that says
    the same need is meant, else the latest; a record is corrected at most once.

    Args:
        records: The lines that are no second copies.
        lines: All lines.
    """
    naming = pl.col("notes").str.contains("[0-9a-fA-F]{64}")
    images = records.filter(naming).select(IMAGE_KEY).unique().collect()
    if images.is_empty():
        return []
    involved = records.join(images.lazy(), on=IMAGE_KEY, how="semi", nulls_equal=True).collect()
    # A record whose time is not known stands where the log has it: after the line before it in the file.
    logs = involved.select(_LOG).unique().lazy()
    moment = pl.col("timestamp").forward_fill().over(_LOG, order_by=_ROW).alias("moment")
    moments = lines.join(logs, on=_LOG, how="semi").select(_ROW, moment).collect()
    involved = (
        involved.join(moments, on=_ROW)
        .with_columns(phrase().alias("phrase"))
        .sort("moment", _ROW, nulls_last=False)
    )
    earlier: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    found: list[tuple[int, int]] = []
    for row in involved.iter_rows(named=True):
        image = tuple(row[name] for name in IMAGE_KEY)
        need = surface(row["phrase"])
        for named in dict.fromkeys(match.lower() for match in _SHA256.findall(row["notes"])):
            candidates = earlier[(*image, named)]
            if candidates:
                same_need = [candidate for candidate in candidates if candidate[1] == need]
                corrected = (same_need or candidates)[-1]
                candidates.remove(corrected)
                found.append((corrected[0], row[_ROW]))
        if row["snapshot_hash"]:
            earlier[(*image, row["snapshot_hash"].lower())].append((row[_ROW], need))
    return found


# The account of a scan while it goes on: which log gave which rows, and where they are.


# First row and number of rows, among all records or all rejects at hand.
Span = tuple[int, int]


@dataclass(slots=True)
class Ledger:
    """What each log gave, in the order of the logs.

    Attributes:
        logs: All logs whose rows have a place, those that could not be read among them.
        counts: How many records and rejects each gave.
        records: Where the records are, in order.
        rejects: Where the rejects are, in order.
    """

    logs: list[LogFile] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    records: list[Span] = field(default_factory=list)
    rejects: list[Span] = field(default_factory=list)
    _files: list[tuple[str, str, int, int, str, str, int]] = field(default_factory=list)
    _segments: list[Segment] = field(default_factory=list)

    def place(self, log: LogFile, records: Sequence[Span], rejects: Sequence[Span]) -> None:
        """Note where the rows of a log are."""
        self.logs.append(log)
        self.counts.append((_rows(records), _rows(rejects)))
        self.records += records
        self.rejects += rejects

    def account(self, log: LogFile, size: int, sha256: str, segments: Sequence[Segment]) -> None:
        """Note what a log that was read held. What was repaired in its segments may still be counted at."""
        lines = passed_over = 0
        for segment in segments:
            lines += segment.lines
            passed_over += segment.passed_over
        source = log.kind.source
        self._files.append((log.repo_slug, log.source_path, size, lines, sha256, source, passed_over))
        self._segments += segments

    @property
    def repairs(self) -> Counter[str]:
        """What was repaired, by kind."""
        repaired: Counter[str] = Counter()
        for segment in self._segments:
            if segment.repairs:
                repaired.update(segment.repairs)
        return repaired

    def files(self) -> pl.DataFrame:
        """One row a log that was read (table `files`)."""
        return pl.DataFrame(self._files, schema=FILES.schema, orient="row")


def _rows(spans: Sequence[Span]) -> int:
    rows = 0
    for _, count in spans:
        rows += count
    return rows


def in_order(rows: pl.DataFrame, spans: Sequence[Span]) -> pl.DataFrame:
    """The rows of some spans, one span after the other."""
    spots = np.array(spans, dtype=np.int64).reshape(-1, 2)
    starts, counts = spots[:, 0], spots[:, 1]
    ends = np.cumsum(counts)
    if np.array_equal(starts[counts > 0], (ends - counts)[counts > 0]) and ends[-1:].sum() == rows.height:
        return rows
    return rows[np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())]
