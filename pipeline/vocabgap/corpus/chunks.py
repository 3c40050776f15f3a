"""Lines of gap logs as chunks, chunks as rows of table `chunks`, and the scan of the lines in a corpus."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.identity import PRIVATELY, SHARED_REPO, compact_json, is_unicode, milliseconds
from vocabgap.corpus.version import CHUNKS, GAP_KIND, LOGS, PATH_KEY, REJECTED, Version, newest
from vocabgap.errors import NotFoundError
from vocabgap.files.budget import MIB
from vocabgap.ingest.discovery import Catalogue, LogFile, discover
from vocabgap.ingest.lines import FOLDER, TEXT, LineCounts, LogDecoder
from vocabgap.ingest.reading import UNKNOWN_OFFSET, Block, too_long
from vocabgap.ingest.scanning import Scan, scan_of, united, without_cycle_search
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.record import MAX_LINE_BYTES, ROOT_KIND, SHARED_TENANT
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Source, shipped_sources
from vocabgap.model.tables import OWNER, RECORDS, REJECTS, UTC_MICROSECONDS, phrase

PARSER_ID: Final = "vocabgap-gap-log"
_PIECE: Final = {"kind": GAP_KIND, "rootKind": ROOT_KIND, "parserVersion": "1.0.0"}
READ: Final = ("id", "tenant_id", "repo_slug", "root_kind", "source_path", "line", "content", "metadata")
LISTED_BY: Final = "`vocabgap corpus list` lists the records"  # a hint
_READABLE: Final = pl.col("kind").eq(GAP_KIND) & pl.all_horizontal(
    pl.col("content", "tenant_id", "repo_slug", "root_kind", "source_path").is_not_null()
)
TEXTS: Final = frozenset({"id", "content", "description"})  # stored in columns, or equal to one of them
_INT64: Final = 2**63
_FIRST: Final = milliseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = milliseconds(datetime.max.replace(tzinfo=UTC))
_LOG: Final = ("repo_slug", "source_path", "tenant_id", "root_kind", FOLDER)
STORED: Final = pl.Schema(
    {"line": pl.Int64(), "byte_offset": pl.Int64()} | dict.fromkeys((*_LOG, TEXT, "id"), pl.String())
)
"""The input of `scan_stored`: a line without its newline, its place and its log; null if unknown."""
_LINES: Final = pl.Schema([*RECORDS.schema.items(), (TEXT, pl.String), (FOLDER, pl.String)])
_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 60)]


class _Origin(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a chunk's line in its log; `copies` are the lines and offsets of equal lines."""

    byte_offset: _Count | None = None
    folder: str | None = None
    copies: tuple[tuple[_Count, _Count], ...] = ()


class _Stored(msgspec.Struct, frozen=True, rename="camel"):
    custom_meta: _Origin = _Origin()


_STORED: Final = msgspec.json.Decoder(_Stored)


class LogLines(NamedTuple):
    """The content of gap logs, line by line."""

    lines: pl.DataFrame  # table `records` of every readable line, with columns `TEXT` and `FOLDER`
    rejects: pl.DataFrame
    paths: tuple[str, ...]  # of all logs, sorted
    logs: pl.DataFrame  # the rest of each log: columns of table `logs`
    unlisted: tuple[str, ...]  # folders that could not be listed, and links that were not followed


def read_lines(root: str | Path, settings: ScanSettings | None = None) -> LogLines:
    """Read every log of a known source below a root, and keep the text of each line with a record."""
    # A corpus later knows the source of a line by the name of its log. `source` and `map` read any name.
    settings, change = settings or ScanSettings(), msgspec.structs.replace
    sources = {name: change(source, keeps_other=False) for name, source in settings.sources.items()}
    settings = change(settings, source=None, map={}, sources=sources)
    decoder = LogDecoder(settings.tenant, settings.max_expanded_mib * MIB, with_text=True)
    read = [(log, decoder.read(log)) for log in discover(root, settings)]
    tables = decoder.tables()
    by_log = tables.rejects.group_by("source_path").agg(pl.struct(*REJECTED.to_schema()).alias("rejects"))
    by_path = {
        log.source_path: (log.folder, None if counts is None else counts.passed_over)
        for log, counts in read
        if log.problem is None or log.kind.source
    }
    paths = tuple(sorted(by_path))
    logs = pl.DataFrame(
        [(path, *by_path[path]) for path in paths],
        {name: LOGS.schema[name] for name in ("source_path", FOLDER, "passed_over")},
        orient="row",
    ).join(by_log, on="source_path", how="left")
    unlisted = tuple(sorted({log.source_path for log, _ in read} - by_path.keys()))
    lines = tables.records.collect().select(_LINES.names())
    return LogLines(lines, tables.rejects, paths, logs, unlisted)


def pieces_of_lines(lines: pl.DataFrame, repo_slug: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each readable line as the piece of a parser, after the path of its log.

    Equal lines of a log share a piece, which lists the others.
    """
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
        piece = {"content": text, "name": record_id, "line_start": line, "line_end": line, "customMeta": meta}
        yield source_path, piece | _PIECE


def folder_of(source_path: str, repo_slug: str) -> str:
    """Return the name of the folder of a log; for a log at the root, the repository."""
    above, _, _ = source_path.rpartition("/")
    return (above or repo_slug).rpartition("/")[2]


def scan_corpora(
    roots: Sequence[Path],
    *,
    sources: Mapping[str, Source] | None = None,
    **reader: Any,  # noqa: ANN401 - as `readable` has them
) -> Scan:
    """Read shared corpora as a scan of their logs; a record in several of them counts once."""
    return united(scan_version(newest(root), sources=sources, **reader) for root in roots)


def scan_version(
    version: Version,
    *,
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    shared: bool = True,
    sources: Mapping[str, Source] | None = None,
) -> Scan:
    """Decode the gap records of a corpus that a reader may read, see `readable`."""
    condition = readable(tenants, repositories, shared=shared)
    chunks = version.rows(READ, condition & _READABLE)
    private = version.rows(PATH_KEY, PRIVATE).unique()  # their rejected lines are private, too
    hidden = pl.struct(PATH_KEY).is_in(private.select(pl.struct(PATH_KEY)).to_series().implode())
    logs = version.table("logs").filter(readable(tenants, repositories, shared=shared, private=hidden))
    scan = scan_stored(lines_of_chunks(chunks), logs, sources=sources)
    others = version.rows(["id"], condition).height - chunks.height
    return replace(scan, summary=replace(scan.summary, passed_over=scan.summary.passed_over + others))


def readable(
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    *,
    shared: bool = True,
    private: pl.Expr | None = None,
) -> pl.Expr:
    """Return the condition of chunks that some tenants may read.

    They read their own chunks and those of the shared tenant, but nobody else's private ones. Without a
    tenant, every chunk can be read that is not private.
    """
    own, is_shared = pl.col("tenant_id").is_in(list(tenants)), pl.col("tenant_id").eq(SHARED_TENANT)
    others = is_shared if tenants else pl.lit(value=True)
    others = others if shared else others & ~is_shared
    return scope((), repositories) & (own | (others & ~(PRIVATE if private is None else private)))


def _is_private(metadata: str) -> bool:
    try:
        return bool(msgspec.json.decode(metadata, type=dict[str, Any]).get("visibility") == PRIVATELY)
    except msgspec.DecodeError:  # the statistics of a file hold the beginning of some metadata
        return True


# Few chunks have the word, or an escape that could hide it, so few metadata are decoded.
PRIVATE: Final = (
    pl.when(pl.col("metadata").str.contains(rf"{PRIVATELY}|\\u"))
    .then("metadata")
    .map_elements(_is_private, return_dtype=pl.Boolean)
    .fill_null(value=False)
)
"""The condition of chunks that only their owner may read."""


def scope(tenants: Sequence[str] = (), repositories: Sequence[str] = ()) -> pl.Expr:
    """Return the condition of chunks of some tenants and repositories; all by default."""
    condition = pl.lit(value=True)
    for column, names in zip(OWNER, (tenants, repositories), strict=True):
        if names:
            condition &= pl.col(column).is_in(list(names))
    return condition


def require_owner(version: Version, tenant: str, repo: str | None = None, paths: Iterable[str] = ()) -> None:
    """Raise NotFoundError with the nearest name if a tenant, repository or path is not in a corpus."""
    snapshots = version.table("paths").select(OWNER)
    held = [version.rows(PATH_KEY), version.table("logs").select(PATH_KEY), snapshots]
    present = pl.concat(held, how="diagonal").unique().sort(PATH_KEY)
    of_tenant = present.filter(tenant_id=tenant)
    here = of_tenant.filter(repo_slug=repo or "")["source_path"].drop_nulls()
    required = [("tenant '{}'", present["tenant_id"], tenant)]
    if repo is not None:
        required.append((f"repository '{{}}' of tenant '{tenant}'", of_tenant["repo_slug"], repo))
    required += [(f"path '{{}}' of {tenant}/{repo}", here, path) for path in paths]
    for what, names, name in required:
        if name not in names:
            raise absent(what.format(name), name, names)


def absent(
    what: str, name: str, names: pl.Series, hint: str = "`vocabgap corpus status` lists the content"
) -> NotFoundError:
    """Return the error for a name that is not in a corpus, with the nearest names or a hint."""
    near = did_you_mean(name, names.drop_nulls().unique().sort())
    return NotFoundError(f"there is no {what} in the corpus", hint=near or hint)


def texts_of(chunks: pl.DataFrame, sources: Mapping[str, Source]) -> list[str]:
    """Return a text for each chunk: the need of a gap record, else the content."""
    lines = lines_of_chunks(chunks.filter(_READABLE)) if chunks.height else STORED.to_frame()
    lines = lines.unique("id", keep="first", maintain_order=True).with_columns(
        line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    gaps = scan_stored(lines, sources=sources).gaps
    needs = lines.select("id", "line").join(gaps.select("line", need=phrase()), on="line")
    texts = chunks.join(needs, on="id", how="left", maintain_order="left")
    return texts.select(pl.coalesce("need", "content").fill_null("")).to_series().to_list()


def lines_of_chunks(chunks: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of some chunks (`STORED`)."""
    origins = [_origin(metadata) for metadata in chunks["metadata"]]
    lines = chunks.with_columns(
        pl.Series("byte_offset", [origin.byte_offset for origin in origins], dtype=pl.Int64),
        pl.Series(FOLDER, [origin.folder for origin in origins], dtype=pl.String),
        pl.col("content").alias(TEXT),
    ).select(STORED.names())
    copies = [(place, *copy) for place, origin in enumerate(origins) for copy in origin.copies]
    if not copies:
        return lines
    at, numbers, offsets = zip(*copies, strict=True)
    again = lines[list(at)].with_columns(
        pl.Series("line", numbers, dtype=pl.Int64), pl.Series("byte_offset", offsets, dtype=pl.Int64)
    )
    return pl.concat([lines, again])


def _origin(metadata: str) -> _Origin:
    """Read the place of a line; unknown if the metadata have another form."""
    try:
        return _STORED.decode(metadata).custom_meta
    except msgspec.MsgspecError:
        return _Origin()


def scan_stored(
    lines: pl.DataFrame, logs: pl.DataFrame | None = None, *, sources: Mapping[str, Source] | None = None
) -> Scan:
    """Decode lines (`STORED`, in any order) and the rest of their logs (table `logs`) as a scan of the logs.

    A line without a number comes after the others of its log. A log's size and digest are those of its lines.
    Rows are ordered by repository, file, tenant and line.
    """
    logs = LOGS.empty() if logs is None else logs
    decoder, catalogue = LogDecoder(), Catalogue(shipped_sources() if sources is None else sources)
    with without_cycle_search():
        for log, blocks_of_log, content, counts in _stored_logs(lines, logs, catalogue):
            for block in blocks_of_log:
                decoder.decode(log, block, counts)
            decoder.add_file(log, len(content), hashlib.sha256(content).hexdigest(), counts)
        tables = decoder.tables()
    kept = logs.explode("rejects").drop_nulls("rejects").unnest("rejects").select(REJECTS.names)
    return scan_of(
        tables.records,
        pl.concat([kept, tables.rejects]).sort("repo_slug", "source_path", "line"),
        tables.files.sort("repo_slug", "source_path", maintain_order=True),
        tables.repairs,
    )


def _stored_logs(
    lines: pl.DataFrame, logs: pl.DataFrame, catalogue: Catalogue
) -> Iterator[tuple[LogFile, Iterator[Block], bytes, LineCounts]]:
    """Yield each log with the blocks of its lines, its content, and the counts of other lines."""
    rejects = pl.col("rejects").list.eval(pl.element().struct["line"].is_not_null()).list.sum()
    rest = {
        tuple(key): LineCounts(bad, passed_over)
        for *key, bad, passed_over in logs.filter(pl.col("passed_over").is_not_null())
        .select(*_LOG, rejects.fill_null(0).alias("bad"), "passed_over")
        .iter_rows()
    }
    ordered = lines.sort(*_LOG, "line", "id", nulls_last=True)
    without = logs.join(lines, on=_LOG, how="anti", nulls_equal=True).select(_LOG).rows()
    groups = ordered.group_by(*_LOG, maintain_order=True)
    for key, rows in chain(groups, ((key, lines.clear()) for key in without if key in rest)):
        repo_slug, source_path, tenant_id, root_kind = map(str, key[:-1])
        folder = str(key[-1] or folder_of(source_path, repo_slug))
        place = ("", repo_slug, source_path, folder)  # the lines are in memory, not in a file
        kind = catalogue.kind_of_root(source_path)
        last = int(rows["line"].max() or 0)  # type: ignore[arg-type]
        unnumbered = range(last + 1, last + 1 + rows["line"].null_count())
        texts = rows[TEXT].cast(pl.Binary).to_list()
        yield (
            LogFile(*place, kind, tenant_id=tenant_id, root_kind=root_kind),
            _blocks(
                [*rows["line"].drop_nulls(), *unnumbered],
                rows["byte_offset"].fill_null(UNKNOWN_OFFSET).to_list(),
                texts,
            ),
            b"".join(text + b"\n" for text in texts),
            replace(rest.get(key, LineCounts())),
        )


def _blocks(numbers: list[int], offsets: list[int], lines: list[bytes]) -> Iterator[Block]:
    """Yield consecutive lines as one block, and each line over the limit as a block of its own."""
    start = 0
    for end in range(1, len(lines) + 1):
        follows = end < len(lines) and numbers[end] == numbers[end - 1] + 1
        if follows and max(map(len, lines[end - 1 : end + 1])) <= MAX_LINE_BYTES:
            continue
        if len(lines[start]) > MAX_LINE_BYTES:
            shown, why = [lines[start][:MAX_LINE_BYTES]], too_long(len(lines[start]))
            yield Block(numbers[start], offsets[start], shown, rejected=why)
        else:
            yield Block(numbers[start], offsets[start], lines[start:end])
        start = end


Row = tuple[Any, ...]
"""A row of table `chunks`; `ingested_at` in microseconds since 1970."""


def row_of(
    identity: str,
    metadata: Mapping[str, Any],
    content: str | None,
    embedding: list[float] | None = None,
    *,
    verbatim: str | None = None,
    backup_line: str | None = None,
) -> Row:
    """Return the row of a chunk; metadata of an unexpected type become null.

    A restored record without an owner belongs to the shared tenant; without a path it has an empty one.
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
        backup_line,
    )


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
