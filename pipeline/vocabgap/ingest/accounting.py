"""The account of a scan: every line is in exactly one place.

A readable line counts unless it repeats a record, or a later record corrects it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import polars as pl

from vocabgap.model.record import RejectReason, Repair
from vocabgap.model.tables import GAPS, IMAGE_KEY, phrase
from vocabgap.text import surface

DUPLICATE: Final = "duplicate"
SUPERSEDED: Final = "superseded"
FILTERED: Final = "filtered"

_SHA256: Final = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_ROW: Final = "_row"
_LOG: Final = ["repo_slug", "source_path"]
# Columns that later stages fill: writing.py the first, screening.py the last, classifying.py the others.
_FILLED_LATER: Final = ("capability_id", "category", "category_by", "category_probability", "rule")


@dataclass(frozen=True, slots=True)
class ScanSummary:
    """The account of a scan: every line that is not blank and not passed over is in one of four places.

    Attributes:
        files: Logs that were read.
        repeating: Further logs that were left out, because another log has the same gaps.
        unreadable: Logs, folders and links that were not read, or not to their end. In a log with one
            document per line, each broken document counts.
        lines: Lines that are not blank and not passed over; `records + duplicates + superseded + rejects`.
        records: Records that count.
        duplicates: Second copies of a record.
        superseded: Records that a later one corrects.
        rejects: Lines that are no record.
        passed_over: Further lines that are no gaps, by the filter of their source.
        repairs: The number of repairs in records that were kept, by kind.
        reasons: The number of rejects and unreadable files, by reason.
    """

    files: int
    repeating: int
    unreadable: int
    lines: int
    records: int
    duplicates: int
    superseded: int
    rejects: int
    passed_over: int
    repairs: dict[str, int]
    reasons: dict[str, int]


def summarize(
    gaps: pl.DataFrame, rejects: pl.DataFrame, files: pl.DataFrame, repairs: Mapping[str, int]
) -> ScanSummary:
    """Return the account of a scan."""
    why_not = Counter(gaps["why_not"].to_list())
    reasons = Counter(rejects["reason"].to_list())
    rejected_lines = int(rejects["line"].is_not_null().sum())
    return ScanSummary(
        files=files["repeats"].null_count(),
        repeating=files["repeats"].count(),
        unreadable=rejects.height - rejected_lines,
        lines=int(files["lines"].sum()),
        records=why_not[None],
        duplicates=why_not[DUPLICATE],
        superseded=why_not[SUPERSEDED],
        rejects=rejected_lines,
        passed_over=int(files["passed_over"].sum()),
        repairs={kind.value: repairs[kind.value] for kind in Repair if repairs.get(kind.value)},
        reasons={reason.value: reasons[reason.value] for reason in RejectReason if reasons[reason.value]},
    )


def gaps_of(batches: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return table `gaps` of one or more frames of table `records`, ordered by repository, file and line.

    A line does not count if it is a duplicate or superseded. Of lines with the same record and tenant, one
    counts: the first in a folder with the name of its image, else the first. So the original counts, not its
    copy. Without a time and a session, equal lines of one log are separate mentions, as in a list of wishes.
    A record is superseded if the notes of a later record of the same image name its `snapshot_hash`.

    The batches stay separate chunks of the result: joining them first would copy them for the new columns.
    """
    why_not = _why_not(pl.concat(batches).lazy())
    later = [pl.lit(None, GAPS.schema[name]).alias(name) for name in _FILLED_LATER]
    ends = accumulate(batch.height for batch in batches)
    return pl.concat(
        [
            batch.with_columns(why_not[end - batch.height : end], *later)
            .with_columns(counted=pl.col("why_not").is_null())
            .select(GAPS.names)
            for batch, end in zip(batches, ends, strict=True)
        ]
    )


def corrections(gaps: pl.DataFrame) -> list[tuple[str, str]]:
    """Return pairs of identities: a corrected record and the record that corrects it, in order of time.

    `gaps` has all lines of each log.
    """
    numbered = gaps.with_row_index(_ROW).lazy()
    firsts = numbered.filter(pl.col("why_not").fill_null("") != DUPLICATE)
    identities = gaps["record_id"]
    return [
        (identities[corrected], identities[correcting])
        for corrected, correcting in _corrections(firsts, numbered)
    ]


def _why_not(lines: pl.LazyFrame) -> pl.Series:
    """Return why each line does not count, or null; only suspicious rows are taken into memory."""
    hashes = lines.select(pl.col("record_id").hash()).collect().to_series().to_numpy()
    codes = np.zeros(len(hashes), dtype=np.uint8)
    numbered = lines.with_row_index(_ROW)
    alike = _repeated(hashes)
    copies = _second_copies(numbered.filter(_is_one_of(alike)).collect()) if alike else []
    codes[copies] = 1
    firsts = numbered.filter(~_is_one_of(copies))
    codes[sorted(corrected for corrected, _ in _corrections(firsts, numbered))] = 2
    return pl.Series("why_not", [None, DUPLICATE, SUPERSEDED], dtype=pl.String).gather(codes)


def _repeated(hashes: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> list[int]:
    """Return the rows whose hash occurs again. Sorting takes a tenth of the memory of a hash table."""
    ordered = np.sort(hashes)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    rows: list[int] = np.flatnonzero(np.isin(hashes, repeated)).tolist() if len(repeated) else []
    return rows


def _is_one_of(rows: list[int]) -> pl.Expr:
    return pl.col(_ROW).is_in(pl.Series(rows, dtype=pl.UInt32).implode())


def _second_copies(alike: pl.DataFrame) -> list[int]:
    folder = pl.concat_str("repo_slug", "source_path", separator="/").str.split("/").list.get(-2)
    ranked = alike.sort(folder != pl.col("image_id"), _ROW)
    same = ["tenant_id", "record_id"]
    is_anonymous = pl.col("timestamp").is_null() & pl.col("session_id").is_null()
    nth = pl.when(is_anonymous).then(pl.col("line").rank("dense").over(*same, *_LOG)).alias("nth")
    return ranked.filter(~pl.struct(*same, nth).is_first_distinct())[_ROW].to_list()


def _corrections(records: pl.LazyFrame, lines: pl.LazyFrame) -> list[tuple[int, int]]:
    """Return pairs of rows: a corrected record and the record that corrects it.

    Corrections are replayed in order of time. If several records share the snapshot, the correction is for
    the one with the same need, else for the latest; a record is corrected at most once.
    """
    naming = pl.col("notes").str.contains("[0-9a-fA-F]{64}")
    images = records.filter(naming).select(IMAGE_KEY).unique().collect()
    if images.is_empty():
        return []
    involved = records.join(images.lazy(), on=IMAGE_KEY, how="semi", nulls_equal=True).collect()
    # A record without a known time keeps its place in the log: after the line before it.
    logs = involved.select(_LOG).unique().lazy()
    moment = pl.col("timestamp").forward_fill().over(_LOG, order_by=_ROW).alias("moment")
    moments = lines.join(logs, on=_LOG, how="semi").select(_ROW, moment).collect()
    involved = (
        involved.join(moments, on=_ROW)
        .with_columns(phrase().alias("phrase"))
        .sort("moment", _ROW, nulls_last=False)
    )
    earlier: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []
    for row in involved.iter_rows(named=True):
        image = tuple(row[name] for name in IMAGE_KEY)
        need = surface(row["phrase"])
        for snapshot in dict.fromkeys(match.lower() for match in _SHA256.findall(row["notes"])):
            candidates = earlier[(*image, snapshot)]
            if candidates:
                same_need = [candidate for candidate in candidates if candidate[1] == need]
                corrected = (same_need or candidates)[-1]
                candidates.remove(corrected)
                pairs.append((corrected[0], row[_ROW]))
        if row["snapshot_hash"]:
            earlier[(*image, row["snapshot_hash"].lower())].append((row[_ROW], need))
    return pairs
