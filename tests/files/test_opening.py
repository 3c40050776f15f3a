"""One function opens the files that others may have made."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import vocabgap
from vocabgap.files import descriptor_of, opened, whole
from vocabgap.files.refusals import FileKind, file_kind

PACKAGE = Path(vocabgap.__file__).parent
TABLES = {"read_parquet", "scan_parquet", "read_ipc", "scan_ipc"}
READERS = {"open", "read_bytes", "read_text", *TABLES}
# Calls that open what vocabgap itself just made, content in memory, or an open file.
OWN = {
    "corpus/version.py": {"open", "read_parquet", "scan_parquet"},  # content, and an open file
    "reporting/published_run.py": {"scan_parquet"},  # content
    "ingest/formats.py": {"scan_parquet"},  # content
    "ingest/roots.py": {"open"},  # a new copy of standard input
    "engines/spark.py": {"read_parquet"},  # files of this run, shared with workers
    "doors/cli/app.py": {"open"},  # the null device
    "doors/cli/output.py": {"open"},  # the null device
    "doors/mcp/server.py": {"open"},  # the null device
    "logbook/hooks.py": {"open"},  # its own list of failures
    "glossary/extracting.py": {"read_text"},  # the list of words of a package
}


def readers(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            of_log = ast.unparse(node.func) == "OpenLog.open"
            if name in READERS and not of_log:
                yield name


def test_files_of_others_are_opened_in_one_place() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): {*readers(path)}
        for path in PACKAGE.rglob("*.py")
        if path.parent != PACKAGE / "files"
    }
    assert {name: calls for name, calls in found.items() if calls - OWN.get(name, set())} == {}
    assert {name for name in OWN if name in found and not OWN[name] <= found[name]} == set()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        os.mknod(path, 0o140600)
    else:
        path.symlink_to("/dev/zero")
    before = len([*Path("/dev/fd").iterdir()])

    for call in (opened, whole, descriptor_of):
        with pytest.raises(OSError, match=r"regular|directory|device or address"):
            call(path)
    assert len([*Path("/dev/fd").iterdir()]) == before


def test_a_file_is_read_whole_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)

    assert whole(path, 100) == b"x" * 100
    with pytest.raises(OSError, match="larger than"):
        whole(path, 99)


def test_a_file_that_another_process_has_just_created_is_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if not follow_symlinks:
            return os.stat(path, follow_symlinks=False)  # noqa: PTH116 - the method is this one
        path.touch()
        raise FileNotFoundError(2, "No such file or directory", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", create)
        assert file_kind(tmp_path / "log") is FileKind.NOTHING
    (tmp_path / "link").symlink_to("nowhere")
    assert (file_kind(tmp_path / "log"), file_kind(tmp_path / "link")) == (
        FileKind.FILE,
        FileKind.DANGLING,
    )
