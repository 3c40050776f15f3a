"""What became of the capabilities of the run before: continued, split, merged, new and gone."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from vocabgap.ranking.identity import Identified, matched, overlaps
from vocabgap.schema import CONTINUED, GONE, GROUPS, LINEAGE, MERGED, NEW, PRESENT, PREVIOUS, SPLIT
from vocabgap.text import count

_FACTS: Final = ("label", "rank", "mentions")


@dataclass(frozen=True, repr=False)
class Lineage:
    """Where the capabilities of a run come from.

    Attributes:
        relations: Table `lineage`; without a row where there was no run before.
        groups: Table `groups`: this run's surfaces, and those of the run that it was compared with.
    """

    relations: pl.DataFrame
    groups: pl.DataFrame

    def __repr__(self) -> str:
        """How many relations there are, in one line."""
        known = self.groups.filter(run=PRESENT).height
        return f"Lineage({count(self.relations.height, 'relation')}, {count(known, 'surface')})"


def trace(identified: Identified, ranked: pl.DataFrame, baseline: pl.DataFrame | None = None) -> Lineage:
    """Compare the capabilities of a run with those of the run before.

    Args:
        identified: The groups of this run.
        ranked: Table `capabilities`.
        baseline: Table `groups` of the run before; null if there was none.
    """
    present = (
        identified.groups.drop("rank")
        .join(ranked.select("capability_id", "rank"), on="capability_id", how="left", maintain_order="left")
        .select(GROUPS.names)
    )
    if baseline is None:
        return Lineage(LINEAGE.empty(), present)
    previous = baseline.with_columns(pl.lit(PREVIOUS).alias("run")).sort("surface").select(GROUPS.names)
    return Lineage(relations(previous, present), pl.concat([previous, present]))


def relations(previous: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """What became of each capability, and where each comes from.

    A capability is *continued* under its identifier; those of two runs that do not know of each other, under
    that which shares most with it. Where one has gone and its surfaces are found in another, it was *merged*
    into that; where one appears whose surfaces were in another, it was *split* off that. What shares no
    surface with anything is *new*, or *gone*. A surface that only moved between two that both continue is no
    relation.

    Args:
        previous: Columns `capability_id`, `label`, `rank`, `surface` and `mentions`, one row a surface.
        present: The same of the later run.

    Returns:
        Table `lineage`: by the rank in the later run, then by that in the earlier one.
    """
    left, right = (side.with_columns(key="capability_id") for side in (previous, present))
    before, now = {*previous["capability_id"]}, {*present["capability_id"]}
    pairs = overlaps(left, right)
    strangers = pairs.filter(~pl.col("previous").is_in(now), ~pl.col("present").is_in(before))
    counterpart = {each: each for each in before & now}
    counterpart |= dict(matched(strangers.with_columns(preferred=pl.lit(value=False))))
    continued = set(counterpart.values())
    found: list[tuple[str, str | None, str | None]] = []
    for one, other in pairs.select("previous", "present").iter_rows():
        if one in counterpart and other in continued:
            continue
        found.append((SPLIT if one in counterpart else MERGED, other, one))
    found += [(CONTINUED, other, one) for one, other in counterpart.items()]
    found += [(NEW, each, None) for each in now - continued - {*pairs["present"]}]
    found += [(GONE, None, each) for each in before - {*counterpart} - {*pairs["previous"]}]
    columns = ("relation", "capability_id", "previous_id")
    return (
        pl.DataFrame(found, schema=dict.fromkeys(columns, pl.String), orient="row")
        .join(_capabilities(present), on="capability_id", how="left")
        .join(
            _capabilities(previous).select(pl.all().name.prefix("previous_")),
            left_on="previous_id",
            right_on="previous_capability_id",
            how="left",
        )
        .join(pairs, left_on=["capability_id", "previous_id"], right_on=["present", "previous"], how="left")
        .with_columns(shared_mentions=pl.col("shared").fill_null(0))
        .sort("rank", "previous_rank", "capability_id", "previous_id", nulls_last=True)
        .select(LINEAGE.names)
    )


def _capabilities(surfaces: pl.DataFrame) -> pl.DataFrame:
    """Columns `capability_id`, `label`, `rank` and `mentions`, one row a capability."""
    facts = surfaces.group_by("capability_id").agg(pl.col("label", "rank").first(), pl.col("mentions").sum())
    return facts.select("capability_id", *_FACTS)
