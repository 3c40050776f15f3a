"""Chunks as rows of table `chunks`: what is said of a chunk is kept whole, and its identity as columns."""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import polars as pl

from vocabgap.corpus.compact_json import compact_json, is_unicode
from vocabgap.corpus.identity import SHARED_REPO, SHARED_TENANT, milliseconds
from vocabgap.schema import CHUNKS, UTC_MICROSECONDS

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
