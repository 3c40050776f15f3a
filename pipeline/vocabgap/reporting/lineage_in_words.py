"""What became of a capability since the run before, in words."""

from typing import Any

import polars as pl

from vocabgap.ranking import CONTINUED, MERGED, NEW, SPLIT
from vocabgap.text import count


def lineage_in_words(relations: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """What is told of each capability, by its identifier.

    Args:
        relations: Table `lineage`; what has gone is not there.
    """
    told: dict[str, tuple[str, ...]] = {}
    for row in relations.drop_nulls("capability_id").iter_rows(named=True):
        name = row["capability_id"]
        told[name] = (*told.get(name, ()), _sentence(row))
    return told


def _sentence(row: dict[str, Any]) -> str:
    relation, previous = row["relation"], row["previous_label"]
    if relation == NEW:
        return "New: no wording of it was there in the run before"
    mentions = count(row["previous_mentions"], "mention")
    before = f"{mentions}, {_rank(row['previous_rank'])}"
    shared = count(row["shared_mentions"], "mention")
    if relation == CONTINUED:
        renamed = f", as {previous}" if previous != row["label"] else ""
        return f"In the run before{renamed}: {before}"
    if relation == MERGED:
        return f"Took in {previous}, which had {before}: {shared} of it"
    if relation == SPLIT:
        return f"Split off {previous}, which had {before}: {shared} of it"
    raise ValueError(relation)


def _rank(rank: int | None) -> str:
    return "not ranked" if rank is None else f"rank {rank:,}"
