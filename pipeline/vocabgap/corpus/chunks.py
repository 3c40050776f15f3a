"""Chunks at the door of a store: what each must have."""

from typing import Final

import polars as pl

from vocabgap.errors import InvalidInputError
from vocabgap.schema import CHUNKS

_NEVER_NULL: Final = ("id", "tenant_id", "repo_slug", "source_path")


def fresh_chunks(rows: pl.DataFrame) -> pl.DataFrame:
    """Chunks to be added: of those with the same id the first, with the columns in their order.

    Raises:
        InvalidInputError: The frame is not table `chunks`, or a row lacks what every chunk has.
    """
    CHUNKS.require(rows)
    for name in _NEVER_NULL:
        nulls = rows.get_column(name).is_null()
        if nulls.any():
            raise InvalidInputError(
                f"frame '{CHUNKS.name}': row {nulls.arg_max()}: '{name}' is null", hint="expected text"
            )
    return rows.select(CHUNKS.names).unique("id", keep="first", maintain_order=True)


def vector_length(rows: pl.DataFrame) -> int | None:
    """How many numbers the vectors of chunks have; None where none has a vector.

    Raises:
        InvalidInputError: They differ in that, or one has no numbers.
    """
    lengths = rows.get_column("embedding").list.len().drop_nulls().unique().sort().to_list()
    if len(lengths) > 1:
        raise InvalidInputError(
            f"vectors of {lengths[0]} and of {lengths[-1]} numbers are to be added to one corpus",
            hint="expected vectors of one length",
        )
    if lengths == [0]:
        raise InvalidInputError("a vector to be added has no numbers", hint="expected one number at least")
    return lengths[0] if lengths else None


def require_fitting(length: int | None, dimension: int | None) -> None:
    """Refuse vectors that are not as long as those of the corpus.

    Args:
        length: That of the vectors to be added, if any.
        dimension: That of the corpus, if it has any.

    Raises:
        InvalidInputError: They are not.
    """
    if None not in {length, dimension} and length != dimension:
        raise InvalidInputError(
            f"vectors of {length} numbers do not fit a corpus whose vectors have {dimension}",
            hint="restore them into another corpus; if those of this one are deleted, compact it first",
        )
