"""What a payload withdraws: the union of its tombstones, its snapshot of paths and its revision boundary."""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.corpus.compact_json import is_unicode
from vocabgap.corpus.contracts import Code, PushError, RefusedError
from vocabgap.errors import NotFoundError, StateError, VocabgapError
from vocabgap.text import visible

Resolver = Callable[[str, str], Iterable[Any]]
"""Gives the paths that are in a base revision and not in a head revision.

Raises:
    NotFoundError: There is no history to ask.
    VocabgapError: It does not know the revisions.
"""
TIME_LIMIT: Final = 60.0  # seconds for the question to git
# Git is asked once, and nothing that it could be talked into: no hook, pager, external diff or file-system
# monitor runs, no network is reached, and what others name is never taken for an option.
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
_GIT_HINT: Final = (
    "name two commits, tags or branches; a shallow clone gets all of them by `git fetch --unshallow`"
)


@dataclass(slots=True)
class Withdrawal:
    """What is to be withdrawn from the chunks of one tenant.

    Attributes:
        paths: Repository to the source paths in it, each as it is.
        manifest: The repository and the paths that are all that is left of it; None where nothing was said.
        errors: What was said and cannot be used.
    """

    paths: dict[str, set[str]] = field(default_factory=dict)
    manifest: tuple[str, tuple[str, ...]] | None = None
    errors: list[PushError] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.paths) or self.manifest is not None

    def add(self, places: Iterable[tuple[str, str]]) -> None:
        """Withdraw what is of some paths, each with its repository."""
        for repo, path in places:
            self.paths.setdefault(repo, set()).add(path)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note what is refused; all else is done."""
        try:
            yield
        except RefusedError as error:
            self.errors.append(PushError.of(error))

    def condition(self, tenant_id: str, keep: pl.Series | None = None) -> pl.Expr:
        """Which chunks are withdrawn but for some ids, as a condition over table `chunks`."""
        wanted = pl.lit(value=False)
        for repo, paths in sorted(self.paths.items()):
            wanted |= pl.col("repo_slug").eq(repo) & pl.col("source_path").is_in(sorted(paths))
        if self.manifest is not None:
            repo, left = self.manifest
            listed = pl.col("source_path").is_in(list(left)).fill_null(value=False)
            wanted |= pl.col("repo_slug").eq(repo) & ~listed
        condition = pl.col("tenant_id").eq(tenant_id) & wanted.fill_null(value=False)
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
    """What a payload withdraws."""
    leaving = Withdrawal()
    tombstones: list[Any] = []
    with leaving.noting():
        tombstones += _tombstones(payload.get("deleted"))
    with leaving.noting():
        tombstones += _past_boundary(payload, resolver)
    for tombstone in tombstones:
        with leaving.noting():
            leaving.add([_place(tombstone, repo_slug, alone=alone, strict=strict)])
    with leaving.noting():
        snapshot = payload.get("manifestSnapshot")
        leaving.manifest = _manifest(snapshot, repo_slug, alone=alone, confirmed=confirmed)
    return leaving


def _tombstones(deleted: object) -> list[Any]:
    if not isinstance(deleted, list | None):
        raise RefusedError(Code.DELETE_SIGNAL_INVALID, "`deleted` is expected to be a list of tombstones")
    return deleted or []


def _past_boundary(payload: Mapping[str, Any], resolver: Resolver | None) -> list[Any]:
    """The tombstones of what lies between two revisions; without a base there is no boundary."""
    base, head = payload.get("baseRevision"), payload.get("headRevision")
    if not base:
        return []
    if not isinstance(base, str) or not isinstance(head, str) or not head:
        message = "`headRevision` is expected beside `baseRevision`, both as text"
        raise RefusedError(Code.BOUNDARY_INVALID, message)
    if resolver is None:
        message = "there is no history to ask what was deleted; name a git repository"
        raise RefusedError(Code.BOUNDARY_UNAVAILABLE, message)
    try:
        return [{"sourcePath": each} if isinstance(each, str) else each for each in resolver(base, head)]
    except NotFoundError as error:
        raise RefusedError(Code.BOUNDARY_UNAVAILABLE, str(error)) from error
    except VocabgapError as error:
        raise RefusedError(Code.BOUNDARY_FAILED, str(error)) from error
    except Exception as error:  # a resolver is handed in; the other signals count all the same
        why = f"{type(error).__name__}: {error}"
        message = f"asking for what lies between '{base}' and '{head}' failed: {why}"
        raise RefusedError(Code.BOUNDARY_FAILED, message) from error


def _place(tombstone: object, repo_slug: str, *, alone: bool, strict: bool) -> tuple[str, str]:
    """The repository and the path of a tombstone."""
    if isinstance(tombstone, str) and not strict:
        tombstone = {"sourcePath": tombstone}
    path = tombstone.get("sourcePath") if isinstance(tombstone, dict) else None
    problem = None
    if not isinstance(path, str) or not path or not is_unicode(path):
        path, problem = "", "is expected to name a `sourcePath`"
    repo, strange = _repository(tombstone, repo_slug, alone=alone)
    if problem := problem or strange:
        raise RefusedError(Code.TOMBSTONE_INVALID, f"a tombstone {problem}", tombstone=tombstone)
    return repo, path


def _repository(signal: object, repo_slug: str, *, alone: bool) -> tuple[str, str | None]:
    """The repository that a signal is about, and what is wrong with that."""
    repo = signal.get("repoSlug") or repo_slug if isinstance(signal, dict) else repo_slug
    if not isinstance(repo, str) or not is_unicode(repo):
        return "", "is expected to have text as `repoSlug`"
    if alone and repo != repo_slug:
        return "", f"names repository '{repo}', but this push is for '{repo_slug}' alone"
    return repo, None


def _manifest(
    snapshot: object, repo_slug: str, *, alone: bool, confirmed: bool
) -> tuple[str, tuple[str, ...]] | None:
    if not snapshot and not isinstance(snapshot, dict | list):
        return None
    paths = normal_paths(snapshot.get("pathsAfterPush")) if isinstance(snapshot, dict) else None
    repo, problem = _repository(snapshot, repo_slug, alone=alone)
    if paths is None:
        problem = "is expected to have `pathsAfterPush`, a list of paths"
    elif not problem and not paths and not confirmed:
        problem = (
            "lists no path, which withdraws the whole repository; confirm it (--yes) or list what is there"
        )
    if problem:
        raise RefusedError(Code.MANIFEST_INVALID, f"`manifestSnapshot` {problem}", repoSlug=repo)
    return repo, paths or ()


def normal_paths(paths: object) -> tuple[str, ...] | None:
    """The paths of a snapshot, sorted as JavaScript sorts, each once; None where there is no list.

    What is no text, or empty, is left out; so is what no file system's path in Unicode can be.
    """
    if not isinstance(paths, list | tuple):
        return None
    texts = {path for path in paths if isinstance(path, str) and path and is_unicode(path)}
    return tuple(sorted(texts, key=lambda path: path.encode("utf-16-be")))


def empties(payload: Mapping[str, Any]) -> bool:
    """Whether the snapshot of a payload says that nothing is left of a repository."""
    snapshot = payload.get("manifestSnapshot")
    return isinstance(snapshot, dict) and normal_paths(snapshot.get("pathsAfterPush")) == ()


def deleted_in_git(folder: Path, base: str, head: str, *, time_limit: float = TIME_LIMIT) -> tuple[str, ...]:
    """The paths, relative to a folder of a git repository, that are in one revision and no longer in another.

    What was renamed is deleted under its old name. What was changed is not deleted.

    Args:
        folder: The folder that source paths are relative to: the repository's own, or one below.
        base: The one revision.
        head: The other one.
        time_limit: Seconds that git may take.

    Raises:
        NotFoundError: There is no git on this machine, or no repository in the folder.
        StateError: A revision is not known there, or git failed or took too long.
    """
    if not folder.is_dir():
        raise NotFoundError(f"git repository '{folder}' does not exist", hint="check --git")
    shown = f"'{visible(base)}' or '{visible(head)}'"
    if "\0" in base + head or ".." in base + head:
        raise StateError(f"revision {shown} is not known in '{folder}': it names no commit", hint=_GIT_HINT)
    try:
        git = subprocess.run(  # noqa: S603 - no shell; every argument is ours or follows --end-of-options
            [*_DELETED, f"{base}^{{commit}}", f"{head}^{{commit}}", "--"],
            cwd=folder,
            env={**_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StateError(
            f"git took more than {time_limit:g} seconds in '{folder}'", hint="try again"
        ) from error
    except OSError as error:
        message = f"there is no git on this machine that could be asked: {error.strerror}"
        raise NotFoundError(message, hint="install it, or leave out --git") from error
    complaint = visible(git.stderr.decode("utf-8", "backslashreplace").strip())
    if "not a git repository" in complaint:
        raise NotFoundError(f"'{folder}' is in no git repository: {complaint}", hint="check --git")
    if git.returncode:
        raise StateError(f"revision {shown} is not known in '{folder}': {complaint}", hint=_GIT_HINT)
    names = git.stdout.split(b"\0")
    return tuple(sorted(name.decode("utf-8", "backslashreplace") for name in names if name))
