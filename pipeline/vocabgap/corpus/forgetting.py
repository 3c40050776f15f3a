"""Withdrawal by those whom records are about: all of a tenant, a repository or an image, or one record."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from vocabgap.corpus.change import Change
from vocabgap.corpus.gap_chunks import folder_of
from vocabgap.corpus.identity import normal_tenant
from vocabgap.corpus.scanning import READ, scan_chunks, scope
from vocabgap.corpus.store import Store
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.schema import GAP_KIND
from vocabgap.settings.sources import Source


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
    """Remove records; their bytes go with the next compaction.

    Args:
        store: The corpus.
        tenant: Whose they are.
        repo: Only those of this repository.
        image: Only those of this image, as the record names it or as its folder is called.
        record: Only the one with this id: that of the chunk or of the gap record.
        sources: What gap logs are called and how they are read.

    Raises:
        InvalidInputError: No tenant is named.
        NotFoundError: There is no such record.
    """
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
            raise NotFoundError(
                f"there is nothing to forget: {_told(tenant, repo, image, record)}",
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
        kept = tuple(
            path for path in snapshot.paths if (snapshot.tenant_id, snapshot.repo_slug, path) not in gone
        )
        if kept != snapshot.paths:
            change.keep_snapshot(replace(snapshot, paths=kept))
            changed += 1
    return changed


def _told(tenant: str, repo: str | None, image: str | None, record: str | None) -> str:
    told = {"tenant": tenant, "repository": repo, "image": image, "record": record}
    return ", ".join(f"{name} '{value}'" for name, value in told.items() if value is not None)
