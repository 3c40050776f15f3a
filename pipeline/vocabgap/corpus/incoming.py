"""What a push brings: whose it is, and the chunks of its files, each checked before anything is stored."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, NamedTuple, Protocol

from vocabgap.corpus.compact_json import compact_json, is_unicode
from vocabgap.corpus.contracts import (
    PARSED_CHUNK,
    Code,
    Fault,
    PushError,
    RefusedError,
    Warned,
    faults,
    keeps,
)
from vocabgap.corpus.identity import (
    DEFAULT_VISIBILITY,
    PATH_HINT,
    SHARED_REPO,
    SHARED_TENANT,
    TENANT,
    TENANT_HINT,
    Spoof,
    content_hash,
    false_claims,
    normal_tenant,
    path_fault,
    refuse_claims,
)
from vocabgap.errors import VocabgapError
from vocabgap.model.record import ROOT_KIND, RejectReason

SCHEMA_VERSION: Final = "1.0.0"
_NEAR_VERSION: Final = re.compile("1[.][0-9]+[.][0-9]+")
RAW_TEXT: Final = "raw-text"
RAW_VERSION: Final = "1.0.0"
RAW_KIND: Final = "doc-section"
RAW_ROOT_KIND: Final = "external-source"
HASH_INPUTS: Final = ("kind", "name", "content", "sourcePath", "parserId", "parserVersion")
"""What the identity of a chunk depends on that is parsed here."""

_STORED_TEXTS: Final = ("repoSlug", "sourcePath", "content", "kind", "name")  # stored as text of their own
_LINES: Final = ("line_start", "line_end")
_CHUNK_LISTS: Final = ("parsedChunks", "chunks")
_SPARE_DEPTH: Final = 25  # what is stored around `customMeta`, and the calls on the way there
_OPTIONAL: Final = ("line_start", "line_end", "className", "extends", "customMeta")


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of a payload as it came, to be parsed; `entry` is all that the payload says of it."""

    content: str
    source_path: str
    tenant_id: str
    repo_slug: str
    parser_id: str
    entry: Mapping[str, Any]


class PushedLog(NamedTuple):
    """What a gap log holds beside its chunks; the fields are those of table `logs`."""

    root_kind: str
    source_path: str
    folder: str | None
    passed_over: int | None
    rejects: list[dict[str, Any]] | None

    @property
    def is_whole(self) -> bool:
        """Whether the log was read to its end, and its last line was not cut off."""
        return self.passed_over is not None and all(
            each["line"] and each["reason"] != RejectReason.TORN for each in self.rejects or ()
        )


class Parser(Protocol):
    """Takes a file of a payload apart; any function of a `RawFile` that gives pieces is one.

    A piece is a dict with `content` and, where they are known, `kind`, `name`, `line_start`, `line_end`,
    `className`, `extends`, `customMeta` and `source`: the path that it is of, where that is not the file's.
    It becomes a record of `contracts/parsed-chunk-v1.schema.json`, which `vocabgap schema parsed-chunk-v1`
    prints: the push adds whose it is, `hashInputs`, `parserId` and `parserVersion` (what the payload says of
    the file, else the `version` of the parser, else 1.0.0). What has a `schemaVersion` is such a record
    already; its `rootKind` may be `image-repo`, too. In the place of a part that is no piece stands why: it
    becomes an error of the push, and the others stay. So does what the parser raises, for its file.
    """

    def __call__(self, file: RawFile, /) -> Iterable[Mapping[str, Any] | RefusedError | PushedLog]:
        """The pieces of a file, in order."""


def _chunks_of_file(
    entry: object, position: int, parsers: Mapping[str, Parser], caller: "Caller"
) -> tuple[list[Any], bool]:
    """The chunks of one entry of a payload's `files`, and whether a parser of this side made them."""
    if isinstance(entry, dict):
        if entry.get("schemaVersion") == SCHEMA_VERSION or _is_near(entry):
            return [entry], False
        if (listed := _listed(entry)) is not None:
            return listed, False
        if isinstance(entry.get("content"), str):
            return _parsed(entry, position, parsers, caller), True
    raise RefusedError(
        Code.FILE_INVALID,
        "expected a parsed-chunk-v1 record, or an object with `parsedChunks`, `chunks` or a text `content`",
    )


def _parsed(
    entry: Mapping[str, Any], position: int, parsers: Mapping[str, Parser], caller: "Caller"
) -> list[Any]:
    path = entry.get("sourcePath") or f"inline-{position}.txt"
    fault = path_fault(path) if isinstance(path, str) else "is no text"
    if fault:
        raise RefusedError(Code.FILE_INVALID, f"sourcePath {path!r} {fault}; {PATH_HINT}")
    parser_id = entry.get("parserId") or RAW_TEXT
    parser = {RAW_TEXT: raw_text, **parsers}.get(parser_id) if isinstance(parser_id, str) else None
    if parser is None:
        known = ", ".join(sorted({RAW_TEXT, *parsers}))
        raise RefusedError(
            Code.NO_PARSER, f"there is no parser {parser_id!r}; expected one of {known}", parserId=parser_id
        )
    repo_slug = entry.get("repoSlug") or caller.repo_slug
    file = RawFile(entry["content"], path, caller.tenant_id, repo_slug, parser_id, entry)
    version = entry.get("parserVersion") or getattr(parser, "version", RAW_VERSION)
    try:
        return [_completed(piece, file, version) for piece in parser(file)]
    except VocabgapError as error:
        raise RefusedError(Code.PARSE_FAILED, f"{path}: {error}", parserId=parser_id) from error
    except Exception as error:  # a parser is handed in; whatever it does, the other files are read
        message = f"{path}: parser {parser_id!r} failed: {type(error).__name__}: {error}"
        raise RefusedError(Code.PARSE_FAILED, message, parserId=parser_id) from error


def raw_text(file: RawFile) -> list[Mapping[str, Any]]:
    """A file as one piece, for which what the payload says of it is taken over."""
    said = {field: file.entry[field] for field in ("kind", "name", *_OPTIONAL) if file.entry.get(field)}
    return [{"content": file.content, **said}]


def _completed(piece: Any, file: RawFile, version: object) -> Any:  # noqa: ANN401 - a parser gives anything
    """A piece as a parsed-chunk-v1 record; whatever else a parser gives as it is."""
    if not isinstance(piece, Mapping) or "schemaVersion" in piece:
        return piece
    path = piece.get("sourcePath") or piece.get("source") or file.source_path
    return {
        "schemaVersion": SCHEMA_VERSION,
        "tenantId": file.tenant_id,
        "repoSlug": file.repo_slug,
        "rootKind": file.entry.get("rootKind") or RAW_ROOT_KIND,
        "sourcePath": path,
        "content": piece.get("content") or piece.get("description", piece.get("content")),
        "hashInputs": list(HASH_INPUTS),
        "parserId": file.parser_id,
        "parserVersion": version,
        "kind": piece.get("kind") or piece.get("type") or RAW_KIND,
        "name": piece.get("name") or path,
        **{field: piece[field] for field in (*_OPTIONAL, "embedding") if piece.get(field)},
    }


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose push it is; `repo_slug` is for what names none, and the only one touched where it is `alone`."""

    payload: Mapping[str, Any]
    tenant_id: str
    repo_slug: str
    alone: bool
    visibility: str
    agent: str | None

    @classmethod
    def of(cls, payload: object, tenant: str | None, repo: str | None, agent: str | None) -> "Caller":
        """Settle whose a payload is."""
        if not isinstance(payload, dict):
            raise RefusedError(Code.FILES_INVALID, "the payload is expected to be an object with `files`")
        for name in ("tenantId", "repoSlug", "visibility", "originAgentIdentity"):
            claimed = payload.get(name)
            if claimed is not None and not (isinstance(claimed, str) and is_unicode(claimed)):
                raise RefusedError(Code.FAILED, f"{name}: expected text, found {claimed!r}", field=name)
        known, claimed = normal_tenant(tenant), normal_tenant(payload.get("tenantId"))
        if known and claimed and known != claimed:
            raise RefusedError(
                Code.TENANT_MISMATCH,
                f"tenant '{claimed}' is claimed, but the push is of '{known}'; nothing was written",
                claimed=claimed,
                tenantId=known,
            )
        tenant_id = known or claimed or SHARED_TENANT
        if not TENANT.fullmatch(tenant_id):
            raise RefusedError(Code.FAILED, f"'{tenant_id}' is no tenant: expected {TENANT_HINT}")
        return cls(
            payload=payload,
            tenant_id=tenant_id,
            repo_slug=repo or payload.get("repoSlug") or _first_repo(payload.get("files")) or SHARED_REPO,
            alone=bool(repo),
            visibility=payload.get("visibility") or DEFAULT_VISIBILITY,
            agent=agent or payload.get("originAgentIdentity") or None,
        )

    def stamp_of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """What a chunk cannot claim otherwise: its tenant, and its repository where one alone counts."""
        repo = self.repo_slug if self.alone else record.get("repoSlug")
        return {"tenantId": self.tenant_id, "repoSlug": repo}


@dataclass(slots=True)
class Incoming:
    """What the files of a push hold.

    Attributes:
        chunks: The valid ones, each with `hash`, `source` and `type`.
        errors: What was refused.
        claims: How many chunks claimed what; a claim and what it was overwritten with.
        logs: What gap logs hold beside chunks, each with its repository.
    """

    chunks: list[dict[str, Any]] = field(default_factory=list)
    errors: list[PushError] = field(default_factory=list)
    claims: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    logs: list[tuple[str, PushedLog]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is anything to bring in."""
        return bool(self.chunks or self.logs)

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The claims that are overwritten, and the versions of chunks that are not read."""
        return tuple(Warned(*claim, chunks) for claim, chunks in sorted(self.claims.items()))


def read_files(caller: Caller, parsers: Mapping[str, Parser], spoof: Spoof) -> Incoming:
    """The chunks of a payload's files."""
    incoming = Incoming()
    files = caller.payload.get("files")
    if not isinstance(files, list):
        incoming.errors.append(PushError(Code.FILES_INVALID, "`files` is expected to be a list"))
        files = []
    _notice(incoming, caller.payload, caller.stamp_of(caller.payload), spoof)
    for position, entry in enumerate(files):
        path = entry.get("sourcePath") if isinstance(entry, dict) else None
        try:
            records, parsed_here = _chunks_of_file(entry, position, parsers, caller)
        except RefusedError as error:
            place = {"sourcePath": path} if path is not None else {}
            incoming.errors.append(PushError.of(error, fileIndex=position, **place))
            continue
        if "schemaVersion" not in entry:  # a file that is a chunk is looked at as one
            _notice(incoming, {"tenantId": entry.get("tenantId")}, caller.stamp_of({}), spoof)
        for number, record in enumerate(records):
            if isinstance(record, PushedLog):
                named = None if caller.alone else entry.get("repoSlug")
                incoming.logs.append((named or caller.repo_slug, record))
                continue
            if isinstance(record, RefusedError):
                incoming.errors.append(PushError.of(record, fileIndex=position))
                continue
            try:
                _require_valid(record, parsed_here=parsed_here)
            except RefusedError as error:
                incoming.errors.append(PushError.of(error, fileIndex=position, chunkIndex=number))
                if error.code == Code.VERSION_DRIFT:
                    incoming.claims["schemaVersion", record["schemaVersion"], SCHEMA_VERSION] += 1
                continue
            stamp = caller.stamp_of(record)
            _notice(incoming, record, stamp, spoof)
            chunk = {**record, "repoSlug": stamp["repoSlug"]}
            chunk |= {"hash": content_hash(chunk, caller.tenant_id, None)}
            incoming.chunks.append(chunk | {"source": record["sourcePath"], "type": record["kind"]})
    return incoming


def _notice(incoming: Incoming, claimant: Mapping[str, Any], known: Mapping[str, Any], spoof: Spoof) -> None:
    """Note what is claimed falsely, or refuse it."""
    compared = {name: claimant[name] for name in known if isinstance(claimant.get(name), str)}
    if not (claims := false_claims(compared, known)):
        return
    if spoof is Spoof.REJECT:
        refuse_claims(compared, known)
    for name in claims:
        incoming.claims[name, compared[name], known[name]] += 1


def _require_valid(record: object, *, parsed_here: bool) -> None:
    """Refuse what is no parsed-chunk-v1 record, or cannot be stored."""
    if isinstance(record, dict) and "embedding" in record:
        raise RefusedError(
            Code.EMBEDDING_REJECTED,
            "a parsed chunk carries no `embedding`; to put back a backup with its vectors use "
            "`vocabgap corpus restore`",
            restorePath="vocabgap corpus restore",
        )
    checked = record
    if parsed_here and isinstance(record, dict) and record.get("rootKind") == ROOT_KIND:
        checked = {**record, "rootKind": RAW_ROOT_KIND}
    wrong = _unstorable(checked) if keeps(PARSED_CHUNK, checked) else faults(PARSED_CHUNK, checked)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise RefusedError(
            Code.VERSION_DRIFT if _is_near(record) else Code.CHUNK_INVALID,
            f"no parsed-chunk-v1: {wrong[0].message}{more}",
            errors=[fault.as_object() for fault in wrong],
        )


def _is_near(record: object) -> bool:
    """Whether a chunk is of another version of the schema that ours could have become."""
    version = record.get("schemaVersion") if isinstance(record, dict) else None
    return isinstance(version, str) and version != SCHEMA_VERSION and bool(_NEAR_VERSION.fullmatch(version))


def _unstorable(record: Any) -> tuple[Fault, ...]:  # noqa: ANN401 - a record that keeps the contract
    """What keeps a valid chunk from being stored: what the contract asks in words, not in its schema."""
    surrogate = "expected Unicode text, found half of a surrogate pair"
    faults = [(name, "text", surrogate) for name in _STORED_TEXTS if not is_unicode(record[name])]
    if fault := path_fault(record["sourcePath"]):
        faults.append(("sourcePath", "path", f"{record['sourcePath']!r} {fault}; {PATH_HINT}"))
    late = "expected a line up to 2^53"
    faults += [(name, "maximum", late) for name in _LINES if record.get(name, 1) >= 2**53]
    try:
        compact_json(reduce(lambda inner, _: [inner], range(_SPARE_DEPTH), record.get("customMeta")))
    except RecursionError:
        faults.append(("customMeta", "depth", "objects within objects go too deep"))
    return tuple(Fault(f"/{name}", None, rule, f"/{name}: {told}") for name, rule, told in faults)


def _listed(entry: Mapping[str, Any]) -> list[Any] | None:
    """The chunks that an entry of a payload lists."""
    return next((entry[form] for form in _CHUNK_LISTS if isinstance(entry.get(form), list)), None)


def _first_repo(files: object) -> str | None:
    """The first repository that the files of a payload name."""
    for entry in files if isinstance(files, list) else ():
        for claimant in (entry, *(_listed(entry) or ())[:1]) if isinstance(entry, dict) else ():
            repo = claimant.get("repoSlug") if isinstance(claimant, dict) else None
            if isinstance(repo, str) and repo and is_unicode(repo):
                return repo
    return None
