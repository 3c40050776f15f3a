"""Frames to Parquet files. What the system refuses is told in its own words."""

from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Watched(FileIO):
    """A file that keeps what the system said of it: to Polars a full disk is a fault of the file's format."""

    refused: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.refused = error
            raise


def write_parquet(
    frame: pl.DataFrame,
    path: Path,
    *,
    compression: Literal["zstd", "lz4"] = "zstd",
    compression_level: int | None = None,
    row_group_size: int | None = None,
    statistics: bool = True,
) -> None:
    """Write a frame to a file, which is replaced where it is there.

    Raises:
        OSError: The system refused, because the disk is full for instance. The error names the file.
    """
    with _Watched(path, "wb") as file:
        try:
            frame.rechunk().write_parquet(
                file,
                compression=compression,
                compression_level=compression_level,
                row_group_size=row_group_size,
                statistics=statistics,
            )
        except pl.exceptions.PolarsError as error:
            if file.refused is None:
                raise OSError(f"{path.name}: {error}") from error
            raise OSError(file.refused.errno, file.refused.strerror, str(path)) from error
