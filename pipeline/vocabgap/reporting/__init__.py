"""Reporting: ranked capabilities to the files of a run, published together or not at all."""
