from pathlib import Path

import pytest

from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.model.settings import Settings


@pytest.fixture
def workspace(photos: Path) -> Workspace:
    return Workspace(photos, Settings())


def test_an_image_is_a_folder_in_the_root(workspace: Workspace, photos: Path) -> None:
    assert workspace.image("heron") == photos.resolve() / "heron"


@pytest.mark.parametrize(
    "image_id",
    [
        "", " ", ".", "..", "../photos/heron", "heron/../fjord", "heron/", "/etc", "~",
        "~root", ".hidden", "heron\0", "he\nron", "heron\u202e", "heron ", "..\\heron",
        "C:\\heron", "x" * 256, "ü" * 128, "$HOME", "%2e%2e", "file:///etc", "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_name_of_an_image_is_refused(workspace: Workspace, image_id: str) -> None:
    with pytest.raises((InvalidInputError, NotFoundError)) as caught:
        workspace.image(image_id)
    assert "image_id: " in caught.value.message
    assert caught.value.message.isprintable()


def test_an_image_that_is_not_there_is_told_with_one_that_is_called_like_it(
    workspace: Workspace,
) -> None:
    with pytest.raises(NotFoundError, match="there is no folder 'herron'") as caught:
        workspace.image("herron")
    assert caught.value.hint == "did you mean 'heron'?"


@pytest.mark.parametrize("target", ["outside", "photos", "."])
def test_a_link_that_leads_out_of_the_root_is_refused(
    workspace: Workspace, photos: Path, tmp_path: Path, target: str
) -> None:
    (tmp_path / "outside").mkdir()
    (photos / "linked").symlink_to(tmp_path / target)
    with pytest.raises(InvalidInputError, match="is outside the root"):
        workspace.image("linked")


def test_a_log_that_is_a_link_out_of_the_root_is_refused(
    workspace: Workspace, photos: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere.jsonl"
    (photos / "owl").mkdir()
    (photos / "owl" / "vocabulary_gaps.jsonl").symlink_to(outside)
    with pytest.raises(InvalidInputError, match="is outside the root"):
        workspace.image("owl")
    assert not outside.exists()


def test_a_link_within_the_root_leads_to_the_image_that_it_names(
    workspace: Workspace, photos: Path
) -> None:
    (photos / "bird").symlink_to("heron")
    assert workspace.image("bird") == photos.resolve() / "heron"


def test_the_root_is_fixed_whatever_becomes_of_the_current_folder(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos.parent)
    workspace = Workspace(photos.name, Settings())
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert workspace.image("heron") == photos.resolve() / "heron"
    assert workspace.out == photos.resolve().parent / "out"
