"""What a published run says, read back."""

from pathlib import Path

import polars as pl

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError
from vocabgap.reporting.manifest import CAPABILITIES_NAME, GAPS_NAME, Manifest, read_manifest
from vocabgap.reporting.target import resolve_target
from vocabgap.schema import CAPABILITIES, GAPS, Table

_HINT = "make the report again with this version"


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
        raise NotFoundError(
            f"'{place}' holds no run of vocabgap",
            hint=f"name the folder of a published report with {option}, or make one with `vocabgap report`",
        )
    return manifest, _read(place, CAPABILITIES_NAME, CAPABILITIES, _HINT)


def read_gaps(folder: str | Path) -> pl.DataFrame | None:
    """Table `gaps` of a published run; None where it was published without.

    Raises:
        StateError: The file is damaged, or of another version.
        AccessDeniedError: It may not be read.
    """
    place = resolve_target(folder)
    return _read(place, GAPS_NAME, GAPS, _HINT) if (place / GAPS_NAME).exists() else None


def _read(folder: Path, name: str, table: Table, hint: str) -> pl.DataFrame:
    path = folder / name
    try:
        frame = pl.read_parquet(path)
        table.require(frame)
    except PermissionError as error:
        raise AccessDeniedError(f"'{path}' may not be read", hint="check its permissions") from error
    except InvalidInputError as error:
        raise StateError(f"'{path}': {error.message}", hint=hint) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StateError(f"'{path}' cannot be read: {error}", hint=hint) from error
    return frame
