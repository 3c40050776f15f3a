"""What is in a shared corpus: how much of whom, how large it is, and what is left over in it."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec
import polars as pl

from vocabgap.corpus.change import Change
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import Measures, PathSnapshot, Version
from vocabgap.schema import GAP_KIND
from vocabgap.settings.model import CorpusSettings

# Which chunks are orphans: missing from a snapshot of paths, or of an older configuration.


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


_IDENTITY: Final = ("tenant_id", "repo_slug", "root_kind")
_LOOKED_AT: Final = ("id", *_IDENTITY, "source_path", "kind", "config_version", "ingested_at")
_DUE_SHARE: Final = 0.2  # of all rows that are deleted, and whose bytes are still there
_DUE_PARTS: Final = 50


class Identity(msgspec.Struct, frozen=True):
    """What a corpus holds of one repository of a tenant."""

    tenant_id: str
    repo_slug: str
    root_kind: str
    records: int
    gap_records: Annotated[int, msgspec.Meta(description="lines of gap logs among them")]
    paths: Annotated[int, msgspec.Meta(description="source paths that they are of")]
    missing: Annotated[
        int, msgspec.Meta(description="of no path of the last snapshot, and from before it: may be removed")
    ]
    stale: Annotated[int, msgspec.Meta(description="ingested under an older configuration of the tenant")]
    outdated: Annotated[int, msgspec.Meta(description="stale by so many configurations: may be removed")]


class Overview(msgspec.Struct, frozen=True):
    """What a corpus holds."""

    measures: Measures
    identities: tuple[Identity, ...]
    dimension: Annotated[int | None, msgspec.Meta(description="length of the vectors of restored records")]
    orphan_version_gap: int
    compaction_due: Annotated[str, msgspec.Meta(description="why; empty where it is not")]

    @property
    def orphans(self) -> int:
        """Records that may be removed."""
        return sum(each.missing + each.outdated for each in self.identities)

    @property
    def rules(self) -> tuple[str, ...]:
        """When a record is left over, and when it may be removed, in words."""
        gap = self.orphan_version_gap
        times = "once" if gap == 1 else f"{gap} times"
        return (
            "missing: of no path of the repository's last snapshot, and ingested no later than that",
            f"outdated: the tenant was configured anew at least {times} since then (orphan_version_gap)",
            "stale: the tenant was configured anew since then",
        )


def overview(version: Version, *, gap: int = CorpusSettings().orphan_version_gap) -> Overview:
    """Look at a corpus.

    Args:
        version: The corpus.
        gap: How often a tenant was configured anew since a record that may be removed for it.
    """
    chunks = _judged(version, gap)
    counted = (
        chunks.group_by(*_IDENTITY)
        .agg(
            pl.len().alias("records"),
            pl.col("kind").eq(GAP_KIND).sum().alias("gap_records"),
            pl.col("source_path").n_unique().alias("paths"),
            pl.col("missing").sum(),
            pl.col("stale").sum(),
            (pl.col("outdated") & ~pl.col("missing")).sum().alias("outdated"),
        )
        .sort(*_IDENTITY, nulls_last=True)
    )
    rows = counted.with_columns(pl.col(_IDENTITY).fill_null("")).iter_rows(named=True)
    identities = tuple(Identity(**row) for row in rows)
    measures = version.measures
    return Overview(measures, identities, version.dimension, gap, _due(measures))


def remove_orphans(store: Store, *, gap: int = CorpusSettings().orphan_version_gap) -> int:
    """Remove what is left over and may be removed; gives how many records that were.

    Args:
        store: The corpus.
        gap: As for `overview`.
    """
    with store.changing("remove orphans") as change:
        ids = _actionable(change, gap)
        return change.delete(pl.col("id").is_in(ids)) if ids else 0


def _actionable(change: Change, gap: int) -> list[str]:
    return _judged(change, gap).filter(pl.col("missing") | pl.col("outdated"))["id"].sort().to_list()


def _judged(version: Version, gap: int) -> pl.DataFrame:
    """The chunks with Boolean columns `missing`, `stale` and `outdated`."""
    chunks = version.rows(_LOOKED_AT)
    behind = config_orphans(chunks, version.config_versions, gap)
    judged = (
        snapshot_orphans(chunks, version.snapshots).alias("missing"),
        behind["stale"],
        behind["actionable"].alias("outdated"),
    )
    return chunks.with_columns(judged)


def _due(measures: Measures) -> str:
    """Why a compaction is worth its while; empty where it is not."""
    stored = measures.rows + measures.deleted
    if measures.deleted > _DUE_SHARE * stored:
        return f"{measures.deleted:,} of {stored:,} stored records are deleted"
    if measures.parts > _DUE_PARTS:
        return f"the records lie in {measures.parts:,} files"
    return ""
