"""The history of a folder: rank and counts of each capability in every run published there.

A run adds its rows to the rows of the run that it replaces. A capability is followed across merges, splits
and changes of its identifier.
"""

import hashlib
from collections import defaultdict
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
import polars as pl

from vocabgap.model.capability import SETTLED
from vocabgap.model.moments import iso
from vocabgap.model.selection import Selection
from vocabgap.model.tables import HISTORY, LINEAGE, NEW, UTC_MICROSECONDS
from vocabgap.ranking.priority import in_order
from vocabgap.reporting.listed import Past
from vocabgap.reporting.manifest import Manifest, read_manifest
from vocabgap.reporting.published_run import NO_PREVIOUS, read_run, read_table, resolve_target

# Nightly runs of two years, and the first capabilities of each: the file stays small.
MOST_RUNS: Final = 800
MOST_CAPABILITIES: Final = 1_000


class RunKey(NamedTuple):
    """The columns of table `history` that identify a run."""

    run: str
    moment: datetime
    since: datetime | None
    until: datetime | None
    narrowed: str

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        """Return the key of a run. Runs with the same moment, narrowing and ranking are the same run."""
        selection = manifest.selection
        window = Selection(since=selection.since, until=selection.until).in_words()
        narrowed = ", ".join(filter(None, (*map(" ".join, window.items()), manifest.narrowed_or_ranked)))
        name = hashlib.sha256(f"{iso(manifest.now)}\n{narrowed}".encode()).hexdigest()[:12]
        return cls(name, manifest.now, selection.since, selection.until, manifest.narrowed_or_ranked)


def history(run: str | Path) -> pl.DataFrame:
    """Return table `history` of a published run, with names as text: all runs of its folder."""
    manifest, ranked = read_run(run, option="run")
    return history_of(run, manifest, ranked).with_columns(pl.col(pl.Categorical).cast(pl.String))


def history_of(folder: str | Path, manifest: Manifest, ranked: pl.DataFrame) -> pl.DataFrame:
    """Return table `history` of a published run; without the file, only the rows of this run."""
    rows = earlier_rows(folder)
    is_there = (rows["run"] == RunKey.of(manifest).run).any()
    return rows if is_there else carried_on(ranked, manifest, None, rows)


def earlier_rows(*folders: str | Path | None) -> pl.DataFrame:
    """Return the rows of earlier runs; each run comes from the first folder that has it."""
    known = HISTORY.empty()
    named = (folder for folder in folders if folder is not None and str(folder) != NO_PREVIOUS)
    for place in dict.fromkeys(resolve_target(folder, option="--previous") for folder in named):
        if read_manifest(place) is not None and (place / HISTORY.file).exists():
            rows = read_table(place, HISTORY, hint="move the file away to begin a new history")
            known = rows if known.is_empty() else pl.concat([known, rows.join(known, on="run", how="anti")])
    return known


def carried_on(
    ranked: pl.DataFrame, manifest: Manifest, relations: pl.DataFrame | None, earlier: pl.DataFrame
) -> pl.DataFrame:
    """Return table `history` of earlier runs, with the rows of a run added or replaced.

    `ranked` is table `capabilities` of the run, and `relations` its table `lineage`.
    """
    key = RunKey.of(manifest)
    rows = pl.concat([earlier.filter(pl.col("run") != key.run), _own_rows(ranked, manifest, relations)])
    if not rows["moment"].is_sorted():
        rows = rows.sort("moment", maintain_order=True)
    runs = _runs(rows)
    return rows if runs.height <= MOST_RUNS else rows.join(runs.tail(MOST_RUNS), on="run", how="semi")


def comparable(rows: pl.DataFrame, key: RunKey) -> pl.DataFrame:
    """Return the keys of the runs up to `key` that have the same narrowing and ranking.

    Time windows of the same length are the same, for example the last 30 days of each run.
    """
    runs = _runs(rows).filter(pl.col("moment") <= key.moment, narrowed=key.narrowed)
    for name, value in (("since", key.since), ("until", key.until)):
        end = pl.lit(value, UTC_MICROSECONDS)
        is_as_long = pl.col("moment") - pl.col(name) == key.moment - end
        runs = runs.filter(is_as_long | pl.col(name).eq_missing(end))
    return runs


def points_of(rows: pl.DataFrame, runs: pl.DataFrame, most: int) -> dict[str, tuple[Past, ...]]:
    """Map each identifier to its ranks and mentions in at most `most` runs, oldest first.

    Before a merge, the mentions of the parts are added and the best rank counts. Before a split, the numbers
    of the whole count. Of many runs, the first, the last two and evenly spaced others are used. `rows` is
    table `history`.
    """
    last = runs.height - 1
    if last >= most:
        runs = runs[[*np.linspace(0, last - 1, most - 1).round().astype(int).tolist(), last]]
    together = (
        followed(rows, runs)
        .group_by("part_of", "moment")
        .agg(
            pl.col("rank").min(),
            pl.col("mentions").sum(),
            pl.col("unpinned_rank").is_not_null().any().alias("pinned"),
            pl.col("status").cast(pl.String).sort_by("rank").first(),
        )
        .sort("moment")
        .group_by(pl.col("part_of").cast(pl.String))
        .agg(pl.all())
    )
    return {name: tuple(map(Past, *columns)) for name, *columns in together.iter_rows()}


def followed(rows: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of some runs with a column `part_of`: the capability that they belong to later.

    A row is repeated for each such capability, including itself.
    """
    own = rows.join(runs, on="run", how="semi").with_columns(part_of="capability_id")
    became = became_of(rows)
    if became.is_empty():
        return own
    earlier = own.drop("part_of").join(became, on="capability_id").filter(pl.col("moment") < pl.col("before"))
    # A part that split off belongs to the whole only in runs where it has no row.
    apart = earlier.filter("split").join(
        own, left_on=["run", "part_of"], right_on=["run", "capability_id"], how="anti"
    )
    parts = pl.concat([earlier.filter(~pl.col("split")), apart]).select(own.columns)
    whole = pl.concat([own, parts]).unique(["run", "capability_id", "part_of"], maintain_order=True)
    return whole.sort("moment", maintain_order=True)


def became_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what each capability becomes part of: columns `capability_id`, `part_of`, `before`, `split`.

    A row is valid for runs before the moment `before`. `split` means that both capabilities still exist.
    """
    events = (
        rows.filter(pl.col("came_from").list.len() > 0)
        .select("run", "moment", later="capability_id", capability_id="came_from")
        .explode("capability_id")
        .with_columns(pl.col("capability_id").cast(pl.Categorical))
        .sort("moment", "run", descending=True)
    )
    named = [pl.col(name).is_in(events[name].unique().implode()) for name in ("run", "capability_id")]
    went_on = {*rows.filter(named).select(pl.col("run", "capability_id").cast(pl.String)).iter_rows()}
    texts = events.select(pl.col("run", "later", "capability_id").cast(pl.String), "moment")
    became: defaultdict[str, dict[str, tuple[datetime, bool]]] = defaultdict(dict)
    for _, group in groupby(texts.iter_rows(), key=lambda row: row[0]):
        partings = [
            (source, last, (moment, parted or (run, source) in went_on))
            for run, later, source, moment in group
            for last, (_, parted) in ({later: (moment, False)} | became[later]).items()
            if last != source
        ]
        for source, last, parting in partings:
            became[source].setdefault(last, parting)
    return pl.DataFrame(
        [(source, last, *parting) for source, lasts in became.items() for last, parting in lasts.items()],
        schema={
            "capability_id": pl.Categorical,
            "part_of": pl.Categorical,
            "before": UTC_MICROSECONDS,
            "split": pl.Boolean,
        },
        orient="row",
    )


def _own_rows(ranked: pl.DataFrame, manifest: Manifest, relations: pl.DataFrame | None) -> pl.DataFrame:
    is_pinned = pl.col("pinned") & ~pl.col("status").is_in(SETTLED)
    fewest = manifest.settings.rank.fewest
    by_counts = in_order(ranked, manifest.ranked_by, fewest, pins=False)
    pins = by_counts.with_row_index("unpinned_rank", offset=1).filter(is_pinned)
    before = (
        (LINEAGE.empty() if relations is None else relations)
        .filter(pl.col("relation") != NEW, pl.col("capability_id") != pl.col("previous_id"))
        .group_by("capability_id")
        .agg(came_from=pl.col("previous_id").sort())
    )
    return (
        ranked.head(MOST_CAPABILITIES)
        .join(before, on="capability_id", how="left", maintain_order="left")
        .join(
            pins.select("capability_id", "unpinned_rank"),
            on="capability_id",
            how="left",
            maintain_order="left",
        )
        .with_columns(
            pl.col("came_from").fill_null([]),
            *(pl.lit(value).alias(name) for name, value in RunKey.of(manifest)._asdict().items()),
        )
        .select(HISTORY.names)
        .cast(HISTORY.schema)
    )


def _runs(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(RunKey._fields).unique("run", keep="first", maintain_order=True)
