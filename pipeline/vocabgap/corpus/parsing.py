"""What a payload says of files: chunks that were parsed before, or text that a parser turns into chunks."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from vocabgap.corpus.outcome import Code, RefusedError
from vocabgap.corpus.source_paths import PATH_HINT, path_fault
from vocabgap.errors import VocabgapError

SCHEMA_VERSION: Final = "1.0.0"
RAW_TEXT: Final = "raw-text"
RAW_VERSION: Final = "1.0.0"
RAW_KIND: Final = "doc-section"
RAW_ROOT_KIND: Final = "external-source"
HASH_INPUTS: Final = ("kind", "name", "content", "sourcePath", "parserId", "parserVersion")
"""What the identity of a chunk depends on that is parsed here."""

_OPTIONAL: Final = ("line_start", "line_end", "className", "extends", "customMeta")


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of a payload as it came, to be parsed.

    Attributes:
        content: Its text.
        source_path: Its path relative to the root.
        tenant_id: Whose it is.
        repo_slug: The repository.
        parser_id: The parser that was asked for.
        said: Whatever else the payload says of it.
    """

    content: str
    source_path: str
    tenant_id: str
    repo_slug: str
    parser_id: str
    said: Mapping[str, Any]


Parser = Callable[[RawFile], Iterable[Mapping[str, Any]]]
"""Gives the chunks of a file, each as a parsed-chunk-v1 record; `rootKind` may also be `image-repo`."""


@dataclass(frozen=True, slots=True)
class FileChunks:
    """The chunks of one file of a payload, not checked yet, and whether a parser of this side made them."""

    records: list[Any]
    parsed_here: bool


def chunks_of_file(
    entry: object, position: int, parsers: Mapping[str, Parser], tenant_id: str, repo_slug: str
) -> FileChunks:
    """The chunks of one entry of a payload's `files`.

    Args:
        entry: A parsed-chunk-v1 record, or an object with `parsedChunks`, `chunks` or `content`.
        position: Which one it is, counted from 0.
        parsers: The parsers by their id, beside the one for plain text.
        tenant_id: Whose it is.
        repo_slug: The repository, for an entry that names none.

    Raises:
        RefusedError: It is nothing of that kind, its path cannot be stored, there is no such parser, or the
            parser gave up.
    """
    if isinstance(entry, dict):
        if entry.get("schemaVersion") == SCHEMA_VERSION:
            return FileChunks([entry], parsed_here=False)
        for form in ("parsedChunks", "chunks"):
            if isinstance(entry.get(form), list):
                return FileChunks(entry[form], parsed_here=False)
        if isinstance(entry.get("content"), str):
            return FileChunks(_parsed(entry, position, parsers, tenant_id, repo_slug), parsed_here=True)
    raise RefusedError(
        Code.FILE_INVALID,
        "expected a parsed-chunk-v1 record, or an object with `parsedChunks`, `chunks` or a text `content`",
    )


def _parsed(
    entry: Mapping[str, Any], position: int, parsers: Mapping[str, Parser], tenant_id: str, repo_slug: str
) -> list[Any]:
    path = entry.get("sourcePath") or f"inline-{position}.txt"
    fault = path_fault(path) if isinstance(path, str) else "is no text"
    if fault:
        raise RefusedError(Code.FILE_INVALID, f"sourcePath {path!r} {fault}; {PATH_HINT}")
    wanted = entry.get("parserId") or RAW_TEXT
    parser = {RAW_TEXT: raw_text, **parsers}.get(wanted) if isinstance(wanted, str) else None
    if parser is None:
        known = ", ".join(sorted({RAW_TEXT, *parsers}))
        raise RefusedError(
            Code.NO_PARSER, f"there is no parser {wanted!r}; expected one of {known}", parserId=wanted
        )
    file = RawFile(entry["content"], path, tenant_id, entry.get("repoSlug") or repo_slug, wanted, entry)
    try:
        return list(parser(file))
    except VocabgapError as error:
        raise RefusedError(Code.PARSE_FAILED, f"{path}: {error}", parserId=wanted) from error
    except Exception as error:  # a parser is handed in; whatever it does, the other files are read
        told = f"{path}: parser {wanted!r} failed: {type(error).__name__}: {error}"
        raise RefusedError(Code.PARSE_FAILED, told, parserId=wanted) from error


def raw_text(file: RawFile) -> list[Mapping[str, Any]]:
    """A file as one chunk, for which what the payload says of it is taken over."""
    said = file.said
    return [
        {
            "schemaVersion": SCHEMA_VERSION,
            "tenantId": file.tenant_id,
            "repoSlug": file.repo_slug,
            "rootKind": said.get("rootKind") or RAW_ROOT_KIND,
            "sourcePath": file.source_path,
            "content": file.content,
            "hashInputs": list(HASH_INPUTS),
            "parserId": file.parser_id,
            "parserVersion": said.get("parserVersion") or RAW_VERSION,
            "kind": said.get("kind") or RAW_KIND,
            "name": said.get("name") or file.source_path,
            **{field: said[field] for field in _OPTIONAL if said.get(field)},
        }
    ]
