"""Files of lines, such as JSON Lines: added to by one writer at a time, and read line by line."""

import errno
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import TypeVar

from vocabgap.errors import VocabgapError
from vocabgap.files.atomic import sync
from vocabgap.files.locking import NoLocksError, lock
from vocabgap.files.refusals import FileKind, FileRole, file_kind

_Line = TypeVar("_Line")


@contextmanager
def appending(path: Path, role: FileRole, on_wait: Callable[[], None] = lambda: None) -> Iterator[FileIO]:
    """The file, open to be read and added to, at its beginning, while nobody else adds to it.

    It is made where it does not exist, in a folder that does. `on_wait` is called once, where another writer
    has held it for a second.
    """
    follow = 0 if role.may_be_link else os.O_NOFOLLOW
    while True:
        kind = FileKind.LINK if follow and path.is_symlink() else file_kind(path)
        if kind not in {FileKind.FILE, FileKind.NOTHING}:
            raise role.no_file(path, kind)
        with FileIO(path, "a+", opener=lambda name, flags: os.open(name, flags | follow, 0o666)) as file:
            try:
                lock(
                    file.fileno(),
                    f"{role.name} '{path}'",
                    undone=role.undone,
                    again=role.again,
                    on_wait=lambda _: on_wait(),
                )
            except NoLocksError:
                if kind is FileKind.NOTHING:  # where nobody can lock it nobody else has written either
                    path.unlink(missing_ok=True)
                raise
            # Another file may have taken its place meanwhile, such as the one that git writes anew.
            if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                file.seek(0)
                yield file
                return


def add_lines(file: FileIO, path: Path, lines: bytes, *, durable: bool = True) -> None:
    """Add lines, each with its end, to a file that `appending` has opened, all of them or none.

    Unless they are not `durable`, they are on the disk when this returns.
    """
    size = file.seek(0, os.SEEK_END)
    # An editor, or a writer that was stopped, may have left the last line without its end.
    whole = lines if not size or os.pread(file.fileno(), 1, size - 1) == b"\n" else b"\n" + lines
    if file.write(whole) != len(whole):
        file.truncate(size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    if not durable:
        return
    try:
        os.fsync(file.fileno())
        if not size:
            sync(path.parent)
    except OSError:
        # Who is told that it failed adds them again.
        with suppress(OSError):
            file.truncate(size)
        raise


def read_lines(
    lines: Iterable[bytes],
    decode: Callable[[int, bytes], _Line],
    *,
    first: int = 1,
    on_bad: Callable[[VocabgapError], None] | None = None,
) -> Iterator[tuple[int, _Line]]:
    """What each line holds that is not blank, with its number. A byte order mark before the first is dropped.

    The first line that `decode` refuses is raised, or passed over where `on_bad` takes its error.
    """
    for number, line in enumerate(lines, start=first):
        content = line.removeprefix(BOM_UTF8) if number == 1 else line
        if content.isspace() or not content:
            continue
        try:
            decoded = decode(number, content)
        except VocabgapError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        yield number, decoded
