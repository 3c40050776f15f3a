import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from vocabgap.errors import StateError
from vocabgap.files.atomic import replacing, write_whole
from vocabgap.files.locking import lock_file
from vocabgap.files.signals import deferred_signals


def test_a_file_takes_the_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "name").write_text("old")

    write_whole(tmp_path / "name", b"new", 0o600)

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("name", "new")]


def test_a_lock_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "writer.lock").symlink_to("precious")

    with (
        pytest.raises(StateError, match="is a link, expected a regular file"),
        lock_file(tmp_path / "writer.lock", "it", purpose="change it", undone="nothing was done"),
    ):
        pass

    assert (tmp_path / "precious").read_text() == "kept"


def test_only_what_killed_writers_left_is_removed(tmp_path: Path) -> None:
    left, foreign, linked = (
        tmp_path / name for name in (".name.k1ll3d_0.new", ".name.new", ".name.linked_0.new")
    )
    left.touch()
    foreign.touch()
    linked.symlink_to(foreign)

    with replacing(tmp_path / "name") as first:
        (others,) = {*tmp_path.iterdir()} - {foreign, linked}
        with replacing(tmp_path / "name") as second:
            second.write(b"second")
        assert others.exists()
        first.write(b"first")

    assert {*tmp_path.iterdir()} == {tmp_path / "name", foreign, linked}
    assert (tmp_path / "name").read_text() == "first"


@pytest.fixture
def _ctrl_c_raises() -> Iterator[None]:
    """Ctrl-C is an exception, whatever became of it before: it would end the process that runs the tests."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("_ctrl_c_raises")
def test_a_signal_waits_until_the_block_is_through() -> None:
    done: list[str] = []

    def work(error: type[Exception] | None) -> None:
        with deferred_signals():
            signal.raise_signal(signal.SIGINT)
            done.append("to the end")
            if error is not None:
                raise error

    for error in (None, OSError):
        with pytest.raises(KeyboardInterrupt):
            work(error)

    assert done == ["to the end"] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_file_that_cannot_be_written_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "steps" / "a.json"
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_whole(path, b"{}", 0o600)
    assert [each.name for each in path.parent.iterdir()] == ["a.json"]


def test_file_is_as_private_as_is_said(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "a.json", b"{}", 0o600)
    assert (tmp_path / "new" / "a.json").stat().st_mode & 0o777 == 0o600
