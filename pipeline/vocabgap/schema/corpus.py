"""What a shared corpus holds: chunks, each with whose it is and when it came."""

from typing import Final

import polars as pl

from vocabgap.schema.table import UTC_MICROSECONDS, Column, Table

GAP_KIND: Final = "gap-record"
"""The kind of a chunk that is one line of a gap log."""

CHUNKS: Final = Table(
    "chunks",
    "one chunk of a shared corpus: a line of a gap log, or any other piece of a source",
    (
        Column("id", pl.String, "storage id; of a pushed chunk the SHA-256 (hex) over whose it is and what"),
        Column("tenant_id", pl.String, "whose chunk it is, as the receiving side stamped it"),
        Column("repo_slug", pl.String, "the tenant's repository"),
        Column("root_kind", pl.String, "kind of root: one of the contract's three, or `image-repo`"),
        Column("source_path", pl.String, "file that it comes from, relative to the root, forward slashes"),
        Column("kind", pl.String, "what it is; `gap-record` for a line of a gap log"),
        Column("name", pl.String, "its name in the source; the record_id of a gap record"),
        Column("line", pl.Int64, "its first line in the source, counted from 1; null where not said"),
        Column("content", pl.String, "its text; null where a restored record had none"),
        Column("metadata", pl.String, "everything that is said of it, as compact JSON"),
        Column("embedding", pl.List(pl.Float64), "the vector it was restored with; null for a pushed chunk"),
        Column("config_version", pl.Int64, "version of the tenant's configuration when it was ingested"),
        Column("ingested_at", UTC_MICROSECONDS, "when it was first ingested; null where a backup had none"),
    ),
)
