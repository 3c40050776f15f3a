import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import write_config
from vocabgap.errors import AccessDeniedError, ExitCode, InvalidInputError, NotFoundError
from vocabgap.model.loading import CONFIG_NAME, CONFIG_VARIABLE, resolve_settings

pytestmark = pytest.mark.usefixtures("here")


def listening_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


NO_FILES: list[tuple[str, Callable[[Path], object]]] = [
    ("a folder", Path.mkdir),
    ("a socket", listening_socket),
    ("a device", lambda path: path.symlink_to("/dev/zero")),
    ("a link that leads back to itself", lambda path: path.symlink_to(path)),
]


@pytest.mark.parametrize(("kind", "make"), NO_FILES, ids=[kind for kind, _ in NO_FILES])
def test_what_is_no_regular_file_is_told_as_what_it_is(
    kind: str, make: Callable[[Path], object], here: Path
) -> None:
    make(here / CONFIG_NAME)

    with pytest.raises(InvalidInputError, match=f"'{CONFIG_NAME}' is {kind}") as caught:
        resolve_settings()

    assert caught.value.hint


@pytest.mark.slow
def test_a_pipe_is_not_waited_for(here: Path) -> None:
    os.mkfifo(here / CONFIG_NAME)

    result = subprocess.run(
        [sys.executable, "-m", "vocabgap", "status"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert result.returncode == ExitCode.INVALID_INPUT
    assert f"settings file '{CONFIG_NAME}' is a pipe, expected a file" in result.stderr


def test_a_link_that_leads_nowhere_is_told_and_not_passed_over(here: Path) -> None:
    (here / CONFIG_NAME).symlink_to(here / "gone.toml")

    with pytest.raises(NotFoundError, match="is a link that leads nowhere"):
        resolve_settings()


@pytest.mark.parametrize("path", ["absent.toml", "file/absent.toml"])
def test_a_file_that_does_not_exist_is_named(path: str, here: Path) -> None:
    (here / "file").write_text("")

    with pytest.raises(NotFoundError, match=rf"absent\.toml' does not exist.*{CONFIG_VARIABLE}"):
        resolve_settings(path)
    with pytest.raises(NotFoundError, match=rf"absent\.toml.*{CONFIG_VARIABLE}"):
        resolve_settings(environment={CONFIG_VARIABLE: path})


def test_a_path_with_a_null_byte_is_no_path() -> None:
    with pytest.raises(InvalidInputError, match="null byte"):
        resolve_settings("a\0b")


def test_the_null_device_is_no_settings_file_at_all() -> None:
    assert resolve_settings(os.devnull).path is None


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_that_is_not_utf8_is_named_with_the_byte_and_what_to_do(
    encoding: str, here: Path
) -> None:
    (here / "other.toml").write_bytes('[report]\nout = "café"\n'.encode(encoding))

    with pytest.raises(
        InvalidInputError, match=r"other\.toml: .* byte 0x\w+ in position"
    ) as caught:
        resolve_settings("other.toml")

    assert "UTF-8" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads files whatever their permissions")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = write_config(tmp_path, "")
    path.chmod(0)

    with pytest.raises(AccessDeniedError, match=r"mine\.toml"):
        resolve_settings(path)


def test_a_field_that_no_record_has_is_named_with_the_file(here: Path) -> None:
    (here / CONFIG_NAME).write_text("[ingest.map]\nwish = 'text'\n", encoding="utf-8")

    with pytest.raises(InvalidInputError, match=rf"{CONFIG_NAME}.*\[ingest.map\].*wish"):
        resolve_settings()
