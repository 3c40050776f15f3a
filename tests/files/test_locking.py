"""Lock files: one holder at a time, whom the others name."""

import errno
import getpass
import os
from pathlib import Path

import pytest

from vocabgap.errors import StateError
from vocabgap.files import locking
from vocabgap.files.atomic import alone_in
from vocabgap.files.locking import lock_file


def test_a_lock_file_names_its_holder_until_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    path.write_text("an older and longer note " * 20, encoding="utf-8")
    monkeypatch.setattr(locking, "LONGEST_WAIT", 0.4)
    monkeypatch.setattr(locking, "SILENT_WAIT", 0.1)
    waits: list[str] = []

    with lock_file(path, "the corpus", purpose="push", undone="nothing was pushed"):
        note = path.read_text(encoding="utf-8")
        assert note.startswith(f"process {os.getpid()} of {getpass.getuser()} on ")
        assert note.endswith(": push")
        second = lock_file(
            path, "the corpus", purpose="pull", undone="nothing was pulled", on_wait=waits.append
        )
        with pytest.raises(StateError) as refused, second:
            pass

    assert refused.value.message == f"the corpus is held by {note}"
    assert refused.value.hint.startswith("waited 0.4 seconds; nothing was pulled, try again")
    assert waits == [note]
    assert path.read_bytes() == b""
    with lock_file(path, "the corpus", purpose="pull", undone="nothing was pulled"):
        assert path.read_bytes()


def test_a_lock_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    (tmp_path / "lock").symlink_to(other)

    with (
        pytest.raises(StateError, match="is a link"),
        lock_file(tmp_path / "lock", "it", purpose="push", undone="nothing was pushed"),
    ):
        pass
    assert other.read_bytes() == b"mine"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EIO])
def test_a_file_system_without_locks_is_told_and_other_errors_are_raised(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locking, "lock_descriptor", refuse)
    expected = StateError if number == errno.ENOLCK else OSError
    with pytest.raises(expected, match=os.strerror(number)), alone_in(tmp_path):
        pass


def test_who_does_not_wait_is_refused_at_once(tmp_path: Path) -> None:
    with (
        alone_in(tmp_path),
        pytest.raises(StateError, match=rf"is held by process {os.getpid()}") as refused,
        alone_in(tmp_path, undone="nothing was read", waits=False),
    ):
        pass
    assert refused.value.hint.startswith("waited 0 seconds; nothing was read")

    with alone_in(tmp_path, waits=False):
        pass


def test_locks_leave_no_open_file(tmp_path: Path) -> None:
    before = len([*Path("/proc/self/fd").iterdir()])

    for _ in range(3):
        with lock_file(tmp_path / "lock", "it", purpose="push", undone="nothing"):
            pass
        with alone_in(tmp_path):
            pass

    assert len([*Path("/proc/self/fd").iterdir()]) == before
