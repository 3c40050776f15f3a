"""Files and folders that appear as a whole or not at all.

New content is written beside its target and replaces the target once it is on the disk. A reader sees the old
content or the new one, never a mixture. A folder needs two renames: its target is absent for microseconds.
After a crash in between, the earlier folder is `.NAME.before-…`, and the next reader or writer restores it.
Publications in one parent folder wait for each other. A stranger may choose the names in a folder, so a
leftover is recognised by its exact name, kind, owner and content.
"""

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from filelock import lock_descriptor

from vocabgap.errors import StateError
from vocabgap.files import STANDARD_INPUT, descriptor_of
from vocabgap.files.locking import lock
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.files.signals import deferred_signals

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import ReadableBuffer

_STAGING: Final = "staging"
_BEFORE: Final = "before"
_RANDOM: Final = re.compile("[0-9a-f]{12}")  # the end of both names
_PRIVATE: Final = 0o700  # the content may be gap text
_NO_FILES: Final = {FileKind.PIPE, FileKind.SOCKET, FileKind.DEVICE, FileKind.LOOP}


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Yield a file to write into. It replaces `path` if the block ends without an error.

    If `path` is a link, its target is replaced; `-`, a pipe or a device is an error. The folder has to exist.
    After an error it holds no temporary file. What a killed writer left is removed by the next one.
    """
    kind = FileKind.PIPE if str(path) == STANDARD_INPUT else file_kind(path)
    if kind in _NO_FILES:
        raise OSError(errno.EINVAL, f"it is {kind}", str(path))
    path = path.resolve()
    _remove_abandoned(path)
    descriptor, temporary = _temporary(path)
    try:
        with os.fdopen(descriptor, "wb") as file:  # which holds the lock until the name is in place
            yield file
            file.flush()
            temporary.chmod(mode)
            sync(temporary)
            temporary.replace(path)
            sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(path: Path) -> tuple[int, Path]:
    """Create a locked file beside another one."""
    while True:
        descriptor, name = tempfile.mkstemp(".new", f".{path.name}.", path.parent)
        is_own = True
        with suppress(OSError):  # without locks nothing is removed
            is_own = lock_descriptor(descriptor, blocking=False)
        if is_own and os.fstat(descriptor).st_nlink:  # else another writer takes it for abandoned
            return descriptor, Path(name)
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    """Remove what killed writers of a file left beside it: files of this user that nobody has locked."""
    named = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}\.new")
    for entry in path.parent.iterdir():
        if named.fullmatch(entry.name):
            with suppress(OSError):
                descriptor = descriptor_of(entry, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    is_own = os.fstat(descriptor).st_uid == os.geteuid()
                    if is_own and lock_descriptor(descriptor, blocking=False):
                        entry.unlink()
                finally:
                    os.close(descriptor)


def write_whole(path: Path, content: bytes, mode: int) -> None:
    """Replace the content of a file as a whole; create its folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, mode) as file:
        file.write(content)


class _Watched(FileIO):
    """A file that keeps the system's error, because Polars reports a full disk as an error of the format."""

    refused: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.refused = error
            raise


def write_parquet(frame: "pl.DataFrame", path: Path, **options: Any) -> None:  # noqa: ANN401 - of Polars
    """Write a frame to a file; an OSError names the file."""
    with watched(path) as file:
        frame.rechunk().write_parquet(file, **options)


@contextmanager
def watched(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file for Polars; an OSError names the file."""
    with _Watched(path, "wb") as file:
        try:
            yield cast("IO[bytes]", file)
        except Exception as error:
            if file.refused is None:
                raise
            raise OSError(file.refused.errno, file.refused.strerror, str(path)) from error


@contextmanager
def whole_folder(
    target: Path, owned: Collection[str], is_ours: Callable[[Path], bool], check: Callable[[], None]
) -> Iterator[Path]:
    """Yield a folder to write into. It becomes `target` if the block ends without an error.

    Files with `owned` names are replaced; other files in `target`, such as a person's notes, are kept. Nobody
    else publishes in the parent folder until the block ends. `is_ours` tells whether a folder is an earlier
    publication of this kind. `check` raises an error if `target` may not be replaced. It is called before
    anything is written, and again before the replacement.

    Raises:
        OSError: The system refused.
        StateError: The target is published, but a file that is not owned could not be kept.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with alone_in(target.parent):
        _clear_leftovers(target, owned, is_ours)
        check()
        staging = _beside(target, _STAGING)
        try:
            staging.mkdir()
            mode = stat.S_IMODE(staging.stat().st_mode)
            staging.chmod(_PRIVATE)
            yield staging
            for path in (*staging.iterdir(), staging):
                sync(path)
            with deferred_signals():
                check()
                staging.chmod(mode)
                _replace(target, staging, owned)
        finally:
            with deferred_signals():
                shutil.rmtree(staging, ignore_errors=True)


def settle(
    target: Path, owned: Collection[str], is_ours: Callable[[Path], bool], *, waits: bool = True
) -> None:
    """Clean up after a killed publication; restore the earlier folder if the target is missing."""
    with alone_in(target.parent, waits=waits):
        _clear_leftovers(target, owned, is_ours)


def sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def alone_in(folder: Path, *, undone: str = "nothing was published", waits: bool = True) -> Iterator[None]:
    """Lock a folder itself, without a lock file. `undone` completes the error message."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        lock(descriptor, f"folder '{folder}'", undone=undone, longest=None if waits else 0.0)
        yield
    finally:
        os.close(descriptor)


def _replace(target: Path, staging: Path, owned: Collection[str]) -> None:
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
    sync(target.parent)
    if replaced:
        try:
            _carry_over(before, target, owned)
        except OSError as error:
            raise StateError(
                f"'{target}' is published, but some of its earlier files could not be kept: {error}",
                hint=f"they are in '{before}'",
            ) from error


def _keep_access(target: Path, staging: Path) -> None:
    """Give new files the permissions and the owner of the old ones: gap text is private."""
    for new in (staging, *staging.iterdir()):
        old = target / new.relative_to(staging)
        if old.exists():
            status = old.stat()
            new.chmod(stat.S_IMODE(status.st_mode))
            with suppress(PermissionError):
                os.chown(new, status.st_uid, status.st_gid)


def _carry_over(before: Path, target: Path, owned: Collection[str]) -> None:
    """Move files that are not owned from the earlier folder into the new one, and remove the earlier one.

    The earlier folder stays if both have a file with the same name. Owned files are removed last, so that the
    folder is recognised until the others are moved.
    """
    for entry in sorted(before.iterdir()):
        if entry.name not in owned and not os.path.lexists(target / entry.name):
            entry.rename(target / entry.name)
    _remove_owned(before, owned)


def _remove_owned(folder: Path, owned: Collection[str]) -> None:
    """Remove a folder if it holds owned files only."""
    entries = [*folder.iterdir()]
    if all(entry.name in owned and stat.S_ISREG(entry.lstat().st_mode) for entry in entries):
        for entry in entries:
            entry.unlink()
        folder.rmdir()


def _clear_leftovers(target: Path, owned: Collection[str], is_ours: Callable[[Path], bool]) -> None:
    before = sorted(filter(is_ours, _left(target, _BEFORE)), key=lambda path: path.stat().st_mtime)
    if before and not os.path.lexists(target):
        before.pop().rename(target)
    for earlier in before:
        _carry_over(earlier, target, owned)
    for left in (*_left(target, _BEFORE), *_left(target, _STAGING)):
        _remove_owned(left, owned)


def _left(target: Path, role: str) -> list[Path]:
    """List this user's leftover folders of a role beside a target, without links."""
    prefix = f".{target.name}.{role}-"
    named = (
        entry
        for entry in target.parent.iterdir()
        if entry.name.startswith(prefix) and _RANDOM.fullmatch(entry.name.removeprefix(prefix))
    )
    entries = [(entry, entry.lstat()) for entry in named]
    own = os.geteuid()
    return [entry for entry, status in entries if stat.S_ISDIR(status.st_mode) and status.st_uid == own]


def _beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.{role}-{secrets.token_hex(6)}")
