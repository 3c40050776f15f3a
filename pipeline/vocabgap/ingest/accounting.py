"""The account of a scan: every line is in exactly one place.

A readable line counts unless it is the second copy of a record, or a later one corrects it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import numpy as np
import polars as pl

from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import LineCounts, LogState
from vocabgap.model.record import RejectReason, Repair
from vocabgap.model.tables import FILES, GAPS, IMAGE_KEY, phrase
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

_Codes = np.ndarray[tuple[int], np.dtype[np.uint8]]
_Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]


@dataclass(frozen=True, slots=True)
class ScanSummary:
    """The account of a scan: every line that is not blank is in exactly one of four places.

    Attributes:
        files: Logs that were read.
        unreadable: Logs, folders and links that were not read, or not to their end; and of a log with a
            document on each line, those that are broken.
        lines: Lines that are not blank; `records + duplicates + superseded + rejects`.
        records: Records that count.
        duplicates: Second copies of a record.
        superseded: Records that a later one corrects.
        rejects: Lines that are no record.
        passed_over: Lines beside these that are no gaps, by the filter of their source.
        repairs: What was repaired in records that were kept, by kind.
        reasons: Rejects and unreadable files, by reason.
    """

    files: int
    unreadable: int
    lines: int
    records: int
    duplicates: int
    superseded: int
    rejects: int
    passed_over: int
    repairs: dict[str, int]
    reasons: dict[str, int]


@dataclass(slots=True)
class Account:
    """What the logs of a scan held, in order."""

    _files: list[tuple[str, str, int, int, str, str, int]] = field(default_factory=list)
    _counts: list[LineCounts] = field(default_factory=list)

    def add(self, log: LogFile, state: LogState) -> None:
        """Note what a log held. What was repaired in it may still be counted at."""
        counts = state.counts
        place = (log.repo_slug, log.source_path)
        read = (state.size, counts.lines, state.sha256, log.kind.source, counts.passed_over)
        self._files.append((*place, *read))
        self._counts.append(counts)

    @property
    def repairs(self) -> Counter[str]:
        """What was repaired, by kind."""
        repairs: Counter[str] = Counter()
        for counts in self._counts:
            if counts.repairs:
                repairs.update(counts.repairs)
        return repairs

    def files(self) -> pl.DataFrame:
        """One row a log that was read (table `files`)."""
        return pl.DataFrame(self._files, schema=FILES.schema, orient="row")


def summarize(
    why_not: Counter[str | None], rejects: pl.DataFrame, files: pl.DataFrame, repairs: Mapping[str, int]
) -> ScanSummary:
    """The account of a scan."""
    reasons = Counter(rejects["reason"].to_list())
    rejected_lines = int(rejects["line"].is_not_null().sum())
    return ScanSummary(
        files=files.height,
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
    """Table `gaps` of frames of table `records`, ordered by repository, file and line; at least one.

    They stay apart inside the result: put together first, all of them would be copied for the new columns.
    """
    why_not = why_not_codes(pl.concat(batches).lazy())
    ends = accumulate(batch.height for batch in batches)
    return pl.concat(
        [
            with_why_not(batch, why_not[end - batch.height : end])
            for batch, end in zip(batches, ends, strict=True)
        ]
    )


def images_of_several_folders(gaps: pl.DataFrame) -> pl.DataFrame:
    """The images that count as one because several folders of a repository are called so; copies aside.

    Args:
        gaps: Table `gaps` of a scan.

    Returns:
        Columns `tenant_id`, `repo_slug` and `image_id`, sorted by these, and `folders` as seen from the root.
    """
    whose = ["tenant_id", "repo_slug", "image_id"]
    folders = gaps.filter(pl.col("why_not").ne_missing(DUPLICATE)).select(
        *whose, folders=pl.col("source_path").str.replace(r"/[^/]*$", "")
    )
    called_so = pl.col("folders").str.split("/").list.last() == pl.col("image_id")
    images = folders.filter(called_so).group_by(whose).agg(pl.col("folders").unique().sort())
    return images.filter(pl.col("folders").list.len() > 1).sort(whose)


def why_not_codes(lines: pl.LazyFrame) -> _Codes:
    """Which lines count: one number a line, its place in `WHY_NOT`.

    Of the lines that hold the same record under the same tenant one stays: the first one whose folder is
    named as its image, so that the original stays and not its copy, else the first one. A record is
    superseded when the notes of a later record of the same image name its `snapshot_hash`. Only the rows that
    may be duplicates, corrections or corrected are taken into memory.
    """
    hashes = lines.select(pl.col("record_id").hash()).collect().to_series().to_numpy()
    why_not = np.zeros(len(hashes), dtype=np.uint8)
    numbered = lines.with_row_index(_ROW)
    alike = _repeated(hashes)
    copies = _second_copies(numbered.filter(_is_one_of(alike)).collect()) if len(alike) else []
    why_not[copies] = WHY_NOT.index(DUPLICATE)
    firsts = numbered.filter(~_is_one_of(copies))
    why_not[sorted(corrected for corrected, _ in _corrections(firsts, numbered))] = WHY_NOT.index(SUPERSEDED)
    return why_not


def corrections(gaps: pl.DataFrame) -> list[tuple[str, str]]:
    """Which record was corrected by which, by identity, in table `gaps` or whole logs of it, in order."""
    numbered = gaps.with_row_index(_ROW).lazy()
    firsts = numbered.filter(pl.col("why_not").fill_null("") != DUPLICATE)
    identities = gaps["record_id"]
    return [
        (identities[corrected], identities[correcting])
        for corrected, correcting in _corrections(firsts, numbered)
    ]


def with_why_not(lines: pl.DataFrame, codes: _Codes) -> pl.DataFrame:
    """Table `gaps` of lines, each with why it does not count, as `why_not_codes` gives it."""
    why_not = pl.Series("why_not", WHY_NOT, dtype=pl.String).gather(codes)
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
