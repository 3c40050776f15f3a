"""What the system refuses is told with an exit code, and what was not acknowledged is not half there."""

import errno
import os
import signal
import subprocess
import sys
from io import FileIO
from pathlib import Path

import pytest
from filelock import lock_descriptor

import vocabgap as vg
from vocabgap.files.locking import SILENT_WAIT
from vocabgap.model.record import LOG_NAME

BEFORE = b'{"description": "one", "workaround": ""}\n'


@pytest.fixture
def log(image: Path) -> Path:
    path = image / LOG_NAME
    path.write_bytes(BEFORE)
    return path


@pytest.mark.parametrize(("error", "code"), [(errno.ENOSPC, 4), (errno.EIO, 4), (errno.EACCES, 9)])
def test_a_write_that_is_refused_leaves_the_log_as_it_was(
    image: Path, log: Path, monkeypatch: pytest.MonkeyPatch, error: int, code: int
) -> None:
    class Refusing(FileIO):
        def write(self, _: object) -> int:
            raise OSError(error, os.strerror(error))

    monkeypatch.setattr("vocabgap.files.journal.FileIO", Refusing)
    with pytest.raises(vg.VocabgapError, match=os.strerror(error)) as refused:
        vg.log_gap(image, "two")

    assert refused.value.exit_code == code
    assert str(log) in refused.value.message
    assert refused.value.hint
    assert log.read_bytes() == BEFORE


def test_a_disk_that_takes_a_part_of_a_line_keeps_none_of_it(
    image: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(FileIO):
        def write(self, line: object) -> int:
            assert isinstance(line, bytes)
            return super().write(line[:10])

    monkeypatch.setattr("vocabgap.files.journal.FileIO", Full)
    with pytest.raises(vg.VocabgapError, match="No space left on device") as refused:
        vg.log_gap(image, "two")

    assert refused.value.exit_code == 4
    assert log.read_bytes() == BEFORE


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_the_place_of_a_log_is_refused(image: Path, tmp_path: Path, exists: bool) -> None:
    elsewhere = tmp_path / "elsewhere.jsonl"
    if exists:
        elsewhere.write_bytes(BEFORE)
    (image / LOG_NAME).symlink_to(elsewhere)

    with pytest.raises(vg.VocabgapError, match="is a link, expected a regular file") as refused:
        vg.log_gap(image, "x")

    assert refused.value.exit_code == 4
    assert elsewhere.exists() is exists
    assert not exists or elsewhere.read_bytes() == BEFORE


def test_a_line_that_may_not_be_on_the_disk_is_not_acknowledged(
    image: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(vg.VocabgapError, match="Input/output error"):
        vg.log_gap(image, "two")

    assert log.read_bytes() == BEFORE


def test_a_link_that_takes_the_place_of_a_log_meanwhile_is_not_followed(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_bytes(BEFORE)
    monkeypatch.setattr(Path, "is_symlink", lambda _: False)
    (image / LOG_NAME).symlink_to(elsewhere)

    with pytest.raises(vg.VocabgapError, match="Too many levels of symbolic links"):
        vg.log_gap(image, "x")

    assert elsewhere.read_bytes() == BEFORE


def test_a_system_without_locks_is_named(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("vocabgap.files.locking.lock_descriptor", refuse)
    (image / LOG_NAME).unlink(missing_ok=True)

    with pytest.raises(vg.VocabgapError, match="its file system does not support locks"):
        vg.log_gap(image, "x")


def test_another_writer_is_waited_for_and_then_named(
    image: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.files.locking.LONGEST_WAIT", 0.2)
    monkeypatch.setattr("vocabgap.files.locking.SILENT_WAIT", 0.0)
    waited: list[bool] = []
    with log.open("ab") as other:
        assert lock_descriptor(other.fileno(), blocking=False)
        with pytest.raises(vg.VocabgapError, match=f"is held by process {os.getpid()} ") as refused:
            vg.log_gap(image, "two", on_wait=lambda: waited.append(True))
    assert refused.value.exit_code == 4
    assert refused.value.hint.startswith("waited 0.2 seconds; nothing was logged, ")
    assert waited == [True]
    assert log.read_bytes() == BEFORE


@pytest.mark.slow
def test_a_signal_ends_the_wait_for_another_writer(image: Path, log: Path) -> None:
    with log.open("ab") as held:
        assert lock_descriptor(held.fileno(), blocking=False)
        command = [sys.executable, "-m", "vocabgap", "log", str(image), "-d", "two"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert "waiting: another program" in process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            message = process.communicate(timeout=SILENT_WAIT + 9)[1]

    assert (process.returncode, "interrupted" in message) == (128 + signal.SIGTERM, True)
    assert log.read_bytes() == BEFORE


@pytest.mark.slow
def test_a_file_that_may_not_grow_takes_a_whole_line_or_none(image: Path, log: Path) -> None:
    limit = len(BEFORE) + 100  # less than a record
    code = (
        "import resource, signal, sys; from vocabgap.doors.cli.app import run; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
        "sys.exit(run(['log', sys.argv[1], '-d', 'two']))"
    )
    command = [sys.executable, "-c", code, str(image)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout) == (4, "")
    assert str(log) in result.stderr
    assert log.read_bytes() == BEFORE
