"""The upkeep of a corpus: an overview of its content, its orphans, and forgetting records on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.chunks import READ, require_owner, scan_chunks, scope
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import normal_tenant, sha256_of
from vocabgap.corpus.incoming import PushedLog
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import GAP_KIND, PATH_KEY, TABLES, Measures, PathSnapshot, Version
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.record import FEWEST_DIGITS
from vocabgap.model.sources import Source

DEFAULT_GAP: Final = CorpusSettings().orphan_version_gap
_IDENTITY: Final = ("tenant_id", "repo_slug", "root_kind")
_JUDGED: Final = ("id", *_IDENTITY, "source_path", "kind", "config_version", "ingested_at")
_DUE_SHARE: Final = 0.2  # of all stored rows are deleted
_DUE_PARTS: Final = 50
_FOLDER: Final = pl.concat_str("repo_slug", "source_path", separator="/").str.split("/").list.get(-2)
"""The name of a path's folder, as `chunks.folder_of` has it."""


class Identity(msgspec.Struct, frozen=True):
    """The content of a corpus for one repository of a tenant."""

    tenant_id: str
    repo_slug: str
    root_kind: str
    records: int
    gap_records: Annotated[int, msgspec.Meta(description="lines of gap logs among them")]
    rejects: Annotated[int, msgspec.Meta(description="lines of its gap logs that are no record")]
    paths: Annotated[int, msgspec.Meta(description="their source paths")]
    missing: Annotated[
        int, msgspec.Meta(description="older than the last snapshot, which lacks their path: may be removed")
    ]
    stale: Annotated[int, msgspec.Meta(description="ingested under an older configuration of the tenant")]
    outdated: Annotated[int, msgspec.Meta(description="stale by several configurations: may be removed")]


class Overview(msgspec.Struct, frozen=True):
    """The content of a corpus."""

    measures: Measures
    identities: tuple[Identity, ...]
    dimension: Annotated[int | None, msgspec.Meta(description="length of the vectors of restored records")]
    orphan_version_gap: int
    compaction_due: Annotated[str, msgspec.Meta(description="why a compaction is due; empty if it is not")]
    forgotten: Annotated[int, msgspec.Meta(description="forgotten records, which pushes leave out")]

    @property
    def orphans(self) -> int:
        """The number of records that may be removed."""
        return sum(identity.missing + identity.outdated for identity in self.identities)

    @property
    def rules(self) -> tuple[str, ...]:
        """The meaning of missing, outdated and stale, a sentence each."""
        gap = self.orphan_version_gap
        times = "once" if gap == 1 else f"{gap} times"
        return (
            "missing: the repository's last snapshot lacks the path, and the record is no newer than that",
            f"outdated: the tenant was configured at least {times} since then (orphan_version_gap)",
            "stale: the tenant was configured since then",
        )


def overview(version: Version, *, gap: int = DEFAULT_GAP) -> Overview:
    """Count the content of a corpus by repository."""
    chunks = judged(version, gap)
    counted = chunks.group_by(*_IDENTITY).agg(
        pl.len().alias("records"),
        pl.col("kind").eq(GAP_KIND).sum().alias("gap_records"),
        pl.col("source_path").n_unique().alias("paths"),
        pl.col("missing").sum(),
        pl.col("stale").sum(),
        (pl.col("outdated") & ~pl.col("missing")).sum().alias("outdated"),
    )
    lines = pl.col("rejects").list.eval(pl.element().struct["line"].count()).list.first()
    rejects = version.table("logs").group_by(*_IDENTITY).agg(lines.sum().alias("rejects"))
    whole = counted.join(rejects, on=_IDENTITY, how="full", coalesce=True, nulls_equal=True)
    whole = whole.sort(*_IDENTITY, nulls_last=True).with_columns(pl.col(_IDENTITY).fill_null("")).fill_null(0)
    identities = tuple(Identity(**row) for row in whole.iter_rows(named=True))
    due, forgotten = _compaction_due(version.measures), version.table("forgotten").height
    return Overview(version.measures, identities, version.dimension, gap, due, forgotten)


def judged(version: Version, gap: int) -> pl.DataFrame:
    """Read the chunks with Boolean columns `missing`, `stale` and `outdated`."""
    chunks = version.rows(_JUDGED)
    behind = config_orphans(chunks, version.config_versions, gap)
    return chunks.hstack(behind).with_columns(snapshot_orphans(chunks, version.snapshots))


def orphans_of(version: Version, tenant: str, gap: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a tenant's chunks that may be removed, and those of paths that are empty afterwards."""
    require_owner(version, tenant)
    chunks = judged(version, gap).filter(tenant_id=tenant)
    orphans = chunks.filter(pl.col("missing") | pl.col("outdated"))
    return orphans, orphans.join(chunks.join(orphans, on="id", how="anti"), on=PATH_KEY, how="anti")


def _compaction_due(measures: Measures) -> str:
    stored = measures.rows + measures.deleted
    if measures.deleted > _DUE_SHARE * stored:
        return f"{measures.deleted:,} of {stored:,} stored records are deleted"
    if measures.parts > _DUE_PARTS:
        return f"the records are in {measures.parts:,} files"
    return ""


def snapshot_orphans(chunks: pl.DataFrame, snapshots: Iterable[PathSnapshot]) -> pl.Series:
    """Return which chunks are missing from the last snapshot of their repository.

    A snapshot says nothing about chunks that are newer, of unknown age or without a path.
    """
    missing = pl.lit(value=False)
    for snapshot in snapshots:
        within = pl.col("ingested_at") <= pl.lit(snapshot.updated_at)
        repo = pl.col("tenant_id").eq(snapshot.tenant_id) & pl.col("repo_slug").eq(snapshot.repo_slug)
        missing |= repo & within & ~pl.col("source_path").is_in(list(snapshot.paths))
    has_path = pl.col("source_path").is_not_null() & pl.col("source_path").ne("")
    flags = pl.repeat(value=True, n=pl.len()) & (missing & has_path).fill_null(value=False)
    return chunks.select(missing=flags)["missing"]


def config_orphans(chunks: pl.DataFrame, current: Mapping[str, int], gap: float) -> pl.DataFrame:
    """Return which chunks are `stale` and `outdated`: ingested under an older configuration of their tenant.

    Chunks of an unknown configuration, or of a tenant that was never configured, are neither.
    """
    versions = {tenant: version for tenant, version in current.items() if version > 0}
    now = pl.col("tenant_id").replace_strict(versions, default=None, return_dtype=pl.Int64)
    behind = (now - pl.col("config_version")).fill_null(0)
    return chunks.select((behind > 0).alias("stale"), ((behind > 0) & (behind >= gap)).alias("outdated"))


class Forgotten(NamedTuple):
    """The number of removed records, and of source paths that are empty afterwards."""

    records: int
    paths: int


class _Chosen(NamedTuple):
    """The content to forget: chunks, rows of table `logs`, and paths that are empty afterwards."""

    chunks: pl.DataFrame
    logs: pl.DataFrame
    paths: pl.DataFrame


def forget(
    store: Store,
    tenant: str,
    repo: str | None = None,
    *,
    image: str | None = None,
    record: str | None = None,
    sources: Mapping[str, Source] | None = None,
    dry_run: bool = False,
) -> Forgotten:
    """Remove records for good; their hashes keep them out of later pushes.

    The entries of logs go with their image, repository or tenant. If single records go, rejected lines of
    their log, which may be copies of them, keep place and reason and lose their text.
    """
    if not tenant:
        raise InvalidInputError("no tenant is named", hint="name the tenant whose records to forget")
    tenant = normal_tenant(tenant) or tenant
    if dry_run:
        chosen = _chosen(store.version(), tenant, repo, image, record, sources)
        return Forgotten(chosen.chunks.height, chosen.paths.height)
    with store.changing(f"forget records of {tenant}") as change:
        chosen = _chosen(change, tenant, repo, image, record, sources)
        change.delete(pl.col("id").is_in(chosen.chunks["id"].implode()))
        logs = change.table("logs").join(chosen.logs, on=PATH_KEY, how="anti")
        change.keep("logs", _without_text(logs, chosen.chunks))
        if image is None and record is None:
            change.keep("paths", change.table("paths").filter(~_owned(tenant, repo)))
        else:  # the snapshots may name forgotten paths, too
            names = {*chosen.paths.rows()}
            for snapshot in change.snapshots:
                paths = tuple(path for path in snapshot.paths if (*snapshot.repository, path) not in names)
                change.keep_snapshot(replace(snapshot, paths=paths))
        hashes = pl.concat([change.table("forgotten"), _hashes(chosen.chunks)])
        change.keep("forgotten", hashes.unique().sort(pl.all()))
    return Forgotten(chosen.chunks.height, chosen.paths.height)


def _owned(tenant: str, repo: str | None) -> pl.Expr:
    return scope([tenant], [] if repo is None else [repo])


def _chosen(  # noqa: PLR0917 - as `forget` has them
    version: Version,
    tenant: str,
    repo: str | None,
    image: str | None,
    record: str | None,
    sources: Mapping[str, Source] | None,
) -> _Chosen:
    require_owner(version, tenant, repo)
    owned = _owned(tenant, repo)
    columns = (*(("id", *PATH_KEY) if image is None else READ), "kind", "name")
    own = chunks = version.rows(columns, owned)
    own_logs = logs = version.table("logs").filter(owned)
    if record is not None:
        # The name of a gap record's chunk is its id; other names, such as a heading, are no ids.
        is_gap = pl.col("kind").eq(GAP_KIND)
        exact = chunks.filter(pl.col("id").eq(pl.lit(record)) | (is_gap & pl.col("name").eq(pl.lit(record))))
        begins = is_gap & pl.col("name").str.starts_with(record)
        chunks = exact if exact.height or len(record) < FEWEST_DIGITS else chunks.filter(begins)
        if chunks["name"].n_unique() > 1 and not exact.height:
            raise InvalidInputError(f"several records begin with '{record}'", hint="name one of them in full")
        logs = logs.clear()
    images: set[str] = set()
    if image is not None:  # gap records that name the image, and everything from its folder
        lines, scanned = scan_chunks(chunks, sources)
        named = lines.join(scanned.gaps.select("line", "image_id"), on="line")
        places = [named.select("id", "image_id"), lines.select("id", "folder"), chunks.select("id", _FOLDER)]
        by_image = pl.concat([place.rename({place.columns[1]: "image"}) for place in places])
        folder = pl.col("folder").fill_null(_FOLDER)
        images = {*by_image["image"], *logs.select(folder)["folder"]} - {None}
        chunks = chunks.join(by_image.filter(image=image), on="id", how="semi")
        logs = logs.filter(folder == pl.lit(image))
    if chunks.is_empty() and logs.is_empty() and (image or record):
        named_by = {"record": record, "image": image}
        what = " of ".join(f"{kind} '{name}'" for kind, name in named_by.items() if name is not None)
        near = did_you_mean(image, images) if image and image not in images else ""
        compact = "bytes of forgotten records go with `vocabgap corpus compact`"
        hint = near or (compact if version.measures.deleted else "`vocabgap list CORPUS` lists the records")
        raise NotFoundError(f"there is no {what} to forget", hint=hint)
    left = own.join(chunks, on="id", how="anti"), own_logs.join(logs, on=PATH_KEY, how="anti")
    before, after = (pl.concat([a.select(PATH_KEY), b.select(PATH_KEY)]) for a, b in ((chunks, logs), left))
    return _Chosen(chunks, logs, before.unique().join(after, on=PATH_KEY, how="anti"))


def lift(store: Store, tenant: str, repo: str | None = None, *, record: str | None = None) -> int:
    """Let forgotten records come again with the next push or restore; return how many."""
    tenant = normal_tenant(tenant) or tenant
    lifted = pl.col("tenant").eq(sha256_of([tenant]))
    if repo is not None:
        lifted &= pl.col("repo").eq(sha256_of([tenant, repo]))
    if record is not None:
        lifted &= pl.any_horizontal(pl.col("record", "chunk") == sha256_of([tenant, record]))
    with store.changing(f"lift forgotten records of {tenant}") as change:
        forgotten = change.table("forgotten")
        left = forgotten.filter(~lifted)
        if left.height == forgotten.height:
            raise NotFoundError("nothing of that was forgotten", hint="check --tenant, --repo and --record")
        change.keep("forgotten", left)
    return forgotten.height - left.height


def without_forgotten(version: Version, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split chunks into those that may come in and those that were forgotten."""
    forgotten = version.table("forgotten")
    if forgotten.is_empty():
        return rows, rows.clear()
    hashed = rows.hstack(_hashes(rows))
    key = ["repo", "record"]
    kept = hashed.join(forgotten, on=key, how="anti", maintain_order="left")
    return kept.select(rows.columns), hashed.join(forgotten, on=key, how="semi").select(rows.columns)


def _hashes(chunks: pl.DataFrame) -> pl.DataFrame:
    """Hash the tenants, repositories and ids of chunks: of a gap record its own id, else the chunk's."""
    name = pl.when(pl.col("kind") == GAP_KIND).then("name").fill_null(pl.col("id"))
    named = chunks.select("tenant_id", "repo_slug", name.alias("name"), "id").iter_rows()
    rows = [
        tuple(map(sha256_of, ([tenant], [tenant, repo], [tenant, name], [tenant, identity])))
        for tenant, repo, name, identity in named
    ]
    return pl.DataFrame(rows, schema=TABLES["forgotten"], orient="row")


def logs_with(
    logs: pl.DataFrame,
    pushed: Sequence[tuple[str, PushedLog]],
    tenant: str,
    rows: pl.DataFrame,
    forgotten: pl.DataFrame,
) -> pl.DataFrame:
    """Return table `logs` after a push of logs, each with its repository.

    A log that was read to its end replaces its earlier entry. In a repository with forgotten records,
    rejected lines come without text: the hash of a record cannot recognise a line that was broken since.
    """
    entries = [{"tenant_id": tenant, "repo_slug": repo, **log._asdict()} for repo, log in pushed]
    came = pl.DataFrame(entries, logs.schema)
    whole = pl.Series([log.is_whole for _, log in pushed], dtype=pl.Boolean)
    logs = logs.join(came.filter(whole), on=PATH_KEY, how="anti")
    blank = {repo for repo, _ in pushed if sha256_of([tenant, repo]) in forgotten["repo"]}
    came = came.unique(PATH_KEY, keep="last")
    came = _without_text(came, came.filter(pl.col("repo_slug").is_in(blank)))
    has_no_line = ~pl.struct(PATH_KEY).is_in(rows.select(pl.struct(PATH_KEY)).to_series().implode())
    telling = pl.col("rejects").is_not_null() | (pl.col("passed_over") > 0) | has_no_line
    came = came.filter(telling).join(logs, on=PATH_KEY, how="anti")
    return pl.concat([logs, came]).sort(PATH_KEY)


def _without_text(logs: pl.DataFrame, chunks: pl.DataFrame) -> pl.DataFrame:
    """Remove the text of rejected lines from the logs of some chunks."""
    blank = pl.element().struct.with_fields(pl.lit("").alias("detail"), pl.lit("").alias("raw"))
    theirs = logs.join(chunks, on=PATH_KEY, how="semi").with_columns(pl.col("rejects").list.eval(blank))
    return pl.concat([logs.join(chunks, on=PATH_KEY, how="anti"), theirs]).sort(PATH_KEY)
