"""What every store of a shared corpus can do: be read whole at one version, and be changed in one step."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

import polars as pl

from vocabgap.errors import AccessDeniedError, NotFoundError, StateError
from vocabgap.files.refusals import NO_ROOM
from vocabgap.schema import UTC_MICROSECONDS


@dataclass(frozen=True, slots=True)
class PathSnapshot:
    """Which paths a repository had after its last push that said so.

    Attributes:
        tenant_id: Whose repository it is.
        repo_slug: The repository.
        paths: Source paths, sorted, each once.
        updated_at: When it was said. Only what was ingested until then can be missing from it.
    """

    tenant_id: str
    repo_slug: str
    paths: tuple[str, ...]
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Measures:
    """How large a version is.

    Attributes:
        version: Its number: 1 for the first, one more with every change.
        rows: Chunks that are there.
        deleted: Rows of its files that are deleted, and whose bytes are still there.
        parts: Its files of chunks.
        bytes: Of all its files.
        old_bytes: Of files in the folder that only earlier versions have.
    """

    version: int
    rows: int
    deleted: int
    parts: int
    bytes: int
    old_bytes: int = 0


class Version(Protocol):
    """One whole version of a corpus."""

    def rows(self, columns: Sequence[str] | None = None, where: pl.Expr | None = None) -> pl.DataFrame:
        """The chunks that are there, by tenant, repository, source path, line (null first) and id.

        Args:
            columns: Those of table `chunks` to read; all by default.
            where: A condition over columns of table `chunks`; all rows by default.
        """
        ...

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """The last snapshot of each repository that sent one."""
        ...

    @property
    def config_versions(self) -> dict[str, int]:
        """How often each tenant was configured; a tenant that is not there never was."""
        ...

    @property
    def dimension(self) -> int | None:
        """How long the vectors of restored records are; None while there are none."""
        ...

    @property
    def measures(self) -> Measures:
        """How large it is."""
        ...


class Change(Version, Protocol):
    """A version in the making, by one writer. It reads as if what was changed so far were there."""

    def delete(self, where: pl.Expr) -> int:
        """Take out the chunks that meet a condition over columns of table `chunks`; gives how many."""
        ...

    def add(self, rows: pl.DataFrame) -> int:
        """Put in chunks whose id is not there yet; gives how many. One that is there stays as it is.

        A call costs a look at all ids, whether for one row or for many.

        Args:
            rows: Table `chunks`; of rows with the same id the first counts.

        Raises:
            InvalidInputError: A row has no id, tenant, repository or source path, or a vector that is not as
                long as those that are there.
        """
        ...

    def keep_snapshot(self, snapshot: PathSnapshot) -> None:
        """Replace the snapshot of a repository."""
        ...

    def drop_snapshots(self, tenant_id: str, repo_slug: str | None = None) -> int:
        """Forget the snapshot of a repository, or of all of a tenant's; gives how many there were."""
        ...

    def configure(self, tenant_id: str) -> int:
        """Say that a tenant was configured anew; gives the new version of its configuration."""
        ...


class Store(Protocol):
    """A shared corpus on some kind of storage."""

    def version(self) -> Version:
        """The newest version, as it is now: what others write later does not change it."""
        ...

    def changing(self, purpose: str) -> AbstractContextManager[Change]:
        """Alone with the corpus. What was changed appears whole when the block ends without an error.

        Args:
            purpose: What is being done, as another writer who finds the corpus locked is told.

        Raises:
            StateError: Another writer is at it, or the disk did not take it. Nothing has changed then.
        """
        ...

    def compact(self) -> Measures:
        """Write anew what is there, and remove every file that holds what is not; gives what is there now.

        What was deleted is in no file of the corpus afterwards.

        Raises:
            StateError: Another writer is at it, or the disk did not take it.
        """
        ...


# Path snapshots as a file holds them.


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


# What is said where the system, or the disk, does not let a corpus be read or changed.


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Let what the system refuses be an error that names the corpus.

    Raises:
        StateError: The disk failed.
        AccessDeniedError: The corpus may not be read.
    """
    try:
        yield
    except PermissionError as error:
        raise AccessDeniedError(f"corpus '{folder}' cannot be read: {_problem(error)}") from error
    except OSError as error:
        raise StateError(f"corpus '{folder}' cannot be read: {_problem(error)}") from error


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """The same of a change. It says that nothing was changed, which is true until the manifest is replaced.

    Raises:
        StateError: The disk failed, or is full.
        AccessDeniedError: The corpus may not be written.
    """
    try:
        yield
    except PermissionError as error:
        raise AccessDeniedError(
            f"corpus '{folder}' cannot be changed: {_problem(error)}",
            hint="ask who owns it for write access; nothing was changed",
        ) from error
    except OSError as error:
        room = "free some space on its disk; " if error.errno in NO_ROOM else ""
        raise StateError(
            f"corpus '{folder}' cannot be changed: {_problem(error)}", hint=f"{room}nothing was changed"
        ) from error


def no_corpus(folder: Path) -> NotFoundError:
    """There is no corpus in a folder."""
    return NotFoundError(
        f"there is no corpus in '{folder}'", hint="name its folder; a push or a restore makes one"
    )


def unconfirmed(folder: Path, error: OSError) -> StateError:
    """A change is in its place, but may not be on the disk."""
    return StateError(
        f"corpus '{folder}' is changed, but the disk did not confirm it: {error.strerror or error}",
        hint="look after the disk; if it loses power now, the change may be gone",
    )


def missing_file(folder: Path, version: int, error: FileNotFoundError) -> StateError:
    """A file that a version needs is not there."""
    name = Path(error.filename).name
    return StateError(
        f"corpus '{folder}': '{name}', which version {version} needs, is missing",
        hint="put it back from a copy of the folder, or restore an exported backup into a new one",
    )


def _problem(error: OSError) -> str:
    name = Path(error.filename or "").name
    return (f"{name}: " if name else "") + (error.strerror or str(error))
