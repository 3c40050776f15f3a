"""What a git repository says was deleted between two revisions."""

import os
import subprocess
from pathlib import Path

import pytest

from vocabgap.corpus.withdrawal import deleted_in_git
from vocabgap.errors import NotFoundError, StateError


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular, whatever this machine's settings are."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in _WHO.items()
        },
    }
    return subprocess.run(
        ["/usr/bin/env", "git", *arguments], cwd=folder, env=environment, check=True, capture_output=True,
        text=True,
    ).stdout.strip()  # fmt: skip


_WHO = {"NAME": "Nobody", "EMAIL": "nobody@example.org"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make an empty repository."""
    folder = tmp_path / "studio"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    return folder


def commit(repository: Path, **files: str | None) -> str:
    """Commit these files: path to content, None for one to delete."""
    for name, content in files.items():
        path = repository / name
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "next")
    return git(repository, "rev-parse", "HEAD")


def test_paths_are_relative_to_the_folder_and_others_are_left_out(repository: Path) -> None:
    base = commit(
        repository, **{"photos/a.jsonl": "1\n", "other/b.jsonl": "1\n", "photos/c.jsonl": "1\n"}
    )
    head = commit(repository, **{"photos/a.jsonl": None, "other/b.jsonl": None})

    assert deleted_in_git(repository / "photos", base, head) == ("a.jsonl",)


def test_names_of_any_characters_come_back_as_they_are(repository: Path) -> None:
    name = 'ünï "quoted"\nand\ttabbed'
    base = commit(repository, **{name: "1\n"})
    head = commit(repository, **{name: None})

    assert deleted_in_git(repository, base, head) == (name,)


@pytest.mark.parametrize(
    "revision", ["no-such-branch", "--output=stolen", "", " ", "a\0b", "HEAD:a.jsonl", "HEAD..HEAD"]
)
def test_unknown_revision_is_named(repository: Path, revision: str) -> None:
    head = commit(repository, **{"a.jsonl": "1\n"})

    with pytest.raises(StateError, match="is not known in"):
        deleted_in_git(repository, revision, head)
    assert sorted(path.name for path in repository.iterdir()) == [".git", "a.jsonl"]


def test_folder_without_git_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))

    with pytest.raises(NotFoundError, match="is not in a git repository"):
        deleted_in_git(tmp_path, "a", "b")


def test_git_is_missing(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotFoundError, match="git cannot be run"):
        deleted_in_git(repository, "a", "b")


def test_slow_git_ends(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent))
    monkeypatch.setattr("vocabgap.corpus.withdrawal.TIME_LIMIT", 0.2)

    with pytest.raises(StateError, match=r"more than 0\.2 seconds"):
        deleted_in_git(repository, "a", "b")


def test_no_hook_is_run(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = commit(repository, **{"a.jsonl": "1\n", ".gitattributes": "*.jsonl diff=own\n"})
    head = commit(repository, **{"a.jsonl": None})
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\n")
    trap.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "diff.external",
        "diff.own.textconv",
        "diff.own.command",
        "core.pager",
    ):
        git(repository, "config", key, str(trap))
    for variable in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER"):
        monkeypatch.setenv(variable, str(trap))

    assert deleted_in_git(repository, base, head) == ("a.jsonl",)
    assert not (tmp_path / "sprung").exists()
