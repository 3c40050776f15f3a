"""Publish a run in a folder, and read published runs."""

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
    Hint,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
    expanded,
    require_local,
    require_text,
)
from vocabgap.files import opened, whole
from vocabgap.files.atomic import settle, whole_folder
from vocabgap.files.budget import MOST_LISTED
from vocabgap.files.parquet import require_fair
from vocabgap.files.parts import Parts
from vocabgap.files.refusals import FileKind, current_folder, file_kind, refusal, refusing
from vocabgap.model.tables import (
    CAPABILITIES,
    EFFECTS,
    EVENTS,
    GAPS,
    GROUPS,
    LINEAGE,
    PRESENT,
    PREVIOUS,
    Table,
)
from vocabgap.reporting.manifest import (
    MANIFEST_NAME,
    RUN_FILES,
    Compared,
    Manifest,
    describe_output,
    read_manifest,
)

NO_PREVIOUS: Final = "none"
_RESTORE: Final = "restore it from a copy"
_IGNORING: Final = Hint(f"`--previous {NO_PREVIOUS}` ignores it", (), for_tools=_RESTORE)
_ANEW: Final = "make the report again with this version"
_AGAIN: Final = Hint(f"{_ANEW}; {_IGNORING.sentence}", (), for_tools=_ANEW)
_ELSEWHERE: Final = "name a new or empty folder with --out, to keep your files safe"


class _Mark(msgspec.Struct):
    """The fields that a manifest has in every version of vocabgap."""

    vocabgap: str
    schema_version: int


@dataclass(frozen=True)
class Baseline:
    """The run that a new run is compared with."""

    groups: pl.DataFrame | None = None  # surfaces of the run before; None if there was no run
    compared: Compared | None = None  # that run; None if there was no run or it is unknown
    folder: Path | None = None  # a named folder, or `none`; None for the replaced run


@dataclass(frozen=True, repr=False)
class PublishedRun:
    """A published run, with the tables that fit into memory."""

    folder: Path
    manifest: Manifest
    capabilities: pl.DataFrame
    groups: pl.DataFrame  # only surfaces of this run
    lineage: pl.DataFrame
    events: pl.DataFrame  # like effects, empty in a run of an older version
    effects: pl.DataFrame


def resolve_target(folder: str | Path, *, option: str = "--out") -> Path:
    """Return the absolute path of the folder of a run; `option` names it in errors."""
    try:
        require_local(option, folder)
        place = (current_folder() / expanded(folder)).resolve()
        if any(map(os.path.islink, (place, *place.parents))):  # Python 3.13 accepts a loop of links
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # noqa: TRY301 - like the system
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{option}: '{folder}' is not a path of a folder: {error}") from error
    require_text(option, str(place))  # Polars reads no other path
    return place


def check_target(target: Path, roots: Iterable[Path] = ()) -> None:
    """Refuse a folder where publishing could hide or destroy files."""
    if any(root.is_relative_to(target) for root in roots):
        raise StateError(f"folder '{target}' contains the scanned logs", hint=_ELSEWHERE)
    if not target.exists():
        return
    if not target.is_dir():
        raise StateError(f"'{target}' is not a folder", hint="name a folder with --out")
    with suppress(OSError):  # the current folder may have been deleted
        if current_folder().is_relative_to(target):
            # A new folder would replace it, and the shell would stay in the old folder.
            raise StateError(f"'{target}' holds the current folder", hint="name another folder with --out")
    with refusing(f"'{target}' cannot be read", hint="check its permissions and its disk"):
        foreign = any(target.iterdir()) and not _is_marked(target)
    for folder in (target / name for name in RUN_FILES if (target / name).is_dir()):
        raise StateError(f"'{folder}' is no file of a run of vocabgap", hint=_ELSEWHERE)
    if foreign:
        is_unread = (target / MANIFEST_NAME).is_file()
        why = f": {MANIFEST_NAME} is damaged, or of another program" if is_unread else ""
        raise StateError(f"folder '{target}' has files, but no run of vocabgap{why}", hint=_ELSEWHERE)


def settle_target(target: Path, *, waits: bool = True) -> None:
    """Restore a run that an interrupted publication moved away, and remove its unfinished files."""
    try:
        if target.parent.is_dir():
            settle(target, RUN_FILES, holds_run, waits=waits)
    except OSError as error:
        raise _refused(target, error) from error


@contextmanager
def published(out: str | Path) -> Iterator[Path]:
    """Yield a folder to write a run into; when the block ends without error, it is published as `out`.

    Files in `out` that are not part of a run, such as notes, are kept.
    """
    target = resolve_target(out)
    try:
        with whole_folder(target, RUN_FILES, holds_run, partial(check_target, target)) as folder:
            yield folder
    except OSError as error:
        raise _refused(out, error) from error


def previous_run(out: Path, previous: str | Path | None = None) -> Callable[[datetime], Baseline]:
    """Return a function that maps the present moment of a run to its baseline.

    The run before is by default the run in `out`; `none` means no run. If a run is repeated for the same
    moment in the same folder, it is compared with the baseline of the first run.
    """
    folder = _folder_before(out, previous)
    if folder is None:
        return lambda _: Baseline(folder=Path(NO_PREVIOUS))
    manifest = read_manifest(folder)
    if manifest is None and holds_run(folder):
        raise StateError(
            f"'{folder / MANIFEST_NAME}' is damaged or of another version; its history would be lost",
            hint=Hint(f"{_RESTORE}, or ignore it with `--previous {NO_PREVIOUS}`", (), for_tools=_RESTORE),
        )
    if manifest is None and previous is not None:
        raise _no_run(folder, "--previous")
    if manifest is None or (previous is None and not (folder / GROUPS.file).exists()):
        return lambda _: Baseline()
    groups = read_table(folder, GROUPS, hint=_IGNORING)
    digest = describe_output(folder / GROUPS.file).sha256
    compared = Compared(manifest.now, digest, manifest.narrowing, model=manifest.model)
    asked_for = None if folder == out else folder

    def as_of(now: datetime) -> Baseline:
        again = folder == out and manifest.now == now
        surfaces = groups.filter(run=PREVIOUS if again else PRESENT)
        if surfaces.is_empty():
            return Baseline(folder=asked_for)
        return Baseline(surfaces, manifest.compared if again else compared, asked_for)

    return as_of


def earlier_table(table: Table, out: Path, previous: str | Path | None = None) -> pl.DataFrame:
    """Return a table of the run that a new run is compared with; empty if that run does not have it."""
    folder = _folder_before(out, previous)
    return table.empty() if folder is None else read_optional(folder, table, hint=_IGNORING)


def _folder_before(out: Path, previous: str | Path | None) -> Path | None:
    """Return the folder of the run before; None if `previous` is `none`."""
    if previous is None:
        return out
    return None if str(previous) == NO_PREVIOUS else resolve_target(previous, option="--previous")


def read_optional(folder: Path, table: Table, *, hint: str | Hint = _AGAIN) -> pl.DataFrame:
    """Return a table of a run; empty if the run does not have it, for example a run of an older version."""
    manifest = read_manifest(folder)
    is_there = manifest is not None and manifest.digest_of(table.file) is not None
    return read_table(folder, table, hint=hint) if is_there else table.empty()


def read_run(folder: str | Path, *, option: str) -> tuple[Manifest, pl.DataFrame]:
    """Return the manifest and the capabilities of a published run."""
    place = resolve_target(folder, option=option)
    with suppress(VocabgapError):  # a reader may have no permission to write
        settle_target(place, waits=False)
    manifest = read_manifest(place)
    if manifest is None:
        raise _no_run(place, option)
    return manifest, read_table(place, CAPABILITIES)


def read_published(folder: str | Path, *, option: str = "--run") -> PublishedRun:
    """Return a published run; `option` names it in errors."""
    manifest, capabilities = read_run(folder, option=option)
    place = resolve_target(folder, option=option)
    groups = read_table(place, GROUPS).filter(run=PRESENT)
    lineage = read_table(place, LINEAGE)
    events, effects = (read_optional(place, table) for table in (EVENTS, EFFECTS))
    return PublishedRun(place, manifest, capabilities, groups, lineage, events, effects)


def effects(run: str | Path) -> pl.DataFrame:
    """Return table `effects` of a published run: what became of the authored needs, newest first."""
    return read_published(run, option="run").effects


def read_gaps(folder: str | Path) -> Parts:
    """Return table `gaps` of the run that `--run` names, in parts, which memory need not hold."""
    path = resolve_target(folder, option="--run") / GAPS.file
    with _reading(path, _AGAIN):
        _require_digest(path, describe_output(path).sha256, _AGAIN)
        with opened(path) as file:
            require_fair(file, path)
        return Parts.read(path, GAPS.fitted)


def read_table(folder: Path, table: Table, *, hint: str | Hint = _AGAIN) -> pl.DataFrame:
    """Return a table of a published run; raise if its file is missing or damaged.

    A column that is newer than the run has its default; a newer field of a struct is null. A column that no
    longer exists is dropped.
    """
    path = folder / table.file
    with _reading(path, hint), opened(path) as file:
        _require_digest(path, hashlib.file_digest(file, "sha256").hexdigest(), hint)
        require_fair(file, path)
        return table.fitted(pl.scan_parquet(file)).collect()


@contextmanager
def _reading(path: Path, hint: str | Hint) -> Iterator[None]:
    """Require a file; turn what fails in the block into an error about the file."""
    try:
        kind = file_kind(path)
        if kind is not FileKind.FILE:  # reading a pipe would block
            problem = "does not exist" if kind is FileKind.NOTHING else f"is {kind}, not a file"
            raise StateError(f"'{path}' {problem}", hint=hint)
        yield
    except PermissionError as error:
        raise AccessDeniedError(f"'{path}' cannot be read", hint="check its permissions") from error
    except InvalidInputError as error:
        raise StateError(f"'{path}': {error.message}", hint=hint) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StateError(f"'{path}' cannot be read: {error}", hint=hint) from error


def _require_digest(path: Path, digest: str, hint: str | Hint) -> None:
    """Refuse a file with another digest than in the manifest: decoding it may crash the process."""
    manifest = read_manifest(path.parent)
    if manifest is not None and manifest.digest_of(path.name) not in {None, digest}:
        problem = f"is damaged or was just replaced: {MANIFEST_NAME} has another digest"
        raise StateError(f"'{path}' {problem}", hint=hint)


def holds_run(folder: Path) -> bool:
    """Return whether a folder has a run of any version of vocabgap."""
    try:
        return _is_marked(folder)
    except OSError:
        return False


def _is_marked(folder: Path) -> bool:
    try:
        msgspec.json.decode(whole(folder / MANIFEST_NAME, MOST_LISTED), type=_Mark)
    except (FileNotFoundError, IsADirectoryError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _no_run(folder: Path, option: str) -> VocabgapError:
    if file_kind(folder / MANIFEST_NAME) is FileKind.FILE:
        return StateError(
            f"'{folder / MANIFEST_NAME}' is damaged or of another version",
            hint=f"{_RESTORE}, or make a report in a new folder",
        )
    return NotFoundError(
        f"'{folder}' has no run of vocabgap",
        hint=f"name the folder of a published report with {option}, or run `vocabgap report`",
    )


def _refused(out: str | Path, error: OSError) -> VocabgapError:
    name = Path(error.filename or "").name
    place = f": {name}" if name in RUN_FILES else ""
    hint = "name another folder with --out; nothing was published"
    return refusal(f"'{out}' cannot be written{place}", error, hint=hint)
