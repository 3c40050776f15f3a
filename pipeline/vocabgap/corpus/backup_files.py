"""Files of backup records: one JSON object a line, plain or as `.zst`, written whole or not at all."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Protocol, cast

import msgspec
import polars as pl

from vocabgap.clustering.projecting import METHOD, SEED, WordingVectors
from vocabgap.corpus.contracts import BACKUP_RECORD, Code, Fault, RefusedError, faults, keeps
from vocabgap.corpus.gap_chunks import scan_chunks
from vocabgap.corpus.version import Version
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.files.atomic import replacing
from vocabgap.files.refusals import refusal, refusing
from vocabgap.records.record import PHRASE_FIELDS
from vocabgap.schema import phrase
from vocabgap.settings.sources import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BATCH: Final = 500
"""Records that are written at once."""
LONGEST_LINE: Final = 256 << 20  # bytes; no record is that long, and a damaged file shall not fill the memory
_PACKED: Final = ".zst"
_PLAIN_HINT: Final = "expected one backup-record-v1 object a line, as `vocabgap corpus export` writes them"
_SURROGATE: Final = "half of a surrogate pair, or an escape that was cut off"
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_ENCODER: Final = msgspec.json.Encoder()
EMBEDDED_BY: Final = "embeddedBy"
_NEEDED: Final = (
    "id", "tenant_id", "repo_slug", "root_kind", "source_path", "kind", "line", "content", "metadata",
)  # fmt: skip
_PHRASES: Final = dict.fromkeys(PHRASE_FIELDS, pl.String)


class BackupRecord(msgspec.Struct, forbid_unknown_fields=True):
    """One line of a backup.

    Attributes:
        id: The chunk's id.
        embedding: Its vector.
        metadata: What is told of it: JSON text of an object, kept as it is.
        document: Its text, or null where none was kept.
    """

    id: Annotated[str, msgspec.Meta(min_length=1)]
    embedding: Annotated[list[float], msgspec.Meta(min_length=1)]
    metadata: msgspec.Raw
    document: str | None

    @property
    def told(self) -> dict[str, Any]:
        """What the metadata say."""
        return _OBJECT.decode(self.metadata)


_RECORD: Final = msgspec.json.Decoder(BackupRecord)


def read_records(path: Path) -> Iterator[tuple[int, BackupRecord]]:
    """The records of a file, each with the number of its line, from 1 on. Blank lines are passed over."""
    try:
        with path.open("rb") as file:
            content = cast("BinaryIO", zstd.ZstdFile(file)) if path.suffix == _PACKED else file
            number = 0
            while line := content.readline(LONGEST_LINE + 1):
                number += 1
                place = f"{path}:{number}"
                if len(line) > LONGEST_LINE:
                    raise InvalidInputError(f"{place}: the line is longer than {LONGEST_LINE:,} bytes")
                if not line.isspace():
                    yield number, decoded(line, place)
    except FileNotFoundError as error:
        raise NotFoundError(f"backup '{path}' does not exist", hint="check the path") from error
    except (EOFError, zstd.ZstdError) as error:
        raise InvalidInputError(
            f"backup '{path}' is damaged: {error}", hint="use another copy of it"
        ) from error
    except OSError as error:
        raise refusal(f"backup '{path}' cannot be read", error) from error


def decoded(line: bytes, place: str) -> BackupRecord:
    """The record of a line."""
    try:
        record = _RECORD.decode(line)
        metadata = bytes(record.metadata).decode()
        _OBJECT.decode(metadata)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{place}: expected UTF-8, {error.reason}", hint=_PLAIN_HINT) from error
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"{place}: {_faults(line) or str(error)}", hint=_PLAIN_HINT) from error
    except msgspec.DecodeError as error:
        why = _SURROGATE if "hex escape" in str(error) or "truncated" in str(error) else str(error)
        raise InvalidInputError(f"{place}: expected JSON: {why}", hint=_PLAIN_HINT) from error
    except RecursionError as error:
        raise InvalidInputError(f"{place}: nested too deeply", hint=_PLAIN_HINT) from error
    return record


def _faults(line: bytes) -> str:
    """Where JSON is no backup record, by pointer; empty where only the size of a number is wrong."""
    return "; ".join(fault.message for fault in record_faults(json.loads(line)))


def encoded(record: BackupRecord) -> bytes:
    """A record as its line, with the newline."""
    return _ENCODER.encode(record) + b"\n"


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of another one when the block ends without an error.

    It is compressed if it is called `.zst`. Nobody else may read it: gap text is private.
    """
    if path.is_dir():
        raise StateError(f"'{path}' is a folder", hint="name a file")
    hint = "what was there before is still there; name a file elsewhere"
    with refusing(f"'{path}' cannot be written", hint=hint), replacing(path) as file:
        if path.suffix == _PACKED:
            with zstd.ZstdFile(file, "w") as packed:
                yield cast("BinaryIO", packed)
        else:
            yield cast("BinaryIO", file)


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


def restore_into(target: Target, read: Callable[[], Iterable[Any]], mode: Mode = Mode.MERGE) -> int:
    """Restore records, none of them unless all can be."""
    for number, record in enumerate(read(), start=1):
        require_record(record, f"record {number}")
    if mode is Mode.REPLACE:
        target.truncate()
    restored = 0
    for batch in batches(read()):
        target.upsert(batch)
        restored += len(batch.ids)
    return restored


def batches(records: Iterable[Mapping[str, Any]]) -> Iterator[Batch]:
    """Checked records in the batches that are written, in order."""
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


def require_record(record: object, place: str) -> None:
    """Refuse what cannot be restored."""
    wrong = record_faults(record)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise RefusedError(
            Code.IMPORT_FAILED,
            f"{place}: no backup-record-v1: {wrong[0].message}{more}; nothing was written",
            errors=[fault.as_object() for fault in wrong],
        )


def record_faults(record: object) -> tuple[Fault, ...]:
    """Where a record cannot be restored. A `document` of null can, although the schema has none."""
    if isinstance(record, dict) and "document" in record and record["document"] is None:
        record = {**record, "document": ""}
    return () if keeps(BACKUP_RECORD, record) else faults(BACKUP_RECORD, record)


class ChunkVectors:
    """The vectors of the chunks of a corpus that were not restored with one.

    That of a gap record is its row in the clustering of all gap records of the corpus; any other text is
    compared with the other texts in the same way. A text without a word has zeros.
    """

    def __init__(
        self,
        version: Version,
        dimension: int,
        *,
        stop_words: Iterable[str] = (),
        synonyms: Mapping[str, Iterable[str]],
        sources: Mapping[str, Source] | None = None,
    ) -> None:
        self.dimension = dimension
        chunks = version.rows(_NEEDED, pl.col("content").is_not_null())
        phrases = _phrases(chunks, sources)
        gaps = chunks.join(phrases, on="id", how="inner")
        others = chunks.join(phrases, on="id", how="anti").select("id", pl.col("content").alias("phrase"))
        self._phrases = dict(phrases.iter_rows())
        self._gaps = WordingVectors(_asking(gaps), dimension, stop_words=stop_words, synonyms=synonyms)
        self._others = WordingVectors(_asking(others), dimension, stop_words=stop_words, synonyms=synonyms)

    @property
    def told(self) -> bytes:
        """What is said in the metadata of a chunk of how its vector came about: a field and its value."""
        value = {"by": METHOD, "dimension": self.dimension, "seed": SEED}
        return b",%b:%b" % tuple(map(msgspec.json.encode, (EMBEDDED_BY, value)))

    def of(self, ids: Sequence[str], contents: Sequence[str | None]) -> list[list[float]]:
        """The vectors of some chunks."""
        gaps = self._gaps.of([self._phrases.get(each) for each in ids])
        texts = pl.DataFrame({"phrase": contents}, schema={"phrase": pl.String})
        wordings = _asking(texts).select(phrase()).to_series()
        others = self._others.of(
            None if each in self._phrases else wording for each, wording in zip(ids, wordings, strict=True)
        )
        summed: list[list[float]] = (gaps + others).tolist()
        return summed


def _phrases(chunks: pl.DataFrame, sources: Mapping[str, Source] | None) -> pl.DataFrame:
    """What each readable gap record asks for: columns `id` and `phrase`."""
    lines, scanned = scan_chunks(chunks, sources)
    records = scanned.gaps.select("line", phrase().alias("phrase"))
    return lines.select("id", "line").join(records, on="line", how="inner").select("id", "phrase")


def _asking(texts: pl.DataFrame) -> pl.DataFrame:
    """Texts as records that ask for them."""
    missing: dict[str, Any] = dict.fromkeys(PHRASE_FIELDS[1:])
    phrases = texts.select(pl.col("phrase").alias(PHRASE_FIELDS[0]))
    return phrases.with_columns(pl.lit(None, pl.String).alias(name) for name in missing).cast(_PHRASES)  # type: ignore[arg-type]
