"""Many files, links in circles, and deep folders: what finds logs has to end, within time and memory."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from builders import gap
from faults.families import expensive
from vocabgap.model.record import LOG_NAME

FILES: Final = 100_000
_IN_A_FOLDER: Final = 100
_SECONDS: Final = 60.0
_LINE: Final = msgspec.json.encode(gap("sky mask")) + b"\n"


def crowded(files: int = FILES) -> Iterator[str | None]:
    """Check and report folders that are hard to walk; yield each problem, or None."""
    home = Path.cwd()
    for make in (_logs, _others, _circles, _depths, _holes):
        Path("crowd").mkdir()
        os.chdir("crowd")
        make(files)
        os.chdir(home)
        for command in (("check", "crowd"), ("report", "crowd", "--embedder", "none", "--quiet")):
            problem = expensive(*command, most=_SECONDS)
            yield problem and f"{make.__name__}: {problem}"
        subprocess.run(("/bin/rm", "-r", "crowd"), check=True)  # Python cannot remove deep folders


def _logs(files: int) -> None:
    for number in range(files // _IN_A_FOLDER):
        for image in range(_IN_A_FOLDER):
            _log(Path(f"{number}", f"{image}"))


def _others(files: int) -> None:
    _log(Path("heron"))
    for number in range(files):
        Path(f"{number}.txt").touch()


def _circles(files: int) -> None:
    _log(Path("heron"))
    for number in range(files // _IN_A_FOLDER):
        Path("heron", f"{number}").symlink_to("..")
        Path("heron", f"file-{number}").symlink_to(LOG_NAME)
    Path("one").symlink_to("two")
    Path("two").symlink_to("one")


def _depths(files: int) -> None:
    for _ in range(files // _IN_A_FOLDER):
        Path("d").mkdir()
        os.chdir("d")
    _log(Path())


def _holes(files: int) -> None:
    _log(Path("heron"))
    for number in range(files // 10_000 + 1):
        place = Path("holes", f"{number}", LOG_NAME)
        place.parent.mkdir(parents=True)
        place.touch()
        os.truncate(place, 1 << 40)


def _log(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOG_NAME).write_bytes(_LINE)
