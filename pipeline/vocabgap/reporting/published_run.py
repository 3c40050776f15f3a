"""The folder of a run: publish one, and read back what was published."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
    expanded,
)
from vocabgap.files.atomic import settle, whole_folder
from vocabgap.files.refusals import FileKind, file_kind, refusal, refusing
from vocabgap.model.tables import CAPABILITIES, GAPS, GROUPS, PRESENT, PREVIOUS, Table
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    MANIFEST_NAME,
    RUN_FILES,
    Compared,
    Manifest,
    describe_output,
    read_manifest,
)

NO_PREVIOUS: Final = "none"
_AGAIN: Final = "make the report again with this version"
_ELSEWHERE: Final = "name a new or empty folder with --out, so that nothing of yours is touched"


class _Mark(msgspec.Struct):
    """The fields of every manifest that vocabgap wrote, in any version."""

    vocabgap: str
    schema_version: int


@dataclass(frozen=True)
class Baseline:
    """The run that a new run is compared with."""

    groups: pl.DataFrame | None = None  # surfaces of the run before; null if there was none
    compared: Compared | None = None  # that run; null if there was none, or it does not say
    folder: Path | None = None  # a folder that was named, or `none`; null for the run that is replaced


@dataclass(frozen=True)
class PublishedRun:
    """A published run, to be compared with another one."""

    manifest: Manifest
    capabilities: pl.DataFrame
    groups: pl.DataFrame | None = None  # its own surfaces, of all records; null without any


def resolve_target(folder: str | Path, *, option: str = "--out") -> Path:
    """Return the absolute path of the folder of a run; `option` names it in errors."""
    try:
        place = expanded(folder).resolve()
        if any(map(os.path.islink, (place, *place.parents))):  # Python 3.13 leaves a loop as it is
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # noqa: TRY301 - as the system would
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{option}: '{folder}' is not a folder's path: {error}") from error
    return place


def check_target(target: Path, roots: Iterable[Path] = ()) -> None:
    """Refuse a folder in which publishing could hide or destroy something."""
    if any(root.is_relative_to(target) for root in roots):
        raise StateError(f"folder '{target}' holds what is scanned", hint=_ELSEWHERE)
    if not target.exists():
        return
    if not target.is_dir():
        raise StateError(f"'{target}' is a file, not a folder", hint="name another folder with --out")
    with suppress(OSError):  # the current folder may have been deleted
        if Path.cwd().is_relative_to(target):
            # A new folder would take its place, and leave the shell in the old one.
            raise StateError(f"'{target}' holds the current folder", hint="name another folder with --out")
    with refusing(f"'{target}' cannot be read", hint="check its permissions and its disk"):
        foreign = any(target.iterdir()) and not _is_marked(target)
    if foreign or any((target / name).is_dir() for name in RUN_FILES):
        is_unread = (target / MANIFEST_NAME).is_file()
        why = f": {MANIFEST_NAME} is damaged, or of another program" if foreign and is_unread else ""
        raise StateError(f"folder '{target}' holds files, but no run of vocabgap{why}", hint=_ELSEWHERE)


def settle_target(target: Path, *, waits: bool = True) -> None:
    """Put back a run that a killed publication moved aside, and remove its half-written files."""
    try:
        if target.parent.is_dir():
            settle(target, RUN_FILES, holds_run, waits=waits)
    except OSError as error:
        raise _refused(target, error) from error


@contextmanager
def published(out: str | Path, mode: int | None = None) -> Iterator[Path]:
    """Yield a folder to write a run into; when the block ends without error, it is published as `out`.

    Files in `out` that are not part of a run, such as a person's notes, are carried over. A new folder gets
    the permissions of `mode`, by default those of the umask.
    """
    target = resolve_target(out)
    try:
        with whole_folder(target, RUN_FILES, holds_run, partial(check_target, target), mode) as folder:
            yield folder
    except OSError as error:
        raise _refused(out, error) from error


def previous_run(out: Path, previous: str | Path | None = None) -> Callable[[datetime], Baseline]:
    """Return a function from the present moment of a run to what it is compared with.

    The run before is by default the one in `out`; a previous of `none` is none. A second run for the same
    moment in the same folder is compared with what the first one was compared with.
    """
    if previous is not None and str(previous) == NO_PREVIOUS:
        return lambda _: Baseline(folder=Path(NO_PREVIOUS))
    folder = out if previous is None else resolve_target(previous, option="--previous")
    manifest = read_manifest(folder)
    if manifest is None and holds_run(folder):
        raise StateError(
            f"'{folder / MANIFEST_NAME}' is damaged, or of another version; its history would be lost",
            hint=f"put it back from a copy; `--previous {NO_PREVIOUS}` does without it",
        )
    if manifest is None and previous is not None:
        raise _no_run(folder, "--previous")
    if manifest is None or (previous is None and not (folder / GROUPS_NAME).exists()):
        return lambda _: Baseline()
    groups = read_table(folder, GROUPS_NAME, GROUPS, hint=f"`--previous {NO_PREVIOUS}` does without it")
    digest = describe_output(folder / GROUPS_NAME).sha256
    compared = Compared(manifest.now, digest, manifest.narrowing, model=manifest.model)
    asked_for = None if folder == out else folder

    def as_of(now: datetime) -> Baseline:
        again = folder == out and manifest.now == now
        surfaces = groups.filter(run=PREVIOUS if again else PRESENT)
        if surfaces.is_empty():
            return Baseline(folder=asked_for)
        return Baseline(surfaces, manifest.compared if again else compared, asked_for)

    return as_of


def read_run(folder: str | Path, *, option: str) -> tuple[Manifest, pl.DataFrame]:
    """Return the manifest and the capabilities of a published run."""
    place = resolve_target(folder, option=option)
    with suppress(VocabgapError):  # who only reads may not be allowed to
        settle_target(place, waits=False)
    manifest = read_manifest(place)
    if manifest is None:
        raise _no_run(place, option)
    return manifest, read_table(place, CAPABILITIES_NAME, CAPABILITIES)


def read_published(folder: str | Path, *, option: str) -> PublishedRun:
    """Return a published run, to be compared with another one."""
    manifest, capabilities = read_run(folder, option=option)
    place = resolve_target(folder, option=option)
    return PublishedRun(
        manifest, capabilities, read_groups(place) if (place / GROUPS_NAME).exists() else None
    )


def read_groups(folder: str | Path) -> pl.DataFrame:
    """Return table `groups` of a published run that `--run` names: its own surfaces."""
    return read_table(resolve_target(folder, option="--run"), GROUPS_NAME, GROUPS).filter(run=PRESENT)


def read_gaps(folder: str | Path) -> pl.DataFrame | None:
    """Return table `gaps` of a published run that `--run` names, or None if it has none."""
    place = resolve_target(folder, option="--run")
    return read_table(place, GAPS_NAME, GAPS) if (place / GAPS_NAME).exists() else None


def read_table(folder: Path, name: str, table: Table, *, hint: str = _AGAIN) -> pl.DataFrame:
    """Return a table of a published run, or raise if its file is missing or damaged.

    A column that the table gained since then has its default; a column that it lost is left out.
    """
    path = folder / name
    try:
        kind = file_kind(path)
        if kind is not FileKind.FILE:  # a pipe would be waited for
            problem = "does not exist" if kind is FileKind.NOTHING else f"is {kind}, not a file"
            raise StateError(f"'{path}' {problem}", hint=hint)
        content, manifest = path.read_bytes(), read_manifest(folder)
        digest = None if manifest is None else manifest.digest_of(name)
        # A damaged file may end the process that decodes it.
        if digest not in {None, hashlib.sha256(content).hexdigest()}:
            problem = f"is damaged, or was replaced just now: {MANIFEST_NAME} has another digest"
            raise StateError(f"'{path}' {problem}", hint=hint)
        frame = pl.read_parquet(content)
        gained = [column.filling for column in table.columns if column.name not in frame.columns]
        frame = frame.with_columns(gained).select(table.names)
        table.require(frame)
    except PermissionError as error:
        raise AccessDeniedError(f"'{path}' may not be read", hint="check its permissions") from error
    except InvalidInputError as error:
        raise StateError(f"'{path}': {error.message}", hint=hint) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StateError(f"'{path}' cannot be read: {error}", hint=hint) from error
    return frame


def holds_run(folder: Path) -> bool:
    """Return whether a folder holds a run that any version of vocabgap published."""
    try:
        return _is_marked(folder)
    except OSError:
        return False


def _is_marked(folder: Path) -> bool:
    try:
        msgspec.json.decode((folder / MANIFEST_NAME).read_bytes(), type=_Mark)
    except (FileNotFoundError, IsADirectoryError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _no_run(folder: Path, option: str) -> NotFoundError:
    return NotFoundError(
        f"'{folder}' holds no run of vocabgap",
        hint=f"name the folder of a published report with {option}, or make one with `vocabgap report`",
    )


def _refused(out: str | Path, error: OSError) -> VocabgapError:
    name = Path(error.filename or "").name
    place = f": {name}" if name in RUN_FILES else ""
    hint = "name another folder with --out; nothing was published"
    return refusal(f"'{out}' cannot be written{place}", error, hint=hint)
