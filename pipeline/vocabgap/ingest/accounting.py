"""The account of a scan: every line is in exactly one place.

A readable line counts unless it repeats a record, or a later record corrects it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.files.parts import ROW, Parts
from vocabgap.model.corrections import DIGEST, corrected_in
from vocabgap.model.other import OTHER
from vocabgap.model.record import FIELDS, RejectReason, Repair
from vocabgap.model.tables import GAPS, IMAGE_KEY, RECORDS, phrase
from vocabgap.text import surface

DUPLICATE: Final = "duplicate"
SUPERSEDED: Final = "superseded"
FILTERED: Final = "filtered"

MOMENT: Final = "moment"
"""A column beside table `records`: the time of the line, or of the last line before it that has one."""
NAMED: Final = "named"
"""A column beside table `records`: whether the line names its image; else its folder is the image."""
_LOG: Final = ["repo_slug", "source_path"]
_OWN_LOG: Final = ["tenant_id", *_LOG]
_CONTENT: Final = pl.struct(name for name in FIELDS if name != "image_id").hash().alias("content")
_MARKS: Final = {ROW: pl.Int64(), **{name: GAPS.schema[name] for name in ("why_not", "rule")}}
_ID: Final = "id"
_IDENTITY: Final = ("tenant_id", "record_id")
_PLACE: Final = ("repo_slug", "source_path", "line")
_REFERENCES: Final = ("snapshot_hash", "record_id")  # columns that a correction may name


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
        duplicates: Further lines with the same record.
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
    records: Parts, marks: "Marks", rejects: pl.DataFrame, files: pl.DataFrame, repairs: Mapping[str, int]
) -> ScanSummary:
    """Return the account of a scan."""
    readable = int(records.each(lambda lines: lines.select(pl.len()))["len"].sum())
    why_not = Counter(marks.rows["why_not"].to_list())
    repairs = {**repairs, Repair.UNCLEAR_CORRECTION: marks.unclear.height}
    reasons = Counter(rejects["reason"].to_list())
    rejected_lines = int(rejects["line"].is_not_null().sum())
    return ScanSummary(
        files=files["repeats"].null_count(),
        repeating=files["repeats"].count(),
        unreadable=rejects.height - rejected_lines,
        lines=int(files["lines"].sum()),
        records=readable - marks.rows.height,
        duplicates=why_not[DUPLICATE],
        superseded=why_not[SUPERSEDED],
        rejects=rejected_lines,
        passed_over=int(files["passed_over"].sum()),
        repairs={kind.value: repairs[kind.value] for kind in Repair if repairs.get(kind.value)},
        reasons={reason.value: reasons[reason.value] for reason in RejectReason if reasons[reason.value]},
    )


def accounted(records: pl.LazyFrame) -> pl.LazyFrame:
    """Return table `gaps` with column `ROW`, from marked records."""
    # Later stages fill these columns: writing.py the first, classifying.py the others.
    names = ("capability_id", "category", "category_by", "category_probability")
    later = [pl.lit(None, GAPS.schema[name]).alias(name) for name in names]
    return records.with_columns(*later, counted=pl.col("why_not").is_null()).select(*GAPS.names, ROW)


def lines_of(records: pl.DataFrame) -> Parts:
    """Add column `MOMENT` to table `records` with column `NAMED`, ordered by repository, file and line."""
    known = pl.col("timestamp").forward_fill().over(_OWN_LOG)
    return Parts.of(records.with_columns(known.alias(MOMENT)))


class Marks(NamedTuple):
    """The lines of table `records` that do not count, and those whose notes name a record in vain."""

    rows: pl.DataFrame  # columns `ROW`, `why_not` and `rule`
    unclear: pl.DataFrame  # columns `repo_slug`, `source_path`, `line`, `reference` and `fitting`


def marks_of(records: Parts, copies: Iterable[int] = ()) -> Marks:
    """Return the lines of table `records` that do not count; `copies` are known duplicates.

    A line does not count if it is a duplicate or superseded. Of lines with the same record and tenant, one
    counts: the first in a folder with the name of its image, else the first. So the original counts, not its
    copy. Without a time and a session, equal lines of one log are separate mentions, as in a list of wishes.
    Equal lines of one log are separate mentions if each has column `other`, and these differ.
    If a folder was copied, its log has the same lines in two folders. Lines without an image of their own are
    duplicates then: see `_copied_lines`.
    A record is superseded if the notes of a later record of the same image correct its `snapshot_hash` or its
    `record_id`, as `corrected_in` reads them.
    """
    copied = {*copies, *_duplicates(records), *_copied_lines(records)}
    duplicates = _marked(sorted(copied), DUPLICATE)
    replayed = _corrections(records.marked(duplicates))
    superseded = _marked(replayed["pairs"]["corrected"], SUPERSEDED)
    return Marks(pl.concat([duplicates, superseded]), replayed["unclear"])


def _marked(rows: pl.Series | Sequence[int], why_not: str) -> pl.DataFrame:
    """Return marks with the reason why some rows do not count; no rule is named."""
    return pl.DataFrame({ROW: rows, "why_not": why_not, "rule": None}, schema=_MARKS)


def corrections(gaps: pl.DataFrame) -> list[tuple[str, str]]:
    """Return pairs of identities: a corrected record and the record that corrects it, in order of time.

    `gaps` has all lines of each log.
    """
    duplicates = gaps.select(pl.arg_where(pl.col("why_not") == DUPLICATE)).to_series()
    lines = lines_of(gaps.select(*RECORDS.names, NAMED)).marked(_marked(duplicates, DUPLICATE))
    identities = gaps["record_id"]
    return [
        (identities[corrected], identities[correcting])
        for corrected, correcting in _corrections(lines)["pairs"].iter_rows()
    ]


def _duplicates(records: Parts) -> pl.Series:
    """Return the rows of duplicates."""
    number = pl.col("record_id").hash().alias(_ID)
    repeated = records.by([_ID], _repeated, lambda lines: lines.select(number))[_ID]
    log = pl.concat_str(_LOG, separator="/")
    time = pl.col("timestamp")  # a date alone is midnight, and tells no more of two wishes than none
    is_anonymous = (time.is_null() | (time == time.dt.truncate("1d"))) & pl.col("session_id").is_null()
    is_row = is_anonymous | pl.col(OTHER).is_not_null()
    columns = (
        (log.str.split("/").list.get(-2) != pl.col("image_id")).alias("elsewhere"),
        pl.when(is_row).then("line").alias("line"),
        pl.when(is_row).then(log).alias("log"),
        pl.when(is_anonymous).then(pl.col("line").cast(pl.String)).otherwise(OTHER).alias(OTHER),
    )
    return records.by(
        _IDENTITY,
        _duplicates_among,
        lambda lines: (
            lines.with_columns(number)
            .join(repeated.lazy(), on=_ID, how="semi")
            .select(ROW, *_IDENTITY, *columns)
        ),
    )[ROW][ROW]


def _copied_lines(records: Parts) -> list[int]:
    """Return the rows of copied logs. Only a log whose lines all have a time and no image may be a copy.

    Two logs of a root are copies if one begins with all lines of the other. Two images may log the same line
    at the same moment: their logs are no copies if they differ in another line.
    """
    is_fixed = pl.col(NAMED) | pl.col("timestamp").is_null()
    logs = records.each(
        lambda lines: lines.group_by(_OWN_LOG, maintain_order=True).agg(
            is_fixed.any().alias(NAMED), _CONTENT.first()
        )
    )
    logs = logs.group_by(_OWN_LOG, maintain_order=True).agg(pl.col(NAMED).any(), pl.col("content").first())
    begins_alike = pl.len().over("tenant_id", "repo_slug", "content") > 1
    alike = logs.filter(~pl.col(NAMED)).filter(begins_alike)
    if alike.is_empty():
        return []
    some = alike.select(_OWN_LOG)
    rows = records.each(
        lambda lines: lines.join(some.lazy(), on=_OWN_LOG, how="semi").select(ROW, *_OWN_LOG, _CONTENT)
    )
    branches: dict[tuple[object, int], int] = {}  # of a tree of lines: a branch and a line to the next branch
    ends: set[object] = set()  # the branches where a log ends
    copied: list[int] = []
    for (tenant, repo, _), log in rows.group_by(_OWN_LOG, maintain_order=True):
        branch: object = (tenant, repo)
        same, is_new = 0, False
        for number, line in enumerate(log["content"], 1):
            is_new = is_new or (branch, line) not in branches
            branch = branches.setdefault((branch, line), len(branches))
            same = number if branch in ends else same
        copied += log[ROW][: same if same or is_new else log.height].to_list()
        ends.add(branch)
    return copied


def _repeated(lines: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the numbers that occur again. Sorting takes a tenth of the memory of a hash table."""
    ordered = np.sort(lines[_ID].to_numpy())
    return {_ID: pl.DataFrame({_ID: np.unique(ordered[1:][ordered[1:] == ordered[:-1]])})}


def _duplicates_among(alike: pl.DataFrame) -> dict[str, pl.DataFrame]:
    mention = pl.when(pl.col("line").is_not_null().all().over(_IDENTITY)).then(
        pl.col("line").min().over(*_IDENTITY, "log", OTHER)
    )
    nth = pl.col("line").rank("dense").over(*_IDENTITY, "log").alias("nth")
    ordered = alike.with_columns(line=mention).with_columns(nth).sort("elsewhere", ROW)
    return {ROW: ordered.filter(~pl.struct(*_IDENTITY, "nth").is_first_distinct()).select(ROW)}


def _corrections(records: Parts) -> dict[str, pl.DataFrame]:
    """Return what `_replayed` returns for all images, duplicates left out."""
    is_counted = pl.col("why_not").is_null()
    naming = pl.col("notes").str.contains("[0-9A-Fa-f]{64}")
    images = records.each(lambda lines: lines.filter(is_counted, naming).select(IMAGE_KEY).unique())
    if images.is_empty():
        return _frames([], [])
    read = dict.fromkeys((ROW, MOMENT, *_PLACE, *IMAGE_KEY, "notes", *_REFERENCES))
    some = images.unique()
    return records.by(
        IMAGE_KEY,
        _replayed,
        lambda lines: (
            lines.filter(is_counted)
            .join(some.lazy(), on=IMAGE_KEY, how="semi", nulls_equal=True)
            .select(*read, phrase().alias("phrase"))
        ),
    )


def _replayed(records: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Replay the corrections of whole images in order of time.

    If several records share the snapshot, the one with the same need is corrected. Without exactly one, the
    correction is unclear and corrects none, unless another hash of the same notes tells the record. A second
    correction of a record, by any of its hashes, corrects the first one. A record without a known time keeps
    its place in the log.

    Returns:
        Frame `pairs`, the rows of corrected and of correcting records; and frame `unclear` of `Marks`.
    """
    # A record and its corrections are one chain; it is called by its first row. Only its last row counts.
    chains: dict[tuple[str, ...], set[int]] = defaultdict(set)  # by reference, and by it and the need
    names: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    last: dict[int, int] = {}
    pairs: list[tuple[int, int]] = []
    unclear: list[tuple[object, ...]] = []
    for row in records.sort(MOMENT, ROW, nulls_last=False).iter_rows(named=True):
        image, need = tuple(row[name] for name in IMAGE_KEY), surface(row["phrase"])
        references = {row[name].lower() for name in _REFERENCES if row[name]}
        corrects, corrected, others = {*corrected_in(row["notes"])}, set[int](), list[tuple[str, set[int]]]()
        for reference in dict.fromkeys(found.lower() for found in DIGEST.findall(row["notes"])):
            named = chains.get((*image, reference), set())
            fitting = named if len(named) == 1 else chains.get((*image, reference, need), set())
            if reference in corrects and len(fitting) == 1:
                corrected |= fitting
                references.add(reference)
            elif named:
                others.append((reference, named))
        place = [row[name] for name in _PLACE]
        unclear += [(*place, name, len(named)) for name, named in others if named.isdisjoint(corrected)]
        pairs += [(last[chain], row[ROW]) for chain in sorted(corrected)]
        longest = max(corrected, key=lambda chain: len(names[chain]), default=row[ROW])
        own = {(*image, reference) for reference in references}
        own |= {(*name, need) for name in own}
        for chain in corrected - {longest}:
            own |= names[chain]
            for name in names.pop(chain):
                chains[name].remove(chain)
        for name in own - names[longest]:
            chains[name].add(longest)
        names[longest] |= own
        last[longest] = row[ROW]
    return _frames(pairs, unclear)


def _frames(pairs: list[tuple[int, int]], unclear: list[tuple[object, ...]]) -> dict[str, pl.DataFrame]:
    columns = {name: RECORDS.schema[name] for name in _PLACE}
    columns |= {"reference": pl.String(), "fitting": pl.Int64()}  # records of the image that have it
    rows = dict.fromkeys(("corrected", "correcting"), pl.Int64)
    return {
        "pairs": pl.DataFrame(pairs, schema=rows, orient="row"),
        "unclear": pl.DataFrame(unclear, schema=columns, orient="row"),
    }
