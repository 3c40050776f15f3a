"""Who asked: the tenants and repositories whose records a report counts."""

import polars as pl

from vocabgap.reporting.capability import Asker, Capability
from vocabgap.text import count


def askers_of(ranked: pl.DataFrame) -> tuple[Asker, ...]:
    """Whose records a ranking counts, those with most mentions first.

    Args:
        ranked: Table `capabilities`.
    """
    whose = ["tenant_id", "repo_slug"]
    rows = (
        ranked.select(pl.col("asked_by").explode())
        .drop_nulls()
        .unnest("asked_by")
        .group_by(whose)
        .agg(pl.col("mentions").sum())
        .sort("mentions", *whose, descending=[True, False, False])
    )
    return tuple(Asker(**row) for row in rows.iter_rows(named=True))


def who_asked(capability: Capability, everybody: tuple[Asker, ...]) -> str:
    """Whose records ask for a capability, to be read after "asked for"; empty where nobody else could have.

    Args:
        capability: The capability.
        everybody: Who asked for any; a tenant is named only where there are several of them.
    """
    if len(everybody) <= 1:
        return ""
    several = len(_tenants(everybody)) > 1
    asked_by = capability.asked_by
    first = asked_by[0]
    name = f"'{first.repo_slug}'" + (f" of '{first.tenant_id}'" if several else "")
    if len(asked_by) == 1:
        return f"in {name} only"
    where = f"in {count(len(asked_by), 'repository', 'repositories')}"
    who = f"by {count(len(_tenants(asked_by)), 'tenant')} {where}" if several else where
    if first.mentions == asked_by[1].mentions:
        return f"{who}, most often in no single one"
    return f"{who}, most often in {name} ({first.mentions:,})"


def whose(everybody: tuple[Asker, ...]) -> str:
    """Whose all the records are, in a sentence; empty where there are none."""
    if not everybody:
        return ""
    if len(everybody) == 1:
        (only,) = everybody
        return f"All of them are from the repository '{only.repo_slug}' of the tenant '{only.tenant_id}'."
    repositories = count(len(everybody), "repository", "repositories")
    return f"They are from {repositories} of {count(len(_tenants(everybody)), 'tenant')}."


def _tenants(askers: tuple[Asker, ...]) -> set[str]:
    return {asker.tenant_id for asker in askers}
