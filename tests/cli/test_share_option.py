"""`vocabgap report --share`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vocabgap.errors import ExitCode

Gap = Callable[..., dict[str, object]]
Corpus = Callable[..., Path]
Command = Callable[..., Any]


@pytest.fixture
def shared(gap: Gap, write_corpus: Corpus, vocabgap: Command, tmp_path: Path) -> Callable[..., str]:
    """Publishes a workspace of four images of one need and two of another, and gives the page to share."""

    def make(*options: str) -> str:
        needs = ["sky mask"] * 4 + ["film grain"] * 2
        write_corpus({f"image-{number}": [gap(need)] for number, need in enumerate(needs)})
        told = vocabgap("report", "photos", "--share", *options)
        assert told.code == ExitCode.DONE
        assert "share.html" in told.out
        return (tmp_path / "out" / "share.html").read_text(encoding="utf-8")

    return make


def test_three_images_are_enough_where_nothing_is_said(shared: Callable[..., str]) -> None:
    page = shared()
    assert "sky mask" in page
    assert "film grain" not in page
    assert "Only capabilities on 3 images or more are shown here" in page


@pytest.mark.parametrize(("said", "shown"), [("2", True), ("4", True), ("5", False)])
def test_min_images_says_how_many_are_enough(shared: Callable[..., str], said: str, shown: bool) -> None:
    page = shared("--min-images", said)
    assert ("sky mask" in page) == shown
    assert f"Only capabilities on {said} images or more are shown here" in page


def test_settings_file_says_how_many_are_enough(shared: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text("[rank]\nmin_images = 2\n", encoding="utf-8")
    assert "film grain" in shared()


@pytest.mark.parametrize("said", ["0", "1"])
def test_a_page_about_single_images_is_refused_with_the_reason(
    gap: Gap, write_corpus: Corpus, vocabgap: Command, tmp_path: Path, said: str
) -> None:
    write_corpus({"one": [gap("sky mask")]})
    told = vocabgap("report", "photos", "--share", "--min-images", said)
    assert told.code == ExitCode.INVALID_INPUT
    assert f"--min-images {said} would show what is on a single image" in told.err
    assert "2 at least" in told.err
    assert not (tmp_path / "out").exists()


def test_a_single_image_may_be_asked_for_where_nothing_is_shared(
    gap: Gap, write_corpus: Corpus, vocabgap: Command
) -> None:
    write_corpus({"one": [gap("sky mask")]})
    assert vocabgap("report", "photos", "--min-images", "1").code == ExitCode.DONE


def test_the_page_is_among_the_files_of_the_result(vocabgap: Command, photos: Path) -> None:
    told = vocabgap("--json", "report", photos, "--share")
    assert "share.html" in json.loads(told.out.splitlines()[-1])["files"]


def test_nothing_to_share_is_a_page_that_says_so(vocabgap: Command, photos: Path, tmp_path: Path) -> None:
    assert vocabgap("report", photos, "--share").code == ExitCode.DONE
    page = (tmp_path / "out" / "share.html").read_text(encoding="utf-8")
    assert "Nothing to author is shown here: of 2 capabilities, 2 left out." in page
    assert "sky mask" not in page
