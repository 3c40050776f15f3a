"""Lines of gap logs as chunks of a shared corpus, and back: what a line is called, and what is told of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.incoming import Parser, RawFile
from vocabgap.corpus.outcome import Code, RefusedError
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.ingest.columns import FOLDER, TEXT
from vocabgap.ingest.log_lines import read_lines as read_lines  # noqa: PLC0414 - payloads hand them on, too
from vocabgap.ingest.log_lines import text_lines
from vocabgap.ingest.stored_lines import STORED
from vocabgap.records.record import ROOT_KIND
from vocabgap.schema import GAP_KIND
from vocabgap.settings.model import ScanSettings
from vocabgap.settings.sources import Source

PARSER_ID: Final = "vocabgap-gap-log"
PARSER_VERSION: Final = "1.0.0"
SCHEMA_VERSION: Final = "1.0.0"
CONTRACT_ROOT_KIND: Final = "external-source"  # of a line in a payload, where `image-repo` is never said
HASH_INPUTS: Final = ("kind", "name", "content", "sourcePath", "parserId", "parserVersion")
_BYTE_OFFSET: Final = "byteOffset"


class _Meta(msgspec.Struct, frozen=True):
    """What a chunk's own metadata say of where its line stood."""

    byteOffset: int | None = None  # noqa: N815 - the name in the chunk
    folder: str | None = None


class _Told(msgspec.Struct, frozen=True):
    """The part of a stored chunk's metadata that is about its line."""

    customMeta: _Meta = _Meta()  # noqa: N815 - the name in the contract


_TOLD: Final = msgspec.json.Decoder(_Told)


def chunks_of_lines(
    lines: pl.DataFrame, *, tenant_id: str, repo_slug: str, root_kind: str = CONTRACT_ROOT_KIND
) -> Iterator[dict[str, Any]]:
    """Each readable line as a chunk.

    Args:
        lines: As `ingest.read_lines` gives them.
        tenant_id: Whose they are.
        repo_slug: The repository.
        root_kind: The kind of its root.
    """
    columns = ("record_id", TEXT, "source_path", "line", "byte_offset", FOLDER)
    for record_id, text, source_path, line, offset, folder in lines.select(columns).iter_rows():
        meta: dict[str, Any] = {_BYTE_OFFSET: offset}
        if folder != folder_of(source_path, repo_slug):
            meta[FOLDER] = folder
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


def lines_of_chunks(chunks: pl.DataFrame) -> pl.DataFrame:
    """The lines that some chunks hold (`ingest.STORED`).

    Args:
        chunks: Columns of table `chunks`, gap records with content only.
    """
    told = [_meta(metadata) for metadata in chunks["metadata"]]
    return chunks.with_columns(
        pl.Series("byte_offset", [each.byteOffset for each in told], dtype=pl.Int64),
        pl.Series(FOLDER, [each.folder for each in told], dtype=pl.String),
        pl.col("content").alias(TEXT),
    ).select(STORED.names)


def _meta(metadata: str) -> _Meta:
    """What is told of a line; nothing where somebody else uses the same names for other things."""
    try:
        found = _TOLD.decode(metadata).customMeta
    except msgspec.MsgspecError:
        return _Meta()
    at = found.byteOffset
    return found if at is None or 0 <= at < 1 << 60 else _Meta(folder=found.folder)


# An image repository as what is pushed of it: one chunk a readable line, one error a line that is
# none.


_Parsed = Mapping[str, Any] | RefusedError
_MENDING_HINT: Final = "make it readable, or push without --snapshot"


@dataclass(frozen=True)
class Signals:
    """What a push withdraws, beside what it brings.

    Attributes:
        deleted: Source paths to withdraw.
        snapshot: Whether to withdraw what is of no log that is there now.
        base: The revision since which deletions count; None for none.
        head: The revision up to which they do.
    """

    deleted: tuple[str, ...] = ()
    snapshot: bool = False
    base: str | None = None
    head: str | None = None

    def as_fields(self, paths: Iterable[str], repo_slug: str) -> dict[str, Any]:
        """The same as fields of a payload.

        Args:
            paths: The paths that are there now.
            repo_slug: The repository.
        """
        fields: dict[str, Any] = {}
        if self.deleted:
            fields["deleted"] = list(self.deleted)
        if self.snapshot:
            fields["manifestSnapshot"] = {"repoSlug": repo_slug, "pathsAfterPush": list(paths)}
        if self.base is not None:
            fields |= {"baseRevision": self.base, "headRevision": self.head}
        return fields


class FolderPayload:
    """A payload of the gap logs in a folder, and the parser that goes with it.

    A payload holds text, and a log may hold any bytes; so the logs are read here, as every scan reads them,
    and the parser hands over what was found.

    Args:
        root: The image repository.
        tenant_id: Whose it is.
        repo_slug: What the repository is called.
        settings: How logs are found and read.
        signals: What is withdrawn.

    Raises:
        VocabgapError: The folder cannot be read.
        StateError: A snapshot is asked for and a folder in it cannot be listed: its logs would be withdrawn.
    """

    def __init__(
        self, root: Path, tenant_id: str, repo_slug: str, settings: ScanSettings, signals: Signals
    ) -> None:
        found = read_lines(root, settings)
        if signals.snapshot and found.unlisted:
            raise StateError(
                f"'{found.unlisted[0]}' cannot be listed, so the logs in it would be withdrawn",
                hint=_MENDING_HINT,
            )
        paths = sorted({*found.lines["source_path"], *found.rejects["source_path"]})
        self.payload: dict[str, Any] = {
            "tenantId": tenant_id,
            "repoSlug": repo_slug,
            "files": [{"content": "", "sourcePath": path, "parserId": PARSER_ID} for path in paths],
            **signals.as_fields(found.paths, repo_slug),
        }
        chunks = chunks_of_lines(found.lines, tenant_id=tenant_id, repo_slug=repo_slug, root_kind=ROOT_KIND)
        self._parsed: dict[str, list[_Parsed]] = defaultdict(list)
        for chunk in chunks:
            self._parsed[chunk["sourcePath"]].append(chunk)
        for error in refusals(found.rejects):
            self._parsed[str(error.details["sourcePath"])].append(error)

    def parser(self, file: RawFile) -> list[_Parsed]:
        """What was found in a log."""
        return self._parsed.pop(file.source_path, [])


def gap_log_parser(sources: Mapping[str, Source] | None = None) -> Parser:
    """The parser of gap logs that come as text.

    Args:
        sources: What gap logs are called and how they are read; the shipped ones by default.
    """

    def parse(file: RawFile) -> Iterator[_Parsed]:
        found = text_lines(file.content, file.source_path, repo_slug=file.repo_slug, sources=sources)
        yield from chunks_of_lines(found.lines, tenant_id=file.tenant_id, repo_slug=file.repo_slug)
        yield from refusals(found.rejects)

    return parse


def refusals(rejects: pl.DataFrame) -> Iterator[RefusedError]:
    """The lines that are no record, and the logs that could not be read, as errors of a push.

    Args:
        rejects: Table `rejects`.
    """
    for row in rejects.iter_rows(named=True):
        place = row["source_path"] if row["line"] is None else f"{row['source_path']}:{row['line']}"
        yield RefusedError(
            Code.PARSE_FAILED,
            f"{place}: {row['reason']}: {row['detail']}",
            sourcePath=row["source_path"],
            line=row["line"],
            reason=row["reason"],
            parserId=PARSER_ID,
        )


def chunked_logs(
    lines: pl.DataFrame, tenant_id: str, repo_slug: str
) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """The readable lines as parsed-chunk-v1 records, log by log.

    Args:
        lines: As `ingest.read_lines` gives them.
        tenant_id: Whose they are.
        repo_slug: The repository.
    """
    for (path,), part in lines.group_by("source_path", maintain_order=True):
        chunks = chunks_of_lines(part, tenant_id=tenant_id, repo_slug=repo_slug, root_kind=CONTRACT_ROOT_KIND)
        yield str(path), chunks


def require_revisions(signals: Signals) -> None:
    """Refuse a boundary that is said by half.

    Raises:
        InvalidInputError: There is a head and no base.
    """
    if signals.head is not None and signals.base is None:
        raise InvalidInputError("--head is given without --base", hint="say since when deletions count")
