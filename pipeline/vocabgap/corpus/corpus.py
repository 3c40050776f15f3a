"""The corpus in Python: the commands of `vocabgap corpus` as methods, and an overview of its content."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.chunks import LISTED_BY, PARSER_ID, absent, readable, require_owner, scope
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import PRIVATELY, normal_tenant, require_tenant, sha256_of
from vocabgap.corpus.incoming import Parser, owner_of
from vocabgap.corpus.push import MOST_CHUNKS, PushResult, folder_payload, push, read_payload
from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import CHUNKS, GAP_KIND, PATH_KEY, Measures, Version, is_corpus
from vocabgap.corpus.withdrawal import ORPHANS, Forgotten, deleted_in_git, forget, judged, orphans_of
from vocabgap.errors import InvalidInputError, NotFoundError, expanded, texts
from vocabgap.ingest.scanning import reads_shared
from vocabgap.model.record import FEWEST_DIGITS, SHARED_TENANT
from vocabgap.model.selection import containing, require_match
from vocabgap.model.settings import Settings, settings_of
from vocabgap.model.tables import OWNER
from vocabgap.text import count, excerpt

if TYPE_CHECKING:
    from vocabgap.corpus.backups import Exported, Restored

_IDENTITY: Final = (*OWNER, "root_kind")
_SHOWN: Final = [name for name in CHUNKS.names if name not in {"embedding", "backup_line"}]
_IS_GAP: Final = pl.col("kind").eq_missing(pl.lit(GAP_KIND))
Names = str | Sequence[str]


def open_corpus(
    folder: str | Path,
    *,
    create: bool = True,
    settings: Settings | None = None,
    parsers: Mapping[str, Parser] | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> "Corpus":
    """Open the shared corpus in a folder.

    Args:
        folder: The folder.
        create: Whether the first push or restore may create a corpus there.
        settings: The settings of logs and false claims, if not the default ones.
        parsers: Parsers by the `parserId` of a payload's files. A parser takes a file (`content`,
            `source_path`, `entry`) and yields its pieces. A piece is a dict with `content`; it may have
            `kind`, `name`, `line_start`, `line_end` and `source`. The push adds the other fields of
            parsed-chunk-v1.
        on_wait: A function that gets the name of another writer if a change has to wait.

    Raises:
        NotFoundError: There is no corpus, and `create` is false.
        InvalidInputError: The folder is a URL.
    """
    settings = settings_of(settings)
    place = expanded(folder)
    if not create and not is_corpus(place):
        raise NotFoundError(
            f"'{place}' holds no shared corpus",
            hint="`vocabgap corpus push` and `restore` create one; --corpus names another folder",
        )
    return Corpus(Store(place, on_wait), settings, parsers or {})


class Corpus:
    """A shared corpus: the contributions of several people, machines and repositories."""

    def __init__(self, store: Store, settings: Settings, parsers: Mapping[str, Parser]) -> None:
        self.store = store
        self.parsers = parsers
        self.settings = settings

    def push(
        self,
        source: str | Path | Mapping[str, Any],
        *,
        tenant: str | None = None,
        repo: str | None = None,
        deleted: tuple[str, ...] = (),
        snapshot: bool = False,
        base: str | None = None,
        git: str | Path | None = None,
        confirmed: bool = False,
        private: bool = False,
        now: datetime | None = None,
    ) -> PushResult:
        """Add the content of a folder or a payload, and withdraw deleted chunks.

        Faults of single lines or chunks are part of the result; all other changes happen. A gap log of a
        folder replaces all chunks of its path.

        Args:
            source: An image repository, the file of a payload (`-` for standard input), or a payload.
            tenant: The tenant that pushes; by default the one that the payload names.
            repo: The only repository that may change; by default the one that the payload names.
            deleted: For a folder: source paths to withdraw.
            snapshot: For a folder: whether to withdraw all logs that are not in it.
            base: For a folder: the revision after which git deleted the files to withdraw.
            git: The folder of a git repository that has the revisions; by default the folder.
            confirmed: Whether a push may withdraw the whole repository.
            private: Whether only the tenant may read the chunks; a payload may also say so itself.
            now: The moment of the push; the present one by default.

        Raises:
            NotFoundError: The folder has no log, or there is nothing to withdraw.
            InvalidInputError: The tenant or repository is unusable, or not in the payload, or the
                payload names another repository.
            VocabgapError: The folder or the file cannot be read.
        """
        parsers, folder = self.parsers, None
        if not isinstance(source, Mapping) and Path(source).is_dir():
            folder, git = Path(source), git or source
        elif deleted or snapshot or base is not None:
            raise InvalidInputError(
                f"{'the source' if isinstance(source, Mapping) else repr(str(source))} is not a folder,"
                " and a payload itself names what it withdraws",
                hint="use its fields `deleted`, `manifestSnapshot`, `baseRevision` and `headRevision`",
            )
        payload = source if isinstance(source, Mapping) else {} if folder else read_payload(source)
        tenant, repo = owner_of(payload, tenant, repo)
        if folder is not None:
            signals = {"deleted": list(deleted), "baseRevision": base, "headRevision": base and "HEAD"}
            payload, parser = folder_payload(
                self.store,
                folder,
                (tenant, repo),
                self.settings.scan,
                signals,
                snapshot=snapshot,
                confirmed=confirmed,
            )
            parsers = {**parsers, PARSER_ID: parser}
        return push(
            self.store,
            {**payload, "visibility": PRIVATELY} if private else payload,
            tenant=tenant,
            repo=repo,
            refuse_false=self.settings.of(CorpusSettings).tenant_spoof == "reject",
            resolver=None if git is None else partial(deleted_in_git, Path(git)),
            parsers=parsers,
            whole_logs=folder is not None,
            confirmed=confirmed,
            most=MOST_CHUNKS if folder is None else sys.maxsize,
            now=now,
        )

    def export(
        self,
        file: str | Path,
        *,
        tenants: tuple[str, ...] = (),
        repositories: tuple[str, ...] = (),
        shared: bool = True,
    ) -> "Exported":
        """Write chunks with their vectors to a file of backup-record-v1 records; compress a `.zst`.

        With tenants, write the chunks that they may read. Without, write a full backup: also private chunks.
        """
        from vocabgap.corpus.backups import export  # noqa: PLC0415 - loads scikit-learn

        version, private = self.store.version(), None if tenants else pl.lit(value=False)
        wanted, notes = chosen(
            version, tenants=tenants, repositories=repositories, shared=shared, private=private
        )
        return replace(export(version, Path(file), self.settings, wanted), notes=notes)

    def list_chunks(
        self,
        *,
        tenants: Names = (),
        repositories: Names = (),
        shared: bool = True,
        paths: Names = (),
        kinds: Names = (),
        names: Names = (),
        match: str | None = None,
    ) -> "ListedChunks":
        """Find chunks of any kind, newest first; the readers are those of `export`.

        A path may be a folder. A name may also be an id, or the first digits of one.

        Raises:
            NotFoundError: No readable chunk has one of the names; the error lists similar names.
        """
        version, named = self.store.version(), {"source_path": paths, "kind": kinds, "name": names}
        condition, notes = chosen(
            version, named, match=match, tenants=tenants, repositories=repositories, shared=shared
        )
        rows = version.rows(_SHOWN, condition)
        newest_first = rows.sort("ingested_at", descending=True, nulls_last=True, maintain_order=True)
        return ListedChunks(newest_first, notes)

    def restore(self, file: str | Path, *, replace: bool = False) -> "Restored":
        """Restore the records of a backup verbatim, all of them or none.

        With `replace`, they replace the whole content of the corpus.
        """
        from vocabgap.corpus.backups import restore  # noqa: PLC0415 - loads scikit-learn

        return restore(self.store, Path(file), replace=replace)

    def forget(
        self,
        tenant: str,
        repo: str | None = None,
        *,
        paths: Names = (),
        names: Names = (),
        match: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove records of a tenant, and leave them out of every later push and restore.

        Without names and `match`, the rejected lines of the paths are removed, too. The corpus keeps only
        hashes of the records. The next compaction removes their bytes.

        Args:
            tenant: The owner of the records.
            repo: Only records of this repository.
            paths: Only these paths or folders.
            names: Only these names or ids; see `list_chunks`.
            match: Only records with this text.
            dry_run: Whether to only count them.

        Raises:
            NotFoundError: There is no such tenant, repository, path or name.
            InvalidInputError: The first digits of an id fit several records.
        """
        tenant = normal_tenant(tenant) or tenant
        changing = self.store.changing(f"forget records of {tenant}")
        with nullcontext(self.store.version()) if dry_run else changing as version:
            require_owner(version, tenant, repo)
            filters = {"source_path": paths, "name": names}
            found, _ = chosen(version, filters, match=match, tenants=tenant, shared=False)
            owned, whole = scope([tenant], [] if repo is None else [repo]), pl.lit(value=False)
            for name in texts("names", names):
                fitting = version.rows(["name"], owned & _fits("name", name))["name"].unique()
                if len(fitting) > 1 and name not in fitting:
                    problem = f"'{excerpt(name)}' begins the ids of {count(len(fitting), 'record')}"
                    raise InvalidInputError(problem, hint="give more digits of the id")
            if not names and match is None:
                within = [_fits("source_path", path) for path in texts("paths", paths)]
                whole = owned & (pl.any_horizontal(within) if within else pl.lit(value=True))
            forgotten = forget(version, owned & found, whole)
            if isinstance(version, Change) and not (paths or names or match):
                version.keep("paths", version.table("paths").filter(~owned))
        return forgotten

    def lift(self, tenant: str, repo: str | None = None, *, names: Names = ()) -> int:
        """Allow forgotten records in later pushes and restores; return their number.

        Names are whole ids: of gap records, or of chunks.
        """
        tenant = normal_tenant(tenant) or tenant
        lifted = pl.col("tenant").eq(sha256_of([tenant]))
        if repo is not None:
            lifted &= pl.col("repo").eq(sha256_of([tenant, repo]))
        if names:
            hashes = [sha256_of([tenant, name]) for name in texts("names", names)]
            lifted &= pl.any_horizontal(pl.col("record", "chunk").is_in(hashes))
        with self.store.changing(f"lift forgotten records of {tenant}") as change:
            forgotten = change.table("forgotten")
            remaining = forgotten.filter(~lifted)
            if remaining.height == forgotten.height:
                raise NotFoundError("no forgotten record matches", hint="check --tenant, --repo and --name")
            change.keep("forgotten", remaining)
        return forgotten.height - remaining.height

    def configure(self, tenant: str) -> int:
        """Start a new configuration of a tenant; return its number.

        Records that the tenant does not push again become stale, and then outdated.
        """
        tenant_id = require_tenant(tenant)
        with self.store.changing(f"configuration of {tenant_id}") as change:
            require_owner(change, tenant_id)
            return change.configure(tenant_id)

    def remove_orphans(self, tenant: str, *, dry_run: bool = False) -> int:
        """Remove the orphans of a tenant, as `status` counts them; return their number."""
        tenant_id, gap = require_tenant(tenant), self.settings.of(CorpusSettings).orphan_version_gap
        if dry_run:
            return orphans_of(self.store.version(), tenant_id, gap)[0].height
        with self.store.changing(f"remove orphans of {tenant_id}") as change:
            orphans, emptied = orphans_of(change, tenant_id, gap)
            change.keep("logs", change.table("logs").join(emptied, on=PATH_KEY, how="anti"))
            return change.delete(pl.col("id").is_in(orphans["id"].implode()))

    def compact(self) -> Measures:
        """Rewrite the files of the corpus without removed records."""
        return self.store.compact()

    def status(self) -> "Overview":
        """Return the content of the corpus by repository, its size and its orphans."""
        return overview(self.store.version(), self.settings.of(CorpusSettings).orphan_version_gap)


class ListedChunks(NamedTuple):
    """The chunks that a reader asked for, and notes on tenants without chunks."""

    chunks: pl.DataFrame  # table `chunks` without vectors, the newest first
    notes: tuple[str, ...]


def chosen(
    version: Version,
    names: Mapping[str, Names] = {},
    *,
    match: str | None = None,
    tenants: Names = (),
    repositories: Names = (),
    shared: bool = True,
    private: pl.Expr | None = None,
) -> tuple[pl.Expr, tuple[str, ...]]:
    """Return the condition of the chunks that a reader asks for, and notes on tenants without chunks.

    Raises:
        NotFoundError: The reader can read no chunk with one of the names; the error lists similar names.
    """
    tenants = texts("tenants", tenants)
    nouns = {"repo_slug": "repository", "source_path": "path", "kind": "kind", "name": "name"}
    condition = readable(tenants, shared=shared, private=private)
    visible = version.rows(["id", "tenant_id", *nouns], condition)
    without_chunks = [tenant for tenant in tenants if tenant not in visible["tenant_id"]]
    is_shared = shared and SHARED_TENANT in visible["tenant_id"]
    for tenant in () if is_shared else without_chunks:
        require_owner(version, tenant)
    for column, wanted_names in {"repo_slug": repositories, **names}.items():
        fits = {name: _fits(column, name) for name in texts(column, wanted_names)}
        for name, fit in fits.items():
            if visible.filter(fit).is_empty():
                # The name of a gap is its id.
                others = (visible.filter(~_IS_GAP) if column == "name" else visible)[column]
                raise absent(f"{nouns[column]} '{name}'", name, others, LISTED_BY)
        condition &= pl.any_horizontal(fits.values()) if fits else pl.lit(value=True)
    if match is not None:
        require_match(match)
        condition &= containing(match, [_searched()])
    return condition, tuple(map(reads_shared, without_chunks if is_shared else ()))


def _fits(column: str, name: str) -> pl.Expr:
    """Return the condition of chunks with a name, in a folder, or with the first digits of an id."""
    value, also = pl.col(column), pl.lit(value=False)
    if column == "source_path":
        also = value.str.starts_with(f"{name.rstrip('/')}/")
    elif column == "name" and len(name) >= FEWEST_DIGITS:
        also = pl.col("id").str.starts_with(name) | (_IS_GAP & value.str.starts_with(name))
    return (value == pl.lit(name)) | also


def _searched() -> pl.Expr:
    """Return the text of chunks to search: of a gap record with escapes, also the values of its JSON."""

    def with_values(content: str) -> str:
        with suppress(msgspec.DecodeError, RecursionError, UnicodeError):
            values = msgspec.json.decode(content, type=dict[str, Any]).values()
            return "\n".join([content, *map(str, values)])
        return content

    escaped = pl.when(_IS_GAP & pl.col("content").str.contains("\\", literal=True)).then("content")
    return pl.coalesce(escaped.map_elements(with_values, return_dtype=pl.String), "content")


class Identity(msgspec.Struct, frozen=True):
    """The content of a corpus for one repository of a tenant."""

    tenant_id: str
    repo_slug: str
    root_kind: str
    records: int
    gap_records: int  # lines of gap logs among them
    rejects: int  # lines of its gap logs that are not records
    paths: int
    missing: int  # older than the last snapshot, which lacks their path: may be removed
    stale: int  # ingested under an older configuration of the tenant
    outdated: int  # stale by several configurations: may be removed


class Overview(msgspec.Struct, frozen=True):
    """The content of a corpus."""

    measures: Measures
    identities: tuple[Identity, ...]
    dimension: int | None  # of the vectors of restored records
    orphan_version_gap: int
    forgotten: int  # records that pushes leave out

    @property
    def orphans(self) -> int:
        """The number of records that may be removed."""
        return sum(getattr(identity, name) for identity in self.identities for name in ORPHANS)


def overview(version: Version, gap: int) -> Overview:
    """Count the content of a corpus by repository."""
    chunks = judged(version, gap)
    counted = chunks.group_by(*_IDENTITY).agg(
        pl.len().alias("records"),
        pl.col("kind").eq(GAP_KIND).sum().alias("gap_records"),
        pl.col("source_path").n_unique().alias("paths"),
        pl.col("stale").sum(),
        *(pl.col("orphan").eq(name).sum().alias(name) for name in ORPHANS),
    )
    lines = pl.col("rejects").list.eval(pl.element().struct["line"].count()).list.first()
    rejects = version.table("logs").group_by(*_IDENTITY).agg(lines.sum().alias("rejects"))
    whole = counted.join(rejects, on=_IDENTITY, how="full", coalesce=True, nulls_equal=True)
    whole = whole.sort(*_IDENTITY, nulls_last=True).with_columns(pl.col(_IDENTITY).fill_null("")).fill_null(0)
    identities = tuple(Identity(**row) for row in whole.iter_rows(named=True))
    return Overview(version.measures, identities, version.dimension, gap, version.table("forgotten").height)
