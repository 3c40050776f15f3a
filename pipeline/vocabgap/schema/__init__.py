"""Every frame of vocabgap: its columns, their dtypes and what they mean. The only place that defines one."""

from typing import Final

from vocabgap.needs import PHRASE_FIELDS
from vocabgap.schema.capabilities import CAPABILITIES, EXAMPLE_FIELDS
from vocabgap.schema.clusters import CLUSTERS, LINKAGE, SWEEP, WORDINGS
from vocabgap.schema.identity import GROUPS, IDENTITIES, LINEAGE, VERDICTS
from vocabgap.schema.logs import FILES, GAPS, IMAGE_KEY, RECORDS, REJECTS
from vocabgap.schema.phrases import phrase, stripped
from vocabgap.schema.reviews import LISTED
from vocabgap.schema.table import UTC_MICROSECONDS, Column, Table

PUBLISHED: Final = {table.name: table for table in (RECORDS, CAPABILITIES, GAPS, REJECTS, LINEAGE, GROUPS)}

__all__ = [
    "CAPABILITIES",
    "CLUSTERS",
    "EXAMPLE_FIELDS",
    "FILES",
    "GAPS",
    "GROUPS",
    "IDENTITIES",
    "IMAGE_KEY",
    "LINEAGE",
    "LINKAGE",
    "LISTED",
    "PHRASE_FIELDS",
    "PUBLISHED",
    "RECORDS",
    "REJECTS",
    "SWEEP",
    "UTC_MICROSECONDS",
    "VERDICTS",
    "WORDINGS",
    "Column",
    "Table",
    "phrase",
    "stripped",
]
