"""Payloads for other installations: the chunks of a folder, or of a repository in a shared corpus."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.contracts import PARSED_CHUNK, contract_schema
from vocabgap.corpus.identity import CONTRACT_ROOT_KINDS, require_identity
from vocabgap.corpus.source_paths import path_fault
from vocabgap.corpus.store import Version
from vocabgap.corpus.validating import keeps
from vocabgap.exchange.folders import chunked_logs, refusals
from vocabgap.exchange.gap_chunks import CONTRACT_ROOT_KIND
from vocabgap.exchange.payload_files import write_payload
from vocabgap.exchange.record_files import written
from vocabgap.exchange.scanning import scope
from vocabgap.ingest import read_lines
from vocabgap.settings.model import ScanOptions, Settings

_EXPORTED: Final = ("source_path", "content", "metadata")
_Logs = Iterator[tuple[str, Iterator[dict[str, Any]]]]


@dataclass(frozen=True, slots=True)
class ExportedChunks:
    """What was written.

    Attributes:
        chunks: Parsed chunks.
        left_out: Why a line, a log or a chunk is not among them, a sentence each.
    """

    chunks: int
    left_out: tuple[str, ...]


def export_chunks(
    root: str | Path, file: str | Path, *, tenant: str, repo: str, options: ScanOptions | None = None
) -> ExportedChunks:
    """Write the readable lines of an image repository as a payload, to be pushed elsewhere.

    Args:
        root: The image repository, or a single log.
        file: The file. What is there is replaced in one step.
        tenant: Whose it is.
        repo: What the repository is called.
        options: How logs are found and read, as `Settings.scan_options` says it.

    Raises:
        VocabgapError: The folder cannot be read, or the file not be written.
    """
    tenant = require_identity(tenant, repo)
    found = read_lines(root, **(Settings().scan_options if options is None else options))
    faults = {path: fault for path in found.paths if (fault := path_fault(path))}
    lines = found.lines.filter(~pl.col("source_path").is_in(list(faults)))
    with written(Path(file)) as target:
        chunks = write_payload(target, _head(tenant, repo), chunked_logs(lines, tenant, repo))
    left_out = [f"{path}: the path {fault}" for path, fault in faults.items()]
    return ExportedChunks(chunks, (*left_out, *(error.message for error in refusals(found.rejects))))


def export_stored_chunks(version: Version, file: Path, *, tenant: str, repo: str) -> ExportedChunks:
    """The same for a repository in a shared corpus. What was restored and is no parsed chunk is left out.

    Args:
        version: The corpus.
        file: The file.
        tenant: Whose it is.
        repo: The repository.

    Raises:
        VocabgapError: The corpus cannot be read, or the file not be written.
    """
    tenant = require_identity(tenant, repo)
    stored = version.rows([*_EXPORTED, "id"], scope([tenant], [repo])).sort("source_path", "id")
    left_out: list[str] = []
    with written(file) as target:
        chunks = write_payload(target, _head(tenant, repo), _stored_logs(stored, left_out))
    return ExportedChunks(chunks, tuple(left_out))


def _stored_logs(stored: pl.DataFrame, left_out: list[str]) -> _Logs:
    for (path,), chunks in stored.group_by("source_path", maintain_order=True):
        parsed = []
        for _, content, metadata, identity in chunks.iter_rows():
            chunk = _as_parsed(content, metadata)
            if keeps(PARSED_CHUNK, chunk):
                parsed.append(chunk)
            else:
                left_out.append(f"{path}: chunk {identity} is no parsed chunk")
        if parsed:
            yield str(path), iter(parsed)


def _as_parsed(content: str | None, metadata: str) -> dict[str, Any]:
    """A stored chunk without the stamp of the receiving side."""
    said = msgspec.json.decode(metadata)
    chunk = {field: said[field] for field in contract_schema(PARSED_CHUNK)["properties"] if field in said}
    if chunk.get("rootKind") not in CONTRACT_ROOT_KINDS:
        chunk["rootKind"] = CONTRACT_ROOT_KIND
    return chunk if content is None else {**chunk, "content": content}


def _head(tenant: str, repo: str) -> dict[str, str]:
    return {"tenantId": tenant, "repoSlug": repo}
