"""Ingest: gap logs in, records and rejects out. No good record is lost because of a bad neighbour."""

from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.discovery import resolve_roots
from vocabgap.ingest.repaired import RepairedLine, repaired_lines
from vocabgap.ingest.scanning import Scan, ScanSummary, scan
from vocabgap.ingest.selection import Selection
from vocabgap.ingest.spooling import scan_to_parquet
from vocabgap.ingest.unmatched import undated, unmatched

__all__ = [
    "CacheUse",
    "RepairedLine",
    "Scan",
    "ScanSummary",
    "Selection",
    "repaired_lines",
    "resolve_roots",
    "scan",
    "scan_to_parquet",
    "undated",
    "unmatched",
]
