"""The runs that were published in a folder, one after the other: what each capability was in each of them.

A run adds a row for each capability to those of the run that it replaces. A capability is followed to what it
was before it was merged, split off, or known by another identifier.
"""

import hashlib
import re
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.errors import NotFoundError
from vocabgap.records.lookup import Named, find_capability, lookup
from vocabgap.records.moments import iso
from vocabgap.reporting.capability import Past
from vocabgap.reporting.manifest import HISTORY_NAME, Manifest, read_manifest
from vocabgap.reporting.published_run import NO_PREVIOUS, read_run, read_table, resolve_target
from vocabgap.schema import CAPABILITIES, CAPABILITY_PREFIX, HISTORY, NEW, UTC_MICROSECONDS

# Two years of nights, and of each ranking what may matter again: so the file stays small and quick to add to.
MOST_RUNS: Final = 800
MOST_CAPABILITIES: Final = 1_000
MOST_POINTS: Final = 24  # that a page has of a capability
_ID_DIGITS: Final = 12
_BEGIN_ANEW: Final = "move it away to begin a new history"
# As `Manifest.narrowed_or_ranked` begins; no value of a filter stands before it.
_WINDOW: Final = re.compile(r"(?:since (\S+)(?:, |\Z))?(?:until (\S+)(?:, |\Z))?")


def history(run: str | Path) -> pl.DataFrame:
    """Table `history` of a published run, with names as text: all runs that are known in its folder.

    Raises:
        NotFoundError: There is no run.
        StateError: Its history is damaged, or of another version.
    """
    manifest, ranked = read_run(run, option="run")
    return history_of(run, manifest, ranked).with_columns(pl.col(pl.Categorical).cast(pl.String))


def history_of(folder: str | Path, manifest: Manifest, ranked: pl.DataFrame) -> pl.DataFrame:
    """Table `history` of a published run; one that was published without it knows no run but itself."""
    rows = earlier_rows(folder)
    return carried_on(ranked, manifest, None, rows) if rows.filter(run=run_id(manifest)).is_empty() else rows


def earlier_rows(*folders: str | Path | None) -> pl.DataFrame:
    """What some folders know of earlier runs; a run that several know is as the first of them has it."""
    known = HISTORY.empty()
    for folder in folders:
        if folder is None or str(folder) == NO_PREVIOUS:
            continue
        place = resolve_target(folder)
        if read_manifest(place) is not None and (place / HISTORY_NAME).exists():
            rows = read_table(place, HISTORY_NAME, HISTORY, hint=_BEGIN_ANEW)
            known = rows if known.is_empty() else pl.concat([known, rows.join(known, on="run", how="anti")])
    return known


def carried_on(
    ranked: pl.DataFrame, manifest: Manifest, relations: pl.DataFrame | None, earlier: pl.DataFrame
) -> pl.DataFrame:
    """The rows of a run, after those of earlier ones.

    A run of the same moment that is narrowed and ranked alike is the same one made again, and is replaced.

    Args:
        ranked: Table `capabilities` of the run.
        manifest: Its manifest.
        relations: Its table `lineage`, if there is one.
        earlier: Table `history`, of earlier runs.
    """
    name = run_id(manifest)
    rows = pl.concat([earlier.filter(pl.col("run") != name), _own_rows(ranked, manifest, relations)])
    if not rows["moment"].is_sorted():
        rows = rows.sort("moment", maintain_order=True)
    runs = _runs(rows)
    return rows if runs.height <= MOST_RUNS else rows.join(runs.tail(MOST_RUNS), on="run", how="semi")


def run_id(manifest: Manifest) -> str:
    """What a history knows a run by."""
    source = f"{iso(manifest.now)}\n{manifest.narrowed_or_ranked}"
    return hashlib.sha256(source.encode()).hexdigest()[:_ID_DIGITS]


def comparable(rows: pl.DataFrame, now: datetime, narrowed: str) -> pl.DataFrame:
    """Columns `run`, `moment` and `narrowed` of the runs up to a moment that are narrowed and ranked alike.

    Windows of the same length, such as the last 30 days of each run, are alike.
    """
    runs = _runs(rows)
    view, window = _view(narrowed, now)
    alike = []
    for moment, other in runs.select("moment", "narrowed").iter_rows():
        rest, ends = _view(other, moment)
        alike.append(moment <= now and rest == view and all(map(_alike, ends, window)))
    return runs.filter(pl.Series(alike, dtype=pl.Boolean))


def points_of(rows: pl.DataFrame, runs: pl.DataFrame, most: int) -> dict[str, tuple[Past, ...]]:
    """What each capability was in some of the runs, the oldest first, by its identifier.

    Before a merge the mentions of its parts are added up, and the rank is that of the first of them; before a
    split both are those of the whole.

    Args:
        rows: Table `history`.
        runs: Runs of it, as `comparable` gives them. Of more than `most` some are chosen, evenly, the first
            and the last two among them.
        most: Runs to tell of.
    """
    last = runs.height - 1
    chosen = [*range(last + 1)]
    if last >= most:
        steps = most - 2
        chosen = [*(round(step * (last - 1) / steps) for step in range(steps + 1)), last]
    together = (
        followed(rows, runs[chosen])
        .group_by("part_of", "moment")
        .agg(pl.col("rank").min(), pl.col("mentions").sum())
        .with_columns(pl.col("part_of").cast(pl.String))
        .sort("part_of", "moment")
    )
    return {
        name: tuple(Past(*row[1:]) for row in group)
        for name, group in groupby(together.iter_rows(), key=lambda row: row[0])
    }


def points_of_run(rows: pl.DataFrame, manifest: Manifest) -> dict[str, tuple[Past, ...]]:
    """What each capability was in the runs that a page tells of: those that compare with its own."""
    runs = comparable(rows, manifest.now, manifest.narrowed_or_ranked)
    return points_of(rows, runs, MOST_POINTS)


def followed(rows: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """The rows of some runs, with a column `part_of`: the capability that each belongs to later on.

    A row stands there once for each such capability, itself among them.
    """
    own = rows.join(runs, on="run", how="semi").with_columns(part_of="capability_id")
    became = _became(rows)
    if became.is_empty():
        return own
    earlier = own.drop("part_of").join(became, on="capability_id").filter(pl.col("moment") < pl.col("before"))
    # What was split off was part of the whole only as long as it had no rows of its own.
    apart = earlier.filter("split").join(
        own, left_on=["run", "part_of"], right_on=["run", "capability_id"], how="anti"
    )
    parts = pl.concat([earlier.filter(~pl.col("split")), apart]).select(own.columns)
    whole = pl.concat([own, parts]).unique(["run", "capability_id", "part_of"], maintain_order=True)
    return whole.sort("moment", maintain_order=True)


def find_in(ranked: pl.DataFrame, rows: pl.DataFrame, name: str) -> tuple[str, str]:
    """Identifier and label of the capability that a person means: of the run, else of an earlier one.

    Args:
        ranked: Table `capabilities` of the run.
        rows: Table `history`.
        name: An identifier, a label, or a wording of the run.

    Raises:
        NotFoundError: There is none.
        InvalidInputError: It may be one of several.
    """
    try:
        found: tuple[str, str] = find_capability(ranked, name).select("capability_id", "label").row(0)
    except NotFoundError as error:
        gone = (
            rows.select(pl.col("capability_id", "label").cast(pl.String))
            .filter(~pl.col("capability_id").is_in(ranked["capability_id"].implode()))
            .group_by("capability_id", maintain_order=True)
            .agg(pl.col("label").last(), former=pl.col("label").unique())
        )
        known = [Named(*row) for row in gone.iter_rows()]
        try:
            place = lookup(known, name, singular="", plural="capabilities", hint="", prefix=CAPABILITY_PREFIX)
        except NotFoundError:
            raise error from None
        found = (known[place].identifier, known[place].label)
    return found


def _own_rows(ranked: pl.DataFrame, manifest: Manifest, relations: pl.DataFrame | None) -> pl.DataFrame:
    CAPABILITIES.require(ranked)
    before = pl.DataFrame(schema={"capability_id": pl.String, "came_from": pl.List(pl.String)})
    if relations is not None:
        before = (
            relations.filter(pl.col("relation") != NEW, pl.col("capability_id") != pl.col("previous_id"))
            .group_by("capability_id")
            .agg(came_from=pl.col("previous_id").sort())
        )
    return (
        ranked.head(MOST_CAPABILITIES)
        .join(before, on="capability_id", how="left", maintain_order="left")
        .with_columns(
            pl.col("came_from").fill_null([]),
            run=pl.lit(run_id(manifest)),
            moment=pl.lit(manifest.now),
            narrowed=pl.lit(manifest.narrowed_or_ranked),
        )
        .select(HISTORY.names)
        .cast({column.name: column.dtype for column in HISTORY.columns})
    )


def _runs(rows: pl.DataFrame) -> pl.DataFrame:
    """The runs, in the order of their rows."""
    return rows.select("run", "moment", "narrowed").unique("run", keep="first", maintain_order=True)


_End = tuple[datetime, timedelta]


def _view(narrowed: str, moment: datetime) -> tuple[str, list[_End | None]]:
    """What a run was narrowed to: the ends of its window, with their distances, and everything else."""
    window = _WINDOW.match(narrowed)
    if window is None:
        return narrowed, []
    ends = [None if end is None else datetime.fromisoformat(end) for end in window.groups()]
    return narrowed[window.end() :], [None if end is None else (end, moment - end) for end in ends]


def _alike(one: _End | None, other: _End | None) -> bool:
    """Whether two ends are the same moment, or as long before that of their run."""
    return one == other or (one is not None and other is not None and bool({*one} & {*other}))


def _became(rows: pl.DataFrame) -> pl.DataFrame:
    """What each capability is part of later on: columns `capability_id`, `part_of`, `before` and `split`.

    It holds for runs before that moment. `split` says that the two parted, and both went on.
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
    told = events.select(pl.col("run", "later", "capability_id").cast(pl.String), "moment")
    became: dict[tuple[str, str], tuple[datetime, bool]] = {}
    leads: dict[str, dict[str, bool]] = {}  # to what, after the run, and whether they parted
    for _, group in groupby(told.iter_rows(), key=lambda row: row[0]):
        found = [
            (source, last, moment, parted or (run, source) in went_on)
            for run, later, source, moment in group
            for last, parted in ({later: False} | leads.get(later, {})).items()
            if last != source
        ]
        for source, last, moment, split in found:
            became.setdefault((source, last), (moment, split))
            leads.setdefault(source, {}).setdefault(last, split)
    return pl.DataFrame(
        [(*names, *when) for names, when in became.items()],
        schema={
            "capability_id": pl.String,
            "part_of": pl.String,
            "before": UTC_MICROSECONDS,
            "split": pl.Boolean,
        },
        orient="row",
    ).with_columns(pl.col("capability_id", "part_of").cast(pl.Categorical))
