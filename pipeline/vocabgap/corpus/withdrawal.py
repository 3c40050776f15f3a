"""Removal of chunks from a corpus: a payload withdraws them, a person forgets them, or they are orphans.

A payload withdraws chunks with tombstones, a snapshot of paths or a revision boundary.
"""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from vocabgap.corpus.chunks import require_owner
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import is_unicode, sha256_of
from vocabgap.corpus.store import Change
from vocabgap.corpus.version import GAP_KIND, PATH_KEY, TABLES, Version
from vocabgap.errors import NotFoundError, StateError, VocabgapError
from vocabgap.model.tables import OWNER
from vocabgap.text import visible

Resolver = Callable[[str, str], Iterable[Any]]
"""A function that lists the paths in a base revision that are not in a head revision.

It raises NotFoundError if there is no history, and VocabgapError if the history lacks a revision.
"""
ORPHANS: Final = ("missing", "outdated")  # a chunk counts as the first that applies
TIME_LIMIT: Final = 60.0  # seconds for a call of git
# The repository is not trusted. So git runs no hook, pager, external diff or file-system monitor. It uses no
# network, and never reads a revision as an option.
_DELETED: Final = (
    *("git", "--no-pager", "--no-replace-objects", "--literal-pathspecs"),
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never"),
    *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=D", "--relative"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--end-of-options"),
)
_ENVIRONMENT: Final = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
}
_GIT_HINT: Final = "name two commits, tags or branches; `git fetch --unshallow` completes a shallow clone"


@dataclass(slots=True)
class Withdrawal:
    """The chunks of a tenant to withdraw: paths by repository, and a repository with the paths that stay."""

    paths: dict[str, set[str]] = field(default_factory=dict)
    manifest: tuple[str, tuple[str, ...]] | None = None
    errors: list[RefusedError] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.paths) or self.manifest is not None

    def add(self, places: Iterable[tuple[str, str]]) -> None:
        """Withdraw some paths, each with its repository."""
        for repo, path in places:
            self.paths.setdefault(repo, set()).add(path)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Record a refusal and continue."""
        try:
            yield
        except RefusedError as error:
            self.errors.append(error)

    def condition(self, tenant_id: str, keep: pl.Series | None = None) -> pl.Expr:
        """Return the condition of withdrawn chunks, without the ids to `keep`."""
        expression = pl.lit(value=False)
        for repo, paths in sorted(self.paths.items()):
            expression |= pl.col("repo_slug").eq(repo) & pl.col("source_path").is_in(sorted(paths))
        if self.manifest is not None:
            repo, left = self.manifest
            listed = pl.col("source_path").is_in(list(left)).fill_null(value=False)
            expression |= pl.col("repo_slug").eq(repo) & ~listed
        condition = pl.col("tenant_id").eq(tenant_id) & expression.fill_null(value=False)
        return condition & ~pl.col("id").is_in(keep.implode()) if keep is not None else condition


def withdrawal(
    payload: Mapping[str, Any],
    repo_slug: str,
    *,
    alone: bool = False,
    resolver: Resolver | None = None,
    strict: bool = False,
    confirmed: bool = False,
) -> Withdrawal:
    """Return the union of all deletion signals of a payload."""
    leaving = Withdrawal()
    tombstones: list[Any] = []
    with leaving.noting():
        deleted = payload.get("deleted")
        if not isinstance(deleted, list | None):
            message = "`deleted` must be a list of tombstones"
            raise RefusedError(Code.DELETE_SIGNAL_INVALID, message)
        tombstones += deleted or []
    with leaving.noting():
        tombstones += _past_boundary(payload, resolver)
    for tombstone in tombstones:
        with leaving.noting():
            leaving.add([_place(tombstone, repo_slug, alone=alone, strict=strict)])
    with leaving.noting():
        snapshot = payload.get("manifestSnapshot")
        leaving.manifest = _manifest(snapshot, repo_slug, alone=alone, confirmed=confirmed)
    return leaving


def _past_boundary(payload: Mapping[str, Any], resolver: Resolver | None) -> list[Any]:
    """Return tombstones of the files that were deleted between two revisions."""
    base, head = payload.get("baseRevision"), payload.get("headRevision")
    if not base:
        return []
    if not isinstance(base, str) or not isinstance(head, str) or not head:
        message = "`baseRevision` needs a `headRevision`, and both must be text"
        raise RefusedError(Code.BOUNDARY_INVALID, message)
    if resolver is None:
        message = "without a history, deleted files are unknown; name a git repository"
        raise RefusedError(Code.BOUNDARY_UNAVAILABLE, message)
    try:
        paths = list(resolver(base, head))
    except NotFoundError as error:
        raise RefusedError(Code.BOUNDARY_UNAVAILABLE, str(error)) from error
    except VocabgapError as error:
        raise RefusedError(Code.BOUNDARY_FAILED, str(error)) from error
    except Exception as error:  # the caller supplies the resolver; the other signals still count
        why = f"{type(error).__name__}: {error}"
        message = f"the files deleted between '{base}' and '{head}' could not be listed: {why}"
        raise RefusedError(Code.BOUNDARY_FAILED, message) from error
    return [{"sourcePath": path} if isinstance(path, str) else path for path in paths]


def _place(tombstone: object, repo_slug: str, *, alone: bool, strict: bool) -> tuple[str, str]:
    """Return the repository and the path of a tombstone."""
    if isinstance(tombstone, str) and not strict:
        tombstone = {"sourcePath": tombstone}
    path = tombstone.get("sourcePath") if isinstance(tombstone, dict) else None
    problem = None
    if not isinstance(path, str) or not path or not is_unicode(path):
        path, problem = "", "must name a `sourcePath`"
    repo, strange = _repository(tombstone, repo_slug, alone=alone)
    if problem := problem or strange:
        raise RefusedError(Code.TOMBSTONE_INVALID, f"a tombstone {problem}", tombstone=tombstone)
    return repo, path


def _repository(signal: object, repo_slug: str, *, alone: bool) -> tuple[str, str | None]:
    """Return the repository of a signal, and the problem with it."""
    repo = signal.get("repoSlug") or repo_slug if isinstance(signal, dict) else repo_slug
    if not isinstance(repo, str) or not is_unicode(repo):
        return "", "must have text as `repoSlug`"
    if alone and repo != repo_slug:
        return "", f"names repository '{repo}', but this push is only for '{repo_slug}'"
    return repo, None


def _manifest(
    snapshot: object, repo_slug: str, *, alone: bool, confirmed: bool
) -> tuple[str, tuple[str, ...]] | None:
    if not snapshot and not isinstance(snapshot, dict | list):
        return None
    paths = normal_paths(snapshot.get("pathsAfterPush")) if isinstance(snapshot, dict) else None
    repo, problem = _repository(snapshot, repo_slug, alone=alone)
    if paths is None:
        problem = "must have `pathsAfterPush`, a list of paths"
    elif not problem and not paths and not confirmed:
        problem = (
            "lists no path, so it would withdraw the whole repository; confirm it (--yes) or list the paths"
        )
    if problem:
        raise RefusedError(Code.MANIFEST_INVALID, f"`manifestSnapshot` {problem}", repoSlug=repo)
    return repo, paths or ()


def normal_paths(paths: object) -> tuple[str, ...] | None:
    """Return the distinct paths of a snapshot in the order of JavaScript; None if there is no list.

    Values that are empty, not text or not Unicode are left out.
    """
    if not isinstance(paths, list | tuple):
        return None
    texts = {path for path in paths if isinstance(path, str) and path and is_unicode(path)}
    return tuple(sorted(texts, key=lambda path: path.encode("utf-16-be")))


def deleted_in_git(folder: Path, base: str, head: str) -> tuple[str, ...]:
    """List the paths below a folder that git deleted between two revisions; a rename deletes the old path."""
    if not folder.is_dir():
        raise NotFoundError(f"git repository '{folder}' does not exist", hint="check --git")
    unknown = f"revision '{visible(base)}' or '{visible(head)}' is not known in '{folder}'"
    if "\0" in base + head or ".." in base + head:
        raise StateError(f"{unknown}: it does not name a commit", hint=_GIT_HINT)
    try:
        git = subprocess.run(  # noqa: S603 - no shell; every argument is ours or follows --end-of-options
            [*_DELETED, f"{base}^{{commit}}", f"{head}^{{commit}}", "--"],
            cwd=folder,
            env={**_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StateError(f"git took more than {TIME_LIMIT:g} seconds in '{folder}'") from error
    except OSError as error:
        hint = "install git, or leave out --git"
        raise NotFoundError(f"git cannot be run on this machine: {error.strerror}", hint=hint) from error
    complaint = visible(git.stderr.decode("utf-8", "backslashreplace").strip())
    if "not a git repository" in complaint:
        raise NotFoundError(f"'{folder}' is not in a git repository: {complaint}", hint="check --git")
    if git.returncode:
        raise StateError(f"{unknown}: {complaint}", hint=_GIT_HINT)
    names = git.stdout.split(b"\0")
    return tuple(sorted(name.decode("utf-8", "backslashreplace") for name in names if name))


class Forgotten(NamedTuple):
    """The number of removed records, and of source paths that are empty afterwards."""

    records: int
    paths: int


def forget(version: Version, wanted: pl.Expr, whole: pl.Expr) -> Forgotten:
    """Remove records from a change for good; their hashes keep them out of later pushes.

    The rejected lines of a log with removed records lose their text, because they may be copies.

    Args:
        version: The change, or a version, in which the records are only counted.
        wanted: The condition of the records.
        whole: The condition of the rows of table `logs` that are removed, too.
    """
    wanted, logs = wanted.fill_null(value=False), version.table("logs")
    chunks = version.rows(("id", *PATH_KEY, "kind", "name"), wanted)
    gone, logs = logs.filter(whole), logs.filter(~whole)
    before, after = (
        pl.concat([rows.select(PATH_KEY), entries.select(PATH_KEY)])
        for rows, entries in ((chunks, gone), (version.rows(PATH_KEY, ~wanted), logs))
    )
    emptied = before.unique().join(after, on=PATH_KEY, how="anti")
    if isinstance(version, Change):
        version.delete(pl.col("id").is_in(chunks["id"].implode()))
        version.keep("logs", without_text(logs, chunks))
        places = {*emptied.rows()}  # the snapshots may name forgotten paths
        for owner, repo_slug, moment, paths in version.table("paths").iter_rows():
            left = [path for path in paths if (owner, repo_slug, path) not in places]
            version.keep_paths(owner, repo_slug, left, moment)
        hashes = pl.concat([version.table("forgotten"), _hashes(chunks)])
        version.keep("forgotten", hashes.unique().sort(pl.all()))
    return Forgotten(chunks.height, emptied.height)


def without_forgotten(version: Version, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split chunks into allowed and forgotten chunks."""
    forgotten = version.table("forgotten")
    if forgotten.is_empty():
        return rows, rows.clear()
    hashed = rows.hstack(_hashes(rows))
    key = ["repo", "record"]
    kept = hashed.join(forgotten, on=key, how="anti", maintain_order="left")
    return kept.select(rows.columns), hashed.join(forgotten, on=key, how="semi").select(rows.columns)


def _hashes(chunks: pl.DataFrame) -> pl.DataFrame:
    """Hash the owners and the id of each chunk; for a gap record also the id of the record."""
    name = pl.when(pl.col("kind") == GAP_KIND).then("name").fill_null(pl.col("id"))
    named = chunks.select("tenant_id", "repo_slug", name.alias("name"), "id").iter_rows()
    rows = [
        tuple(map(sha256_of, ([tenant], [tenant, repo], [tenant, name], [tenant, identity])))
        for tenant, repo, name, identity in named
    ]
    return pl.DataFrame(rows, schema=TABLES["forgotten"], orient="row")


def without_text(logs: pl.DataFrame, chunks: pl.DataFrame) -> pl.DataFrame:
    """Remove the text of rejected lines from the logs of some chunks."""
    blank = pl.element().struct.with_fields(pl.lit("").alias("detail"), pl.lit("").alias("raw"))
    theirs = logs.join(chunks, on=PATH_KEY, how="semi").with_columns(pl.col("rejects").list.eval(blank))
    return pl.concat([logs.join(chunks, on=PATH_KEY, how="anti"), theirs]).sort(PATH_KEY)


def judged(version: Version, gap: int) -> pl.DataFrame:
    """Read the chunks with Boolean column `stale` and column `orphan`, one of `ORPHANS` or null."""
    columns = ("id", *OWNER, "root_kind", "source_path", "kind", "config_version", "ingested_at")
    chunks = version.rows(columns)
    frame = chunks.hstack(config_orphans(chunks, version.config_versions, gap)).with_columns(
        snapshot_orphans(chunks, version.table("paths"))
    )
    why = pl.coalesce(pl.when(name).then(pl.lit(name)) for name in ORPHANS)
    return frame.with_columns(orphan=why)


def orphans_of(version: Version, tenant: str, gap: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the removable chunks of a tenant, and those of them whose path is empty afterwards."""
    require_owner(version, tenant)
    chunks = judged(version, gap).filter(tenant_id=tenant)
    orphans = chunks.drop_nulls("orphan")
    return orphans, orphans.join(chunks.join(orphans, on="id", how="anti"), on=PATH_KEY, how="anti")


def snapshot_orphans(chunks: pl.DataFrame, snapshots: pl.DataFrame) -> pl.Series:
    """Return which chunks are missing from the last snapshot of their repository (table `paths`).

    A snapshot says nothing about chunks that are newer, of unknown age or without a path.
    """
    joined = chunks.join(snapshots, on=OWNER, how="left", maintain_order="left")
    path = pl.col("source_path")
    missing = (pl.col("ingested_at") <= pl.col("updated_at")) & ~path.is_in(pl.col("paths")) & (path != "")
    return joined.select(missing=missing.fill_null(value=False))["missing"]


def config_orphans(chunks: pl.DataFrame, current: Mapping[str, int], gap: float) -> pl.DataFrame:
    """Return which chunks are `stale` and `outdated`: ingested under an older configuration of their tenant.

    Chunks of an unknown configuration, or of a tenant that was never configured, are neither.
    """
    versions = {tenant: version for tenant, version in current.items() if version > 0}
    now = pl.col("tenant_id").replace_strict(versions, default=None, return_dtype=pl.Int64)
    behind = (now - pl.col("config_version")).fill_null(0)
    return chunks.select((behind > 0).alias("stale"), ((behind > 0) & (behind >= gap)).alias("outdated"))
