"""A push, which removes withdrawn chunks and adds the chunks of a payload in one step.

A payload is one JSON object in a file, or the logs of a folder.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from vocabgap.corpus.chunks import (
    PARSER_ID,
    PRIVATE,
    TEXTS,
    LogLines,
    folder_of,
    frame_of,
    pieces_of_lines,
    read_lines,
    require_owner,
    row_of,
    scope,
)
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import PRIVATELY, milliseconds, moment_of, normal_tenant, sha256_of, stamped
from vocabgap.corpus.incoming import Caller, Incoming, Parser, PushedLog, read_files
from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import PATH_KEY
from vocabgap.corpus.withdrawal import Resolver, Withdrawal, withdrawal, without_forgotten, without_text
from vocabgap.errors import ExitCode, InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.files import STANDARD_INPUT
from vocabgap.files.budget import MOST_LISTED, require_decodable
from vocabgap.files.refusals import named_content, refusal
from vocabgap.ingest.decoding import no_constant
from vocabgap.model.record import ROOT_KIND, SHARED_TENANT
from vocabgap.model.settings import ScanSettings
from vocabgap.text import count, excerpt

MOST_CHUNKS: Final = 1_000_000  # of one payload
_Parsed = Mapping[str, Any] | RefusedError | PushedLog
_SIGNALS: Final = ("deleted", "manifestSnapshot", "baseRevision", "headRevision")
_FIELDS: Final = ("files", "tenantId", "repoSlug", "visibility", "originAgentIdentity", *_SIGNALS)
_HINT: Final = "expected one JSON object with `files`; see `vocabgap schema parsed-chunk-v1`"


@dataclass(frozen=True, slots=True)
class PushResult:
    """The result of a push: `ingested` counts the valid chunks, and `added` the new ones among them."""

    tenant_id: str
    ingested: int = 0
    added: int = 0
    deleted: int = 0
    forgotten: int = 0
    errors: tuple[RefusedError, ...] = ()
    warnings: tuple[str, ...] = ()
    duration_ms: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command: the highest one of the errors."""
        return max((error.exit_code for error in self.errors), default=ExitCode.DONE)

    def as_object(self) -> dict[str, Any]:
        """Return the contract's result object."""
        return {
            "ingested": self.ingested,
            "deleted": self.deleted,
            "embeddingsGenerated": self.added,
            "errors": [error.as_object() for error in self.errors],
            "tenantId": self.tenant_id,
            "durationMs": self.duration_ms,
            "forgotten": self.forgotten,
            "warnings": list(self.warnings),
        }


def push(
    store: Store,
    payload: object,
    *,
    tenant: str | None = None,
    repo: str | None = None,
    agent: str | None = None,
    now: datetime | None = None,
    refuse_false: bool = False,
    resolver: Resolver | None = None,
    parsers: Mapping[str, Parser] | None = None,
    whole_logs: bool = False,
    strict_tombstones: bool = False,
    confirmed: bool = False,
    most: int = MOST_CHUNKS,
) -> PushResult:
    """Push a payload into a corpus. Faults are part of the result, never an exception.

    All valid changes happen in one step, deletions before additions. A second push of the same payload
    changes nothing, unless the tenant has a new configuration: then the chunks get it. Without a `repo`, each
    part of the payload names its own. With `whole_logs`, a gap log replaces all chunks of its path. With
    `refuse_false`, a false claim refuses the whole push. With `strict_tombstones`, a tombstone must be an
    object, not a bare path. `confirmed` lets an empty snapshot withdraw everything.
    """
    started = time.monotonic()
    result = PushResult(normal_tenant(tenant) or SHARED_TENANT)
    try:
        caller = Caller.of(payload, tenant, repo, agent)
        result = replace(result, tenant_id=caller.tenant_id)
        incoming = read_files(caller, parsers or {}, refuse_false=refuse_false)
        leaving = withdrawal(
            caller.payload,
            caller.repo_slug,
            alone=caller.alone,
            resolver=resolver,
            strict=strict_tombstones,
            confirmed=confirmed,
        )
        result = replace(
            result,
            ingested=len(incoming.chunks),
            errors=(*incoming.errors, *leaving.errors),
            warnings=(*incoming.warnings, *_unread(caller.payload)),
        )
        _require_volume(len(incoming.chunks), most)
        if whole_logs:
            leaving.add((repo, log.source_path) for repo, log in incoming.logs if log.is_whole)
        moment = milliseconds(datetime.now(UTC) if now is None else now)
        if incoming or leaving or not result.errors:
            with store.changing(f"push to {caller.tenant_id}/{caller.repo_slug}") as change:
                counts = _carry_out(change, caller, incoming, leaving, moment, rewrite=whole_logs)
            deleted, added, forgotten, opened = counts
            result = replace(result, deleted=deleted, added=added, forgotten=forgotten)
            if opened:
                note = f"others can now read {count(opened, 'record')}, because this push is not private"
                result = replace(result, warnings=(*result.warnings, note))
    except RefusedError as error:
        result = replace(result, errors=(*result.errors, error))
    except (VocabgapError, OSError) as error:
        result = replace(result, ingested=0, errors=(*result.errors, _failure(error)))
    return replace(result, duration_ms=round((time.monotonic() - started) * 1000))


def _unread(payload: Mapping[str, Any]) -> Iterator[str]:
    if unread := [*payload.keys() - {*_FIELDS}]:
        names = ", ".join(f"'{excerpt(str(name))}'" for name in sorted(unread, key=str)[:3])
        yield f"{count(len(unread), 'unknown field')}, such as {names}; expected {', '.join(_FIELDS)}"


def _require_volume(chunks: int, limit: int) -> None:
    if chunks > limit:
        message = f"{chunks:,} chunks exceed the limit of one push ({limit:,}); nothing was written"
        raise RefusedError(Code.VOLUME_EXCEEDED, f"{message}. Push them in parts", chunks=chunks, limit=limit)


def _carry_out(
    change: Change, caller: Caller, incoming: Incoming, leaving: Withdrawal, moment: int, *, rewrite: bool
) -> tuple[int, int, int, int]:
    """Change the corpus; return the counts of deleted, added, forgotten and no longer private chunks."""
    tenant = caller.tenant_id
    rows, again, opened = _rows(caller, incoming, change, moment, rewrite=rewrite)
    rows, forgotten = without_forgotten(change, rows)
    deleted = change.delete(leaving.condition(tenant, rows["id"])) if leaving else 0
    if again:
        change.delete(pl.col("id").is_in(again))
    added = change.add(rows) - len(again) if rows.height else 0
    left = change.table("logs").filter(~leaving.condition(tenant))
    private = caller.visibility == PRIVATELY
    logs = _logs_with(left, incoming.logs, tenant, rows, change.table("forgotten"), private=private)
    change.keep("logs", logs)
    if leaving.manifest is not None:
        repo, paths = leaving.manifest
        before = change.table("paths").filter(tenant_id=tenant, repo_slug=repo)["paths"].to_list()
        if deleted or added or before != [list(paths)]:
            change.keep_paths(tenant, repo, paths, moment_of(moment))
    return deleted, added, forgotten.height, opened


def _rows(
    caller: Caller, incoming: Incoming, change: Change, moment: int, *, rewrite: bool
) -> tuple[pl.DataFrame, list[str], int]:
    """Return the chunks as rows, the ids of present ones to write again, and how many others can now read.

    Present chunks keep their first moment and their vectors. They are written again if their visibility
    changes or the tenant has a new configuration. With `rewrite`, other metadata are also a reason, for
    instance another line.
    """
    version = change.config_versions.get(caller.tenant_id, 0)
    chunks: dict[str, dict[str, Any]] = {}
    for chunk in incoming.chunks:
        stamp = {
            "tenantId": caller.tenant_id,
            "repoSlug": caller.repo_slug if caller.alone else chunk["repoSlug"],
            "visibility": caller.visibility,
            "tenantConfigVersion": version,
            "ingestedAt": moment,
        }
        row = stamped(chunk, stamp | ({"originAgentIdentity": caller.agent} if caller.agent else {}))
        chunks[row["id"]] = row
    among = pl.col("tenant_id").eq(caller.tenant_id) & pl.col("id").is_in(list(chunks))
    present = change.rows(("id", "ingested_at", "embedding", "config_version", "metadata"), among)
    vectors = {}
    for identity, ingested_at, vector in present.select("id", "ingested_at", "embedding").iter_rows():
        vectors[identity] = vector
        if ingested_at is not None:
            chunks[identity]["ingestedAt"] = milliseconds(ingested_at)
    rows = frame_of(
        row_of(identity, metadata, chunk["content"], vectors.get(identity))
        for identity, chunk in chunks.items()
        for metadata in [{field: value for field, value in chunk.items() if field not in TEXTS}]
    )
    compared = present.join(rows.select("id", new="metadata"), on="id")
    is_private = caller.visibility == PRIVATELY
    moved = is_private != PRIVATE
    differs = pl.col("metadata") != pl.col("new") if rewrite else moved | (pl.col("config_version") < version)
    opened = 0 if is_private else compared.filter(PRIVATE).height
    return rows, compared.filter(differs)["id"].to_list(), opened


def _logs_with(
    logs: pl.DataFrame,
    pushed: list[tuple[str, PushedLog]],
    tenant: str,
    rows: pl.DataFrame,
    forgotten: pl.DataFrame,
    *,
    private: bool,
) -> pl.DataFrame:
    """Return table `logs` after a push of logs, each with its repository.

    A log that was read to its end replaces its earlier entry. Rejected lines of private logs lose their text.
    Those of a repository with forgotten records lose it, too: a broken line cannot be compared with a hash.
    """
    entries = [{"tenant_id": tenant, "repo_slug": repo, **log._asdict()} for repo, log in pushed]
    pushed_logs = pl.DataFrame(entries, logs.schema)
    whole = pl.Series([log.is_whole for _, log in pushed], dtype=pl.Boolean)
    logs = logs.join(pushed_logs.filter(whole), on=PATH_KEY, how="anti")
    blank = {repo for repo, _ in pushed if private or sha256_of([tenant, repo]) in forgotten["repo"]}
    pushed_logs = pushed_logs.unique(PATH_KEY, keep="last")
    pushed_logs = without_text(pushed_logs, pushed_logs.filter(pl.col("repo_slug").is_in(blank)))
    has_no_line = ~pl.struct(PATH_KEY).is_in(rows.select(pl.struct(PATH_KEY)).to_series().implode())
    is_kept = pl.col("rejects").is_not_null() | (pl.col("passed_over") > 0) | has_no_line
    pushed_logs = pushed_logs.filter(is_kept).join(logs, on=PATH_KEY, how="anti")
    return pl.concat([logs, pushed_logs]).sort(PATH_KEY)


def _failure(error: VocabgapError | OSError) -> RefusedError:
    """Return the error of a corpus that could not be changed."""
    problem = error if isinstance(error, VocabgapError) else refusal("the corpus cannot be changed", error)
    code = problem.exit_code if problem.exit_code is not ExitCode.BUG else ExitCode.STATE
    message, kind = f"{problem}; nothing was written", type(error).__name__
    failure = RefusedError(Code.FAILED, message, exitCode=int(code), error=kind)
    failure.exit_code = code
    return failure


def folder_payload(
    store: Store,
    folder: Path,
    owner: tuple[str, str],
    settings: ScanSettings,
    signals: dict[str, Any],
    *,
    snapshot: bool,
    confirmed: bool,
) -> tuple[dict[str, Any], Parser]:
    """Return a payload of the gap logs in a folder, and its parser; refuse the folder of another repository.

    A payload holds text, but a log may hold any bytes. So the logs are read here, as every scan reads them,
    and the parser returns their chunks. With `snapshot`, the payload withdraws all other logs.
    """
    (tenant_id, repo_slug), deleted = owner, signals["deleted"]
    if deleted:
        require_owner(store.version(), tenant_id, repo_slug, deleted)
    logs = read_lines(folder, settings)
    if snapshot and logs.unlisted:
        raise StateError(
            f"'{logs.unlisted[0]}' cannot be listed; --snapshot would withdraw its logs",
            hint="make it readable, or push without --snapshot",
        )
    parsed: dict[str, list[_Parsed]] = {
        path: [] for path in sorted({*logs.paths, *logs.rejects["source_path"]})
    }
    for path, piece in _pieces(logs, repo_slug):
        parsed[path].append(piece)
    before = set[str]()
    if snapshot:
        with suppress(NotFoundError):
            chunks = store.version().rows(["source_path"], scope([tenant_id], [repo_slug]))
            before = set(chunks["source_path"])
    if not (parsed or deleted or signals["baseRevision"] or before):
        raise NotFoundError(
            f"no log was found in '{folder}'",
            hint="name a folder above the logs; `vocabgap check` lists their names",
        )
    for path in sorted(parsed.keys() & deleted):
        raise InvalidInputError(
            f"'{path}' is to be withdrawn, but it is in '{folder}'", hint="remove the file first"
        )
    if parsed and before and before.isdisjoint(parsed) and not confirmed:
        raise InvalidInputError(
            f"'{folder}' has none of the {count(len(before), 'log')} of {tenant_id}/{repo_slug}: all would be"
            " withdrawn; nothing was changed",
            hint="check --repo, or confirm it with --yes",
        )
    files = [{"content": "", "sourcePath": path, "parserId": PARSER_ID} for path in parsed]
    payload = {"tenantId": tenant_id, "repoSlug": repo_slug, "files": files, **signals}
    if snapshot:
        payload["manifestSnapshot"] = {"repoSlug": repo_slug, "pathsAfterPush": list(logs.paths)}
    return payload, lambda file: parsed.pop(file.source_path, [])


def _pieces(logs: LogLines, repo: str) -> Iterator[tuple[str, _Parsed]]:
    """Yield the lines of logs as pieces, rejected lines as errors, and the rest of each log."""
    yield from pieces_of_lines(logs.lines, repo)
    for row in logs.rejects.iter_rows(named=True):
        path, line, reason = row["source_path"], row["line"], row["reason"]
        message = f"{path}{'' if line is None else f':{line}'}: {reason}: {row['detail']}"
        details = {"sourcePath": path, "line": line, "reason": reason, "parserId": PARSER_ID}
        yield path, RefusedError(Code.PARSE_FAILED, message, **details)
    for path, folder, *rest in logs.logs.iter_rows():
        own_folder = None if folder == folder_of(path, repo) else folder
        yield path, PushedLog(ROOT_KIND, path, own_folder, *rest)


def read_payload(path: str | Path) -> dict[str, Any]:
    """Read the payload in a file; `-` is standard input."""
    content = named_content(Path(path), "payload", "name a folder or a file, or pipe a file", MOST_LISTED)
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    require_decodable(content, f"payload '{name}'")
    try:
        payload = json.loads(content.decode("utf-8-sig"), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:  # also for text that is not UTF-8
        raise InvalidInputError(f"{name}: expected JSON: {error}", hint=_HINT) from error
    if not isinstance(payload, dict):
        raise InvalidInputError(f"{name}: expected an object, found another JSON value", hint=_HINT)
    return payload
