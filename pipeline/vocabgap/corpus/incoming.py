"""The content of a payload: its owner and the checked chunks of its files."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, NamedTuple

from vocabgap.corpus.contracts import PARSED_CHUNK, Code, Fault, RefusedError, faults, keeps
from vocabgap.corpus.identity import (
    DEFAULT_VISIBILITY,
    PATH_HINT,
    REPO,
    REPO_HINT,
    SHARED_REPO,
    TENANT,
    TENANT_HINT,
    compact_json,
    content_hash,
    false_claims,
    is_unicode,
    normal_tenant,
    path_fault,
    refuse_claims,
    require_tenant,
)
from vocabgap.errors import InvalidInputError, VocabgapError, unusable
from vocabgap.model.record import ROOT_KIND, SHARED_TENANT, RejectReason
from vocabgap.text import count

SCHEMA_VERSION: Final = "1.0.0"
_NEAR_VERSION: Final = re.compile("1[.][0-9]+[.][0-9]+")
RAW_TEXT: Final = "raw-text"
HASH_INPUTS: Final = ("kind", "name", "content", "sourcePath", "parserId", "parserVersion")
"""The fields that decide the identity of a chunk that is parsed here."""

_STORED_TEXTS: Final = ("repoSlug", "sourcePath", "content", "kind", "name")  # stored in text columns
_LINES: Final = ("line_start", "line_end")
_CHUNK_LISTS: Final = ("parsedChunks", "chunks")
_SPARE_DEPTH: Final = 25  # reserve for the levels and calls around a stored `customMeta`
_OPTIONAL: Final = ("line_start", "line_end", "className", "extends", "customMeta")


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of a payload before it is parsed; `entry` is its whole entry in the payload."""

    content: str
    source_path: str
    tenant_id: str
    repo_slug: str
    parser_id: str
    entry: Mapping[str, Any]


class PushedLog(NamedTuple):
    """The part of a gap log that is not in chunks; the fields are those of table `logs`."""

    root_kind: str
    source_path: str
    folder: str | None
    passed_over: int | None
    rejects: list[dict[str, Any]] | None

    @property
    def is_whole(self) -> bool:
        """True if the log was read to its end and its last line is complete."""
        return self.passed_over is not None and all(
            reject["line"] and reject["reason"] != RejectReason.TORN for reject in self.rejects or ()
        )


Parser = Callable[[RawFile], Iterable[Mapping[str, Any] | RefusedError | PushedLog]]
"""A function that splits a file of a payload into pieces, in order.

A piece is a dict with `content`. It may have `kind`, `name`, `line_start`, `line_end`, `className`,
`extends`, `customMeta` and `source` (its path, if it differs from the file's). The push completes it to a
parsed-chunk-v1 record. If the payload names no version of the parser, the parser's attribute `version` is
used. A piece with a `schemaVersion` is already a record. A RefusedError in place of a piece becomes an error
of the push. An exception refuses the whole file.
"""


def raw_text(file: RawFile) -> list[Mapping[str, Any]]:
    """Return a file as one piece, with the fields that the payload gives it."""
    fields = {name: file.entry[name] for name in ("kind", "name", *_OPTIONAL) if file.entry.get(name)}
    return [{"content": file.content, **fields}]


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a push. Chunks without a repository get `repo_slug`; if `alone`, all chunks get it."""

    payload: Mapping[str, Any]
    tenant_id: str
    repo_slug: str
    alone: bool
    visibility: str
    agent: str | None

    @classmethod
    def of(cls, payload: object, tenant: str | None, repo: str | None, agent: str | None) -> "Caller":
        """Determine the owner of a payload."""
        if not isinstance(payload, dict):
            raise RefusedError(Code.FILES_INVALID, "the payload must be an object with `files`")
        for name in ("tenantId", "repoSlug", "visibility", "originAgentIdentity"):
            claimed = payload.get(name)
            if claimed is not None and not (isinstance(claimed, str) and is_unicode(claimed)):
                raise RefusedError(Code.FAILED, f"{name}: expected text, found {claimed!r}", field=name)
        pushing, claimed = normal_tenant(tenant), normal_tenant(payload.get("tenantId"))
        if pushing and claimed and pushing != claimed:
            raise RefusedError(
                Code.TENANT_MISMATCH,
                f"the payload claims tenant '{claimed}', but '{pushing}' pushes it; nothing was written",
                claimed=claimed,
                tenantId=pushing,
            )
        tenant_id = pushing or claimed or SHARED_TENANT
        if not TENANT.fullmatch(tenant_id):
            raise RefusedError(Code.FAILED, f"'{tenant_id}' is not a tenant: expected {TENANT_HINT}")
        repo_slug = repo or payload.get("repoSlug") or _first(payload.get("files"), "repoSlug") or SHARED_REPO
        return cls(
            payload=payload,
            tenant_id=tenant_id,
            repo_slug=repo_slug,
            alone=bool(repo),
            visibility=payload.get("visibility") or DEFAULT_VISIBILITY,
            agent=agent or payload.get("originAgentIdentity") or None,
        )

    def stamp_of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tenant and the repository of a chunk; it may name its repository unless `alone`."""
        repo = self.repo_slug if self.alone else record.get("repoSlug")
        return {"tenantId": self.tenant_id, "repoSlug": repo}


def owner_of(payload: Mapping[str, Any], tenant: str | None, repo: str | None) -> tuple[str, str]:
    """Return the tenant and the repository of a push: the given ones, else those that the payload names.

    Raises:
        InvalidInputError: One of them is missing or unusable, or the payload names another repository.
    """
    claimed = payload.get("repoSlug")
    if repo and claimed and claimed != repo:
        problem = f"the payload names repository '{claimed}', and --repo is '{repo}'; nothing was written"
        raise InvalidInputError(problem, hint="leave out --repo, or correct `repoSlug`")
    if tenant is None:
        tenant = _named(payload, "tenant", "tenantId")
    if repo is None:
        repo = _named(payload, "repo", "repoSlug")
    tenant_id = require_tenant(tenant)
    if not REPO.fullmatch(repo):
        raise unusable("repo", REPO_HINT, repo)
    return tenant_id, repo


def _named(payload: Mapping[str, Any], option: str, name: str) -> str:
    """Return a field of a payload, else of its first entry or chunk with one; raise InvalidInputError."""
    value = payload.get(name) or _first(payload.get("files"), name)
    if isinstance(value, str):
        return value
    problem = f"--{option} is missing, and no `{name}` of a payload replaces it"
    raise InvalidInputError(problem, hint=f"add --{option}")


def _first(files: object, name: str) -> str | None:
    """Return the first text of a field in the entries of a payload and their first chunks."""
    for entry in files if isinstance(files, list) else ():
        for claimant in (entry, *(_listed(entry) or ())[:1]) if isinstance(entry, dict) else ():
            value = claimant.get(name) if isinstance(claimant, dict) else None
            if isinstance(value, str) and value and is_unicode(value):
                return value
    return None


def _listed(entry: Mapping[str, Any]) -> list[Any] | None:
    """Return the chunks that an entry of a payload lists."""
    return next((entry[form] for form in _CHUNK_LISTS if isinstance(entry.get(form), list)), None)


@dataclass(slots=True)
class Incoming:
    """The content of a payload: valid chunks, refusals, logs, and the number of each false claim."""

    chunks: list[dict[str, Any]] = field(default_factory=list)
    errors: list[RefusedError] = field(default_factory=list)
    claims: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    logs: list[tuple[str, PushedLog]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Tell whether there is anything to add."""
        return bool(self.chunks or self.logs)

    @property
    def warnings(self) -> Iterator[str]:
        """One sentence for each overwritten claim and each unsupported version."""
        for (name, claimed, stamped), chunks in sorted(self.claims.items()):
            if name == "schemaVersion":
                refused = (
                    f"deprecated: {count(chunks, 'chunk')} of version {claimed} of {PARSED_CHUNK} refused"
                )
                yield f"{refused}; this corpus reads {stamped}; use a parser of that version"
            else:
                yield f"{name} was claimed as {claimed!r} {count(chunks, 'time')}, and stored as {stamped!r}"

    def notice(self, claimant: Mapping[str, Any], stamp: Mapping[str, Any], *, refuse: bool) -> None:
        """Count the false claims of a chunk or payload, or refuse it."""
        compared = {name: claimant[name] for name in stamp if isinstance(claimant.get(name), str)}
        if refuse:
            refuse_claims(compared, stamp)
        self.claims.update((name, compared[name], stamp[name]) for name in false_claims(compared, stamp))


def read_files(caller: Caller, parsers: Mapping[str, Parser], *, refuse_false: bool) -> Incoming:
    """Read the chunks of a payload's files."""
    incoming = Incoming()
    files = caller.payload.get("files")
    if not isinstance(files, list):
        incoming.errors.append(RefusedError(Code.FILES_INVALID, "`files` must be a list"))
        files = []
    incoming.notice(caller.payload, caller.stamp_of(caller.payload), refuse=refuse_false)
    for position, entry in enumerate(files):
        path = entry.get("sourcePath") if isinstance(entry, dict) else None
        try:
            records = _chunks_of_file(entry, position, parsers, caller)
        except RefusedError as error:
            place = {"sourcePath": path} if path is not None else {}
            incoming.errors.append(error.at(fileIndex=position, **place))
            continue
        if "schemaVersion" not in entry:  # an entry that is itself a chunk is checked as a chunk
            incoming.notice({"tenantId": entry.get("tenantId")}, caller.stamp_of({}), refuse=refuse_false)
        for number, record in enumerate(records):
            if isinstance(record, PushedLog):
                named = None if caller.alone else entry.get("repoSlug")
                incoming.logs.append((named or caller.repo_slug, record))
                continue
            if isinstance(record, RefusedError):
                incoming.errors.append(record.at(fileIndex=position))
                continue
            try:
                _require_valid(record)
            except RefusedError as error:
                incoming.errors.append(error.at(fileIndex=position, chunkIndex=number))
                if error.code == Code.VERSION_DRIFT:
                    incoming.claims["schemaVersion", record["schemaVersion"], SCHEMA_VERSION] += 1
                continue
            stamp = caller.stamp_of(record)
            incoming.notice(record, stamp, refuse=refuse_false)
            chunk = {**record, "repoSlug": stamp["repoSlug"]}
            chunk |= {"hash": content_hash(chunk, caller.tenant_id, None)}
            incoming.chunks.append(chunk | {"source": record["sourcePath"], "type": record["kind"]})
    return incoming


def _chunks_of_file(entry: object, position: int, parsers: Mapping[str, Parser], caller: Caller) -> list[Any]:
    """Return the chunks of one entry of `files`."""
    if isinstance(entry, dict):
        if entry.get("schemaVersion") == SCHEMA_VERSION or _is_near(entry):
            return [entry]
        if (listed := _listed(entry)) is not None:
            return listed
        if isinstance(entry.get("content"), str):
            return _parsed(entry, position, parsers, caller)
    raise RefusedError(
        Code.FILE_INVALID,
        "expected a parsed-chunk-v1 record, or an object with `parsedChunks`, `chunks` or a text `content`",
    )


def _parsed(
    entry: Mapping[str, Any], position: int, parsers: Mapping[str, Parser], caller: Caller
) -> list[Any]:
    path = entry.get("sourcePath") or f"inline-{position}.txt"
    fault = path_fault(path) if isinstance(path, str) else "is not text"
    if fault:
        raise RefusedError(Code.FILE_INVALID, f"sourcePath {path!r} {fault}; {PATH_HINT}")
    parser_id = entry.get("parserId") or RAW_TEXT
    parser = {RAW_TEXT: raw_text, **parsers}.get(parser_id) if isinstance(parser_id, str) else None
    if parser is None:
        expected = ", ".join(sorted({RAW_TEXT, *parsers}))
        message = f"there is no parser {parser_id!r}; expected one of {expected}"
        raise RefusedError(Code.NO_PARSER, message, parserId=parser_id)
    repo_slug = entry.get("repoSlug") or caller.repo_slug
    file = RawFile(entry["content"], path, caller.tenant_id, repo_slug, parser_id, entry)
    version = entry.get("parserVersion") or getattr(parser, "version", "1.0.0")
    try:
        return [_completed(piece, file, version) for piece in parser(file)]
    except VocabgapError as error:
        raise RefusedError(Code.PARSE_FAILED, f"{path}: {error}", parserId=parser_id) from error
    except Exception as error:  # the caller supplies the parser; after any error, the other files are read
        message = f"{path}: parser {parser_id!r} failed: {type(error).__name__}: {error}"
        raise RefusedError(Code.PARSE_FAILED, message, parserId=parser_id) from error


def _completed(piece: Any, file: RawFile, version: object) -> Any:  # noqa: ANN401 - a parser yields anything
    """Complete a piece to a parsed-chunk-v1 record; return everything else unchanged."""
    if not isinstance(piece, Mapping) or "schemaVersion" in piece:
        return piece
    path = piece.get("sourcePath") or piece.get("source") or file.source_path
    return {
        "schemaVersion": SCHEMA_VERSION,
        "tenantId": file.tenant_id,
        "repoSlug": file.repo_slug,
        "rootKind": piece.get("rootKind") or file.entry.get("rootKind") or ROOT_KIND,
        "sourcePath": path,
        "content": piece.get("content") or piece.get("description", piece.get("content")),
        "hashInputs": list(HASH_INPUTS),
        "parserId": file.parser_id,
        "parserVersion": piece.get("parserVersion") or version,
        "kind": piece.get("kind") or piece.get("type") or "doc-section",
        "name": piece.get("name") or path,
        **{name: piece[name] for name in (*_OPTIONAL, "embedding") if piece.get(name)},
    }


def _require_valid(record: object) -> None:
    """Refuse a record that breaks parsed-chunk-v1 or cannot be stored."""
    if isinstance(record, dict) and "embedding" in record:
        raise RefusedError(
            Code.EMBEDDING_REJECTED,
            "a parsed chunk must not have an `embedding`; a backup with vectors is restored by "
            "`vocabgap corpus restore`",
            restorePath="vocabgap corpus restore",
        )
    wrong = _unstorable(record) if keeps(PARSED_CHUNK, record) else faults(PARSED_CHUNK, record)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise RefusedError(
            Code.VERSION_DRIFT if _is_near(record) else Code.CHUNK_INVALID,
            f"not a parsed-chunk-v1 record: {wrong[0].message}{more}",
            errors=[fault.as_object() for fault in wrong],
        )


def _is_near(record: object) -> bool:
    """Tell whether a chunk names another version 1.x.y of the schema."""
    version = record.get("schemaVersion") if isinstance(record, dict) else None
    return isinstance(version, str) and version != SCHEMA_VERSION and bool(_NEAR_VERSION.fullmatch(version))


def _unstorable(record: Any) -> tuple[Fault, ...]:  # noqa: ANN401 - a record that keeps the schema
    """List the faults of a valid chunk by the rules that the contract has in prose, not in its schema."""
    surrogate = "expected Unicode text, found half of a surrogate pair"
    problems = [(name, "text", surrogate) for name in _STORED_TEXTS if not is_unicode(record[name])]
    if fault := path_fault(record["sourcePath"]):
        problems.append(("sourcePath", "path", f"{record['sourcePath']!r} {fault}; {PATH_HINT}"))
    late = "expected a line up to 2^53"
    problems += [(name, "maximum", late) for name in _LINES if record.get(name, 1) >= 2**53]
    try:
        compact_json(reduce(lambda inner, _: [inner], range(_SPARE_DEPTH), record.get("customMeta")))
    except RecursionError:
        problems.append(("customMeta", "depth", "objects are nested too deep"))
    return tuple(Fault(f"/{name}", None, rule, f"/{name}: {problem}") for name, rule, problem in problems)
