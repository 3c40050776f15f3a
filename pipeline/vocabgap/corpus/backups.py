"""Backups of a shared corpus: a file with every chunk and its vector, which is restored verbatim.

A file has one backup-record-v1 object a line; a file that is called `.zst` is compressed.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, cast

import msgspec
import numpy as np
import polars as pl
from scipy import sparse

from vocabgap.clustering.vectorizing import FloatArray, IntArray, grams, pairs_of, vectorize, vocabulary_of
from vocabgap.clustering.wordings import points_of
from vocabgap.corpus.chunks import frame_of, row_of, scan_chunks
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import natural_key
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import Version
from vocabgap.corpus.withdrawal import without_forgotten
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.files.atomic import replacing
from vocabgap.files.journal import entries_of
from vocabgap.files.refusals import refusal, refusing
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.settings import ClusterSettings, Settings
from vocabgap.model.tables import phrase

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

METHOD: Final = "tf-idf rows of the clustering, sparse random projection of hashed terms"
SEED: Final = 20_260_401
DECIMALS: Final = 6
_PLACES: Final = 8  # of a term: 8 bytes of a hash of 64 each
_BLOCK_ROWS: Final = 16_384
EMBEDDED_BY: Final = "embeddedBy"
LONGEST_LINE: Final = 256 << 20  # bytes; no record is that long, and a damaged file must not fill the memory
_COMPRESSED: Final = ".zst"
_CHECKED: Final[dict[int, int]] = {zstd.CompressionParameter.checksum_flag: 1}  # reveals any damaged byte
_PLAIN: Final = ClusterSettings()
_HINT: Final = "expected one backup-record-v1 object a line, as `vocabgap corpus export` writes them"
_AT_ONCE: Final = 50_000  # chunks in memory
_SAMPLE: Final = 5  # divergent records that an error names
_SHOWN_ID: Final = 12
_NATURAL_KEY: Final = ("tenant_id", "repo_slug", "kind", "name")  # equal if natural keys are equal
_EXPORTED: Final = ("id", "metadata", "content", "embedding")
_EMBEDDED: Final = (
    "id", "tenant_id", "repo_slug", "root_kind", "source_path", "kind", "line", "content", "metadata",
)  # fmt: skip


class BackupRecord(msgspec.Struct, forbid_unknown_fields=True):
    """One line of a backup; `metadata` is the JSON text of an object, unchanged."""

    id: Annotated[str, msgspec.Meta(min_length=1)]
    embedding: Annotated[list[float], msgspec.Meta(min_length=1)]
    metadata: msgspec.Raw
    document: str | None


_RECORD: Final = msgspec.json.Decoder(BackupRecord)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Exported:
    """The content of a backup; the vectors of `embedded` records were computed for it."""

    records: int
    embedded: int
    without_document: int
    dimension: int


def export(version: Version, path: Path, settings: Settings) -> Exported:
    """Write all chunks to a file, ordered by id. Only its owner may read it: gap text is private."""
    ids = version.rows(["id"])["id"].sort()
    embedded = version.rows(["id"], pl.col("embedding").is_null()).height
    dimension = version.dimension or settings.of(CorpusSettings).dimension
    vectors = _ChunkVectors(version, dimension, settings) if embedded else None
    without_document = 0
    hint = "an earlier file is still there; name a file elsewhere"
    with refusing(f"'{path}' cannot be written", hint=hint), replacing(path) as plain:
        packed = zstd.ZstdFile(plain, "w", options=_CHECKED) if path.suffix == _COMPRESSED else plain
        with packed as file:
            file.write(b"")  # a compressed file without a record would have no bytes, and be damaged
            for start in range(0, len(ids), _AT_ONCE):
                part = ids[start : start + _AT_ONCE]
                wanted = pl.col("id").is_between(pl.lit(part[0]), pl.lit(part[-1]))
                chunks = version.rows(_EXPORTED, wanted).sort("id")
                without_document += chunks["content"].null_count()
                file.writelines(msgspec.json.encode(record) + b"\n" for record in _records(chunks, vectors))
    return Exported(len(ids), embedded, without_document, dimension)


def _records(chunks: pl.DataFrame, vectors: "_ChunkVectors | None") -> Iterator[BackupRecord]:
    """Yield chunks as records; a chunk without a vector gets one, with its provenance in the metadata."""
    missing = chunks.filter(pl.col("embedding").is_null())["id"].to_list()
    computed = vectors.of(missing) if vectors is not None and missing else {}
    for identity, metadata, content, embedding in chunks.iter_rows():
        text = metadata.encode()
        if vectors is not None and embedding is None:
            text = text.removesuffix(b"}") + vectors.provenance + b"}"
        yield BackupRecord(identity, embedding or computed[identity], msgspec.Raw(text), content)


class WordingVectors:
    """The vectors of the wordings of some records. It reads the columns of a phrase.

    This is a sparse random projection. A hash of its text sends each term to a few dimensions, with a sign
    each. Dot products are preserved on average (Achlioptas 2003; Weinberger et al. 2009). A term goes to the
    same places in every corpus, so vectors of two exports can be compared as far as their weights can.
    """

    def __init__(self, records: pl.DataFrame, dimension: int, settings: ClusterSettings = _PLAIN) -> None:
        points = points_of(records, settings.stop_words, settings.synonyms)
        self._rows = vectorize(points.contents, points.weights, points.sentence_shares)
        self._places = _places(terms_of(points.contents), dimension)
        self._dimension = dimension
        position = {surface: point for point, surface in enumerate(points.surfaces["surface"])}
        self._points = {
            wording: position[surface]
            for wording, surface in points.wordings.select("wording", "surface").iter_rows()
        }

    def of(self, wordings: Iterable[str | None]) -> FloatArray:
        """Return vectors of unit length, rounded to `DECIMALS`; zeros for other texts."""
        points = np.array([-1 if wording is None else self._points.get(wording, -1) for wording in wordings])
        present = np.flatnonzero(points >= 0)
        vectors = np.zeros((len(points), self._dimension))
        for start in range(0, len(present), _BLOCK_ROWS):
            block = present[start : start + _BLOCK_ROWS]
            vectors[block] = self._projected(points[block])
        return vectors

    def _projected(self, points: IntArray) -> FloatArray:
        dense = (self._rows.plain(points) @ self._places).toarray()
        length = np.sqrt((dense * dense).sum(axis=1, keepdims=True))
        length[length == 0.0] = 1.0
        rounded: FloatArray = np.round(dense / length, DECIMALS) + 0.0  # no negative zero
        return rounded


def _places(terms: list[tuple[str, str]], dimension: int) -> sparse.csr_array:
    """Return the dimensions and signs of each term, shape (terms, dimension)."""
    hashed = b"".join(
        hashlib.blake2b(
            f"{kind} {text}".encode(), digest_size=8 * _PLACES, salt=SEED.to_bytes(8, "big")
        ).digest()
        for kind, text in terms
    )
    numbers = np.frombuffer(hashed, ">u8").astype(np.uint64)
    columns = ((numbers >> np.uint64(1)) % np.uint64(dimension)).astype(np.int64)
    signs = np.where(numbers & np.uint64(1), 1.0, -1.0) / np.sqrt(_PLACES)
    rows = np.repeat(np.arange(len(terms)), _PLACES)
    return sparse.csr_array((signs, (rows, columns)), shape=(len(terms), dimension))


def terms_of(contents: Sequence[str]) -> list[tuple[str, str]]:
    """Return the kind and text of each dimension of `Rows.plain`, for the same contents."""
    vocabulary = vocabulary_of(contents)
    return [
        *(("word", word) for word in vocabulary),
        *(("pair", " ".join(pair)) for pair in pairs_of(contents, vocabulary)),
        *(("letters", gram) for gram in dict.fromkeys(gram for word in vocabulary for gram in grams(word))),
    ]


class _ChunkVectors:
    """The vectors of chunks that were not restored with one.

    The vector of a gap record is its row in the clustering of all gap records of the corpus. Other texts are
    compared with each other in the same way. A text without a word has zeros.
    """

    def __init__(self, version: Version, dimension: int, settings: Settings) -> None:
        value = {"by": METHOD, "dimension": dimension, "seed": SEED}
        self.provenance = b",%b:%b" % tuple(map(msgspec.json.encode, (EMBEDDED_BY, value)))
        chunks = version.rows(_EMBEDDED, pl.col("content").is_not_null())
        lines, scanned = scan_chunks(chunks, settings.sources)
        gaps = lines.select("id", "line").join(scanned.gaps.select("line", *PHRASE_FIELDS), on="line")
        missing = (pl.lit(None, pl.String).alias(name) for name in PHRASE_FIELDS[1:])
        texts = chunks.join(gaps, on="id", how="anti")
        others = texts.select("id", pl.col("content").alias(PHRASE_FIELDS[0]), *missing)
        self._compared = [
            (
                dict(texts.select("id", phrase()).iter_rows()),
                WordingVectors(texts, dimension, settings.cluster),
            )
            for texts in (gaps, others)
        ]

    def of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Compute the vectors of some chunks, by id."""
        gaps, others = (vectors.of(map(wordings.get, ids)) for wordings, vectors in self._compared)
        return dict(zip(ids, (gaps + others).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of restoring a backup; `removed` counts the earlier chunks that it replaced."""

    records: int
    added: int
    present: int
    without_document: int
    forgotten: int
    removed: int
    dimension: int | None


def restore(store: Store, path: Path, *, replace: bool = False, at_once: int = _AT_ONCE) -> Restored:
    """Restore the records of a file verbatim; none of them unless all can be restored.

    They are checked and written `at_once` at a time. No version names the written ones if one is refused.
    """
    records = read_records(path)  # a pipe can be read only once
    first = list(islice(records, 1))  # an unreadable file is refused before a corpus is made
    if replace and not first:
        hint = "look for another copy of it; to empty a corpus, remove its folder"
        raise InvalidInputError(f"backup '{path}' is empty: nothing was replaced", hint=hint)
    lines: dict[str, int] = {}
    added = without_document = forgotten = removed = 0
    with store.changing(f"restore of {path.name}") as change:
        live = store.version() if change.measures.rows and not replace else None
        if replace:
            removed = change.delete(pl.lit(value=True))
            for kind in ("logs", "paths"):
                change.keep(kind, change.table(kind).clear())
        dimension, holder = change.dimension, "the corpus" if change.dimension else "the first record"
        remaining = chain(first, records)
        while batch := list(islice(remaining, at_once)):
            dimension = dimension or len(batch[0][1].embedding)
            for number, record in batch:
                _require_restorable(record, f"{path}:{number}", lines.get(record.id), dimension, holder)
                lines[record.id] = number
            decoded = [(record, _OBJECT.decode(record.metadata)) for _, record in batch]
            if live is not None:
                refuse_divergence(live, [(record.id, metadata) for record, metadata in decoded])
            rows = (
                row_of(one.id, metadata, one.document, one.embedding, bytes(one.metadata).decode())
                for one, metadata in decoded
            )
            restored, left_out = without_forgotten(change, frame_of(rows))
            added += change.add(restored)
            forgotten += left_out.height
            without_document += sum(record.document is None for record, _ in decoded)
    present = len(lines) - added - forgotten
    return Restored(len(lines), added, present, without_document, forgotten, removed, dimension)


def _require_restorable(
    record: BackupRecord, place: str, earlier: int | None, dimension: int, holder: str
) -> None:
    """Refuse a record with the id of an earlier line, or with a vector of another length."""
    length, problem = len(record.embedding), ""
    if length != dimension:
        problem = f"the vector has {length} dimensions, {holder} has {dimension}"
    elif earlier is not None:
        problem = f"line {earlier} has the same id '{record.id}'"
    if problem:
        raise RefusedError(Code.IMPORT_FAILED, f"{place}: {problem}; nothing was written")


def read_records(path: Path) -> Iterator[tuple[int, BackupRecord]]:
    """Yield the records of a file with the numbers of their lines; skip blank lines."""
    try:
        with path.open("rb") as file:
            content = cast("BinaryIO", zstd.ZstdFile(file)) if path.suffix == _COMPRESSED else file
            lines = iter(partial(content.readline, LONGEST_LINE + 1), b"")
            yield from entries_of(lines, _decoded, path)
    except FileNotFoundError as error:
        raise NotFoundError(f"backup '{path}' does not exist", hint="check the path") from error
    except (EOFError, zstd.ZstdError) as error:
        raise InvalidInputError(
            f"backup '{path}' is damaged: {error}", hint="use another copy of it"
        ) from error
    except OSError as error:
        raise refusal(f"backup '{path}' cannot be read", error) from error


def _decoded(line: bytes, place: str) -> BackupRecord:
    if len(line) > LONGEST_LINE:
        raise InvalidInputError(f"{place}: the line is longer than {LONGEST_LINE:,} bytes")
    field = ""
    try:
        record = _RECORD.decode(line)
        field = "metadata: "
        _OBJECT.decode(bytes(record.metadata).decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{place}: {field}{error}", hint=_HINT) from error
    return record


def refuse_divergence(live: Version, incoming: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Refuse a merge that would put a record (id, metadata) beside another version of its chunk."""
    divergent = divergent_records(live, incoming)
    if not divergent:
        return
    sample = "; ".join(starmap(_described, divergent[:_SAMPLE]))
    raise RefusedError(
        Code.DIVERGENCE,
        f"{len(divergent)} of the records name a chunk that is there under another id: {sample}. "
        "Nothing was written. Find out why the ids differ, or replace the corpus as a whole",
        divergent=len(divergent),
        sample=[{"id": identity, "liveIds": live_ids} for identity, _, live_ids in divergent[:_SAMPLE]],
    )


def divergent_records(
    live: Version, incoming: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[tuple[str, Mapping[str, Any], list[str]]]:
    """Return the new records whose natural key a corpus has already, with the ids of its chunks."""
    present = set(live.rows(["id"], pl.col("id").is_in([identity for identity, _ in incoming]))["id"])
    new = [(identity, metadata) for identity, metadata in incoming if identity not in present]
    rows = [row_of(identity, metadata, None, verbatim="") for identity, metadata in new]
    sought = frame_of(rows).select(_NATURAL_KEY).unique()
    within = pl.col("tenant_id").is_in(sought["tenant_id"].drop_nulls().to_list())
    chunks = live.rows(["id", "metadata", *_NATURAL_KEY], within | pl.col("tenant_id").is_null())
    candidates = chunks.join(sought, on=_NATURAL_KEY, how="semi", nulls_equal=True).sort("id")
    ids_by_key: dict[str, list[str]] = {}
    for identity, text in candidates.select("id", "metadata").iter_rows():
        ids_by_key.setdefault(natural_key(msgspec.json.decode(text)), []).append(identity)
    keyed = ((identity, metadata, ids_by_key.get(natural_key(metadata), [])) for identity, metadata in new)
    return [record for record in keyed if record[2]]


def _described(identity: str, metadata: Mapping[str, Any], live_ids: list[str]) -> str:
    kind, name, source, tenant, repo = map(metadata.get, ("type", "name", "source", "tenantId", "repoSlug"))
    ids = f"{identity[:_SHOWN_ID]} here, {live_ids[0][:_SHOWN_ID]} there"
    return f"{kind} {name!r} in {source!r} of {tenant}/{repo} ({ids})"
