"""Backups of a shared corpus: every chunk with its vector in a file, and back, verbatim."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.clustering.projecting import METHOD, SEED, WordingVectors
from vocabgap.corpus.backup_files import BackupRecord, encoded, metadata_in, read_records, written
from vocabgap.corpus.chunks import Row, frame_of, row_of, scan_chunks
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import natural_key
from vocabgap.corpus.store import Store
from vocabgap.corpus.upkeep import without_forgotten
from vocabgap.corpus.version import Version
from vocabgap.errors import StateError
from vocabgap.records.record import PHRASE_FIELDS
from vocabgap.schema import phrase
from vocabgap.settings.model import Settings
from vocabgap.settings.sources import Source

EMBEDDED_BY: Final = "embeddedBy"
_AT_ONCE: Final = 50_000  # chunks that are held in memory
_SAMPLE: Final = 5  # divergent records that are named
_SHOWN_ID: Final = 12
_NATURAL_KEY: Final = ("tenant_id", "repo_slug", "kind", "name")  # equal wherever natural keys are
_EXPORTED: Final = ("id", "metadata", "content", "embedding")
_EMBEDDED: Final = (
    "id", "tenant_id", "repo_slug", "root_kind", "source_path", "kind", "line", "content", "metadata",
)  # fmt: skip


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


def export(version: Version, path: Path, settings: Settings) -> Exported:
    """Write every chunk of a corpus to a file, ordered by id."""
    ids = version.rows(["id"])["id"].sort()
    embedded = version.rows(["id"], pl.col("embedding").is_null()).height
    dimension = version.dimension or settings.corpus.dimension
    vectors = _ChunkVectors(version, dimension, settings) if embedded else None
    without_document = 0
    with written(path) as file:
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            wanted = pl.col("id").is_between(pl.lit(part[0]), pl.lit(part[-1]))
            chunks = version.rows(_EXPORTED, wanted).sort("id")
            without_document += chunks["content"].null_count()
            file.writelines(map(encoded, _records(chunks, vectors)))
    return Exported(len(ids), embedded, without_document, dimension)


def _records(chunks: pl.DataFrame, vectors: "_ChunkVectors | None") -> Iterator[BackupRecord]:
    """Chunks as records; one without a vector gets one, and says how it came about."""
    missing = chunks.filter(pl.col("embedding").is_null())
    computed = vectors.of(missing) if vectors is not None and missing.height else {}
    for identity, metadata, content, embedding in chunks.iter_rows():
        text = metadata.encode()
        if vectors is not None and embedding is None:
            text = text.removesuffix(b"}") + vectors.provenance + b"}"
        yield BackupRecord(identity, embedding or computed[identity], msgspec.Raw(text), content)


class _ChunkVectors:
    """The vectors of the chunks of a corpus that were not restored with one.

    That of a gap record is its row in the clustering of all gap records of the corpus; any other text is
    compared with the other texts in the same way. A text without a word has zeros.
    """

    def __init__(self, version: Version, dimension: int, settings: Settings) -> None:
        value = {"by": METHOD, "dimension": dimension, "seed": SEED}
        self.provenance = b",%b:%b" % tuple(map(msgspec.json.encode, (EMBEDDED_BY, value)))
        chunks = version.rows(_EMBEDDED, pl.col("content").is_not_null())
        phrases = _phrases(chunks, settings.sources)
        others = chunks.join(phrases, on="id", how="anti").select(phrase="content")
        self._phrases = dict(phrases.iter_rows())
        self._gaps, self._others = (
            WordingVectors(
                _requests(texts),
                dimension,
                stop_words=settings.cluster.stop_words,
                synonyms=settings.cluster.synonyms,
            )
            for texts in (chunks.select("id").join(phrases, on="id"), others)
        )

    def of(self, chunks: pl.DataFrame) -> dict[str, list[float]]:
        """The vectors of some chunks, by id."""
        ids = chunks["id"].to_list()
        gaps = self._gaps.of(map(self._phrases.get, ids))
        wordings = _requests(chunks.select(phrase="content")).select(phrase()).to_series()
        others = self._others.of(
            None if each in self._phrases else wording for each, wording in zip(ids, wordings, strict=True)
        )
        return dict(zip(ids, (gaps + others).tolist(), strict=True))


def _phrases(chunks: pl.DataFrame, sources: Mapping[str, Source] | None) -> pl.DataFrame:
    """What each readable gap record asks for: columns `id` and `phrase`."""
    lines, scanned = scan_chunks(chunks, sources)
    records = scanned.gaps.select("line", phrase().alias("phrase"))
    return lines.select("id", "line").join(records, on="line", how="inner").select("id", "phrase")


def _requests(texts: pl.DataFrame) -> pl.DataFrame:
    """The texts of column `phrase` as records that ask for them."""
    missing = (pl.lit(None, pl.String).alias(name) for name in PHRASE_FIELDS[1:])
    return texts.select(pl.col("phrase").cast(pl.String).alias(PHRASE_FIELDS[0]), *missing)


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of a backup.

    Attributes:
        records: Records in it.
        added: Of these, those that were not there yet.
        present: Of these, those that were, and stay as they are.
        without_document: Of these, those that have no text.
        forgotten: Of these, those that were left out, for somebody had them forgotten.
        removed: Chunks that were there before and were replaced.
        dimension: Length of the vectors.
    """

    records: int
    added: int
    present: int
    without_document: int
    forgotten: int
    removed: int
    dimension: int | None


def restore(store: Store, path: Path, *, replace: bool = False, at_once: int = _AT_ONCE) -> Restored:
    """Put the records of a file into a corpus, verbatim; none of them unless all can be.

    The file is read twice: to be checked, and to be restored, `at_once` records at a time.
    """
    next(read_records(path), None)  # a file that is not there is told before a corpus is made
    records = added = without_document = forgotten = 0
    with store.changing(f"restore of {path.name}") as change:
        before = _state(path)
        dimension = _require_restorable(path, change, replace=replace)
        removed = change.delete(pl.lit(value=True)) if replace else 0
        if replace:
            change.keep("logs", change.table("logs").clear())
        remaining = map(_row_of, read_records(path))
        while rows := list(islice(remaining, at_once)):
            records += len(rows)
            without_document += sum(row.content is None for row in rows)
            restored, left_out = without_forgotten(change, frame_of(rows))
            added += change.add(restored)
            forgotten += left_out.height
        if _state(path) != before:
            raise StateError(
                f"'{path}' was changed while it was read; nothing was written", hint="restore it again"
            )
    present = records - added - forgotten
    return Restored(records, added, present, without_document, forgotten, removed, dimension)


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _row_of(numbered: tuple[int, BackupRecord]) -> Row:
    _, record = numbered
    text = bytes(record.metadata).decode()
    return row_of(record.id, metadata_in(record), record.document, record.embedding, text)


def _require_restorable(path: Path, live: Version, *, replace: bool) -> int | None:
    """Refuse a file where one of its records cannot be restored; gives the length of the vectors."""
    dimension = None if replace else live.dimension
    holder = "the corpus" if dimension else "the first record"
    lines: dict[str, int] = {}
    compared: list[dict[str, Any]] = []
    for number, record in read_records(path):
        length = len(record.embedding)
        dimension = dimension or length
        if length != dimension:
            raise RefusedError(
                Code.IMPORT_FAILED,
                f"{path}:{number}: the vector has {length} dimensions, {holder} has {dimension}; "
                "nothing was written. Restore into a corpus of its own, or replace this one",
                dimension=length,
                expected=dimension,
            )
        if record.id in lines:
            message = f"{path}:{number}: id '{record.id}' is that of line {lines[record.id]}, too"
            raise RefusedError(Code.IMPORT_FAILED, f"{message}; nothing was written")
        lines[record.id] = number
        if not replace:
            compared.append({"id": record.id, "metadata": metadata_in(record)})
        if len(compared) >= _AT_ONCE:
            refuse_divergence(classify(live, compared))
            compared.clear()
    refuse_divergence(classify(live, compared))
    return dimension


class Merged(StrEnum):
    """What becomes of a record that is merged."""

    PRESENT = "id-already-present"
    DIVERGENT = "natural-key-divergent"
    INSERTED = "inserted"


class DivergenceScan(StrEnum):
    """Whether the records of a backup were compared with the corpus, in the contract's words."""

    PERFORMED = "performed"
    SKIPPED_EMPTY = "skipped-empty-target"
    SKIPPED_REPLACE = "skipped-replace-mode"


@dataclass(frozen=True, slots=True)
class Classified:
    """What becomes of a record, and the chunks of the corpus that it meets there."""

    id: str
    metadata: Mapping[str, Any]
    outcome: Merged
    live_ids: list[str]


def divergence_scan(live: Version, *, replace: bool) -> DivergenceScan:
    """Whether records are compared with a corpus: not where it is empty, nor where nothing of it stays."""
    if replace:
        return DivergenceScan.SKIPPED_REPLACE
    return DivergenceScan.PERFORMED if len(live.rows(["id"])) else DivergenceScan.SKIPPED_EMPTY


def classify(live: Version, incoming: Sequence[Mapping[str, Any]]) -> list[Classified]:
    """What becomes of records that are merged into a corpus."""
    if not incoming:
        return []
    present = set(live.rows(["id"], pl.col("id").is_in([record["id"] for record in incoming]))["id"])
    ids_by_key = _ids_by_key(live, [record for record in incoming if record["id"] not in present])
    classified = []
    for record in incoming:
        if record["id"] in present:
            outcome, live_ids = Merged.PRESENT, [record["id"]]
        else:
            live_ids = ids_by_key.get(natural_key(record["metadata"]), [])
            outcome = Merged.DIVERGENT if live_ids else Merged.INSERTED
        classified.append(Classified(record["id"], record["metadata"], outcome, live_ids))
    return classified


def _ids_by_key(live: Version, incoming: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Natural key to the ids of the chunks that have it, for all keys of some records."""
    rows = [row_of(record["id"], record["metadata"], None, verbatim="") for record in incoming]
    sought = frame_of(rows).select(_NATURAL_KEY).unique()
    within = pl.col("tenant_id").is_in(sought["tenant_id"].drop_nulls().to_list())
    chunks = live.rows(["id", "metadata", *_NATURAL_KEY], within | pl.col("tenant_id").is_null())
    candidates = chunks.join(sought, on=_NATURAL_KEY, how="semi", nulls_equal=True).sort("id")
    ids_by_key: dict[str, list[str]] = {}
    for identity, metadata in candidates.select("id", "metadata").iter_rows():
        ids_by_key.setdefault(natural_key(msgspec.json.decode(metadata)), []).append(identity)
    return ids_by_key


def refuse_divergence(classified: Iterable[Classified]) -> None:
    """Refuse a merge in which a record would stand beside another version of the same chunk."""
    divergent = [each for each in classified if each.outcome is Merged.DIVERGENT]
    if not divergent:
        return
    sample = "; ".join(map(_described, divergent[:_SAMPLE]))
    raise RefusedError(
        Code.DIVERGENCE,
        f"{len(divergent)} of the records name a chunk that is there under another id: {sample}. "
        "Nothing was written. See why the ids differ, or replace the corpus as a whole",
        divergent=len(divergent),
        sample=[{"id": each.id, "liveIds": each.live_ids} for each in divergent[:_SAMPLE]],
    )


def _described(each: Classified) -> str:
    kind, name, source, tenant, repo = map(
        each.metadata.get, ("type", "name", "source", "tenantId", "repoSlug")
    )
    ids = f"{each.id[:_SHOWN_ID]} here, {each.live_ids[0][:_SHOWN_ID]} there"
    return f"{kind} {name!r} in {source!r} of {tenant}/{repo} ({ids})"
