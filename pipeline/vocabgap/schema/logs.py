"""What logs hold: the records that count, every readable line, the lines that are none, and the files."""

from typing import Final

import polars as pl

from vocabgap.schema.table import NAMES, UTC_MICROSECONDS, Column, Table

IMAGE_KEY: Final = ("tenant_id", "repo_slug", "image_id")
"""What tells one image from another: folders of two repositories, or tenants, may have one name."""

RECORDS: Final = Table(
    "records",
    "one readable gap record that counts: neither a duplicate nor superseded",
    (
        Column("timestamp", UTC_MICROSECONDS, "when the gap was logged; null where it could not be read"),
        Column("image_id", pl.String, "the image; from the folder's name where the record has none"),
        Column("session_id", pl.String, "the agent's session, if known"),
        Column(
            "snapshot_hash", pl.String, "SHA-256 (hex) of the image's state when the gap was hit, if known"
        ),
        Column("description", pl.String, "what was missing, in a sentence; null in the draft shape"),
        Column("workaround", pl.String, "what was done instead; may be empty"),
        Column("intent", pl.String, "what the person asked for, if recorded"),
        Column("intent_category", pl.String, "coarse class as the agent wrote it, aliases not folded"),
        Column("missing_capability", pl.String, "what the agent thinks would have been the right primitive"),
        Column("operations_involved", NAMES, "operations or vocabulary entries the workaround touched"),
        Column("vocabulary_used", NAMES, "existing vocabulary entries that were used"),
        Column("satisfaction", pl.Int8, "-1 unsatisfied, 0 neutral, 1 satisfied, null not rated"),
        Column("notes", pl.String, "free text; a correction names the snapshot_hash that it corrects"),
        Column("tenant_id", pl.String, "whose record it is; `local` where nothing else is said"),
        Column("repo_slug", pl.String, "the repository: the name of the root folder, or as a corpus has it"),
        Column("root_kind", pl.String, "kind of root: `image-repo`, or as a corpus has it"),
        Column("source_path", pl.String, "log file, relative to the root, forward slashes"),
        Column("line", pl.Int64, "line in the file, counted from 1"),
        Column(
            "byte_offset",
            pl.Int64,
            "offset of the line's first byte in the file, counted from 0; null where a corpus does not say",
        ),
        Column("record_id", pl.String, "SHA-256 (hex) of the canonical record with its image"),
    ),
)

GAPS: Final = Table(
    "gaps",
    "one readable line of a log, whether it counts or not",
    (
        *RECORDS.columns,
        Column(
            "capability_id",
            pl.String,
            "the capability that its wording belongs to; null where none was ranked",
        ),
        Column("counted", pl.Boolean, "whether the record is among the mentions of its capability"),
        Column(
            "why_not", pl.String, "`duplicate`, `superseded`, `filtered` or `not_a_gap`; null where counted"
        ),
        Column("category", pl.String, "its category, aliases folded; null where none is known"),
        Column("category_by", pl.String, "who says so: `agent`, `operations` or `classifier`"),
        Column(
            "category_probability",
            pl.Float64,
            "how sure the classifier was, 0 to 1; null where it was not asked",
        ),
        Column("rule", pl.String, "the rule that says that it is no gap; null elsewhere"),
    ),
)

REJECTS: Final = Table(
    "rejects",
    "one line that is no gap record, or one file that could not be read",
    (
        Column("source_path", pl.String, "log file, relative to the root, forward slashes"),
        Column("line", pl.Int64, "line in the file, counted from 1; null where the whole file is meant"),
        Column(
            "byte_offset", pl.Int64, "offset of the line's first byte; null where the whole file is meant"
        ),
        Column("reason", pl.String, "one of a closed list, see `vocabgap.record.RejectReason`"),
        Column("detail", pl.String, "what was expected and what was found"),
        Column("raw", pl.String, "the first 512 bytes of the line, with unprintable bytes escaped"),
        Column("repo_slug", pl.String, "the repository: the name of the scanned root folder"),
    ),
)

FILES: Final = Table(
    "files",
    "one log file that was read",
    (
        Column("repo_slug", pl.String, "the repository: the name of the scanned root folder"),
        Column("source_path", pl.String, "log file, relative to the root, forward slashes"),
        Column("bytes", pl.Int64, "size in bytes, expanded where it is compressed"),
        Column("lines", pl.Int64, "lines that are not blank, those that were passed over aside"),
        Column("sha256", pl.String, "SHA-256 (hex) of the content, expanded where it is compressed"),
        Column(
            "source", pl.String, "the kind of log; empty for a file that was named outright and fits none"
        ),
        Column("passed_over", pl.Int64, "lines that the source does not count as gaps"),
    ),
)
