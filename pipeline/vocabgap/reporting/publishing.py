"""Files of a run appear together or not at all.

They are written and synced in a folder beside the target, which then takes the target's place. A reader
sees the run before or the run after, never a mixture. Where a run stood before, its folder steps aside first:
between the two renames the target is absent, for microseconds; after a crash just there the earlier run
is found as `.NAME.before-…` and is put back by the next publication.
"""

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from vocabgap.errors import AccessDeniedError, StateError, VocabgapError
from vocabgap.reporting.manifest import MANIFEST_NAME

# Every name that a run may write: an earlier run's file is not carried into a run without it.
OWNED: Final = frozenset(
    {"report.md", "capabilities.parquet", "gaps.parquet", "rejects.parquet", MANIFEST_NAME}
)
_STAGING: Final = "staging"
_BEFORE: Final = "before"
_ATTEMPTS: Final = 10
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
        target = Path(out).expanduser().resolve()
        _clear_leftovers(target)
        check_target(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = _beside(target, _STAGING)
        staging.mkdir()
    except OSError as error:
        raise _refused(out, error) from error
    try:
        yield staging
        _sync_files(staging)
        _replace(target, staging)
    except OSError as error:
        raise _refused(out, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def check_target(target: Path) -> None:
    """Refuse a target that is not a folder, or holds files but no run.

    Raises:
        StateError: Publishing there could destroy something.
    """
    if not target.exists():
        return
    if not target.is_dir():
        raise StateError(f"'{target}' is a file, not a folder", hint="name another folder with --out")
    if any(target.iterdir()) and not (target / MANIFEST_NAME).is_file():
        raise StateError(
            f"folder '{target}' holds files, but no run of vocabgap",
            hint="name a new or empty folder with --out, so that nothing of yours is touched",
        )


def _replace(target: Path, staging: Path) -> None:
    """Put the staged folder in the target's place; another process may be doing the same."""
    for attempt in range(_ATTEMPTS):
        before = _beside(target, _BEFORE)
        try:
            target.rename(before)
        except FileNotFoundError:
            before = staging  # nothing stood there
        try:
            staging.rename(target)
        except OSError as error:
            if before is not staging and not target.exists():
                before.rename(target)
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or attempt == _ATTEMPTS - 1:
                raise
            continue
        _sync_folder(target.parent)
        if before is not staging:
            _carry_over(before, target)
            shutil.rmtree(before)
        return


def _carry_over(before: Path, target: Path) -> None:
    """Move what a run does not own from the earlier folder into the new one."""
    owned = OWNED | {entry.name for entry in target.iterdir()}
    for entry in sorted(before.iterdir()):
        if entry.name not in owned:
            entry.rename(target / entry.name)


def _clear_leftovers(target: Path) -> None:
    """Undo a publication that was killed between its two renames, and remove what a killed one staged."""
    if not target.parent.is_dir():
        return
    before = sorted(_left(target, _BEFORE), key=lambda path: path.stat().st_mtime)
    if before and not target.exists():
        before[-1].rename(target)
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
        _sync(path, os.O_RDONLY)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    _sync(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refused(out: str | Path, error: OSError) -> VocabgapError:
    problem = error.strerror or str(error)
    if isinstance(error, PermissionError):
        return AccessDeniedError(
            f"'{out}' cannot be written: {problem}", hint="name another folder with --out"
        )
    return StateError(f"'{out}' cannot be written: {problem}", hint="nothing was published")
