"""What a published run says, read back: its capabilities, and what the next run recognises them by."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.ranking.identity import PRESENT, PREVIOUS
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    Compared,
    Manifest,
    Narrowing,
    describe_output,
    read_manifest,
)
from vocabgap.reporting.publishing import resolve_target
from vocabgap.schema import CAPABILITIES, GAPS, GROUPS, Table

NO_PREVIOUS: Final = "none"
_HINT: Final = "make the report again with this version"


@dataclass(frozen=True)
class Baseline:
    """What a run is compared with.

    Attributes:
        groups: Table `groups` of the run before: its own surfaces; null where there was none, or no surface.
        compared: Which run that is; null where there was none, or where it does not say.
        folder: The folder that was asked for, or `none`; null for the run that is replaced.
    """

    groups: pl.DataFrame | None = None
    compared: Compared | None = None
    folder: Path | None = None


@dataclass(frozen=True)
class PublishedRun:
    """A published run as it is compared with another one.

    Attributes:
        now: The moment that it counts as its present.
        capabilities: Table `capabilities`.
        groups: Table `groups`: its own surfaces, whatever it was narrowed to; null where it was published
            without.
        narrowing: What it was narrowed to; null where that is not known.
    """

    now: datetime
    capabilities: pl.DataFrame
    groups: pl.DataFrame | None = None
    narrowing: Narrowing | None = None


def read_baseline(out: Path, now: datetime, previous: str | Path | None = None) -> Baseline:
    """What a run is compared with: the surfaces of the run before.

    A run that is made again, as of the same moment, in the same folder, is compared with what the published
    one was compared with, so that it comes out as that one did.

    Args:
        out: The folder that the run is going to be published in.
        now: The moment that it counts as its present.
        previous: The folder of the run before; by default the run that stands in `out`; `none` for none.

    Raises:
        NotFoundError: A folder was named that holds no run.
        StateError: The file is damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    if previous is not None and str(previous) == NO_PREVIOUS:
        return Baseline(folder=Path(NO_PREVIOUS))
    folder = out if previous is None else resolve_target(previous, option="--previous")
    manifest = read_manifest(folder)
    if manifest is None:
        if previous is not None:
            raise _no_run(folder, "--previous")
        return Baseline()
    if previous is None and not (folder / GROUPS_NAME).exists():
        return Baseline()
    groups = _read(folder, GROUPS_NAME, GROUPS, f"`--previous {NO_PREVIOUS}` does without it")
    again = folder == out and manifest.now == now
    found = groups.filter(pl.col("run") == (PREVIOUS if again else PRESENT))
    named = None if folder == out else folder
    if found.is_empty():
        return Baseline(folder=named)
    if again:
        return Baseline(found, manifest.compared)
    digest = describe_output(folder / GROUPS_NAME).sha256
    return Baseline(found, Compared(manifest.now, digest, _narrowing(manifest)), named)


def read_run(folder: str | Path, *, option: str) -> tuple[Manifest, pl.DataFrame]:
    """The manifest and the capabilities of a published run.

    Args:
        folder: Where it was published.
        option: What names the folder on the command line, for the error.

    Raises:
        NotFoundError: There is no run.
        StateError: The file is damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    place = resolve_target(folder, option=option)
    manifest = read_manifest(place)
    if manifest is None:
        raise _no_run(place, option)
    return manifest, _read(place, CAPABILITIES_NAME, CAPABILITIES, _HINT)


def read_published(folder: str | Path, *, option: str) -> PublishedRun:
    """A published run as it is compared with another one.

    Args:
        folder: Where it was published.
        option: What names the folder on the command line, for the error.

    Raises:
        NotFoundError: There is no run.
        StateError: A file is damaged, or of another version.
        AccessDeniedError: One may not be read.
    """
    manifest, capabilities = read_run(folder, option=option)
    place = resolve_target(folder, option=option)
    groups = _read(place, GROUPS_NAME, GROUPS, _HINT) if (place / GROUPS_NAME).exists() else None
    own = None if groups is None else groups.filter(pl.col("run") == PRESENT)
    return PublishedRun(manifest.now, capabilities, own, _narrowing(manifest))


def read_groups(folder: str | Path) -> pl.DataFrame:
    """Table `groups` of a published run, named by `--run`: the surfaces of that run itself.

    Raises:
        StateError: The file is missing or damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    return _read(resolve_target(folder, option="--run"), GROUPS_NAME, GROUPS, _HINT).filter(run=PRESENT)


def read_gaps(folder: str | Path) -> pl.DataFrame | None:
    """Table `gaps` of a published run, named by `--run`; None where it was published without.

    Raises:
        StateError: The file is damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    place = resolve_target(folder, option="--run")
    return read_table(place, GAPS_NAME, GAPS) if (place / GAPS_NAME).exists() else None


def read_table(folder: Path, name: str, table: Table) -> pl.DataFrame:
    """A table of a published run.

    Raises:
        StateError: The file is missing or damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    return _read(folder, name, table, _HINT)


@contextmanager
def telling_of_narrowing(folder: str | Path) -> Iterator[None]:
    """Have what is not found in a published run say that the run was narrowed, where it was.

    Args:
        folder: Where it was published, named by `--run`.

    Raises:
        NotFoundError: As within, with a hint that says so.
    """
    try:
        yield
    except NotFoundError as error:
        manifest = read_manifest(resolve_target(folder, option="--run"))
        if manifest is None or not manifest.narrowed_to:
            raise
        why = f"this run was narrowed to {manifest.narrowed_to}; --run names another one"
        raise NotFoundError(error.message, hint=f"{error.hint}; {why}" if error.hint else why) from error


def _narrowing(manifest: Manifest) -> Narrowing | None:
    return None if manifest.parameters is None else manifest.parameters.narrowing


def _read(folder: Path, name: str, table: Table, hint: str) -> pl.DataFrame:
    path = folder / name
    try:
        kind = file_kind(path)
        if kind is not FileKind.FILE:  # a pipe would be waited for
            problem = "does not exist" if kind is FileKind.NOTHING else f"is {kind}, not a file"
            raise StateError(f"'{path}' {problem}", hint=hint)
        frame = pl.read_parquet(path)
        table.require(frame)
    except PermissionError as error:
        raise AccessDeniedError(f"'{path}' may not be read", hint="check its permissions") from error
    except InvalidInputError as error:
        raise StateError(f"'{path}': {error.message}", hint=hint) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StateError(f"'{path}' cannot be read: {error}", hint=hint) from error
    return frame


def _no_run(folder: Path, option: str) -> NotFoundError:
    return NotFoundError(
        f"'{folder}' holds no run of vocabgap",
        hint=f"name the folder of a published report with {option}, or make one with `vocabgap report`",
    )
