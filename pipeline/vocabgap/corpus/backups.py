"""Backups of a shared corpus: files with all chunks and their vectors, which are restored verbatim.

Each line is one backup-record-v1 object. A file whose name ends in `.zst` is compressed. Another program may
write the same numbers and texts with other bytes. The corpus keeps such a line and exports it again.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, cast

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.feature_extraction.text import HashingVectorizer

from vocabgap.corpus.chunks import frame_of, row_of, texts_of
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import natural_key
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import Version
from vocabgap.corpus.withdrawal import without_forgotten
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.files import opened
from vocabgap.files.atomic import replacing
from vocabgap.files.budget import MOST_WHOLE, Budget, fair, require_decodable
from vocabgap.files.journal import entries_of
from vocabgap.files.refusals import refusal, refusing
from vocabgap.model.settings import Settings
from vocabgap.text import short_hash, surface

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

METHOD: Final = "hashed trigrams and 4-grams of stemmed words, by scikit-learn's HashingVectorizer"
DECIMALS: Final = 6
DEFAULT_DIMENSION: Final = 256
EMBEDDED_BY: Final = "embeddedBy"
_COMPRESSED: Final = ".zst"
_CHECKED: Final[dict[int, int]] = {zstd.CompressionParameter.checksum_flag: 1}  # reveals any damaged byte
_HINT: Final = "expected one backup-record-v1 object per line, as `vocabgap corpus export` writes them"
AT_ONCE: Final = 50_000  # chunks in memory
_SAMPLE: Final = 5  # divergent records that an error names
_NATURAL_KEY: Final = ("tenant_id", "repo_slug", "kind", "name")  # the columns of the natural key
_EXPORTED: Final = ("id", "metadata", "content", "embedding", "backup_line")


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
    """The result of an export. `embedded` counts the records whose vectors were computed for it."""

    records: int
    embedded: int
    without_document: int
    dimension: int
    notes: tuple[str, ...] = ()


def export(version: Version, path: Path, settings: Settings, wanted: pl.Expr | None = None) -> Exported:
    """Write the wanted chunks, or all, to a file, ordered by id.

    Only the owner of the file may read it: gap text is private.
    """
    wanted = pl.lit(value=True) if wanted is None else wanted
    ids = version.rows(["id"], wanted)["id"].sort()
    embedded = version.rows(["id"], wanted & pl.col("embedding").is_null()).height
    dimension = version.dimension or DEFAULT_DIMENSION
    without_document = 0
    hint = "an earlier file is unchanged; name another file"
    with refusing(f"'{path}' cannot be written", hint=hint), replacing(path) as plain:
        is_packed = path.suffix == _COMPRESSED
        with zstd.ZstdFile(plain, "w", options=_CHECKED) if is_packed else nullcontext(plain) as file:
            file.write(b"")  # otherwise a compressed file without records would be empty
            for start in range(0, len(ids), AT_ONCE):
                part = ids[start : start + AT_ONCE]
                batch = pl.col("id").is_between(pl.lit(part[0]), pl.lit(part[-1]))
                chunks = version.rows(where=wanted & batch).sort("id")
                without_document += chunks["content"].null_count()
                file.writelines(line + b"\n" for line in _lines(chunks, dimension, settings))
    return Exported(len(ids), embedded, without_document, dimension)


def _lines(chunks: pl.DataFrame, dimension: int, settings: Settings) -> Iterator[bytes]:
    """Yield the lines of chunks; compute missing vectors, and note the method in the metadata."""
    missing = chunks.filter(pl.col("embedding").is_null())
    vectors = iter(vectors_of(texts_of(missing, settings.sources), dimension) if missing.height else ())
    computed = msgspec.json.encode({"by": METHOD, "dimension": dimension})
    for identity, metadata, content, embedding, line in chunks.select(_EXPORTED).iter_rows():
        if line is not None:
            yield line.encode()
            continue
        text = metadata.encode()
        if embedding is None:
            text = text.removesuffix(b"}") + b',"%b":%b}' % (EMBEDDED_BY.encode(), computed)
        vector = next(vectors).tolist() if embedding is None else embedding
        yield msgspec.json.encode(BackupRecord(identity, vector, msgspec.Raw(text), content))


def vectors_of(texts: Sequence[str], dimension: int) -> npt.NDArray[np.float64]:
    """Return a vector for each text, shape (texts, dimension): unit length, or zeros for a blank text.

    A hash assigns each n-gram to a dimension, so vectors of different backups can be compared.
    """
    hashing = HashingVectorizer(
        preprocessor=surface, analyzer="char_wb", ngram_range=(3, 4), n_features=dimension
    )
    rounded: npt.NDArray[np.float64] = np.round(hashing.transform(texts).toarray(), DECIMALS)
    return rounded + 0.0  # no negative zero


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


def restore(store: Store, path: Path, *, replace: bool = False) -> Restored:
    """Restore the records of a file verbatim, all of them or none.

    Some records are checked and written at a time. If a record is refused, no version names the others.
    """
    records = read_records(path)  # a pipe can be read only once
    first = list(islice(records, 1))  # an unreadable file is refused before a corpus is created
    if replace and not first:
        hint = "use another copy of the backup; to empty a corpus, remove its folder"
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
        while batch := list(islice(remaining, AT_ONCE)):
            dimension = dimension or len(batch[0][1][0].embedding)
            for number, (record, _) in batch:
                length, problem = len(record.embedding), ""
                if length != dimension:
                    problem = f"the vector has {length} dimensions, {holder} has {dimension}"
                elif record.id in lines:
                    problem = f"line {lines[record.id]} has the same id '{record.id}'"
                if problem:
                    message = f"{path}:{number}: {problem}; nothing was written"
                    raise RefusedError(Code.IMPORT_FAILED, message)
                lines[record.id] = number
            decoded = [(record, _OBJECT.decode(record.metadata), line) for _, (record, line) in batch]
            if live is not None:
                refuse_divergence(live, [(record.id, metadata) for record, metadata, _ in decoded])
            rows = (
                row_of(
                    record.id,
                    metadata,
                    record.document,
                    record.embedding,
                    verbatim=bytes(record.metadata).decode(),
                    backup_line=line,
                )
                for record, metadata, line in decoded
            )
            restored, left_out = without_forgotten(change, frame_of(rows))
            added += change.add(restored)
            forgotten += left_out.height
            without_document += sum(record.document is None for record, *_ in decoded)
    present = len(lines) - added - forgotten
    return Restored(len(lines), added, present, without_document, forgotten, removed, dimension)


def read_records(path: Path) -> Iterator[tuple[int, tuple[BackupRecord, str | None]]]:
    """Yield the number and the record of each line that is not blank; the line only if ours differs."""
    try:
        with opened(path) as file:
            content, most = cast("BinaryIO", file), fair(os.fstat(file.fileno()).st_size)
            if path.suffix == _COMPRESSED:
                content = cast("BinaryIO", zstd.ZstdFile(file))
            budget = Budget(most, f"backup '{path}'", "if you trust it, expand it first: `zstd -d`")
            yield from entries_of(_lines_within(content, budget), _decoded, path)
    except FileNotFoundError as error:
        raise NotFoundError(f"backup '{path}' does not exist", hint="check the path") from error
    except (EOFError, zstd.ZstdError) as error:
        raise InvalidInputError(
            f"backup '{path}' is damaged: {error}", hint="use another copy of it"
        ) from error
    except OSError as error:
        raise refusal(f"backup '{path}' cannot be read", error) from error


def _lines_within(content: BinaryIO, budget: Budget) -> Iterator[bytes]:
    while line := content.readline(MOST_WHOLE + 1):
        budget.spend(len(line), rows=1)
        yield line


def _decoded(line: bytes, place: str) -> tuple[BackupRecord, str | None]:
    if len(line) > MOST_WHOLE:
        raise InvalidInputError(f"{place}: the line is longer than {MOST_WHOLE:,} bytes")
    require_decodable(line, f"{place}: the line")
    field, line = "", line.removesuffix(b"\n")
    try:
        record = _RECORD.decode(line)
        field = "metadata: "
        _OBJECT.decode(bytes(record.metadata).decode())
        own = None if msgspec.json.encode(record) == line else line.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{place}: {field}{error}", hint=_HINT) from error
    return record, own


def refuse_divergence(live: Version, incoming: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Refuse records (id, metadata) whose chunks the corpus has under other ids."""
    divergent = divergent_records(live, incoming)
    if not divergent:
        return
    sample = "; ".join(starmap(_described, divergent[:_SAMPLE]))
    raise RefusedError(
        Code.DIVERGENCE,
        f"{len(divergent)} of the records have the natural key of a chunk with another id: {sample}. "
        "Nothing was written. Find out why the ids differ, or replace the whole corpus",
        divergent=len(divergent),
        sample=[{"id": identity, "liveIds": live_ids} for identity, _, live_ids in divergent[:_SAMPLE]],
    )


def divergent_records(
    live: Version, incoming: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[tuple[str, Mapping[str, Any], list[str]]]:
    """Return the new records whose natural key is in the corpus, each with the ids of its chunks."""
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
    ids = f"{short_hash(identity)} in the backup, {short_hash(live_ids[0])} in the corpus"
    return f"{kind} {name!r} in {source!r} of {tenant}/{repo} ({ids})"
