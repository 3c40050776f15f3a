"""Where a picture may be written, and what is left when it cannot."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.reporting.dendrogram import write_picture

PICTURE = "<svg>größe</svg>"


@pytest.mark.parametrize("before", ["", "<svg>earlier</svg>"])
def test_an_earlier_picture_or_an_empty_file_is_replaced_with_its_permissions(
    tmp_path: Path, before: str
) -> None:
    place = tmp_path / "tree.svg"
    place.write_text(before, encoding="utf-8")
    place.chmod(0o600)

    write_picture(place, PICTURE)

    assert place.read_text(encoding="utf-8") == PICTURE
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_link_to_a_picture_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.svg").write_text(PICTURE, encoding="utf-8")
    link = tmp_path / "tree.svg"
    link.symlink_to("real.svg")

    write_picture(link, "<svg/>")

    assert link.is_symlink()
    assert (tmp_path / "real.svg").read_text(encoding="utf-8") == "<svg/>"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Path.mkdir, "is a folder"),
        (os.mkfifo, "is a pipe"),
        (lambda path: path.symlink_to("/dev/null"), "is a device"),
        (lambda path: path.symlink_to(path), "is a link that leads back to itself"),
        (lambda path: path.symlink_to("absent"), "is a link that leads nowhere"),
        (lambda path: path.write_text("notes"), "exists, and is no picture"),
    ],
)
def test_nothing_else_is_written_over(make: Callable[[Path], None], told: str, tmp_path: Path) -> None:
    place = tmp_path / "tree.svg"
    make(place)
    before = place.lstat()

    with pytest.raises(StateError, match=told) as caught:
        write_picture(place, PICTURE)

    assert caught.value.hint
    assert (place.lstat().st_ino, place.lstat().st_size) == (before.st_ino, before.st_size)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("absent/tree.svg", NotFoundError),
        ("a\0b.svg", InvalidInputError),
        ("\ud800.svg", InvalidInputError),
        ("x" * 300, StateError),
    ],
)
def test_a_place_that_cannot_be_is_told(name: str, kind: type[VocabgapError], tmp_path: Path) -> None:
    with pytest.raises(kind, match=r"is no path|is not a path|does not exist|cannot be written"):
        write_picture(tmp_path / name, PICTURE)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(28, "No space left on device"), StateError),
        (PermissionError(13, "Permission denied"), AccessDeniedError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_what_stops_half_way_leaves_what_was_there(
    failure: BaseException, raised: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tree.svg"
    place.write_text(PICTURE, encoding="utf-8")

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(Path, "replace", fail)

    with pytest.raises(raised):
        write_picture(place, "<svg/>")

    assert place.read_text(encoding="utf-8") == PICTURE
    assert list(tmp_path.iterdir()) == [place]
