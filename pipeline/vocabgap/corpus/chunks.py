"""Chunks at the door of a store: what each must have."""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import polars as pl

from vocabgap.corpus.compact_json import compact_json, is_unicode
from vocabgap.corpus.identity import SHARED_REPO, SHARED_TENANT, milliseconds
from vocabgap.errors import InvalidInputError
from vocabgap.schema import CHUNKS, UTC_MICROSECONDS

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


# The order in which the chunks of a corpus are read.


PATH_KEY: Final = ("tenant_id", "repo_slug", "source_path")
"""What a path is told apart by."""
ORDER: Final = (*PATH_KEY, "line", "id")
"""Columns by which chunks are ordered: text by code point, and no line before the first."""


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of `ORDER`, all of whose columns they have.

    They mostly come in long stretches of one path. So stretches are ranked, not rows, which costs a quarter
    of what sorting the rows does; only where rows share path and line are ids compared.
    """
    if rows.is_empty():
        return rows
    stretch = rows.select(pl.struct(PATH_KEY).rle_id().alias("stretch")).to_series()
    heads = rows.filter(stretch.diff().fill_null(1) != 0).select(PATH_KEY)
    ranked = heads.with_row_index("stretch").sort(PATH_KEY, maintain_order=True)
    rank = ranked.with_columns(rank=pl.struct(PATH_KEY).rle_id()).sort("stretch").get_column("rank")
    keys = pl.DataFrame({"rank": rank.gather(stretch), "line": rows.get_column("line")}).with_row_index("row")
    ordered = keys.sort("rank", "line", maintain_order=True)
    same = pl.struct("rank", "line")
    if ordered.select((same.rle_id().diff() == 0).any()).item():
        ordered = keys.with_columns(rows.get_column("id")).sort("rank", "line", "id", maintain_order=True)
    places = ordered.get_column("row")
    return rows if places.is_sorted() else rows.rechunk().select(pl.all().gather(places))


# Chunks as rows of table `chunks`: what is said of a chunk is kept whole, and its identity as
# columns.


_TEXTS: Final = ("id", "content", "description")  # columns of their own, or the same text once more
_INT64: Final = 2**63
_FIRST: Final = milliseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = milliseconds(datetime.max.replace(tzinfo=UTC))


class Row(NamedTuple):
    """A row of table `chunks`; `ingested_at` in microseconds since 1970."""

    id: str
    tenant_id: str
    repo_slug: str
    root_kind: str | None
    source_path: str
    kind: str | None
    name: str | None
    line: int | None
    content: str | None
    metadata: str
    embedding: list[float] | None
    config_version: int | None
    ingested_at: int | None


def row_of(
    identity: str,
    metadata: Mapping[str, Any],
    content: str | None,
    embedding: list[float] | None = None,
    verbatim: str | None = None,
) -> Row:
    """The row of a chunk. What its metadata say in another form than expected is null as a column.

    A restored record need not say whose it is: it is then what the contract shares, and of no path.

    Args:
        identity: The id that it is stored under.
        metadata: What is said of it, under the contract's names.
        content: Its text; None where a restored record had none.
        embedding: The vector that it is restored with.
        verbatim: The metadata as they stand in a backup; written anew by default.
    """
    moment = _finite(metadata.get("ingestedAt"))
    return Row(
        id=identity,
        tenant_id=_text(metadata.get("tenantId")) or SHARED_TENANT,
        repo_slug=_text(metadata.get("repoSlug")) or SHARED_REPO,
        root_kind=_text(metadata.get("rootKind")),
        source_path=_text(metadata.get("sourcePath", metadata.get("source"))) or "",
        kind=_text(metadata.get("type", metadata.get("kind"))),
        name=_text(metadata.get("name")),
        line=_whole(metadata.get("line_start")),
        content=content,
        metadata=compact_json(metadata) if verbatim is None else verbatim,
        embedding=embedding,
        config_version=_whole(metadata.get("tenantConfigVersion")),
        ingested_at=None if moment is None or not _FIRST <= moment <= _LAST else math.floor(moment * 1000),
    )


def metadata_of(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is said of a stamped chunk but its id and its text."""
    return {field: value for field, value in chunk.items() if field not in _TEXTS}


def frame_of(rows: Iterable[Row]) -> pl.DataFrame:
    """Rows as a frame of table `chunks`."""
    columns = dict(zip(Row._fields, zip(*rows, strict=True), strict=False))
    if not columns:
        return CHUNKS.empty()
    schema = {**CHUNKS.schema, "ingested_at": pl.Int64()}
    return pl.DataFrame(columns, schema=schema).with_columns(pl.col("ingested_at").cast(UTC_MICROSECONDS))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and is_unicode(value) else None


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _whole(value: object) -> int | None:
    number = _finite(value)
    if number is None or not -_INT64 <= number < _INT64:
        return None
    return math.floor(number)
