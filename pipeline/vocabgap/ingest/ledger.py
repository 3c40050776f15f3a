"""The account of a scan while it goes on: which log gave which rows, and where they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import Portion
from vocabgap.schema import FILES

# First row and number of rows, among all records or all rejects at hand.
Span = tuple[int, int]


@dataclass(slots=True)
class Ledger:
    """What each log gave, in the order of the logs.

    Attributes:
        logs: All logs whose rows have a place, those that could not be read among them.
        counts: How many records and rejects each gave.
        records: Where the records are, in order.
        rejects: Where the rejects are, in order.
    """

    logs: list[LogFile] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    records: list[Span] = field(default_factory=list)
    rejects: list[Span] = field(default_factory=list)
    _files: list[tuple[str, str, int, int, str, str, int]] = field(default_factory=list)
    _portions: list[Portion] = field(default_factory=list)

    def place(self, log: LogFile, records: Sequence[Span], rejects: Sequence[Span]) -> None:
        """Note where the rows of a log are."""
        self.logs.append(log)
        self.counts.append((_rows(records), _rows(rejects)))
        self.records += records
        self.rejects += rejects

    def account(self, log: LogFile, size: int, sha256: str, portions: Sequence[Portion]) -> None:
        """Note what a log that was read held. What was mended in its portions may still be counted at."""
        lines = passed_over = 0
        for portion in portions:
            lines += portion.lines
            passed_over += portion.passed_over
        source = log.kind.source
        self._files.append((log.repo_slug, log.source_path, size, lines, sha256, source, passed_over))
        self._portions += portions

    @property
    def repairs(self) -> Counter[str]:
        """What was mended, by kind."""
        mended: Counter[str] = Counter()
        for portion in self._portions:
            if portion.repairs:
                mended.update(portion.repairs)
        return mended

    def files(self) -> pl.DataFrame:
        """One row a log that was read (table `files`)."""
        return pl.DataFrame(self._files, schema=FILES.schema, orient="row")


def _rows(spans: Sequence[Span]) -> int:
    rows = 0
    for _, count in spans:
        rows += count
    return rows


def in_order(rows: pl.DataFrame, spans: Sequence[Span]) -> pl.DataFrame:
    """The rows of some spans, one span after the other."""
    spots = np.array(spans, dtype=np.int64).reshape(-1, 2)
    starts, counts = spots[:, 0], spots[:, 1]
    ends = np.cumsum(counts)
    if np.array_equal(starts[counts > 0], (ends - counts)[counts > 0]) and ends[-1:].sum() == rows.height:
        return rows
    return rows[np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())]
