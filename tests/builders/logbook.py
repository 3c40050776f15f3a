"""An image to log gaps of, and what a scan finds of it. A workspace with what a review has to tell apart."""

from pathlib import Path

import polars as pl

import vocabgap as vg


def found(image: Path) -> pl.DataFrame:
    """Scans the workspace of the image, in which every line has to be a record."""
    scanned = vg.scan(image.parent)
    assert scanned.rejects.is_empty()
    assert not scanned.summary.repairs
    return scanned.gaps
