"""What a path leads to, and the error of what cannot be read."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import (
    NO_ROOM,
    FileKind,
    content_of,
    current_folder,
    existing_content,
    file_kind,
    refusal,
)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as open_socket:
        open_socket.bind(os.path.relpath(path))


MAKERS: dict[FileKind, Callable[[Path], object]] = {
    FileKind.FILE: lambda path: path.write_bytes(b"text"),
    FileKind.FOLDER: lambda path: path.mkdir(),
    FileKind.PIPE: os.mkfifo,
    FileKind.SOCKET: _socket,
    FileKind.DEVICE: lambda path: path.symlink_to(os.devnull),
    FileKind.LOOP: lambda path: path.symlink_to(path),
    FileKind.DANGLING: lambda path: path.symlink_to("missing"),
    FileKind.NOTHING: lambda _: None,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_path_has_a_kind_and_only_a_file_is_read(
    kind: FileKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("path")
    MAKERS[kind](path)

    assert file_kind(path) is kind
    assert content_of(path, "seed file") == (b"text" if kind is FileKind.FILE else kind)
    if kind is FileKind.FILE:
        assert existing_content(path, "seed file", "write it") == b"text"
        return
    missing = kind in {FileKind.NOTHING, FileKind.DANGLING}
    with pytest.raises(NotFoundError if missing else InvalidInputError) as refused:
        existing_content(path, "seed file", "write it")
    problem = "does not exist" if kind is FileKind.NOTHING else f"is {kind}"
    expected = "" if missing else ", expected a file"
    assert refused.value.message == f"seed file 'path' {problem}{expected}"
    assert refused.value.hint == "write it"


@pytest.mark.parametrize("name", ["a" * 300, "file/below", "nul\0"])
def test_a_path_that_cannot_exist_is_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    assert file_kind(tmp_path / name) is FileKind.NOTHING


def test_another_error_of_the_system_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(OSError, match="Input/output error"):
        file_kind(tmp_path)
    with pytest.raises(StateError, match="cannot be read: Input/output error"):
        content_of(tmp_path, "seed file")


@pytest.mark.parametrize("number", [*NO_ROOM, errno.EIO])
@pytest.mark.parametrize("hint", ["", "do it again"])
def test_a_full_disk_is_told_with_what_to_do(number: int, hint: str) -> None:
    error = refusal("it failed", OSError(number, os.strerror(number)), hint=hint)

    assert (type(error), error.message) == (StateError, f"it failed: {os.strerror(number)}")
    room = "free some space on its disk" if number in NO_ROOM else ""
    assert error.hint == "; ".join(filter(None, (room, hint)))


def test_a_missing_permission_has_its_own_exit_code_and_an_error_without_a_number_its_text() -> (
    None
):
    assert isinstance(refusal("it failed", PermissionError(errno.EACCES, "no")), AccessDeniedError)
    assert refusal("it failed", OSError("broken")).message == "it failed: broken"


def test_a_deleted_current_folder_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert current_folder() == folder

    folder.rmdir()

    assert not current_folder().exists()
    assert current_folder() / tmp_path == tmp_path
