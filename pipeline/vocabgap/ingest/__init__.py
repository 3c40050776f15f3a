"""Ingest: gap logs in, records and rejects out. No good record is lost because of a bad neighbour."""

from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.discovery import resolve_roots
from vocabgap.ingest.repaired import RepairedLine, repaired_lines
from vocabgap.ingest.scanning import Scan, ScanSummary, scan, scan_to_parquet
from vocabgap.ingest.selection import Selection, undated, unmatched
from vocabgap.ingest.verbatim import (
    FOLDER,
    STORED,
    TEXT,
    LogLines,
    read_lines,
    scan_stored,
    text_lines,
    united,
)

__all__ = [
    "FOLDER",
    "STORED",
    "TEXT",
    "CacheUse",
    "LogLines",
    "RepairedLine",
    "Scan",
    "ScanSummary",
    "Selection",
    "read_lines",
    "repaired_lines",
    "resolve_roots",
    "scan",
    "scan_stored",
    "scan_to_parquet",
    "text_lines",
    "undated",
    "united",
    "unmatched",
]
