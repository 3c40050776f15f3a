"""Ingest: gap logs in, records and rejects out. No good record is lost because of a bad neighbour."""
