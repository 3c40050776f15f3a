"""Path snapshots as a file holds them."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from vocabgap.corpus.store import PathSnapshot
from vocabgap.schema import UTC_MICROSECONDS

_SCHEMA: Final = pl.Schema(
    {
        "tenant_id": pl.String(),
        "repo_slug": pl.String(),
        "updated_at": UTC_MICROSECONDS,
        "paths": pl.List(pl.String()),
    }
)


def snapshot_frame(snapshots: Sequence[PathSnapshot]) -> pl.DataFrame:
    """One row a repository."""
    rows = [(each.tenant_id, each.repo_slug, each.updated_at, list(each.paths)) for each in snapshots]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def snapshots_of(frame: pl.DataFrame) -> tuple[PathSnapshot, ...]:
    """The snapshots of such a frame, in its order."""
    return tuple(
        PathSnapshot(tenant, repo, tuple(paths), updated)
        for tenant, repo, updated, paths in frame.select(_SCHEMA.names()).iter_rows()
    )
