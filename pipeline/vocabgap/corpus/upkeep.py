"""What a corpus holds of whom, what is left over in it, and what is taken out at somebody's wish."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.chunks import READ, require_whose, scan_chunks, scope
from vocabgap.corpus.compact_json import compact_json, is_unicode
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import TENANT, milliseconds, moment_of, normal_tenant
from vocabgap.corpus.incoming import PushedLog
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import PATH_KEY, TABLES, Measures, PathSnapshot, Version
from vocabgap.corpus.withdrawal import normal_paths
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.record import FEWEST_DIGITS
from vocabgap.model.sources import Source
from vocabgap.model.tables import GAP_KIND

DEFAULT_GAP: Final = CorpusSettings().orphan_version_gap
_IDENTITY: Final = ("tenant_id", "repo_slug", "root_kind")
_JUDGED: Final = ("id", *_IDENTITY, "source_path", "kind", "config_version", "ingested_at")
_DUE_SHARE: Final = 0.2  # of all rows that are deleted, and whose bytes are still there
_DUE_PARTS: Final = 50
_FOLDER: Final = pl.concat_str("repo_slug", "source_path", separator="/").str.split("/").list.get(-2)
"""What the folder of a path is called, as `chunks.folder_of` has it."""


class Identity(msgspec.Struct, frozen=True):
    """What a corpus holds of one repository of a tenant."""

    tenant_id: str
    repo_slug: str
    root_kind: str
    records: int
    gap_records: Annotated[int, msgspec.Meta(description="lines of gap logs among them")]
    rejects: Annotated[int, msgspec.Meta(description="lines of its gap logs beside these that are no record")]
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
    forgotten: Annotated[int, msgspec.Meta(description="records that were forgotten, and do not come again")]

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
    """The chunks with Boolean columns `missing`, `stale` and `outdated`."""
    chunks = version.rows(_JUDGED)
    behind = config_orphans(chunks, version.config_versions, gap)
    return chunks.hstack(behind).with_columns(snapshot_orphans(chunks, version.snapshots))


def orphans_of(version: Version, tenant: str, gap: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What of a tenant may be removed, and of what of that nothing is left then."""
    require_whose(version, tenant)
    chunks = judged(version, gap).filter(tenant_id=tenant)
    orphans = chunks.filter(pl.col("missing") | pl.col("outdated"))
    return orphans, orphans.join(chunks.join(orphans, on="id", how="anti"), on=PATH_KEY, how="anti")


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
    return chunks.select(missing=flags)["missing"]


def config_orphans(chunks: pl.DataFrame, current: Mapping[str, int], gap: object = None) -> pl.DataFrame:
    """Which chunks were ingested under an older configuration of their tenant.

    A chunk of unknown configuration is no orphan, nor is any of a tenant that was never configured.
    """
    versions = {tenant: version for tenant, version in current.items() if version > 0}
    now = pl.col("tenant_id").replace_strict(versions, default=None, return_dtype=pl.Int64)
    behind = (now - pl.col("config_version")).fill_null(0)
    return chunks.select(
        (behind > 0).alias("stale"), ((behind > 0) & (behind >= version_gap(gap))).alias("outdated")
    )


def version_gap(requested: object) -> float:
    """How far behind a chunk has to be to be actionable."""
    if isinstance(requested, bool) or not isinstance(requested, int | float):
        return DEFAULT_GAP
    return requested if math.isfinite(requested) and requested >= 1 else DEFAULT_GAP


class Forgotten(NamedTuple):
    """How many records were removed, and source paths of which nothing is left."""

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
    dry_run: bool = False,
) -> Forgotten:
    """Remove records for good, as `Corpus.forget` says: hashes tell when they come again.

    What a log holds beside records goes with its image, repository or tenant. Where single records go, the
    rejected lines of their log, which may be copies of them, keep their place and reason, but no text.
    """
    if not tenant:
        raise InvalidInputError("no tenant is named", hint="say whose records are to be forgotten")
    tenant = normal_tenant(tenant) or tenant
    whose = scope([tenant], [] if repo is None else [repo])
    if dry_run:
        return _chosen(store.version(), tenant, repo, image, record, sources).counts
    with store.changing(f"forget records of {tenant}") as change:
        chunks, dropped, gone = chosen = _chosen(change, tenant, repo, image, record, sources)
        change.delete(pl.col("id").is_in(chunks["id"].implode()))
        logs = change.table("logs").join(dropped, on=PATH_KEY, how="anti")
        change.keep("logs", _without_text(logs, chunks))
        if image is None and record is None:
            change.keep("paths", change.table("paths").filter(~whose))
        else:  # they, too, may name what was forgotten
            names = {*gone.rows()}
            for each in change.snapshots:
                paths = tuple(path for path in each.paths if (*each.repository, path) not in names)
                change.keep_snapshot(replace(each, paths=paths))
        hashes = pl.concat([change.table("forgotten"), _hashes(chunks)])
        change.keep("forgotten", hashes.unique().sort(pl.all()))
    return chosen.counts


class _Chosen(NamedTuple):
    """What is to be forgotten: chunks, what logs hold beside them, and the paths of which nothing is left."""

    chunks: pl.DataFrame
    logs: pl.DataFrame
    paths: pl.DataFrame

    @property
    def counts(self) -> Forgotten:
        return Forgotten(self.chunks.height, self.paths.height)


def _chosen(  # noqa: PLR0917 - as `forget` has them
    version: Version,
    tenant: str,
    repo: str | None,
    image: str | None,
    record: str | None,
    sources: Mapping[str, Source] | None,
) -> _Chosen:
    require_whose(version, tenant, repo)
    whose = scope([tenant], [] if repo is None else [repo])
    own = chunks = version.rows((*(("id", *PATH_KEY) if image is None else READ), "kind", "name"), whose)
    logs = dropped = version.table("logs").filter(whose)
    if record is not None:
        # A gap record's chunk is called by its id; what others are called, such as by a heading, is no id.
        by_name = pl.col("kind").eq(GAP_KIND) & pl.col("name").eq(pl.lit(record))
        begins = pl.col("kind").eq(GAP_KIND) & pl.col("name").str.starts_with(record)
        chosen = chunks.filter(pl.col("id").eq(pl.lit(record)) | by_name)
        chunks = chosen if chosen.height or len(record) < FEWEST_DIGITS else chunks.filter(begins)
        if chunks["name"].n_unique() > 1 and not chosen.height:
            raise InvalidInputError(f"several records begin with '{record}'", hint="name one of them in full")
        dropped = logs.clear()
    known: set[str] = set()
    if image is not None:  # gap records that name it, and whatever lay in its folder
        lines, scanned = scan_chunks(chunks, sources)
        named = lines.join(scanned.gaps.select("line", "image_id"), on="line")
        places = [named.select("id", "image_id"), lines.select("id", "folder"), chunks.select("id", _FOLDER)]
        images = pl.concat([each.rename({each.columns[1]: "image"}) for each in places])
        folder = pl.col("folder").fill_null(_FOLDER)
        known = {*images["image"], *dropped.select(folder)["folder"]} - {None}
        chunks = chunks.join(images.filter(image=image), on="id", how="semi")
        dropped = dropped.filter(folder == pl.lit(image))
    if chunks.is_empty() and dropped.is_empty() and (image or record):
        asked = {"record": record, "image": image}
        what = " of ".join(f"{kind} '{name}'" for kind, name in asked.items() if name is not None)
        near = did_you_mean(image, known - {image}) if image and image not in known else ""
        gone = "bytes of what was forgotten before go with `vocabgap corpus compact`"
        hint = near or (gone if version.measures.deleted else "`vocabgap list CORPUS` lists what there is")
        raise NotFoundError(f"there is no {what} to forget", hint=hint)
    left = own.join(chunks, on="id", how="anti"), logs.join(dropped, on=PATH_KEY, how="anti")
    before, after = (
        pl.concat([a.select(PATH_KEY), b.select(PATH_KEY)]) for a, b in ((chunks, dropped), left)
    )
    return _Chosen(chunks, dropped, before.unique().join(after, on=PATH_KEY, how="anti"))


def lift(store: Store, tenant: str, repo: str | None = None, *, record: str | None = None) -> int:
    """Let forgotten records come again, as `Corpus.lift` says."""
    tenant = normal_tenant(tenant) or tenant
    lifted = pl.col("tenant").eq(_hash(tenant))
    if repo is not None:
        lifted &= pl.col("repo").eq(_hash(tenant, repo))
    if record is not None:
        lifted &= pl.any_horizontal(pl.col("record", "chunk") == _hash(tenant, record))
    with store.changing(f"lift what was forgotten of {tenant}") as change:
        forgotten = change.table("forgotten")
        left = forgotten.filter(~lifted)
        if left.height == forgotten.height:
            raise NotFoundError("nothing of that was forgotten", hint="check --tenant, --repo and --record")
        change.keep("forgotten", left)
    return forgotten.height - left.height


def without_forgotten(version: Version, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Chunks that may come into a corpus, and those that were forgotten there."""
    forgotten = version.table("forgotten")
    if forgotten.is_empty():
        return rows, rows.clear()
    hashed = rows.hstack(_hashes(rows))
    key = ["repo", "record"]
    kept = hashed.join(forgotten, on=key, how="anti", maintain_order="left")
    return kept.select(rows.columns), hashed.join(forgotten, on=key, how="semi").select(rows.columns)


def logs_with(
    logs: pl.DataFrame,
    pushed: Sequence[tuple[str, PushedLog]],
    tenant: str,
    rows: pl.DataFrame,
    forgotten: pl.DataFrame,
) -> pl.DataFrame:
    """What logs hold beside chunks, after the push of some, each with its repository.

    One that was read to its end takes the place of the earlier one. `rows` are the chunks that came. Of a
    repository of which anything is `forgotten`, rejected lines come without text: a line that is broken since
    cannot be told by its hash.
    """
    of = [{"tenant_id": tenant, "repo_slug": repo, **log._asdict()} for repo, log in pushed]
    came = pl.DataFrame(of, logs.schema)
    whole = pl.Series([log.is_whole for _, log in pushed], dtype=pl.Boolean)
    logs = logs.join(came.filter(whole), on=PATH_KEY, how="anti")
    blank = {repo for repo, _ in pushed if _hash(tenant, repo) in forgotten["repo"]}
    came = came.unique(PATH_KEY, keep="last")
    came = _without_text(came, came.filter(pl.col("repo_slug").is_in(blank)))
    has_no_line = ~pl.struct(PATH_KEY).is_in(rows.select(pl.struct(PATH_KEY)).to_series().implode())
    telling = pl.col("rejects").is_not_null() | (pl.col("passed_over") > 0) | has_no_line
    came = came.filter(telling).join(logs, on=PATH_KEY, how="anti")
    return pl.concat([logs, came]).sort(PATH_KEY)


def _without_text(logs: pl.DataFrame, chunks: pl.DataFrame) -> pl.DataFrame:
    """The rejected lines of the logs that some chunks are of, without their text."""
    blank = pl.element().struct.with_fields(pl.lit("").alias("detail"), pl.lit("").alias("raw"))
    theirs = logs.join(chunks, on=PATH_KEY, how="semi").with_columns(pl.col("rejects").list.eval(blank))
    return pl.concat([logs.join(chunks, on=PATH_KEY, how="anti"), theirs]).sort(PATH_KEY)


def _hashes(chunks: pl.DataFrame) -> pl.DataFrame:
    """Of whom and what some chunks are, as SHA-256: of a gap record its own id, of another chunk its id."""
    name = pl.when(pl.col("kind") == GAP_KIND).then("name").fill_null(pl.col("id"))
    named = chunks.select("tenant_id", "repo_slug", name.alias("name"), "id").iter_rows()
    rows = [
        (_hash(who), _hash(who, repo), _hash(who, name), _hash(who, own)) for who, repo, name, own in named
    ]
    return pl.DataFrame(rows, schema=TABLES["forgotten"], orient="row")


def _hash(*names: str) -> str:
    return hashlib.sha256(compact_json(names).encode()).hexdigest()


def set_manifest(
    store: Store, tenant: str, repo_slug: str, paths: object, now: datetime | None = None
) -> PathSnapshot:
    """Keep which paths a repository has; gives what was kept.

    Raises:
        RefusedError: It is no list of paths, or it could not be written.
    """
    tenant_id, listed = normal_tenant(tenant) or "", normal_paths(paths)
    if listed is None or not TENANT.fullmatch(tenant_id) or not repo_slug or not is_unicode(repo_slug):
        raise RefusedError(
            Code.TENANT_MANIFEST_INVALID,
            "`pathsAfterPush` is expected to be a list of paths, of a tenant and a repository that are named",
        )
    moment = moment_of(milliseconds(datetime.now(UTC) if now is None else now))
    snapshot = PathSnapshot(tenant_id, repo_slug, listed, moment)
    try:
        with store.changing(f"snapshot of {tenant_id}/{repo_slug}") as change:
            change.keep_snapshot(snapshot)
    except (VocabgapError, OSError) as error:
        raise RefusedError(Code.TENANT_MANIFEST_FAILED, str(error)) from error
    return snapshot
