"""Which readable lines count: not the second copy of a record, and not one that was corrected later."""

import re
from collections import defaultdict
from typing import Final

import polars as pl

from vocabgap.schema import phrase
from vocabgap.text import surface

DUPLICATE: Final = "duplicate"
SUPERSEDED: Final = "superseded"
FILTERED: Final = "filtered"

_SHA256: Final = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_ROW: Final = "_row"


def mark_counted(lines: pl.DataFrame) -> pl.DataFrame:
    """Add `counted` and `why_not` to the readable lines of a scan.

    Of the lines that hold the same record under the same tenant one stays: the first one whose folder is
    named as its image, so that the original stays and not its copy, else the first one. A record is
    superseded when the notes of a later record of the same image name its `snapshot_hash`.

    Args:
        lines: Columns of `records`, ordered by repository, file and line.

    Returns:
        The same rows in the same order, with the two columns.
    """
    folder = pl.concat_str("repo_slug", "source_path", separator="/").str.split("/").list.get(-2)
    marked = (
        lines.with_row_index(_ROW)
        .sort(folder != pl.col("image_id"), _ROW)
        .with_columns(
            pl.when(pl.struct("tenant_id", "record_id").is_first_distinct())
            .then(pl.lit(None, pl.String))
            .otherwise(pl.lit(DUPLICATE))
            .alias("why_not")
        )
        .sort(_ROW)
    )
    superseded = _superseded_rows(marked.filter(pl.col("why_not").is_null()))
    return marked.select(
        pl.exclude(_ROW, "why_not"),
        pl.lit(None, pl.String).alias("capability_id"),
        (pl.col("why_not").is_null() & ~pl.col(_ROW).is_in(superseded)).alias("counted"),
        pl.when(pl.col(_ROW).is_in(superseded))
        .then(pl.lit(SUPERSEDED))
        .otherwise(pl.col("why_not"))
        .alias("why_not"),
    )


def _superseded_rows(records: pl.DataFrame) -> list[int]:
    """Row numbers of the records that a later one corrects.

    Corrections are replayed in order of time. Where several records share the snapshot, the one that says
    the same need is meant, else the latest; a record is corrected at most once.
    """
    corrections = records.filter(pl.col("notes").str.contains("[0-9a-fA-F]{64}"))
    if corrections.is_empty():
        return []
    involved = records.join(
        corrections.select("tenant_id", "repo_slug", "image_id").unique(),
        on=["tenant_id", "repo_slug", "image_id"],
        how="semi",
        nulls_equal=True,
    )
    # A record whose time is not known stands where the log has it: after the one before it in the file.
    log = ["repo_slug", "source_path"]
    moment = pl.col("timestamp").forward_fill().over(log).alias("moment")
    involved = involved.with_columns(moment, phrase().alias("phrase")).sort("moment", _ROW, nulls_last=False)
    earlier: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    superseded: list[int] = []
    for row in involved.iter_rows(named=True):
        image = (row["tenant_id"], row["repo_slug"], row["image_id"])
        need = surface(row["phrase"])
        for named in dict.fromkeys(match.lower() for match in _SHA256.findall(row["notes"])):
            candidates = earlier[(*image, named)]
            if candidates:
                same_need = [candidate for candidate in candidates if candidate[1] == need]
                corrected = (same_need or candidates)[-1]
                candidates.remove(corrected)
                superseded.append(corrected[0])
        if row["snapshot_hash"]:
            earlier[(*image, row["snapshot_hash"].lower())].append((row[_ROW], need))
    return sorted(superseded)
