"""Writing frames to Parquet files, with the system's own errors."""

from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Watched(FileIO):
    """A file that keeps the system's error: Polars reports a full disk as a fault of the format."""

    refused: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.refused = error
            raise


def write_parquet(frame: pl.DataFrame, path: Path, **options: Any) -> None:  # noqa: ANN401 - those of Polars
    """Write a frame to a file, or replace it.

    Raises:
        OSError: The system refused, for instance because the disk is full. The error names the file.
    """
    with _Watched(path, "wb") as file:
        try:
            frame.rechunk().write_parquet(file, **options)
        except pl.exceptions.PolarsError as error:
            if file.refused is None:
                raise OSError(f"{path.name}: {error}") from error
            raise OSError(file.refused.errno, file.refused.strerror, str(path)) from error
