"""Chunks as rows of table `chunks`; lines of gap logs as chunks, and chunks as lines that ingest decodes."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.identity import SHARED_REPO, SHARED_TENANT, compact_json, is_unicode, milliseconds
from vocabgap.corpus.incoming import HASH_INPUTS, RAW_ROOT_KIND, SCHEMA_VERSION
from vocabgap.corpus.store import open_store
from vocabgap.corpus.version import CHUNKS, GAP_KIND, PATH_KEY, Version
from vocabgap.errors import NotFoundError
from vocabgap.ingest.lines import FOLDER, TEXT
from vocabgap.ingest.log_lines import STORED, scan_stored
from vocabgap.ingest.scanning import Scan, united
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.sources import Source
from vocabgap.model.tables import UTC_MICROSECONDS

PARSER_ID: Final = "vocabgap-gap-log"
PARSER_VERSION: Final = "1.0.0"
READ: Final = ("id", "tenant_id", "repo_slug", "root_kind", "source_path", "line", "content", "metadata")
_READABLE: Final = pl.col("kind").eq(GAP_KIND) & pl.all_horizontal(
    pl.col("content", "tenant_id", "repo_slug", "root_kind", "source_path").is_not_null()
)
_TEXTS: Final = ("id", "content", "description")  # columns of their own, or the same text again
_INT64: Final = 2**63
_FIRST: Final = milliseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = milliseconds(datetime.max.replace(tzinfo=UTC))
_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 60)]


class _Origin(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a chunk's line in its log; `copies` are line and offset of further equal lines."""

    byte_offset: _Count | None = None
    folder: str | None = None
    copies: tuple[tuple[_Count, _Count], ...] = ()


class _Stored(msgspec.Struct, frozen=True, rename="camel"):
    custom_meta: _Origin = _Origin()


_STORED: Final = msgspec.json.Decoder(_Stored)


def scan_corpora(
    roots: Sequence[Path],
    *,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    sources: Mapping[str, Source] | None = None,
) -> Scan:
    """Read shared corpora as a scan of their logs; a record that two of them have counts once."""
    return united(
        scan_version(open_store(root).version(), tenants=tenants, repositories=repositories, sources=sources)
        for root in roots
    )


def scan_version(
    version: Version,
    *,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    sources: Mapping[str, Source] | None = None,
) -> Scan:
    """Decode the gap records of a corpus."""
    wanted = scope(tenants, repositories)
    chunks = version.rows(READ, wanted & _READABLE)
    scan = scan_stored(lines_of_chunks(chunks), version.table("logs").filter(wanted), sources=sources)
    others = version.rows(["id"], wanted).height - chunks.height
    return replace(scan, summary=replace(scan.summary, passed_over=scan.summary.passed_over + others))


def scope(tenants: Sequence[str] = (), repositories: Sequence[str] = ()) -> pl.Expr:
    """Return the condition of chunks of some tenants and repositories; all by default."""
    wanted = pl.lit(value=True)
    for column, names in (("tenant_id", tenants), ("repo_slug", repositories)):
        if names:
            wanted &= pl.col(column).is_in(list(names))
    return wanted


def require_owner(version: Version, tenant: str, repo: str | None = None, paths: Iterable[str] = ()) -> None:
    """Raise NotFoundError with the nearest name if a tenant, repository or path is not in a corpus."""
    snapshots = version.table("paths").select("tenant_id", "repo_slug")
    held = [version.rows(PATH_KEY), version.table("logs").select(PATH_KEY), snapshots]
    present = pl.concat(held, how="diagonal").unique().sort(PATH_KEY)
    own = present.filter(tenant_id=tenant)
    here = own.filter(repo_slug=repo or "")["source_path"].drop_nulls()
    required = [("tenant '{}'", present["tenant_id"], tenant)]
    if repo is not None:
        required.append((f"repository '{{}}' of tenant '{tenant}'", own["repo_slug"], repo))
    required += [(f"path '{{}}' of {tenant}/{repo}", here, path) for path in paths]
    for what, names, name in required:
        if name not in names:
            example = f"there is '{names[0]}', for instance" if len(names) else ""
            hint = did_you_mean(name, names) or example or "`vocabgap corpus status` lists the content"
            raise NotFoundError(f"there is no {what.format(name)} in the corpus", hint=hint)


def scan_chunks(
    chunks: pl.DataFrame, sources: Mapping[str, Source] | None = None
) -> tuple[pl.DataFrame, Scan]:
    """Decode the gap records among some chunks; the number of a line identifies its record."""
    lines = lines_of_chunks(chunks.filter(_READABLE)) if chunks.height else STORED.empty()
    lines = lines.unique("id", keep="first", maintain_order=True).with_columns(
        line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    return lines, scan_stored(lines, sources=sources)


def lines_of_chunks(chunks: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of some chunks (`ingest.STORED`)."""
    origins = [_origin(metadata) for metadata in chunks["metadata"]]
    lines = chunks.with_columns(
        pl.Series("byte_offset", [origin.byte_offset for origin in origins], dtype=pl.Int64),
        pl.Series(FOLDER, [origin.folder for origin in origins], dtype=pl.String),
        pl.col("content").alias(TEXT),
    ).select(STORED.names)
    copies = [(place, *copy) for place, origin in enumerate(origins) for copy in origin.copies]
    if not copies:
        return lines
    at, numbers, offsets = zip(*copies, strict=True)
    again = lines[list(at)].with_columns(
        pl.Series("line", numbers, dtype=pl.Int64), pl.Series("byte_offset", offsets, dtype=pl.Int64)
    )
    return pl.concat([lines, again])


def _origin(metadata: str) -> _Origin:
    """Read the place of a line; none if another program uses the same names for other things."""
    try:
        return _STORED.decode(metadata).custom_meta
    except msgspec.MsgspecError:
        return _Origin()


def chunks_of_lines(
    lines: pl.DataFrame, *, tenant_id: str, repo_slug: str, root_kind: str = RAW_ROOT_KIND
) -> Iterator[dict[str, Any]]:
    """Yield each readable line as a chunk; the first of several equal lines of a log names the others."""
    columns = ("record_id", TEXT, "source_path", "line", "byte_offset", FOLDER)
    is_first = pl.struct("source_path", "record_id", TEXT).is_first_distinct()
    copies: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for record_id, text, source_path, line, offset, _ in lines.filter(~is_first).select(columns).iter_rows():
        copies.setdefault((source_path, record_id, text), []).append((line, offset))
    firsts = lines.filter(is_first).select(columns)
    for record_id, text, source_path, line, offset, folder in firsts.iter_rows():
        meta: dict[str, Any] = {"byteOffset": offset}
        if folder != folder_of(source_path, repo_slug):
            meta[FOLDER] = folder
        if copy := copies.get((source_path, record_id, text)):
            meta["copies"] = copy
        yield {
            "schemaVersion": SCHEMA_VERSION,
            "tenantId": tenant_id,
            "repoSlug": repo_slug,
            "rootKind": root_kind,
            "sourcePath": source_path,
            "content": text,
            "hashInputs": list(HASH_INPUTS),
            "parserId": PARSER_ID,
            "parserVersion": PARSER_VERSION,
            "kind": GAP_KIND,
            "name": record_id,
            "line_start": line,
            "line_end": line,
            "customMeta": meta,
        }


def folder_of(source_path: str, repo_slug: str) -> str:
    """Return the name of the folder that holds a log; at the root it is the repository."""
    above, _, _ = source_path.rpartition("/")
    return (above or repo_slug).rpartition("/")[2]


Row = tuple[Any, ...]
"""A row of table `chunks`; `ingested_at` in microseconds since 1970."""


def row_of(
    identity: str,
    metadata: Mapping[str, Any],
    content: str | None,
    embedding: list[float] | None = None,
    verbatim: str | None = None,
) -> Row:
    """Return the row of a chunk; metadata of an unexpected type become null.

    A restored record may lack an owner: it then belongs to the shared tenant, and has no path.
    """
    moment = _finite(metadata.get("ingestedAt"))
    return (
        identity,
        _text(metadata.get("tenantId")) or SHARED_TENANT,
        _text(metadata.get("repoSlug")) or SHARED_REPO,
        _text(metadata.get("rootKind")),
        _text(metadata.get("sourcePath", metadata.get("source"))) or "",
        _text(metadata.get("type", metadata.get("kind"))),
        _text(metadata.get("name")),
        _whole(metadata.get("line_start")),
        content,
        compact_json(metadata) if verbatim is None else verbatim,
        embedding,
        _whole(metadata.get("tenantConfigVersion")),
        None if moment is None or not _FIRST <= moment <= _LAST else math.floor(moment * 1000),
    )


def metadata_of(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a stamped chunk without its id and its text."""
    return {field: value for field, value in chunk.items() if field not in _TEXTS}


def frame_of(rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows as a frame of table `chunks`."""
    columns = dict(zip(CHUNKS.names, zip(*rows, strict=True), strict=False))
    if not columns:
        return CHUNKS.empty()
    schema = {**CHUNKS.schema, "ingested_at": pl.Int64()}
    return pl.DataFrame(columns, schema=schema).with_columns(pl.col("ingested_at").cast(UTC_MICROSECONDS))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and is_unicode(value) else None


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _whole(value: object) -> int | None:
    number = _finite(value)
    return math.floor(number) if number is not None and -_INT64 <= number < _INT64 else None
