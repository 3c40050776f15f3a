"""What is in a shared corpus: how much of whom, how large it is, and what is left over in it."""

from typing import Annotated, Final

import msgspec
import polars as pl

from vocabgap.corpus.reconciling import config_orphans, snapshot_orphans
from vocabgap.corpus.store import Change, Measures, Store, Version
from vocabgap.schema import GAP_KIND
from vocabgap.settings.model import DEFAULT_ORPHAN_GAP

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


def overview(version: Version, *, gap: int = DEFAULT_ORPHAN_GAP) -> Overview:
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


def remove_orphans(store: Store, *, gap: int = DEFAULT_ORPHAN_GAP) -> int:
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
