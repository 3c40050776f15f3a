"""What a table is: a frame's columns, their dtypes and what they mean, and a check at the door of a stage."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from vocabgap.arguments import require_kind
from vocabgap.errors import InvalidInputError

UTC_MICROSECONDS: Final = pl.Datetime("us", "UTC")
NAMES: Final = pl.List(pl.String)
_FRAME_HINT: Final = "a LazyFrame becomes one with .collect(), one of pandas with polars.from_pandas"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str


@dataclass(frozen=True)
class Table:
    """A frame's name, what a row of it is, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @cached_property
    def schema(self) -> pl.Schema:
        """The Polars schema, in column order."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    def empty(self) -> pl.DataFrame:
        """A frame of this table without rows."""
        return pl.DataFrame(schema=self.schema)

    def require(self, frame: pl.DataFrame, columns: Iterable[str] | None = None) -> None:
        """Check at the door of a stage that a frame can be used.

        Args:
            frame: The frame handed in.
            columns: The columns the stage reads; all of them by default.

        Raises:
            InvalidInputError: It is no Polars frame, or a column is missing or has another dtype.
        """
        require_kind(f"frame '{self.name}'", frame, pl.DataFrame, "a polars.DataFrame", hint=_FRAME_HINT)
        needed = set(self.names if columns is None else columns)
        given = dict(zip(frame.columns, frame.dtypes, strict=True))
        for column in self.columns:
            if column.name not in needed:
                continue
            if column.name not in given:
                raise InvalidInputError(
                    f"frame '{self.name}': column '{column.name}' is missing",
                    hint=f"expected {column.dtype}; see `vocabgap schema {self.name}`",
                )
            found = given[column.name]
            if found != column.dtype:
                raise InvalidInputError(
                    f"frame '{self.name}': column '{column.name}' has dtype {found}, expected {column.dtype}",
                    hint=f"see `vocabgap schema {self.name}`",
                )
