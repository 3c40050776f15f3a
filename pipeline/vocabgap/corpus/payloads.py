"""Payloads: the logs of a folder, one JSON object in a file, or an export of a repository's chunks."""

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.corpus.chunks import PARSER_ID, chunks_of_lines, folder_of, require_owner, scope
from vocabgap.corpus.contracts import PARSED_CHUNK, Code, RefusedError, contract_schema, keeps
from vocabgap.corpus.identity import require_tenant
from vocabgap.corpus.incoming import RAW_ROOT_KIND, Parser, PushedLog, RawFile
from vocabgap.corpus.version import Version
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.files.atomic import replacing
from vocabgap.files.refusals import refusal, refusing
from vocabgap.ingest.log_lines import LogLines, read_lines, text_lines
from vocabgap.model.record import ROOT_KIND
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Source

_Parsed = Mapping[str, Any] | RefusedError | PushedLog
STANDARD_INPUT: Final = "-"
_HINT: Final = "expected one JSON object with `files`, as `vocabgap corpus admin export-chunks` writes it"


def folder_payload(
    root: Path,
    tenant_id: str,
    repo_slug: str,
    settings: ScanSettings,
    signals: dict[str, Any],
    *,
    snapshot: bool,
) -> tuple[dict[str, Any], Parser]:
    """Return a payload of the gap logs in a folder, and its parser.

    A payload holds text, but a log may hold any bytes. So the logs are read here, as every scan reads them,
    and the parser hands over their chunks. With `snapshot`, the payload withdraws all other logs.
    """
    logs = read_lines(root, settings)
    if snapshot and logs.unlisted:
        raise StateError(
            f"'{logs.unlisted[0]}' cannot be listed, so its logs would be withdrawn",
            hint="make it readable, or push without --snapshot",
        )
    parsed: dict[str, list[_Parsed]] = {
        path: [] for path in sorted({*logs.paths, *logs.rejects["source_path"]})
    }
    for path, piece in _pieces(logs, tenant_id, repo_slug, ROOT_KIND):
        parsed[path].append(piece)
    files = [{"content": "", "sourcePath": path, "parserId": PARSER_ID} for path in parsed]
    payload = {"tenantId": tenant_id, "repoSlug": repo_slug, "files": files, **signals}
    if snapshot:
        payload["manifestSnapshot"] = {"repoSlug": repo_slug, "pathsAfterPush": list(logs.paths)}
    return payload, lambda file: parsed.pop(file.source_path, [])


def gap_log_parser(sources: Mapping[str, Source] | None = None) -> Parser:
    """Return the parser of gap logs that come as text."""

    def parse(file: RawFile) -> Iterator[_Parsed]:
        logs = text_lines(file.content, file.source_path, repo_slug=file.repo_slug, sources=sources)
        for _, piece in _pieces(logs, file.tenant_id, file.repo_slug, RAW_ROOT_KIND):
            yield piece

    return parse


def _pieces(logs: LogLines, tenant: str, repo: str, root_kind: str) -> Iterator[tuple[str, _Parsed]]:
    """Yield the lines of logs as chunks, rejected lines as errors, and the rest of each log."""
    for chunk in chunks_of_lines(logs.lines, tenant_id=tenant, repo_slug=repo, root_kind=root_kind):
        yield chunk["sourcePath"], chunk
    for row in logs.rejects.iter_rows(named=True):
        path, line, reason = row["source_path"], row["line"], row["reason"]
        message = f"{path}{'' if line is None else f':{line}'}: {reason}: {row['detail']}"
        details = {"sourcePath": path, "line": line, "reason": reason, "parserId": PARSER_ID}
        yield path, RefusedError(Code.PARSE_FAILED, message, **details)
    for path, folder, *rest in logs.logs.iter_rows():
        own_folder = None if folder == folder_of(path, repo) else folder
        yield path, PushedLog(root_kind, path, own_folder, *rest)


def read_payload(path: str | Path) -> dict[str, Any]:
    """Read the payload in a file; `-` is standard input."""
    name, content = _content(path)
    try:
        payload = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InvalidInputError(f"{name}:{line}: expected UTF-8, {error.reason}", hint=_HINT) from error
    except json.JSONDecodeError as error:
        problem = f"{error.msg[:1].lower()}{error.msg[1:]} at column {error.colno}"
        raise InvalidInputError(f"{name}:{error.lineno}: expected JSON: {problem}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{name}: expected JSON: {error}", hint=_HINT) from error
    if not isinstance(payload, dict):
        raise InvalidInputError(f"{name}: expected an object, found another JSON value", hint=_HINT)
    return payload


def _content(path: str | Path) -> tuple[str, bytes]:
    if str(path) == STANDARD_INPUT:
        return "standard input", sys.stdin.buffer.read()
    try:
        return str(path), Path(path).read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no folder, and no payload, '{path}'", hint="check the path") from error
    except OSError as error:
        raise refusal(f"payload '{path}' cannot be read", error) from error


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON value")


class ExportedChunks(NamedTuple):
    """The number of exported chunks, and a sentence for each chunk that was left out."""

    chunks: int
    left_out: tuple[str, ...]


def export_chunks(version: Version, file: Path, *, tenant: str, repo: str) -> ExportedChunks:
    """Write a repository of a corpus as a payload; leave out chunks that are no parsed-chunk-v1."""
    tenant = require_tenant(tenant)
    require_owner(version, tenant, repo)
    columns = ("source_path", "content", "metadata", "id")
    stored = version.rows(columns, scope([tenant], [repo])).sort("source_path", "id")
    fields, chunks, left_out = contract_schema(PARSED_CHUNK)["properties"], [], []
    for path, content, metadata, identity in stored.iter_rows():
        known = msgspec.json.decode(metadata)
        chunk = {field: known[field] for field in fields if field in known}
        if chunk.get("rootKind") not in fields["rootKind"]["enum"]:
            chunk["rootKind"] = RAW_ROOT_KIND
        if content is not None:
            chunk["content"] = content
        if keeps(PARSED_CHUNK, chunk):
            chunks.append(chunk)
        else:
            left_out.append(f"{path}: chunk {identity} is no parsed chunk")
    files = [
        {"sourcePath": path, "parsedChunks": list(part)}
        for path, part in groupby(chunks, key=itemgetter("sourcePath"))
    ]
    with refusing(f"'{file}' cannot be written", hint="name a file elsewhere"), replacing(file) as target:
        target.write(msgspec.json.encode({"tenantId": tenant, "repoSlug": repo, "files": files}) + b"\n")
    return ExportedChunks(len(chunks), tuple(left_out))
