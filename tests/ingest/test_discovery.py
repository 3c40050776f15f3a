import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders import gap, write_corpus
from builders.ingest import write_log
from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError
from vocabgap.ingest.discovery import discover, undecided
from vocabgap.ingest.roots import repository_slugs
from vocabgap.ingest.scanning import scan, silent_files
from vocabgap.model.record import LOG_NAME
from vocabgap.model.settings import ScanSettings

folders = st.lists(st.sampled_from(["a", "b", "root"]), max_size=3).map(
    lambda parts: Path("/", *parts)
)
not_as_root = pytest.mark.skipif(
    os.geteuid() == 0, reason="root reads folders whatever their permissions"
)


def source_paths(*roots: Path) -> list[str]:
    return [log.source_path for log in discover(roots)]


def test_content_decides_how_unknown_data_and_logs_that_exclude_others_are_read() -> None:
    decided = [LOG_NAME, f"{LOG_NAME}.gz", "posthog.jsonl", "notes.md"]
    others = ["other.jsonl", "agent_output.json", "run_summary.json"]
    files = [Path("runs", name) for name in (*decided, *others)]

    assert undecided(Path("runs"), files, ScanSettings()) == files[len(decided) :]


def test_logs_are_found_at_any_depth(workspace: Path) -> None:
    write_log(workspace, "heron-11")
    write_log(workspace, "2026/spring/fox-3")
    (workspace / LOG_NAME).write_bytes(b"")

    assert source_paths(workspace) == [
        f"2026/spring/fox-3/{LOG_NAME}",
        f"heron-11/{LOG_NAME}",
        LOG_NAME,
    ]


def test_a_link_to_a_folder_can_be_a_root(workspace: Path, tmp_path: Path) -> None:
    write_log(workspace, "heron-11")
    (tmp_path / "link").symlink_to(workspace, target_is_directory=True)

    assert source_paths(tmp_path / "link") == [f"heron-11/{LOG_NAME}"]


def test_a_folder_named_as_a_log_is_listed_and_searched(workspace: Path) -> None:
    write_log(workspace, f"heron-11/{LOG_NAME}")

    assert source_paths(workspace) == [f"heron-11/{LOG_NAME}", f"heron-11/{LOG_NAME}/{LOG_NAME}"]


def test_a_tilde_is_the_home_folder(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_log(workspace, "heron-11")
    monkeypatch.setenv("HOME", str(workspace.parent))

    assert [log.source_path for log in discover(["~/shoots"])] == [f"heron-11/{LOG_NAME}"]


@pytest.mark.parametrize("root", ["absent", "a\0b", "x" * 300])
def test_a_root_that_does_not_exist_is_named(root: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        discover([root])

    assert root.partition("\0")[0][:9] in str(caught.value)


def test_a_root_that_comes_through_a_pipe_is_told_as_one() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(
            InvalidInputError, match="is a pipe, expected a folder or a log file"
        ) as caught:
            discover([f"/dev/fd/{reading}"])
    finally:
        os.close(reading)
        os.close(writing)

    assert "file" in caught.value.hint


def test_no_root_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="root"):
        discover([])


@not_as_root
def test_a_root_that_may_not_be_listed_is_denied(workspace: Path) -> None:
    workspace.chmod(0)
    try:
        with pytest.raises(AccessDeniedError, match="shoots"):
            discover([workspace])
    finally:
        workspace.chmod(0o700)


def test_a_log_that_two_roots_reach_is_found_once(workspace: Path) -> None:
    path = write_log(workspace, "heron-11")

    found = discover([workspace, workspace / "heron-11", path])

    assert [log.path for log in found] == [str(path)]


def test_logs_are_ordered_by_repository_and_path(tmp_path: Path) -> None:
    for image in ("b", "a", "c/a"):
        write_log(tmp_path / "zoo", image)
        write_log(tmp_path / "alps", image)

    found = [(log.repo_slug, log.folder) for log in discover([tmp_path / "zoo", tmp_path / "alps"])]

    assert found == [
        ("alps", "a"),
        ("alps", "b"),
        ("alps", "a"),
        ("zoo", "a"),
        ("zoo", "b"),
        ("zoo", "a"),
    ]


@given(st.lists(folders, min_size=1, max_size=5))
@example([Path("/"), Path("/root")])
def test_folders_share_a_slug_only_where_they_are_the_same(found: list[Path]) -> None:
    assert len(set(repository_slugs(found))) == len(set(found))


def test_a_slug_has_as_many_parents_as_it_takes() -> None:
    assert repository_slugs([Path("/ana/shoots"), Path("/ben/shoots")]) == [
        "ana/shoots",
        "ben/shoots",
    ]
    slugs = repository_slugs([Path("/ana/p/shoots"), Path("/ben/p/shoots"), Path("/shoots")])
    assert slugs == ["ana/p/shoots", "ben/p/shoots", "shoots"]


def test_files_that_a_report_leaves_out_are_named(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask")]})
    own = "out/capabilities.parquet"
    for name in ("votes.csv", "heron/events.jsonl", "package.json", "notes.txt", own):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("q;n\n", encoding="utf-8")

    (note,) = silent_files(scan(root), {})

    assert note.startswith("nothing known in 2 files: ")
    names = note.partition(": ")[2].split("; ")[0].split(", ")
    assert [Path(name).name for name in names] == ["votes.csv", "events.jsonl"]


def test_a_file_that_is_a_root_itself_is_not_left_out_of_the_folder_around_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "wishes.csv").write_text("description\na lasso\n", encoding="utf-8")

    assert scan(tmp_path).unread == (str(tmp_path / "wishes.csv"),)
    assert scan([tmp_path, tmp_path / "wishes.csv"]).unread == ()
