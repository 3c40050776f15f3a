"""The last runs, kept as dated folders beside the one that they are published in.

Beside `out` lies `out.runs`, with a folder for each run, such as `2026-06-01T00-00-00Z`. Nothing is removed
there but a folder that has such a name, is no link, and holds the files of a run of ours and nothing else.
"""

import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from vocabgap.errors import StateError, VocabgapError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.model.moments import iso
from vocabgap.reporting.manifest import MANIFEST_NAME, RUN_FILES, read_manifest
from vocabgap.reporting.published_run import holds_run, published, settle_target

_DATED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_LEFT: Final = re.compile(rf"\.({_DATED.pattern})\.")
_WITHOUT: Final = "move it away, or report without --keep"


def folder_of_runs(out: Path) -> Path:
    """Where the runs of a folder are kept."""
    return out.with_name(f"{out.name}.runs")


def check_keeping(out: Path) -> None:
    """Refuse what lies in the place of the folder of runs, before a run is made for it."""
    place = folder_of_runs(out)
    kind = file_kind(place)
    if kind not in {FileKind.NOTHING, FileKind.FOLDER}:
        raise StateError(f"'{place}' is {kind}, expected a folder of runs", hint=_WITHOUT)


@contextmanager
def keeping(out: Path, most: int) -> Iterator[None]:
    """Keep the run that is replaced, if it is not kept yet, and the one that the block publishes.

    Of those that are kept the newest stay, so many as are asked for. Nothing is done for 0.

    Raises:
        StateError: Something stands in the way, or the disk is full; the run of the block is published.
        AccessDeniedError: The folder of runs may not be written.
    """
    if most:
        check_keeping(out)
        _keep(out, only_new=True)
    yield
    if most:
        try:
            _keep(out)
            _clear(folder_of_runs(out), most)
        except (OSError, VocabgapError) as error:
            told = error.message if isinstance(error, VocabgapError) else str(error)
            raise StateError(
                f"the report is published in '{out}', but was not kept: {told}",
                hint="make room, and report again",
            ) from error


def _keep(out: Path, *, only_new: bool = False) -> None:
    """Copy a published run into its dated folder."""
    manifest = read_manifest(out)
    if manifest is None:
        return
    place = folder_of_runs(out) / iso(manifest.now.replace(microsecond=0)).replace(":", "-")
    if place.is_symlink():
        raise StateError(f"'{place}' is a link, expected a folder", hint=_WITHOUT)
    if only_new and holds_run(place):
        return
    access = stat.S_IMODE(out.stat().st_mode)  # gap text is private
    place.parent.mkdir(exist_ok=True, mode=access)
    with published(place, access) as folder:
        for name in sorted(RUN_FILES):
            if file_kind(out / name) is FileKind.FILE:
                shutil.copy(out / name, folder / name)
        if read_manifest(out) != manifest:
            raise StateError(f"the run in '{out}' was replaced meanwhile", hint="report again")


def _clear(runs: Path, most: int) -> None:
    """Remove the oldest runs but so many, and what a run that was killed has left of one."""
    for name in {left[1] for entry in runs.iterdir() if (left := _LEFT.match(entry.name))}:
        settle_target(runs / name)
    ours = sorted(entry for entry in runs.iterdir() if _is_ours(entry))
    for folder in ours[: max(len(ours) - most, 0)]:
        # Its manifest goes last, so that what is left half-way is known as ours the next time.
        for name in sorted(RUN_FILES, key=lambda name: name == MANIFEST_NAME):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def _is_ours(entry: Path) -> bool:
    """Whether a folder is a run that we kept, with nothing else in it."""
    if not _DATED.fullmatch(entry.name) or entry.is_symlink() or not entry.is_dir():
        return False
    files = list(entry.iterdir())
    plain = all(each.name in RUN_FILES and each.is_file() and not each.is_symlink() for each in files)
    return plain and holds_run(entry)
