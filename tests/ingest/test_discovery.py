import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.ingest import write_log
from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError
from vocabgap.ingest.decoding import Rejected
from vocabgap.ingest.discovery import discover, repository_slugs
from vocabgap.model.record import LOG_NAME, RejectReason

folders = st.lists(st.sampled_from(["a", "b", "root"]), max_size=3).map(lambda parts: Path("/", *parts))
not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root reads folders whatever their permissions")


def source_paths(*roots: Path) -> list[str]:
    return [log.source_path for log in discover(roots)]


def test_logs_are_found_at_any_depth(workspace: Path) -> None:
    write_log(workspace, "heron-11")
    write_log(workspace, "2026/spring/fox-3")
    (workspace / LOG_NAME).write_bytes(b"")

    assert source_paths(workspace) == [
        f"2026/spring/fox-3/{LOG_NAME}",
        f"heron-11/{LOG_NAME}",
        LOG_NAME,
    ]


def test_a_log_knows_its_folder_and_its_repository(workspace: Path) -> None:
    path = write_log(workspace, "2026/fox-3")

    (log,) = discover([workspace])

    assert (log.path, log.folder, log.repo_slug, log.problem) == (str(path), "fox-3", "shoots", None)


def test_files_of_other_names_below_a_folder_are_no_logs(workspace: Path) -> None:
    path = write_log(workspace, "heron-11")
    path.with_name("vocabulary_gaps.jsonl.bak").write_bytes(b"")
    path.with_name("gaps.jsonl").write_bytes(b"")

    assert source_paths(workspace) == [f"heron-11/{LOG_NAME}"]


def test_hidden_folders_are_passed_over(workspace: Path) -> None:
    write_log(workspace, ".trash/heron-11")
    write_log(workspace, "fox-3/.cache")

    assert source_paths(workspace) == []


def test_a_hidden_folder_that_is_named_as_root_is_searched(workspace: Path) -> None:
    write_log(workspace, ".trash/heron-11")

    assert source_paths(workspace / ".trash") == [f"heron-11/{LOG_NAME}"]


def test_a_link_back_to_the_root_is_reported_once(workspace: Path) -> None:
    write_log(workspace, "heron-11")
    (workspace / "loop").symlink_to(workspace, target_is_directory=True)

    log, loop = discover([workspace])

    assert log.problem is None
    assert loop.source_path == "loop"
    assert loop.problem == Rejected(
        RejectReason.LINK_NOT_FOLLOWED, "the link leads back to a folder above it"
    )


def test_a_link_to_a_folder_can_be_a_root(workspace: Path, tmp_path: Path) -> None:
    write_log(workspace, "heron-11")
    (tmp_path / "link").symlink_to(workspace, target_is_directory=True)

    assert source_paths(tmp_path / "link") == [f"heron-11/{LOG_NAME}"]


def test_a_folder_named_as_a_log_is_listed_and_searched(workspace: Path) -> None:
    write_log(workspace, f"heron-11/{LOG_NAME}")

    assert source_paths(workspace) == [f"heron-11/{LOG_NAME}", f"heron-11/{LOG_NAME}/{LOG_NAME}"]


def test_a_single_file_of_any_name_is_a_root(tmp_path: Path) -> None:
    path = tmp_path / "export.txt"
    path.write_bytes(b"")

    (log,) = discover([path])

    assert (log.path, log.source_path, log.repo_slug) == (str(path), "export.txt", tmp_path.name)


def test_a_tilde_is_the_home_folder(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_log(workspace, "heron-11")
    monkeypatch.setenv("HOME", str(workspace.parent))

    assert [log.source_path for log in discover(["~/shoots"])] == [f"heron-11/{LOG_NAME}"]


def test_a_root_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="absent"):
        discover([tmp_path / "absent"])


def test_one_missing_root_among_others_is_an_error(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="absent"):
        discover([workspace, tmp_path / "absent"])


@pytest.mark.parametrize("root", ["a\0b", "x" * 300])
def test_a_root_that_cannot_exist_is_not_found(root: str) -> None:
    with pytest.raises(NotFoundError):
        discover([root])


def test_a_root_below_a_file_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(NotFoundError):
        discover([tmp_path / "file" / "heron-11"])


def test_a_root_that_comes_through_a_pipe_is_told_as_one() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(InvalidInputError, match="is a pipe, expected a folder or a log file") as caught:
            discover([f"/dev/fd/{reading}"])
    finally:
        os.close(reading)
        os.close(writing)

    assert "file" in caught.value.hint


def test_a_root_that_is_a_link_to_itself_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(InvalidInputError, match="is a link that leads back to itself"):
        discover([tmp_path / "loop"])


def test_a_root_that_is_a_link_to_nothing_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "shoots").symlink_to(tmp_path / "gone")

    with pytest.raises(NotFoundError, match="is a link that leads nowhere"):
        discover([tmp_path / "shoots"])


def test_a_root_that_has_been_deleted_is_told_as_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(NotFoundError, match="has been deleted"):
        discover(["."])


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


@not_as_root
def test_a_folder_that_cannot_be_listed_is_a_problem_and_no_end(workspace: Path) -> None:
    write_log(workspace, "heron-11")
    locked = workspace / "locked"
    locked.mkdir()
    locked.chmod(0)
    try:
        found = discover([workspace])
    finally:
        locked.chmod(0o700)

    assert [log.source_path for log in found] == [f"heron-11/{LOG_NAME}", "locked"]
    assert "cannot be listed" in str(found[1].problem)


def test_a_root_named_twice_is_searched_once(workspace: Path) -> None:
    write_log(workspace, "heron-11")

    assert source_paths(workspace, workspace / ".." / "shoots") == [f"heron-11/{LOG_NAME}"]


def test_a_log_that_two_roots_reach_is_found_once(workspace: Path) -> None:
    path = write_log(workspace, "heron-11")

    found = discover([workspace, workspace / "heron-11", path])

    assert [log.path for log in found] == [str(path)]


def test_the_order_of_roots_does_not_matter(workspace: Path, tmp_path: Path) -> None:
    write_log(workspace, "heron-11")
    write_log(tmp_path / "archive", "fox-3")

    assert discover([workspace, tmp_path / "archive"]) == discover([tmp_path / "archive", workspace])


def test_logs_are_ordered_by_repository_and_path(tmp_path: Path) -> None:
    for image in ("b", "a", "c/a"):
        write_log(tmp_path / "zoo", image)
        write_log(tmp_path / "alps", image)

    found = [(log.repo_slug, log.folder) for log in discover([tmp_path / "zoo", tmp_path / "alps"])]

    assert found == [("alps", "a"), ("alps", "b"), ("alps", "a"), ("zoo", "a"), ("zoo", "b"), ("zoo", "a")]


def test_roots_of_the_same_name_get_slugs_that_tell_them_apart(tmp_path: Path) -> None:
    write_log(tmp_path / "ana" / "shoots", "heron-11")
    write_log(tmp_path / "ben" / "shoots", "heron-11")

    found = discover([tmp_path / "ana" / "shoots", tmp_path / "ben" / "shoots"])

    assert [log.repo_slug for log in found] == ["ana/shoots", "ben/shoots"]


def test_a_slug_is_the_name_of_the_folder_where_that_is_enough() -> None:
    assert repository_slugs([Path("/x/shoots"), Path("/x/archive")]) == ["shoots", "archive"]


def test_a_slug_has_as_many_parents_as_it_takes() -> None:
    slugs = repository_slugs([Path("/ana/p/shoots"), Path("/ben/p/shoots"), Path("/shoots")])

    assert slugs == ["ana/p/shoots", "ben/p/shoots", "shoots"]


@given(st.lists(folders, min_size=1, max_size=5))
@example([Path("/"), Path("/root")])
def test_folders_share_a_slug_only_where_they_are_the_same(found: list[Path]) -> None:
    assert len(set(repository_slugs(found))) == len(set(found))


def test_a_tree_deeper_than_the_stack_is_searched(workspace: Path) -> None:
    folders = [workspace]
    for _ in range(1200):
        folders.append(folders[-1] / "a")
        folders[-1].mkdir()
    log = folders[-1] / LOG_NAME
    log.write_bytes(b"")

    found = discover([workspace])

    log.unlink()
    for folder in reversed(folders):  # what tidies up after the tests recurses
        folder.rmdir()
    assert len(found) == 1
