"""Which files are read below which roots, and what becomes of those that cannot be read."""

import os
from pathlib import Path

import pytest

from builders import gap
from builders.ingest import as_line, only_reject, write_log
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.roots import repository_slugs
from vocabgap.ingest.scanning import scan

not_as_root = pytest.mark.skipif(
    os.geteuid() == 0, reason="root reads files whatever their permissions"
)


@not_as_root
def test_a_log_that_may_not_be_read_is_unreadable(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds"))
    write_log(workspace, "fox-3", gap("warm fur")).chmod(0)

    scanned = scan(workspace)

    assert (scanned.summary.records, scanned.summary.unreadable) == (1, 1)


@not_as_root
def test_a_folder_that_may_not_be_listed_is_unreadable(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds"))
    folder = write_log(workspace, "fox-3", gap("warm fur")).parent
    folder.chmod(0)
    try:
        scanned = scan(workspace)
    finally:
        folder.chmod(0o700)

    assert (scanned.summary.records, scanned.summary.unreadable) == (1, 1)
    assert "cannot be listed" in str(only_reject(scanned)["detail"])


def test_a_single_log_of_any_name_is_scanned(tmp_path: Path) -> None:
    path = tmp_path / "fox-3" / "export.txt"
    path.parent.mkdir()
    path.write_bytes(as_line(gap("warm fur")))

    row = scan(str(path)).records.row(0, named=True)

    assert (row["source_path"], row["repo_slug"], row["image_id"]) == (
        "export.txt",
        "fox-3",
        "fox-3",
    )


@pytest.mark.parametrize("root", ["", " "])
def test_an_empty_name_is_not_this_folder(root: str) -> None:
    with pytest.raises(InvalidInputError, match="a root has an empty name"):
        scan(["photos", root])


@pytest.mark.parametrize("name", [b"caf\xe9", b"new\nline", b"\xe2\x80\xae"])
def test_a_log_or_a_folder_of_any_name_is_scanned(name: bytes, workspace: Path) -> None:
    path = write_log(workspace, os.fsdecode(name), gap("warm fur"))
    log = path.rename(workspace.parent / os.fsdecode(name + b".jsonl"))

    assert scan(log).summary.records == 1
    write_log(workspace, os.fsdecode(name), gap("warm fur"))
    assert scan(workspace).summary.records == 1


def test_a_short_name_has_no_more_parents_than_it_needs() -> None:
    folders = [Path("/data/new/photos"), Path("/data/old/photos"), Path("/data/logs")]
    assert repository_slugs(folders) == ["new/photos", "old/photos", "logs"]
