"""A push: what a payload withdraws leaves the corpus, what it holds comes in, both in one step."""

import sys
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.chunks import frame_of, metadata_of, row_of
from vocabgap.corpus.compact_json import compact_json
from vocabgap.corpus.contracts import Code, PushError, PushResult, RefusedError
from vocabgap.corpus.identity import (
    SHARED_TENANT,
    Spoof,
    Stamp,
    milliseconds,
    moment_of,
    normal_tenant,
    stamped,
)
from vocabgap.corpus.incoming import Caller, Incoming, Parser, read_files
from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import PathSnapshot
from vocabgap.corpus.withdrawal import Resolver, Withdrawal, withdrawal
from vocabgap.errors import ExitCode, NotFoundError, VocabgapError
from vocabgap.files.refusals import refusal

MIB: Final = 2**20


class Limits(NamedTuple):
    """How much one push may bring: valid chunks, and MiB (UTF-8) of their text and that of raw files."""

    chunks: int = 1_000_000
    mib: int = 1024


UNLIMITED: Final = Limits(sys.maxsize, sys.maxsize)


def push(
    store: Store,
    payload: object,
    *,
    tenant: str | None = None,
    repo: str | None = None,
    agent: str | None = None,
    now: datetime | None = None,
    spoof: Spoof = Spoof.OVERWRITE,
    resolver: Resolver | None = None,
    parsers: Mapping[str, Parser] | None = None,
    strict_tombstones: bool = False,
    confirmed: bool = False,
    limits: Limits = Limits(),  # noqa: B008 - it never changes
) -> PushResult:
    """Bring a payload into a corpus. What is wrong with it is part of the answer, never an exception.

    Everything that is valid is done, whatever else is not; it appears in the corpus in one step, deletions
    before additions. What is pushed a second time changes nothing; but if the tenant was
    configured anew since, it is of the present configuration then.

    Beside what `Corpus.push` takes: `spoof` is what is done about a chunk that claims another tenant or
    repository, and with `strict_tombstones` a tombstone has to be an object, not a bare path. Without a
    `repo` each part of the payload names its own.
    """
    started = time.monotonic()
    result = PushResult(normal_tenant(tenant) or SHARED_TENANT)
    try:
        caller = Caller.of(payload, tenant, repo, agent)
        result = replace(result, tenant_id=caller.tenant_id)
        incoming = read_files(caller, parsers or {}, spoof, limits.mib * MIB)
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
            warnings=incoming.warnings,
        )
        result = _carried_out(store, caller, incoming, leaving, result, now=now, most=limits.chunks)
    except RefusedError as error:
        result = replace(result, errors=(*result.errors, PushError.of(error)))
    except (VocabgapError, OSError) as error:
        result = replace(result, ingested=0, errors=(*result.errors, _failure(error)))
    return replace(result, duration_ms=round((time.monotonic() - started) * 1000))


def _carried_out(
    store: Store,
    caller: Caller,
    incoming: Incoming,
    leaving: Withdrawal,
    result: PushResult,
    *,
    now: datetime | None,
    most: int,
) -> PushResult:
    """What came of changing the corpus, if there is anything to change.

    The first push makes the corpus even if it brings nothing; not where all that it brings is refused.
    """
    if len(incoming.chunks) > most:
        raise RefusedError(
            Code.VOLUME_EXCEEDED,
            f"{len(incoming.chunks):,} chunks are more than the {most:,} that one push may bring; "
            "nothing was written. Push them in parts, or raise the limit",
            chunks=len(incoming.chunks),
            limit=most,
        )
    if not incoming.chunks and not leaving and (result.errors or _is_there(store)):
        return result
    moment = milliseconds(datetime.now(UTC) if now is None else now)
    with store.changing(f"push to {caller.tenant_id}/{caller.repo_slug}") as change:
        chunks = {chunk["id"]: chunk for chunk in _stamped(caller, incoming, change, moment)}
        deleted = change.delete(leaving.condition(caller.tenant_id, chunks)) if leaving else 0
        rows = [row_of(each, metadata_of(chunk), chunk["content"]) for each, chunk in chunks.items()]
        added = change.add(frame_of(rows)) if rows else 0
        _confirm_under_configuration(change, caller.tenant_id, chunks)
        if leaving.manifest is not None:
            snapshot = PathSnapshot(caller.tenant_id, *leaving.manifest, moment_of(moment))
            if deleted or added or not _is_known(change, snapshot):
                change.keep_snapshot(snapshot)
    return replace(result, deleted=deleted, added=added)


def _is_there(store: Store) -> bool:
    try:
        store.version()
    except NotFoundError:
        return False
    return True


def _stamped(caller: Caller, incoming: Incoming, change: Change, moment: int) -> Iterator[dict[str, Any]]:
    version = change.config_versions.get(caller.tenant_id, 0)
    for chunk in incoming.chunks:
        stamp = Stamp(
            tenant_id=caller.tenant_id,
            repo_slug=caller.repo_slug if caller.alone else chunk["repoSlug"],
            visibility=caller.visibility,
            tenant_config_version=version,
            ingested_at=moment,
            origin_agent_identity=caller.agent or msgspec.UNSET,
        )
        yield stamped(chunk, stamp)


def _confirm_under_configuration(change: Change, tenant_id: str, ids: Collection[str]) -> None:
    """Let what is pushed again be of the tenant's present configuration; all else of it stays as it is."""
    version = change.config_versions.get(tenant_id, 0)
    if not version:
        return
    earlier = pl.col("tenant_id").eq(tenant_id) & (pl.col("config_version") < version)
    behind = change.rows(where=earlier & pl.col("id").is_in(sorted(ids)))
    if behind.is_empty():
        return
    metadatas = [
        compact_json(msgspec.json.decode(metadata) | {"tenantConfigVersion": version})
        for metadata in behind["metadata"]
    ]
    change.delete(pl.col("id").is_in(behind["id"].to_list()))
    change.add(
        behind.with_columns(
            pl.Series("metadata", metadatas, dtype=pl.String),
            pl.lit(version, behind.schema["config_version"]).alias("config_version"),
        )
    )


def _is_known(change: Change, snapshot: PathSnapshot) -> bool:
    """Whether a snapshot says what is known already: it is kept as it is, with the time of the first."""
    return any(
        (earlier.repository, earlier.paths) == (snapshot.repository, snapshot.paths)
        for earlier in change.snapshots
    )


def _failure(error: VocabgapError | OSError) -> PushError:
    """The entry of a corpus that could not be changed; it is as it was before."""
    known = error if isinstance(error, VocabgapError) else refusal("the corpus cannot be changed", error)
    code = known.exit_code if known.exit_code is not ExitCode.BUG else ExitCode.STATE
    details = {"exitCode": int(code), "error": type(error).__name__}
    return PushError(Code.FAILED, f"{known}; nothing was written", details, code)
