"""Files of a run appear together or not at all.

They are written and synced in a folder beside the target, which then takes the target's place. A reader
sees the run before or the run after, never a mixture. Where a run stood before, its folder steps aside first:
between the two renames the target is absent, for microseconds; after a crash just there the earlier run
is found as `.NAME.before-…` and is put back by the next publication. Publications of one parent folder
wait for each other.
"""

import fcntl
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError, VocabgapError, expanded
from vocabgap.files.atomic import NO_ROOM, deferred_signals, sync, sync_folder
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    LINEAGE_NAME,
    MANIFEST_NAME,
    MARKDOWN_NAME,
    PAGE_NAME,
    REJECTS_NAME,
    SHARE_NAME,
)

# Where a run may be published: nothing of the person's may be at risk there.


# Every name that a run may write: an earlier run's file is not carried into a run without it.
OWNED: Final = frozenset(
    {
        MARKDOWN_NAME,
        PAGE_NAME,
        SHARE_NAME,
        CAPABILITIES_NAME,
        GAPS_NAME,
        REJECTS_NAME,
        LINEAGE_NAME,
        GROUPS_NAME,
        MANIFEST_NAME,
    }
)
_ELSEWHERE: Final = "name a new or empty folder with --out, so that nothing of yours is touched"


class _Mark(msgspec.Struct):
    """What every manifest that vocabgap has written holds, whatever its version."""

    vocabgap: str
    schema_version: int


def resolve_target(folder: str | Path, *, option: str = "--out") -> Path:
    """The absolute path of a folder to publish, or of one that was published.

    Args:
        folder: Its path.
        option: What names it on the command line, for the error.

    Raises:
        InvalidInputError: It is not a path.
    """
    try:
        return expanded(folder).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{option}: '{folder}' is not a folder's path: {error}") from error


def check_target(target: Path, roots: Iterable[Path] = ()) -> None:
    """Refuse a target where publishing could hide or destroy something.

    Args:
        target: The absolute path of the folder to publish.
        roots: What is scanned; the target must not hold any of it.

    Raises:
        StateError: It is a file, holds files but no run, or holds a root or the current folder.
    """
    if any(root.is_relative_to(target) for root in roots):
        raise StateError(f"folder '{target}' holds what is scanned", hint=_ELSEWHERE)
    if not target.exists():
        return
    if not target.is_dir():
        raise StateError(f"'{target}' is a file, not a folder", hint="name another folder with --out")
    here = current_folder()
    if here is not None and here.is_relative_to(target):
        # Its place would be taken by a new folder, and the shell be left in the old one.
        raise StateError(f"'{target}' holds the current folder", hint="name another folder with --out")
    foreign = any(target.iterdir()) and not _holds_run(target)
    if foreign or any((target / name).is_dir() for name in OWNED):
        raise StateError(f"folder '{target}' holds files, but no run of vocabgap", hint=_ELSEWHERE)


def current_folder() -> Path | None:
    """The current folder; None where it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _holds_run(folder: Path) -> bool:
    try:
        msgspec.json.decode((folder / MANIFEST_NAME).read_bytes(), type=_Mark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


_STAGING: Final = "staging"
_BEFORE: Final = "before"
_ABANDONED_SECONDS: Final = 3600


@contextmanager
def published(out: str | Path) -> Iterator[Path]:
    """A folder to write into; what is there when the block ends without error is published as `out`.

    Files in `out` that are not part of a run, such as a person's notes, are carried over.

    Raises:
        StateError: The target holds something that is not a run, or the disk did not take the files.
        AccessDeniedError: The operating system refused.
    """
    try:
        target = resolve_target(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target):
            _clear_leftovers(target)
            check_target(target)
    except OSError as error:
        raise _refused(out, error) from error
    staging = _beside(target, _STAGING)
    try:
        staging.mkdir()
        yield staging
        _sync_files(staging)
        with _alone(target), deferred_signals():
            check_target(target)
            _replace(target, staging)
    except OSError as error:
        raise _refused(out, error) from error
    finally:
        with deferred_signals():
            shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Hold the lock of the target's parent folder: one publication there at a time, and no lock file."""
    descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(target: Path, staging: Path) -> None:
    before = _beside(target, _BEFORE)
    replaced = target.exists()
    if replaced:
        _keep_access(target, staging)
        target.rename(before)
    try:
        staging.rename(target)
    except OSError:
        if replaced:
            before.rename(target)
        raise
    sync_folder(target.parent)
    if replaced:
        try:
            _carry_over(before, target)
        except OSError as error:
            raise StateError(
                f"'{target}' is published, but not all that stood there could be carried over: {error}",
                hint=f"look into '{before}'",
            ) from error


def _keep_access(target: Path, staging: Path) -> None:
    """Give the new files the permissions and the owner of those that they replace: gap text is private."""
    for new in (staging, *staging.iterdir()):
        old = target if new is staging else target / new.name
        if old.exists():
            status = old.stat()
            new.chmod(stat.S_IMODE(status.st_mode))
            with suppress(PermissionError):
                os.chown(new, status.st_uid, status.st_gid)


def _carry_over(before: Path, target: Path) -> None:
    """Move what a run does not own from the earlier folder into the new one, and remove the earlier one.

    It stays where the new one already has something else of a name: that is not ours to remove.
    """
    for entry in sorted(before.iterdir()):
        if entry.name in OWNED:
            entry.unlink()
        elif not os.path.lexists(target / entry.name):
            entry.rename(target / entry.name)
    if not any(before.iterdir()):
        before.rmdir()


def _clear_leftovers(target: Path) -> None:
    """Finish what a publication that was killed left half-way."""
    before = sorted(_left(target, _BEFORE), key=lambda path: path.stat().st_mtime)
    if before and not target.exists():
        before.pop().rename(target)
    for earlier in before:
        _carry_over(earlier, target)
    for staged in _left(target, _STAGING):
        if time.time() - staged.stat().st_mtime > _ABANDONED_SECONDS:
            shutil.rmtree(staged, ignore_errors=True)


def _left(target: Path, role: str) -> list[Path]:
    prefix = f".{target.name}.{role}-"
    return [entry for entry in target.parent.iterdir() if entry.name.startswith(prefix)]


def _beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.{role}-{secrets.token_hex(6)}")


def _sync_files(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        sync(path)
    sync_folder(folder)


def _refused(out: str | Path, error: OSError) -> VocabgapError:
    name = Path(error.filename or "").name
    problem = (f"{name}: " if name in OWNED else "") + (error.strerror or str(error))
    if isinstance(error, PermissionError):
        return AccessDeniedError(
            f"'{out}' cannot be written: {problem}", hint="name another folder with --out"
        )
    room = "free some space, or name a folder on another disk with --out; " if error.errno in NO_ROOM else ""
    return StateError(f"'{out}' cannot be written: {problem}", hint=f"{room}nothing was published")
