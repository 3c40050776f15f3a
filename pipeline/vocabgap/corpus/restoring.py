"""Backup records on their way into a corpus: every one is checked before the first is written."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Final, Protocol

from vocabgap.corpus.contracts import BACKUP_RECORD
from vocabgap.corpus.outcome import Code, RefusedError
from vocabgap.corpus.validating import Fault, faults, keeps

BATCH: Final = 500
"""Records that are written at once."""


class Mode(StrEnum):
    """What becomes of what a corpus holds already."""

    MERGE = "merge"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Batch:
    """Records to be written at once.

    Attributes:
        ids: What they are stored under.
        embeddings: Their vectors, verbatim.
        metadatas: What is said of them.
        documents: Their texts, with nothing for those that have none; None where none of them has one.
        absent: Which of them have none.
    """

    ids: tuple[str, ...]
    embeddings: tuple[list[float], ...]
    metadatas: tuple[dict[str, Any], ...]
    documents: tuple[str, ...] | None
    absent: tuple[bool, ...]

    @property
    def texts(self) -> tuple[str | None, ...]:
        """The text of each as its record has it: None where there is none."""
        documents = self.documents or ("",) * len(self.ids)
        return tuple(
            None if missing else document for missing, document in zip(self.absent, documents, strict=True)
        )


class Target(Protocol):
    """What records are restored into."""

    def truncate(self) -> None:
        """Take out everything that is there."""
        ...

    def upsert(self, batch: Batch) -> None:
        """Put in a batch."""
        ...


def record_faults(record: object) -> tuple[Fault, ...]:
    """Where a record cannot be restored. A `document` of null can, although the schema has none.

    Args:
        record: Whatever JSON may hold.
    """
    if isinstance(record, dict) and "document" in record and record["document"] is None:
        record = {**record, "document": ""}
    return () if keeps(BACKUP_RECORD, record) else faults(BACKUP_RECORD, record)


def require_record(record: object, place: str) -> None:
    """Refuse what cannot be restored.

    Args:
        record: Whatever JSON may hold.
        place: Where it stands, in words.

    Raises:
        RefusedError: It cannot; the message says where it stands and what is wrong.
    """
    wrong = record_faults(record)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise RefusedError(
            Code.IMPORT_FAILED,
            f"{place}: no backup-record-v1: {wrong[0].message}{more}; nothing was written",
            errors=[fault.as_object() for fault in wrong],
        )


def batches(records: Iterable[Mapping[str, Any]]) -> Iterator[Batch]:
    """Checked records in the batches that are written, in order.

    Args:
        records: Backup records.
    """
    remaining = iter(records)
    while taken := list(islice(remaining, BATCH)):
        absent = tuple(record["document"] is None for record in taken)
        texts = None if all(absent) else tuple(record["document"] or "" for record in taken)
        yield Batch(
            ids=tuple(record["id"] for record in taken),
            embeddings=tuple(record["embedding"] for record in taken),
            metadatas=tuple(record["metadata"] for record in taken),
            documents=texts,
            absent=absent,
        )


def restore_into(target: Target, read: Callable[[], Iterable[Any]], mode: Mode = Mode.MERGE) -> int:
    """Restore records, none of them unless all can be.

    Args:
        target: What they are restored into.
        read: Gives the records from the first one on; called twice, so that they need not fit into memory.
        mode: What becomes of what is there.

    Returns:
        How many were restored.

    Raises:
        RefusedError: One of them cannot be; nothing was written, nor taken out.
    """
    for number, record in enumerate(read(), start=1):
        require_record(record, f"record {number}")
    if mode is Mode.REPLACE:
        target.truncate()
    restored = 0
    for batch in batches(read()):
        target.upsert(batch)
        restored += len(batch.ids)
    return restored
