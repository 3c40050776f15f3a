"""A journal: its lines are appended whole or not at all, by one writer at a time."""

import errno
import os
from codecs import BOM_UTF8
from io import FileIO
from mmap import PAGESIZE
from pathlib import Path

import pytest

from vocabgap.errors import InvalidInputError, StateError, VocabgapError
from vocabgap.files.journal import Journal, Writer
from vocabgap.files.refusals import FileRole


def number(line: bytes, place: str) -> int:
    try:
        return int(line)
    except ValueError:
        raise InvalidInputError(f"{place} is no number") from None


ROLE = FileRole("log", "look at it", "nothing was logged", "log it again")
LOG: Journal[int] = Journal(ROLE, number)
STRICT: Journal[int] = Journal(ROLE._replace(may_be_link=False), number)


def test_a_byte_order_mark_and_blank_lines_are_no_entries_and_keep_their_numbers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log"
    path.write_bytes(BOM_UTF8 + b"\n \t\n7\n\n8")

    assert LOG.read(path) == [(3, 7), (5, 8)]
    assert LOG.read(tmp_path / "none") == []


def test_only_the_first_line_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(BOM_UTF8 + b"1\n" + BOM_UTF8 + b"2\n3\n")
    bad: list[VocabgapError] = []

    assert LOG.read(path, bad.append) == [(1, 1), (3, 3)]
    assert [error.message for error in bad] == [f"{path}:2 is no number"]
    with pytest.raises(InvalidInputError, match=r"log:2 is no number"):
        LOG.read(path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            (b"1\n" + b"2x").rjust(PAGESIZE),
            b"1\n".rjust(PAGESIZE - 2),
        ),  # a killed writer has begun it
        ((b"1\n" + b"2").rjust(PAGESIZE), (b"1\n" + b"2").rjust(PAGESIZE) + b"\n"),  # it is whole
        (b"1\n" + b"2x", b"1\n" + b"2x\n"),  # it does not end with a page: a person has begun it
    ],
)
def test_the_next_writer_drops_only_what_a_killed_one_has_begun(
    before: bytes, after: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_bytes(before)

    with LOG.appending(path) as writer:
        writer.add(b"3\n")

    assert path.read_bytes() == after + b"3\n"


def test_what_a_killed_writer_has_begun_is_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes((b"1\n" + b"2x").rjust(PAGESIZE))
    bad: list[VocabgapError] = []

    assert LOG.read(path) == [(1, 1)]
    assert LOG.read(path, bad.append) == [(1, 1)]
    assert [error.message for error in bad] == [f"{path}:2 is no number"]


@pytest.mark.parametrize("before", [b"", b"1\n", b"1"])
def test_added_lines_begin_a_line_of_their_own(before: bytes, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "log"
    if before:
        path.parent.mkdir()
        path.write_bytes(before)

    with LOG.appending(path) as writer:
        earlier = writer.entries()
        writer.add(b"2\n3\n")
        assert [entry for _, entry in writer.entries()] == [*(value for _, value in earlier), 2, 3]
        assert writer.tail(2) == b"3\n"
        assert writer.tail(99) == path.read_bytes()

    assert path.read_bytes() == (b"1\n" if before else b"") + b"2\n3\n"


@pytest.mark.parametrize("earlier", [b"", b"1\n"])
def test_lines_that_cannot_be_synced_are_taken_back(
    earlier: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(earlier)

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StateError, match="cannot be written"), LOG.appending(path) as writer:
        writer.add(b"2\n")

    assert path.read_bytes() == earlier


def test_a_link_is_followed_only_if_the_journal_may_be_one(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"1\n")
    link.symlink_to(target)

    with (
        pytest.raises(StateError, match="is a link, expected a regular file"),
        STRICT.appending(link),
    ):
        pass
    assert target.read_bytes() == b"1\n"

    with STRICT.appending(target) as writer:
        writer.add(b"2\n")
    with LOG.appending(link) as writer:
        writer.add(b"3\n")
    assert link.is_symlink()
    assert LOG.read(link) == [(1, 1), (2, 2), (3, 3)]


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="is a folder, expected a regular file"):
        LOG.read(tmp_path)
    with (
        pytest.raises(StateError, match="is a folder, expected a regular file"),
        LOG.appending(tmp_path),
    ):
        pass


def test_a_second_writer_waits_and_then_names_the_first(tmp_path: Path) -> None:
    path = tmp_path / "log"
    waits: list[bool] = []

    with (
        LOG.appending(path),
        pytest.raises(StateError, match=rf"held by process {os.getpid()}") as refused,
        LOG.appending(path, lambda: waits.append(True), longest=1.2),
    ):
        pass

    assert refused.value.hint == "waited 1.2 seconds; nothing was logged, log it again"
    assert waits == [True]


def test_lines_go_to_the_file_that_replaced_the_locked_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "log", tmp_path / "other"
    path.write_bytes(b"1\n")
    other.write_bytes(b"5\n")
    lock = "vocabgap.files.journal.lock"

    def replace(*_: object, **__: object) -> None:
        monkeypatch.undo()
        other.replace(path)

    monkeypatch.setattr(lock, replace)
    with LOG.appending(path) as writer:
        writer.add(b"6\n")

    assert path.read_bytes() == b"5\n6\n"


def test_lines_that_fit_only_in_part_are_taken_back(tmp_path: Path) -> None:
    class FullDisk(FileIO):
        def write(self, data: object, /) -> int:
            return super().write(bytes(data)[:-1])  # type: ignore[call-overload]

    path = tmp_path / "log"
    path.write_bytes(b"1\n")

    with FullDisk(path, "a+") as file, pytest.raises(OSError, match="No space left") as refused:
        Writer(LOG, path, file).add(b"2\n")

    assert refused.value.filename == str(path)
    assert path.read_bytes() == b"1\n"
