"""Files and folders that replace others whole, with their permissions, and what killed writers left."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vocabgap.files.atomic import replacing, settle, whole_folder, write_whole


class StopError(Exception):
    """A writer that fails."""


def is_ours(folder: Path) -> bool:
    return (folder / "report").exists()


@contextmanager
def publishing(target: Path) -> Iterator[Path]:
    with whole_folder(target, {"report", "rows"}, is_ours, lambda: None) as folder:
        yield folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_whole(path, b"one", 0o640)

    def stop() -> None:
        with replacing(path) as file:
            file.write(b"tw")
            file.flush()
            assert path.read_bytes() == b"one"
            raise StopError

    with pytest.raises(StopError):
        stop()

    assert contents(path.parent) == {"file": "one"}
    assert mode(path) == 0o640
    with replacing(path) as file:
        file.write(b"two")
    assert contents(path.parent) == {"file": "two"}
    assert mode(path) == 0o600


def test_nothing_stays_open_behind_a_file_or_a_folder_that_was_written(tmp_path: Path) -> None:
    def next_descriptor() -> int:
        descriptor = os.open(tmp_path, os.O_RDONLY)
        os.close(descriptor)
        return descriptor

    before = next_descriptor()
    write_whole(tmp_path / "file", b"one", 0o640)
    with publishing(tmp_path / "out") as folder:
        (folder / "report").write_bytes(b"")
    settle(tmp_path / "out", {"report"}, is_ours)

    assert next_descriptor() == before


def test_a_replaced_link_stays_a_link_and_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")

    write_whole(tmp_path / "link", b"one", 0o600)

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"one"
    for pipe in (tmp_path / "pipe", Path("-")):
        with pytest.raises(OSError, match="it is a pipe"), replacing(pipe):
            pass


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    left = tmp_path / ".file.abcd1234.new"
    others = [
        tmp_path / name for name in (".file.abcd.new", ".file.abcd1234.newer", ".f.abcd1234.new")
    ]
    for each in (left, *others):
        each.write_bytes(b"")
    with replacing(path) as file:
        others += [each for each in tmp_path.glob(".file.????????.new") if each != left]
        file.write(b"one")
        with replacing(path) as second:  # the first one's file is locked, so it stays
            second.write(b"two")
        assert all(each.exists() for each in others)

    assert path.read_bytes() == b"one"
    assert {*tmp_path.iterdir()} == {path, *others[:3]}


def test_a_folder_is_published_whole_and_keeps_what_is_not_its_own(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    with publishing(target) as folder:
        assert mode(folder) == 0o700
        (folder / "report").write_text("one", encoding="utf-8")
        (folder / "rows").write_text("1", encoding="utf-8")
        assert not target.exists()
    usual = tmp_path / "usual"
    usual.mkdir()
    assert mode(target) == mode(usual)
    (target / "notes").write_text("mine", encoding="utf-8")
    target.chmod(0o750)
    (target / "report").chmod(0o640)

    with publishing(target) as folder:
        (folder / "report").write_text("two", encoding="utf-8")

    assert contents(target) == {"report": "two", "notes": "mine"}
    assert (mode(target), mode(target / "report")) == (0o750, 0o640)
    assert [*target.parent.iterdir()] == [target]


def test_a_failed_publication_leaves_the_earlier_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with publishing(target) as folder:
        (folder / "report").write_text("one", encoding="utf-8")

    def stop() -> None:
        with publishing(target) as folder:
            (folder / "report").write_text("two", encoding="utf-8")
            raise StopError

    with pytest.raises(StopError):
        stop()

    assert contents(target) == {"report": "one"}
    assert [*tmp_path.iterdir()] == [target]


def test_the_newest_earlier_folder_comes_back_and_others_give_what_they_hold(
    tmp_path: Path,
) -> None:
    target = tmp_path / "out"
    older, newer = (tmp_path / f".out.before-{digit * 12}" for digit in "ab")
    staging = tmp_path / f".out.staging-{'c' * 12}"
    stranger, short = tmp_path / f".out.before-{'d' * 12}", tmp_path / ".out.before-ef"
    for age, folder in enumerate((newer, older, staging, short)):
        folder.mkdir()
        (folder / "report").write_text(folder.name, encoding="utf-8")
        os.utime(folder, (1_000 - age, 1_000 - age))
    (older / "notes").write_text("mine", encoding="utf-8")
    os.utime(older, (1, 1))
    stranger.mkdir()
    (stranger / "notes").write_text("theirs", encoding="utf-8")

    settle(target, {"report"}, is_ours)

    assert contents(target) == {"report": newer.name, "notes": "mine"}
    assert {*tmp_path.iterdir()} == {target, stranger, short}


def test_a_target_is_checked_before_anything_is_written_and_before_it_is_replaced(
    tmp_path: Path,
) -> None:
    target = tmp_path / "out"
    seen: list[list[str]] = []

    def check() -> None:
        seen.append([path.name.split("-")[0] for path in tmp_path.iterdir()])

    with whole_folder(target, {"report"}, is_ours, check) as folder:
        (folder / "report").write_text("one", encoding="utf-8")

    assert seen == [[], [".out.staging"]]
    assert contents(target) == {"report": "one"}


def test_a_temporary_file_that_another_writer_holds_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False, True])
    monkeypatch.setattr("vocabgap.files.atomic.lock_descriptor", lambda *_, **__: next(answers))

    with replacing(tmp_path / "file") as file:
        file.write(b"one")
        file.flush()
        assert sorted(each.read_bytes() for each in tmp_path.glob(".file.*.new")) == [b"", b"one"]

    assert (tmp_path / "file").read_bytes() == b"one"
