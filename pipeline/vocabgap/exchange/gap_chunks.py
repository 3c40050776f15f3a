"""Lines of gap logs as chunks of a shared corpus, and back: what a line is called, and what is told of it."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.ingest import FOLDER, STORED, TEXT
from vocabgap.schema import GAP_KIND

PARSER_ID: Final = "vocabgap-gap-log"
PARSER_VERSION: Final = "1.0.0"
SCHEMA_VERSION: Final = "1.0.0"
CONTRACT_ROOT_KIND: Final = "external-source"  # of a line in a payload, where `image-repo` is never said
HASH_INPUTS: Final = ("kind", "name", "content", "sourcePath", "parserId", "parserVersion")
_BYTE_OFFSET: Final = "byteOffset"


class _Meta(msgspec.Struct, frozen=True):
    """What a chunk's own metadata say of where its line stood."""

    byteOffset: int | None = None  # noqa: N815 - the name in the chunk
    folder: str | None = None


class _Told(msgspec.Struct, frozen=True):
    """The part of a stored chunk's metadata that is about its line."""

    customMeta: _Meta = _Meta()  # noqa: N815 - the name in the contract


_TOLD: Final = msgspec.json.Decoder(_Told)


def chunks_of_lines(
    lines: pl.DataFrame, *, tenant_id: str, repo_slug: str, root_kind: str = CONTRACT_ROOT_KIND
) -> Iterator[dict[str, Any]]:
    """Each readable line as a chunk.

    Args:
        lines: As `ingest.read_lines` gives them.
        tenant_id: Whose they are.
        repo_slug: The repository.
        root_kind: The kind of its root.
    """
    columns = ("record_id", TEXT, "source_path", "line", "byte_offset", FOLDER)
    for record_id, text, source_path, line, offset, folder in lines.select(columns).iter_rows():
        meta: dict[str, Any] = {_BYTE_OFFSET: offset}
        if folder != folder_of(source_path, repo_slug):
            meta[FOLDER] = folder
        yield {
            "schemaVersion": SCHEMA_VERSION,
            "tenantId": tenant_id,
            "repoSlug": repo_slug,
            "rootKind": root_kind,
            "sourcePath": source_path,
            "content": text,
            "hashInputs": list(HASH_INPUTS),
            "parserId": PARSER_ID,
            "parserVersion": PARSER_VERSION,
            "kind": GAP_KIND,
            "name": record_id,
            "line_start": line,
            "line_end": line,
            "customMeta": meta,
        }


def folder_of(source_path: str, repo_slug: str) -> str:
    """The folder that holds a log: the one of its path, or the repository."""
    above, _, _ = source_path.rpartition("/")
    return (above or repo_slug).rpartition("/")[2]


def lines_of_chunks(chunks: pl.DataFrame) -> pl.DataFrame:
    """The lines that some chunks hold (`ingest.STORED`).

    Args:
        chunks: Columns of table `chunks`, gap records with content only.
    """
    told = [_meta(metadata) for metadata in chunks["metadata"]]
    return chunks.with_columns(
        pl.Series("byte_offset", [each.byteOffset for each in told], dtype=pl.Int64),
        pl.Series(FOLDER, [each.folder for each in told], dtype=pl.String),
        pl.col("content").alias(TEXT),
    ).select(STORED.names)


def _meta(metadata: str) -> _Meta:
    """What is told of a line; nothing where somebody else uses the same names for other things."""
    try:
        found = _TOLD.decode(metadata).customMeta
    except msgspec.MsgspecError:
        return _Meta()
    at = found.byteOffset
    return found if at is None or 0 <= at < 1 << 60 else _Meta(folder=found.folder)
