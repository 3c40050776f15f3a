"""`vocabgap report --share`."""

import json
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.errors import ExitCode


def shared(tmp_path: Path, *options: str) -> str:
    """Publishes a workspace of four images of one need and two of another, and gives the page to share."""
    needs = ["sky mask"] * 4 + ["film grain"] * 2
    write_corpus(tmp_path, {f"image-{number}": [gap(need)] for number, need in enumerate(needs)})
    result = vocabgap("report", "photos", "--share", *options)
    assert result.code == ExitCode.DONE
    assert "share.html" in result.out
    return (tmp_path / "out" / "share.html").read_text(encoding="utf-8")


def test_three_images_are_enough_where_nothing_is_said(tmp_path: Path) -> None:
    page = shared(tmp_path)
    assert "sky mask" in page
    assert "film grain" not in page
    assert "only needs on 3 images" in page


@pytest.mark.parametrize(("said", "shown"), [("4", True), ("5", False)])
def test_min_images_says_how_many_are_enough(tmp_path: Path, said: str, shown: bool) -> None:
    page = shared(tmp_path, "--min-images", said)
    assert ("sky mask" in page) == shown
    assert f"only needs on {said} images" in page


def test_settings_file_says_how_many_are_enough(tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text("[rank]\nmin_images = 2\n", encoding="utf-8")
    assert "film grain" in shared(tmp_path)


def test_a_page_about_single_images_is_refused_with_the_reason(tmp_path: Path) -> None:
    write_corpus(tmp_path, {"one": [gap("sky mask")]})
    result = vocabgap("report", "photos", "--share", "--min-images", "1")
    assert result.code == ExitCode.INVALID_INPUT
    assert "--min-images 1 would show needs of a single image" in result.err
    assert "2 or more" in result.err
    assert not (tmp_path / "out").exists()


def test_the_page_is_among_the_files_of_the_result(photos: Path) -> None:
    result = vocabgap("--json", "report", photos, "--share")
    assert "share.html" in json.loads(result.out.splitlines()[-1])["files"]


def test_nothing_to_share_is_a_page_that_says_so(photos: Path, tmp_path: Path) -> None:
    assert vocabgap("report", photos, "--share").code == ExitCode.DONE
    page = (tmp_path / "out" / "share.html").read_text(encoding="utf-8")
    assert "Nothing to author is shown here: of 2 needs, 2 left out." in page
    assert "sky mask" not in page


@pytest.mark.usefixtures("reported")
def test_what_is_not_shared_is_told() -> None:
    result = vocabgap("render", "out", "--share")

    assert result.out.endswith(
        "\nLeft out of share.html: 2 capabilities on fewer than 3 images or folders of logs.\n"
    )
