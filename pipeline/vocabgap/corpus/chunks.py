"""Chunks as rows of table `chunks`, and lines of gap logs as chunks and back as records that ingest reads."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.compact_json import compact_json, is_unicode
from vocabgap.corpus.identity import SHARED_REPO, SHARED_TENANT, milliseconds
from vocabgap.corpus.incoming import HASH_INPUTS, RAW_ROOT_KIND, SCHEMA_VERSION
from vocabgap.corpus.manifest import is_corpus as is_corpus  # noqa: PLC0414 - what ingest asks of a root
from vocabgap.corpus.store import open_store
from vocabgap.corpus.version import PATH_KEY, Version
from vocabgap.errors import NotFoundError
from vocabgap.ingest.columns import FOLDER, TEXT
from vocabgap.ingest.log_lines import STORED, scan_stored
from vocabgap.ingest.scanning import Scan as Scan  # noqa: PLC0414 - what a corpus gives
from vocabgap.ingest.scanning import united
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.sources import Source
from vocabgap.model.tables import CHUNKS, GAP_KIND, UTC_MICROSECONDS

PARSER_ID: Final = "vocabgap-gap-log"
PARSER_VERSION: Final = "1.0.0"
READ: Final = ("id", "tenant_id", "repo_slug", "root_kind", "source_path", "line", "content", "metadata")
_READABLE: Final = pl.col("kind").eq(GAP_KIND) & pl.all_horizontal(
    pl.col("content", "tenant_id", "repo_slug", "root_kind", "source_path").is_not_null()
)
_TEXTS: Final = ("id", "content", "description")  # columns of their own, or the same text once more
_INT64: Final = 2**63
_FIRST: Final = milliseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = milliseconds(datetime.max.replace(tzinfo=UTC))


_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 60)]


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    """What a chunk's own metadata say of where its line stood."""

    byte_offset: _Count | None = None
    folder: str | None = None
    copies: tuple[tuple[_Count, _Count], ...] = ()  # line and offset of each further line that is the same


class _Stored(msgspec.Struct, frozen=True, rename="camel"):
    """The part of a stored chunk's metadata that is about its line."""

    custom_meta: _Meta = _Meta()


_STORED: Final = msgspec.json.Decoder(_Stored)


def scan_corpora(
    roots: Sequence[Path],
    *,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    sources: Mapping[str, Source] | None = None,
) -> Scan:
    """Read shared corpora for `ingest.scan`; a record that two of them have counts once."""
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
    """The chunks of some tenants and repositories, as a condition over table `chunks`; all by default."""
    wanted = pl.lit(value=True)
    for column, names in (("tenant_id", tenants), ("repo_slug", repositories)):
        if names:
            wanted &= pl.col(column).is_in(list(names))
    return wanted


def require_whose(version: Version, tenant: str, repo: str | None = None, paths: Iterable[str] = ()) -> None:
    """Refuse a tenant, a repository or a path of which there is nothing; the error names the nearest.

    Raises:
        NotFoundError: There is none.
    """
    snapshots = version.table("paths").select("tenant_id", "repo_slug")
    held = [version.rows(PATH_KEY), version.table("logs").select(PATH_KEY), snapshots]
    there = pl.concat(held, how="diagonal").unique().sort(PATH_KEY)
    own = there.filter(tenant_id=tenant)
    here = own.filter(repo_slug=repo or "")["source_path"].drop_nulls()
    asked = [("tenant '{}'", there["tenant_id"], tenant)]
    of_tenant = f"repository '{{}}' of tenant '{tenant}'"
    asked += [(of_tenant, own["repo_slug"], each) for each in (repo,) if each is not None]
    asked += [(f"path '{{}}' of {tenant}/{repo}", here, path) for path in paths]
    for what, known, name in asked:
        if name not in known:
            there_is = f"there is '{known[0]}', for instance" if len(known) else ""
            hint = did_you_mean(name, known) or there_is or "`vocabgap corpus status` tells what there is"
            raise NotFoundError(f"there is no {what.format(name)} in the corpus", hint=hint)


def scan_chunks(
    chunks: pl.DataFrame, sources: Mapping[str, Source] | None = None
) -> tuple[pl.DataFrame, Scan]:
    """Decode those of some chunks that are gap records.

    Each line gets a number of its own, by which its record is found again.
    """
    lines = lines_of_chunks(chunks.filter(_READABLE)) if chunks.height else STORED.empty()
    lines = lines.unique("id", keep="first", maintain_order=True).with_columns(
        line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    return lines, scan_stored(lines, sources=sources)


def lines_of_chunks(chunks: pl.DataFrame) -> pl.DataFrame:
    """The lines that some chunks hold (`ingest.STORED`)."""
    origins = [_meta(metadata) for metadata in chunks["metadata"]]
    lines = chunks.with_columns(
        pl.Series("byte_offset", [each.byte_offset for each in origins], dtype=pl.Int64),
        pl.Series(FOLDER, [each.folder for each in origins], dtype=pl.String),
        pl.col("content").alias(TEXT),
    ).select(STORED.names)
    copies = [(place, *copy) for place, each in enumerate(origins) for copy in each.copies]
    if not copies:
        return lines
    at, numbers, offsets = zip(*copies, strict=True)
    again = lines[list(at)].with_columns(
        pl.Series("line", numbers, dtype=pl.Int64), pl.Series("byte_offset", offsets, dtype=pl.Int64)
    )
    return pl.concat([lines, again])


def _meta(metadata: str) -> _Meta:
    """Where a line stood; nothing where somebody else uses the same names for other things."""
    try:
        return _STORED.decode(metadata).custom_meta
    except msgspec.MsgspecError:
        return _Meta()


def chunks_of_lines(
    lines: pl.DataFrame, *, tenant_id: str, repo_slug: str, root_kind: str = RAW_ROOT_KIND
) -> Iterator[dict[str, Any]]:
    """Each readable line as a chunk; of lines of a log that are the same the first, which names the rest."""
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
    """The folder that holds a log: the one of its path, or the repository."""
    above, _, _ = source_path.rpartition("/")
    return (above or repo_slug).rpartition("/")[2]


class Row(NamedTuple):
    """A row of table `chunks`; `ingested_at` in microseconds since 1970."""

    id: str
    tenant_id: str
    repo_slug: str
    root_kind: str | None
    source_path: str
    kind: str | None
    name: str | None
    line: int | None
    content: str | None
    metadata: str
    embedding: list[float] | None
    config_version: int | None
    ingested_at: int | None


def row_of(
    identity: str,
    metadata: Mapping[str, Any],
    content: str | None,
    embedding: list[float] | None = None,
    verbatim: str | None = None,
) -> Row:
    """The row of a chunk. What its metadata say in another form than expected is null as a column.

    A restored record need not say whose it is: it is then what the contract shares, and of no path.
    """
    moment = _finite(metadata.get("ingestedAt"))
    return Row(
        id=identity,
        tenant_id=_text(metadata.get("tenantId")) or SHARED_TENANT,
        repo_slug=_text(metadata.get("repoSlug")) or SHARED_REPO,
        root_kind=_text(metadata.get("rootKind")),
        source_path=_text(metadata.get("sourcePath", metadata.get("source"))) or "",
        kind=_text(metadata.get("type", metadata.get("kind"))),
        name=_text(metadata.get("name")),
        line=_whole(metadata.get("line_start")),
        content=content,
        metadata=compact_json(metadata) if verbatim is None else verbatim,
        embedding=embedding,
        config_version=_whole(metadata.get("tenantConfigVersion")),
        ingested_at=None if moment is None or not _FIRST <= moment <= _LAST else math.floor(moment * 1000),
    )


def metadata_of(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is said of a stamped chunk but its id and its text."""
    return {field: value for field, value in chunk.items() if field not in _TEXTS}


def frame_of(rows: Iterable[Row]) -> pl.DataFrame:
    """Rows as a frame of table `chunks`."""
    columns = dict(zip(Row._fields, zip(*rows, strict=True), strict=False))
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
    if number is None or not -_INT64 <= number < _INT64:
        return None
    return math.floor(number)
