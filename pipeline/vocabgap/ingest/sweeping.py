"""One pass over the logs: what is known is recalled, what is not is read, and every log is accounted for."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import structs

from vocabgap.ingest.caching import Cache, CacheUse
from vocabgap.ingest.collecting import Collector, Prefix
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.ledger import Ledger, Span
from vocabgap.ingest.shards import Entry, Stretch


@dataclass(slots=True)
class Sweep:
    """A pass over the logs.

    Attributes:
        collector: Reads them.
        cache: What earlier scans have left, if anything.
        ledger: The account.
    """

    collector: Collector
    cache: Cache | None = None
    ledger: Ledger = field(default_factory=Ledger)
    _unchanged: int = 0
    _resumed: int = 0
    _read: int = 0

    def over(self, logs: Iterable[LogFile]) -> None:
        """Read every log that is not known as it is, and hand over what has gathered."""
        for log in logs:
            known = self.cache and self.cache.recall(log, self.collector.max_expanded)
            if self.cache and known and self.cache.is_unchanged(known):
                self._recall(log, known, self.cache)
            else:
                self._look(log, known or None)
        self.collector.lines.flush()

    def use(self) -> CacheUse:
        """What the cache was good for."""
        return CacheUse(self._unchanged, self._resumed, self._read, self.cache.note if self.cache else "")

    def _recall(self, log: LogFile, known: Entry, cache: Cache) -> None:
        self._unchanged += 1
        cache.keep(known)
        self.ledger.place(log, *_spans(known.stretches, cache))
        self.ledger.account(log, known.bytes, known.sha256, [each.portion for each in known.stretches])

    def _look(self, log: LogFile, known: Entry | None) -> None:
        before = self._totals()
        read = self.collector.read(log, _prefix(log, known))
        after = self._totals()
        kept: tuple[Stretch, ...] = ()
        if known and read and read.resumed:
            kept = tuple(each for each in known.stretches if each.portion.ended)
        elif known and read and read.to_the_end and read.sha256 == known.sha256:
            # Compressed, and read again only to be compared: what was decoded now is what is known.
            kept, after, read = known.stretches, before, structs.replace(read, portions=[])
        if self.cache:  # without one the rows come in order, and need not be found again
            records, rejects = _spans(kept, self.cache)
            of_records, of_rejects = self.cache.height
            records.append((of_records + before[0], after[0] - before[0]))
            rejects.append((of_rejects + before[1], after[1] - before[1]))
            self.ledger.place(log, records, rejects)
        if read is None:
            return
        self._resumed += read.resumed
        self._read += not read.resumed
        portions = (*(each.portion for each in kept), *read.portions)
        self.ledger.account(log, read.bytes, read.sha256, portions)
        if self.cache:
            self.cache.learn(log, read, before, kept)

    def _totals(self) -> tuple[int, int]:
        return self.collector.lines.records.total, self.collector.lines.rejects.total


def _prefix(log: LogFile, known: Entry | None) -> Prefix | None:
    """From where a log may be read on; one that is compressed is read whole."""
    return known.prefix if known and not log.kind.compression else None


def _spans(stretches: Iterable[Stretch], cache: Cache) -> tuple[list[Span], list[Span]]:
    records, rejects = [], []
    for stretch in stretches:
        first_record, first_reject = cache.start(stretch)
        records.append((first_record, stretch.portion.records))
        rejects.append((first_reject, stretch.portion.rejects))
    return records, rejects
