"""Journals: files of JSON Lines. One writer at a time appends to them; they are read line by line."""

import errno
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from mmap import PAGESIZE
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from vocabgap.errors import VocabgapError
from vocabgap.files import descriptor_of, opened
from vocabgap.files.atomic import sync
from vocabgap.files.budget import MOST_LISTED, Budget
from vocabgap.files.locking import lock
from vocabgap.files.refusals import FileKind, FileRole, file_kind

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Journal(Generic[Entry]):
    """A kind of journal."""

    role: FileRole
    decode: Callable[[bytes, str], Entry]  # raises a VocabgapError that begins with the given place

    def read(
        self, path: Path, on_bad: Callable[[VocabgapError], None] | None = None
    ) -> list[tuple[int, Entry]]:
        """Return the entries of a file, each with the number of its line; none if there is no file.

        Raises:
            VocabgapError: The file cannot be read, or `on_bad` is None and a line is bad.
        """
        with self.role.refusing(path, "read"):
            kind = file_kind(path)
            if kind is FileKind.NOTHING:
                return []
            if kind is not FileKind.FILE:
                raise self.role.no_file(path, kind)
            with opened(path) as file:
                return self.entries(file, path, on_bad)

    @contextmanager
    def appending(
        self, path: Path, on_wait: Callable[[], None] = lambda: None, longest: float | None = None
    ) -> "Iterator[Writer[Entry]]":
        """Lock a file and yield its only writer; create the file if it is missing.

        `on_wait` is called once if another writer has held the lock for a second. `longest` is as in `lock`.
        """
        with self.role.refusing(path, "written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(path, self.role, on_wait, longest) as file:
                writer = Writer(self, path, file)
                if not os.fstat(file.fileno()).st_size % PAGESIZE:
                    writer.drop_torn_line()
                yield writer

    def entries(
        self, file: BinaryIO, path: Path, on_bad: Callable[[VocabgapError], None] | None = None
    ) -> list[tuple[int, Entry]]:
        """Return the entries of an open file like `read`."""
        content = file.read(MOST_LISTED + 1)
        budget = Budget(MOST_LISTED, f"{self.role.name} '{path}'", self.role.hint)
        budget.spend(len(content), content.count(b"\n"))
        lines = content.split(b"\n")
        # The system writes page by page, so a killed writer leaves whole pages.
        if on_bad is None and not len(content) % PAGESIZE and self.is_torn(lines[-1], path):
            lines.pop()
        return [*entries_of(lines, self.decode, path, on_bad=on_bad)]

    def is_torn(self, last: bytes, path: Path) -> bool:
        """Tell whether what follows the last newline cannot be decoded: a killed writer has begun it."""
        bad: list[VocabgapError] = []
        list(entries_of([last], self.decode, path, on_bad=bad.append))
        return bool(bad)


@dataclass(frozen=True)
class Writer(Generic[Entry]):
    """The only writer of a journal until its block ends."""

    journal: Journal[Entry]
    path: Path
    file: FileIO

    def entries(self) -> list[tuple[int, Entry]]:
        """Return the entries; nobody else can add any meanwhile."""
        self.file.seek(0)
        return self.journal.entries(self.file, self.path)

    def tail(self, most: int) -> bytes:
        """Return the last bytes of the file."""
        return tail_of(self.file.fileno(), most)

    def drop_torn_line(self) -> None:
        """Remove a torn line at the end."""
        if self.tail(1) not in {b"", b"\n"}:
            last = self.tail(MOST_LISTED).rpartition(b"\n")[2]
            if self.journal.is_torn(last, self.path):
                self.file.truncate(self.file.seek(0, os.SEEK_END) - len(last))

    def add(self, lines: bytes) -> None:
        """Append complete lines, all or none of them, and wait until they are on the disk."""
        file = self.file
        size = file.seek(0, os.SEEK_END)
        # An editor or a killed writer may have left the last line without its newline.
        whole = lines if not size or os.pread(file.fileno(), 1, size - 1) == b"\n" else b"\n" + lines
        if file.write(whole) != len(whole):
            file.truncate(size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        try:
            os.fsync(file.fileno())
            if not size:
                sync(self.path.parent)
        except OSError:
            # After an error the caller adds the lines again.
            with suppress(OSError):
                file.truncate(size)
            raise


def tail_of(descriptor: int, most: int) -> bytes:
    """Return the last bytes of an open file."""
    return os.pread(descriptor, most, max(os.fstat(descriptor).st_size - most, 0))


def entries_of(
    lines: Iterable[bytes],
    decode: Callable[[bytes, str], Entry],
    path: Path,
    *,
    on_bad: Callable[[VocabgapError], None] | None = None,
) -> Iterator[tuple[int, Entry]]:
    """Yield the number and the entry of each line that is not blank; skip a byte order mark.

    Raise the error of the first bad line; if `on_bad` is given, pass every error to it instead.
    """
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(BOM_UTF8) if number == 1 else line
        if content.isspace() or not content:
            continue
        try:
            entry = decode(content, f"{path}:{number}")
        except VocabgapError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        yield number, entry


@contextmanager
def _locked(
    path: Path, role: FileRole, on_wait: Callable[[], None], longest: float | None
) -> Iterator[FileIO]:
    no_follow = 0 if role.may_be_link else os.O_NOFOLLOW
    while True:
        kind = FileKind.LINK if no_follow and path.is_symlink() else file_kind(path)
        if kind not in {FileKind.FILE, FileKind.NOTHING}:
            raise role.no_file(path, kind)
        with FileIO(path, "a+", opener=lambda name, flags: descriptor_of(name, flags | no_follow)) as file:
            lock(
                file.fileno(),
                f"{role.name} '{path}'",
                undone=role.undone,
                again=role.again,
                on_wait=lambda _: on_wait(),
                longest=longest,
            )
            # Another program, such as git, may have replaced the file meanwhile.
            is_same = False
            with suppress(FileNotFoundError):
                is_same = os.path.samestat(path.stat(), os.fstat(file.fileno()))
            if is_same:
                yield file
                return
