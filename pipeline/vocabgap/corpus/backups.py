"""Backups of a shared corpus: every chunk with its vector in a file, and back, verbatim."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.backup_files import (
    BackupRecord,
    Batch,
    ChunkVectors,
    Mode,
    encoded,
    read_records,
    restore_into,
    written,
)
from vocabgap.corpus.change import Change
from vocabgap.corpus.chunks import Row, frame_of, row_of
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import natural_key
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import Version
from vocabgap.errors import StateError
from vocabgap.settings.model import DEFAULT_DIMENSION
from vocabgap.settings.sources import Source

SAMPLE: Final = 5
_CANDIDATE: Final = ("tenant_id", "repo_slug", "kind", "name")  # equal wherever natural keys are
_SHOWN_ID: Final = 12
_WRITTEN_AT_ONCE: Final = 50_000  # chunks
_COMPARED_AT_ONCE: Final = 50_000
_EXPORTED: Final = ("id", "metadata", "content", "embedding")


@dataclass(frozen=True, slots=True)
class Exported:
    """What a backup holds.

    Attributes:
        records: Chunks.
        embedded: Of these, those whose vector was made for it.
        without_document: Of these, those that have no text.
        dimension: Length of the vectors.
    """

    records: int
    embedded: int
    without_document: int
    dimension: int


def export(
    version: Version,
    path: Path,
    *,
    dimension: int = DEFAULT_DIMENSION,
    stop_words: Iterable[str],
    synonyms: Mapping[str, Iterable[str]],
    sources: Mapping[str, Source] | None = None,
) -> Exported:
    """Write every chunk of a corpus to a file, ordered by id.

    Args:
        version: The corpus.
        path: The file, compressed if it is called `.zst`. What is there is replaced in one step.
        dimension: Length of the vectors that pushed chunks get, unless the corpus has vectors of another one.
        stop_words: Words that such vectors ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it.
        sources: What gap logs are called and how they are read.

    Raises:
        StateError: The corpus cannot be read, or the disk did not take the file.
        AccessDeniedError: The system refused.
    """
    length = version.dimension or dimension
    ids = version.rows(["id"])["id"].sort()
    pending = version.rows(["id"], pl.col("embedding").is_null()).height
    vectors = (
        ChunkVectors(version, length, stop_words=stop_words, synonyms=synonyms, sources=sources)
        if pending
        else None
    )
    absent = 0
    with written(path) as file:
        for start in range(0, len(ids), _WRITTEN_AT_ONCE):
            part = ids[start : start + _WRITTEN_AT_ONCE]
            chunks = version.rows(_EXPORTED, pl.col("id").is_between(pl.lit(part[0]), pl.lit(part[-1]))).sort(
                "id"
            )
            absent += chunks["content"].null_count()
            file.writelines(map(encoded, _records(chunks, vectors)))
    return Exported(len(ids), pending, absent, length)


def _records(chunks: pl.DataFrame, vectors: ChunkVectors | None) -> Iterator[BackupRecord]:
    """Chunks as records, ordered by id; a chunk without a vector gets one."""
    missing = chunks.filter(pl.col("embedding").is_null())
    vectors_made: dict[str, list[float]] = {}
    provenance = b""
    if vectors is not None and missing.height:
        ids = missing["id"].to_list()
        vectors_made = dict(zip(ids, vectors.of(ids, missing["content"].to_list()), strict=True))
        provenance = vectors.told
    for identity, metadata, content, embedding in chunks.iter_rows():
        text = metadata.encode()
        if embedding is None:
            text = text.removesuffix(b"}") + provenance + b"}"
        vector = vectors_made[identity] if embedding is None else embedding
        yield BackupRecord(identity, vector, msgspec.Raw(text), content)


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of a backup.

    Attributes:
        records: Records in it.
        added: Of these, those that were not there yet.
        present: Of these, those that were, and stay as they are.
        without_document: Of these, those that have no text.
        removed: Chunks that were there before and were replaced.
        dimension: Length of the vectors.
    """

    records: int
    added: int
    present: int
    without_document: int
    removed: int
    dimension: int | None


def restore(store: Store, path: Path, mode: Mode = Mode.MERGE) -> Restored:
    """Put the records of a file into a corpus, verbatim; none of them unless all can be.

    Args:
        store: The corpus.
        path: The file.
        mode: Whether they join what is there, or take its place.

    Raises:
        RefusedError: A record cannot be restored, or names a chunk that is there under another id.
        NotFoundError: There is no such file.
        InvalidInputError: A line is no record.
        StateError: The corpus or the file cannot be read, or the disk did not take it. Nothing has changed.
    """
    source = _Source(path)
    next(iter(read_records(path)), None)  # a file that is not there is told before a corpus is made
    with store.changing(f"restore of {path.name}") as change:
        target = _Target(change)
        records = restore_into(target, lambda: source.read(change, mode), mode)
        target.flush()
        source.require_unchanged()
    present = records - target.added
    return Restored(records, target.added, present, target.absent, target.removed, source.dimension)


@dataclass(slots=True)
class _Source:
    """A file of records that is read twice: to be checked, and to be restored.

    Attributes:
        path: The file.
        dimension: Length of its vectors, once it was read.
    """

    path: Path
    dimension: int | None = None
    _status: tuple[int, int, int] | None = None

    def read(self, change: Change, mode: Mode) -> Iterator[dict[str, Any]]:
        """The records; the first time each is compared with the others and with the corpus."""
        if self._status is None:
            self._status = self._looked_at()
            return self._compared(change, mode)
        return (_as_object(record) for _, record in read_records(self.path))

    def require_unchanged(self) -> None:
        """Refuse a file that was changed while it was read."""
        if self._looked_at() != self._status:
            raise StateError(
                f"'{self.path}' was changed while it was read; nothing was written", hint="restore it again"
            )

    def _looked_at(self) -> tuple[int, int, int]:
        status = os.stat(self.path)  # noqa: PTH116 - read_records has said what is wrong with it
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _compared(self, change: Change, mode: Mode) -> Iterator[dict[str, Any]]:
        lines: dict[str, int] = {}
        gathered: list[dict[str, Any]] = []
        self.dimension = change.dimension if mode is Mode.MERGE else None
        expected = "the corpus has" if self.dimension else "the first record has"
        for number, record in read_records(self.path):
            self._require_fitting(record, number, expected)
            if record.id in lines:
                message = f"{self.path}:{number}: id '{record.id}' is that of line {lines[record.id]}, too"
                raise RefusedError(Code.IMPORT_FAILED, f"{message}; nothing was written")
            lines[record.id] = number
            taken = _as_object(record)
            yield taken
            if mode is Mode.MERGE:
                gathered.append({"id": record.id, "metadata": taken["metadata"]})
                if len(gathered) >= _COMPARED_AT_ONCE:
                    refuse_divergence(classify(change, gathered))
                    gathered.clear()
        if gathered:
            refuse_divergence(classify(change, gathered))

    def _require_fitting(self, record: BackupRecord, number: int, expected: str) -> None:
        length = len(record.embedding)
        self.dimension = self.dimension or length
        if length != self.dimension:
            raise RefusedError(
                Code.IMPORT_FAILED,
                f"{self.path}:{number}: the vector has {length} dimensions, {expected} {self.dimension}; "
                "nothing was written. Restore into a corpus of its own, or replace this one",
                dimension=length,
                expected=self.dimension,
            )


@dataclass(slots=True)
class _Target:
    """A corpus that records are put into, many at once.

    Attributes:
        change: The corpus.
        added: Records that were not there yet.
        absent: Records without a text.
        removed: Chunks that were taken out.
    """

    change: Change
    added: int = 0
    absent: int = 0
    removed: int = 0
    _rows: list[Row] = field(default_factory=list)

    def truncate(self) -> None:
        """Take out everything that is there."""
        self.removed = self.change.delete(pl.lit(value=True))

    def upsert(self, batch: Batch) -> None:
        """Put in a batch."""
        columns = zip(batch.ids, batch.metadatas, batch.texts, batch.embeddings, strict=True)
        for identity, metadata, text, embedding in columns:
            verbatim = metadata.text if isinstance(metadata, _Metadata) else None
            self._rows.append(row_of(identity, metadata, text, embedding, verbatim))
        self.absent += sum(batch.absent)
        if len(self._rows) >= _WRITTEN_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Hand over what has gathered."""
        if self._rows:
            self.added += self.change.add(frame_of(self._rows))
            self._rows.clear()


class _Metadata(dict[str, Any]):
    """What is said of a chunk, with the text that says it."""

    text: str


def _as_object(record: BackupRecord) -> dict[str, Any]:
    metadata = _Metadata(record.told)
    metadata.text = bytes(record.metadata).decode()
    return {
        "id": record.id,
        "embedding": record.embedding,
        "metadata": metadata,
        "document": record.document,
    }


class Merged(StrEnum):
    """What becomes of a record that is merged."""

    PRESENT = "id-already-present"
    DIVERGENT = "natural-key-divergent"
    INSERTED = "inserted"


class DivergenceScan(StrEnum):
    """Whether records were compared with a corpus before they were merged into it, or why they were not."""

    PERFORMED = "performed"
    SKIPPED_EMPTY = "skipped-empty-target"
    SKIPPED_REPLACE = "skipped-replace-mode"


@dataclass(frozen=True, slots=True)
class Classified:
    """What becomes of a record, and the chunks of the corpus that it meets there."""

    id: str
    outcome: Merged
    live_ids: tuple[str, ...]
    key: tuple[Any, ...]


def divergence_scan(live: Version, *, replace: bool) -> DivergenceScan:
    """Whether records are to be compared with a corpus: not where it is empty, nor where nothing stays."""
    if replace:
        return DivergenceScan.SKIPPED_REPLACE
    return DivergenceScan.PERFORMED if len(live.rows(["id"])) else DivergenceScan.SKIPPED_EMPTY


def classify(live: Version, incoming: Sequence[Mapping[str, Any]]) -> list[Classified]:
    """What becomes of records that are merged into a corpus."""
    ids = [record["id"] for record in incoming]
    present = set(live.rows(["id"], pl.col("id").is_in(ids))["id"])
    ids_by_key = _alike(live, [record for record in incoming if record["id"] not in present])
    return [_classified(record, present, ids_by_key) for record in incoming]


def _classified(
    record: Mapping[str, Any], present: set[str], ids_by_key: Mapping[str, Sequence[str]]
) -> Classified:
    identity, metadata = record["id"], record["metadata"]
    key = tuple(metadata.get(field) for field in ("type", "name", "source", "tenantId", "repoSlug"))
    if identity in present:
        return Classified(identity, Merged.PRESENT, (identity,), key)
    alike = tuple(ids_by_key.get(natural_key(metadata), ()))
    return Classified(identity, Merged.DIVERGENT if alike else Merged.INSERTED, alike, key)


def _alike(live: Version, incoming: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Natural key to the ids of the chunks that have it, for all keys of some records."""
    if not incoming:
        return {}
    rows: list[Row] = [row_of(record["id"], record["metadata"], None, verbatim="") for record in incoming]
    sought = frame_of(rows).select(_CANDIDATE).unique()
    tenants = sought["tenant_id"].drop_nulls().to_list()
    within = pl.col("tenant_id").is_in(tenants) | pl.col("tenant_id").is_null()
    chunks = live.rows(["id", "metadata", *_CANDIDATE], within)
    candidates = chunks.join(sought, on=_CANDIDATE, how="semi", nulls_equal=True).sort("id")
    ids_by_key: dict[str, list[str]] = {}
    for identity, metadata in candidates.select("id", "metadata").iter_rows():
        ids_by_key.setdefault(natural_key(msgspec.json.decode(metadata)), []).append(identity)
    return ids_by_key


def refuse_divergence(classified: Iterable[Classified]) -> None:
    """Refuse a merge in which a record would stand beside another version of the same chunk."""
    divergent = [each for each in classified if each.outcome is Merged.DIVERGENT]
    if not divergent:
        return
    sample = "; ".join(_told(each) for each in divergent[:SAMPLE])
    raise RefusedError(
        Code.DIVERGENCE,
        f"{len(divergent)} of the records name a chunk that is there under another id: {sample}. "
        "Nothing was written. See why the ids differ, or replace the corpus as a whole",
        divergent=len(divergent),
        sample=[{"id": each.id, "liveIds": list(each.live_ids)} for each in divergent[:SAMPLE]],
    )


def _told(each: Classified) -> str:
    kind, name, source, tenant, repo = each.key
    ids = f"{each.id[:_SHOWN_ID]} here, {each.live_ids[0][:_SHOWN_ID]} there"
    return f"{kind} {name!r} in {source!r} of {tenant}/{repo} ({ids})"
