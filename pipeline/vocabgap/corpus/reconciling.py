"""Which chunks are orphans: missing from a snapshot of paths, or of an older configuration."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

from vocabgap.corpus.store import PathSnapshot

DEFAULT_GAP: Final = 2
"""How many configurations a chunk may be behind before it is actionable."""

_STALE, _ACTIONABLE = "stale", "actionable"


def version_gap(asked: object) -> float:
    """How far behind a chunk has to be to be actionable.

    Args:
        asked: A finite number from 1 on, where 1 leaves no grace; whatever else comes means the default.
    """
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        return DEFAULT_GAP
    return asked if math.isfinite(asked) and asked >= 1 else DEFAULT_GAP


def snapshot_orphans(chunks: pl.DataFrame, snapshots: Iterable[PathSnapshot]) -> pl.Series:
    """Which chunks are missing from the last snapshot of their repository, each of them actionable.

    A chunk that came after the snapshot, or of which it is not known when it came, or which has no path, is
    beyond what a snapshot can say.

    Args:
        chunks: Columns `tenant_id`, `repo_slug`, `source_path` and `ingested_at` of table `chunks`.
        snapshots: The last one of each repository.

    Returns:
        One Boolean a chunk.
    """
    missing = pl.lit(value=False)
    for snapshot in snapshots:
        within = pl.col("ingested_at") <= pl.lit(snapshot.updated_at)
        repo = pl.col("tenant_id").eq(snapshot.tenant_id) & pl.col("repo_slug").eq(snapshot.repo_slug)
        missing |= repo & within & ~pl.col("source_path").is_in(list(snapshot.paths))
    named = pl.col("source_path").is_not_null() & pl.col("source_path").ne("")
    flags = pl.repeat(value=True, n=pl.len()) & (missing & named).fill_null(value=False)
    return chunks.select(orphan=flags)["orphan"]


def config_orphans(chunks: pl.DataFrame, current: Mapping[str, int], gap: object = None) -> pl.DataFrame:
    """Which chunks were ingested under an older configuration of their tenant.

    A chunk of unknown configuration is no orphan, nor is any of a tenant that was never configured.

    Args:
        chunks: Columns `tenant_id` and `config_version` of table `chunks`.
        current: Tenant to how often it was configured.
        gap: How far behind makes it actionable, see `version_gap`.

    Returns:
        Boolean columns `stale` and `actionable`, one row a chunk.
    """
    versions = {tenant: version for tenant, version in current.items() if version > 0}
    tenants = pl.Series("tenant_id", list(versions), dtype=pl.String)
    now = pl.col("tenant_id").replace_strict(
        tenants, pl.Series(list(versions.values()), dtype=pl.Int64), default=None, return_dtype=pl.Int64
    )
    behind = (now - pl.col("config_version")).fill_null(0)
    return chunks.select(
        (behind > 0).alias(_STALE), ((behind > 0) & (behind >= version_gap(gap))).alias(_ACTIONABLE)
    )
