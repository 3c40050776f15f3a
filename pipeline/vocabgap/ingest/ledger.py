"""The account of a scan while it goes on: which log gave which rows, and where they are."""

from collections import Counter
from collections.abc import Iterable, Sequence
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
        logs: All logs, those that could not be read among them.
        counts: How many records and rejects each gave.
        records: Where the records are, in order.
        rejects: Where the rejects are, in order.
    """

    logs: list[LogFile] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    records: list[Span] = field(default_factory=list)
    rejects: list[Span] = field(default_factory=list)
    _read: list[tuple[LogFile, int, str, tuple[Portion, ...]]] = field(default_factory=list)

    def place(self, log: LogFile, records: Sequence[Span], rejects: Sequence[Span]) -> None:
        """Note where the rows of a log are."""
        self.logs.append(log)
        self.counts.append((sum(count for _, count in records), sum(count for _, count in rejects)))
        self.records += records
        self.rejects += rejects

    def account(self, log: LogFile, size: int, sha256: str, portions: Iterable[Portion]) -> None:
        """Note what a log that was read held; its portions may still be counted at."""
        self._read.append((log, size, sha256, tuple(portions)))

    @property
    def repairs(self) -> Counter[str]:
        """What was mended, by kind."""
        mended: Counter[str] = Counter()
        for *_, portions in self._read:
            for portion in portions:
                if portion.repairs:
                    mended.update(portion.repairs)
        return mended

    def files(self) -> pl.DataFrame:
        """One row a log that was read (table `files`)."""
        rows = [
            (
                log.repo_slug,
                log.source_path,
                size,
                sum(portion.lines for portion in portions),
                sha256,
                log.kind.source,
                sum(portion.passed_over for portion in portions),
            )
            for log, size, sha256, portions in self._read
        ]
        return pl.DataFrame(rows, schema=FILES.schema, orient="row")


def in_order(rows: pl.DataFrame, spans: Sequence[Span]) -> pl.DataFrame:
    """The rows of some spans, one span after the other."""
    spots = np.array(spans, dtype=np.int64).reshape(-1, 2)
    starts, counts = spots[:, 0], spots[:, 1]
    ends = np.cumsum(counts)
    if np.array_equal(starts[counts > 0], (ends - counts)[counts > 0]) and ends[-1:].sum() == rows.height:
        return rows
    return rows[np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())]
