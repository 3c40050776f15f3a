"""What a published run says, read back: its capabilities, and what the next run recognises them by."""

from datetime import datetime
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError
from vocabgap.file_kinds import FileKind, file_kind
from vocabgap.ranking import PRESENT, PREVIOUS
from vocabgap.reporting.manifest import CAPABILITIES_NAME, GAPS_NAME, GROUPS_NAME, Manifest, read_manifest
from vocabgap.reporting.target import resolve_target
from vocabgap.schema import CAPABILITIES, GAPS, GROUPS, Table

NO_PREVIOUS: Final = "none"
_HINT: Final = "make the report again with this version"


def read_basis(out: Path, now: datetime, previous: str | Path | None = None) -> pl.DataFrame | None:
    """What a run is compared with: the surfaces of the run before.

    A run that is made again, as of the same moment, in the same folder, is compared with what the published
    one was compared with, so that it comes out as that one did.

    Args:
        out: The folder that the run is going to be published in.
        now: The moment that it counts as its present.
        previous: The folder of the run before; by default the run that stands in `out`; `none` for none.

    Returns:
        Table `groups`; None where there is no run before, or nothing in it.

    Raises:
        NotFoundError: A folder was named that holds no run.
        StateError: The file is damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    if previous is not None and str(previous) == NO_PREVIOUS:
        return None
    folder = out if previous is None else resolve_target(previous)
    manifest = read_manifest(folder)
    if manifest is None:
        if previous is not None:
            raise _no_run(folder, "--previous")
        return None
    if previous is None and not (folder / GROUPS_NAME).exists():
        return None
    groups = _read(folder, GROUPS_NAME, GROUPS, f"`--previous {NO_PREVIOUS}` does without it")
    again = folder == out and manifest.now == now
    basis = groups.filter(pl.col("run") == (PREVIOUS if again else PRESENT))
    return None if basis.is_empty() else basis


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
    place = resolve_target(folder)
    manifest = read_manifest(place)
    if manifest is None:
        raise _no_run(place, option)
    return manifest, _read(place, CAPABILITIES_NAME, CAPABILITIES, _HINT)


def read_gaps(folder: str | Path) -> pl.DataFrame | None:
    """Table `gaps` of a published run; None where it was published without.

    Raises:
        StateError: The file is damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    place = resolve_target(folder)
    return read_table(place, GAPS_NAME, GAPS) if (place / GAPS_NAME).exists() else None


def read_table(folder: Path, name: str, table: Table) -> pl.DataFrame:
    """A table of a published run.

    Raises:
        StateError: The file is missing or damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    return _read(folder, name, table, _HINT)


def _read(folder: Path, name: str, table: Table, hint: str) -> pl.DataFrame:
    path = folder / name
    try:
        kind = file_kind(path)
        if kind is not FileKind.FILE:  # a pipe would be waited for
            raise StateError(f"'{path}' is {kind}, not a file", hint=hint)
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
