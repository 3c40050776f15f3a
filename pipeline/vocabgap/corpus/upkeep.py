"""What a corpus holds of whom, what is left over in it, and what is taken out at somebody's wish."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.chunks import READ, folder_of, scan_chunks, scope
from vocabgap.corpus.compact_json import is_unicode
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import DEFAULT_VISIBILITY, milliseconds, moment_of, normal_tenant
from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import Measures, PathSnapshot, Version
from vocabgap.corpus.withdrawal import normal_paths
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError
from vocabgap.schema import GAP_KIND
from vocabgap.settings.model import CorpusSettings
from vocabgap.settings.sources import Source

DEFAULT_GAP: Final = CorpusSettings().orphan_version_gap
_IDENTITY: Final = ("tenant_id", "repo_slug", "root_kind")
_JUDGED: Final = ("id", *_IDENTITY, "source_path", "kind", "config_version", "ingested_at")
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


def overview(version: Version, *, gap: int = DEFAULT_GAP) -> Overview:
    """Look at a corpus."""
    chunks = judged(version, gap)
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
    return Overview(measures, identities, version.dimension, gap, _compaction_due(measures))


def judged(version: Version, gap: int) -> pl.DataFrame:
    """The chunks with Boolean columns `missing`, `stale` and `outdated`."""
    chunks = version.rows(_JUDGED)
    behind = config_orphans(chunks, version.config_versions, gap)
    missing = snapshot_orphans(chunks, version.snapshots)
    return chunks.with_columns(
        missing.alias("missing"), behind["stale"], behind["actionable"].alias("outdated")
    )


def _compaction_due(measures: Measures) -> str:
    """Why a compaction is worth its while; empty where it is not."""
    stored = measures.rows + measures.deleted
    if measures.deleted > _DUE_SHARE * stored:
        return f"{measures.deleted:,} of {stored:,} stored records are deleted"
    if measures.parts > _DUE_PARTS:
        return f"the records lie in {measures.parts:,} files"
    return ""


def snapshot_orphans(chunks: pl.DataFrame, snapshots: Iterable[PathSnapshot]) -> pl.Series:
    """Which chunks are missing from the last snapshot of their repository, each of them actionable.

    A chunk that came after the snapshot, or of which it is not known when it came, or which has no path, is
    beyond what a snapshot can say.
    """
    missing = pl.lit(value=False)
    for snapshot in snapshots:
        within = pl.col("ingested_at") <= pl.lit(snapshot.updated_at)
        repo = pl.col("tenant_id").eq(snapshot.tenant_id) & pl.col("repo_slug").eq(snapshot.repo_slug)
        missing |= repo & within & ~pl.col("source_path").is_in(list(snapshot.paths))
    has_path = pl.col("source_path").is_not_null() & pl.col("source_path").ne("")
    flags = pl.repeat(value=True, n=pl.len()) & (missing & has_path).fill_null(value=False)
    return chunks.select(orphan=flags)["orphan"]


def config_orphans(chunks: pl.DataFrame, current: Mapping[str, int], gap: object = None) -> pl.DataFrame:
    """Which chunks were ingested under an older configuration of their tenant.

    A chunk of unknown configuration is no orphan, nor is any of a tenant that was never configured.
    """
    versions = {tenant: version for tenant, version in current.items() if version > 0}
    tenants = pl.Series("tenant_id", list(versions), dtype=pl.String)
    now = pl.col("tenant_id").replace_strict(
        tenants, pl.Series(list(versions.values()), dtype=pl.Int64), default=None, return_dtype=pl.Int64
    )
    behind = (now - pl.col("config_version")).fill_null(0)
    return chunks.select(
        (behind > 0).alias("stale"), ((behind > 0) & (behind >= version_gap(gap))).alias("actionable")
    )


def version_gap(requested: object) -> float:
    """How far behind a chunk has to be to be actionable."""
    if isinstance(requested, bool) or not isinstance(requested, int | float):
        return DEFAULT_GAP
    return requested if math.isfinite(requested) and requested >= 1 else DEFAULT_GAP


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed.

    Attributes:
        records: Chunks.
        paths: Source paths of which nothing is left.
    """

    records: int
    paths: int


def forget(
    store: Store,
    tenant: str,
    repo: str | None = None,
    *,
    image: str | None = None,
    record: str | None = None,
    sources: Mapping[str, Source] | None = None,
) -> Forgotten:
    """Remove records, as `Corpus.forget` says."""
    if not tenant:
        raise InvalidInputError("no tenant is named", hint="say whose records are to be forgotten")
    tenant = normal_tenant(tenant) or tenant
    wanted = scope([tenant], [] if repo is None else [repo])
    if record is not None:
        # A gap record's chunk is called by its id; what others are called, such as by a heading, is no id.
        by_name = pl.col("kind").eq(GAP_KIND) & pl.col("name").eq(pl.lit(record))
        wanted &= pl.col("id").eq(pl.lit(record)) | by_name
    with store.changing(f"forget records of {tenant}") as change:
        if image is not None:
            wanted &= pl.col("id").is_in(_of_image(change, wanted, image, sources))
        paths = {*_paths(change, wanted)}
        removed = change.delete(wanted)
        left = {*_paths(change, scope([tenant], [] if repo is None else [repo]))}
        if image is None and record is None:
            removed_snapshots = change.drop_snapshots(tenant, repo)
        else:
            removed_snapshots = _without(change, paths - left)
        if not removed and not removed_snapshots:
            names = {"tenant": tenant, "repository": repo, "image": image, "record": record}
            scope_shown = ", ".join(f"{what} '{name}'" for what, name in names.items() if name is not None)
            raise NotFoundError(
                f"there is nothing to forget: {scope_shown}",
                hint="`vocabgap corpus status` lists tenants and repositories",
            )
    return Forgotten(removed, len(paths - left))


def _of_image(change: Change, wanted: pl.Expr, image: str, sources: Mapping[str, Source] | None) -> list[str]:
    """The ids of the chunks of an image: gap records that name it, and whatever lay in its folder."""
    chunks = change.rows((*READ, "kind"), wanted)
    lines, scanned = scan_chunks(chunks, sources)
    of_image = scanned.gaps.filter(image_id=image).select("line")
    by_record = lines.join(of_image, on="line", how="semi")["id"].to_list()
    by_folder = [
        identity
        for identity, path, repo in chunks.select("id", "source_path", "repo_slug").iter_rows()
        if folder_of(path, repo) == image
    ]
    return sorted({*by_record, *by_folder, *lines.filter(folder=image)["id"]})


def _paths(change: Change, wanted: pl.Expr) -> list[tuple[str, str, str]]:
    return change.rows(["tenant_id", "repo_slug", "source_path"], wanted).unique().rows()


def _without(change: Change, gone: set[tuple[str, str, str]]) -> int:
    """Take paths of which nothing is left out of the snapshots: they, too, may name what was forgotten."""
    changed = 0
    for snapshot in change.snapshots:
        paths = tuple(path for path in snapshot.paths if (*snapshot.repository, path) not in gone)
        if paths != snapshot.paths:
            change.keep_snapshot(replace(snapshot, paths=paths))
            changed += 1
    return changed


def set_manifest(
    store: Store, tenant: str, repo_slug: str, paths: object, now: datetime | None = None
) -> dict[str, Any]:
    """Keep which paths a repository has; gives what was kept, under the contract's names.

    The version of the tenant's configuration stays as it is.

    Raises:
        RefusedError: It is no list of paths, or it could not be written.
    """
    tenant_id, listed = normal_tenant(tenant), normal_paths(paths)
    if listed is None or tenant_id is None or not repo_slug or not is_unicode(repo_slug):
        raise RefusedError(
            Code.TENANT_MANIFEST_INVALID,
            "`pathsAfterPush` is expected to be a list of paths, of a tenant and a repository that are named",
        )
    moment = milliseconds(datetime.now(UTC) if now is None else now)
    try:
        with store.changing(f"snapshot of {tenant_id}/{repo_slug}") as change:
            change.keep_snapshot(PathSnapshot(tenant_id, repo_slug, listed, moment_of(moment)))
    except (VocabgapError, OSError) as error:
        raise RefusedError(Code.TENANT_MANIFEST_FAILED, str(error)) from error
    return {
        "node": f"kb-manifest:{tenant_id}",
        "tenantId": tenant_id,
        "repoSlug": repo_slug,
        "pathsAfterPush": list(listed),
        "updatedAt": moment,
        "visibility": DEFAULT_VISIBILITY,
    }
