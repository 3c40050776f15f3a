"""What a review lists: records as they were logged, with what is known of them."""

from typing import Final

import polars as pl

from vocabgap.schema.logs import RECORDS
from vocabgap.schema.table import Column, Table

LISTED: Final = Table(
    "listed",
    "one record that counts, as a review lists it",
    (
        *RECORDS.columns,
        Column("category", pl.String, "its category as the agent wrote it, aliases folded"),
        Column(
            "capability_id",
            pl.String,
            "the capability of the published run that its wording belongs to; null where none is known",
        ),
        Column("capability", pl.String, "the label of that capability"),
    ),
)
