"""A push: what a payload withdraws leaves the corpus, what it holds comes in, both in one step."""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.chunks import frame_of, metadata_of, row_of
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
from vocabgap.corpus.upkeep import logs_with, without_forgotten
from vocabgap.corpus.version import PathSnapshot
from vocabgap.corpus.withdrawal import Resolver, Withdrawal, withdrawal
from vocabgap.errors import ExitCode, VocabgapError
from vocabgap.files.refusals import refusal

MOST_CHUNKS: Final = 1_000_000  # of one payload
_KNOWN: Final = ("id", "ingested_at", "embedding", "config_version", "metadata")


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
    whole_logs: bool = False,
    strict_tombstones: bool = False,
    confirmed: bool = False,
    most: int = MOST_CHUNKS,
) -> PushResult:
    """Bring a payload into a corpus. What is wrong with it is part of the answer, never an exception.

    Everything that is valid is done, whatever else is not, in one step, deletions before additions. What is
    pushed a second time changes nothing; but if the tenant was configured anew since, it is of the present
    configuration then. What was forgotten is left out.

    Beside what `Corpus.push` takes: `spoof` is what is done about a chunk that claims another tenant or
    repository. With `whole_logs`, a gap log that was read takes the place of what is there of its path; so
    what it no longer holds is withdrawn. With `strict_tombstones` a tombstone has to be an object, not a bare
    path. Without a `repo` each part of the payload names its own.
    """
    started = time.monotonic()
    result = PushResult(normal_tenant(tenant) or SHARED_TENANT)
    try:
        caller = Caller.of(payload, tenant, repo, agent)
        result = replace(result, tenant_id=caller.tenant_id)
        incoming = read_files(caller, parsers or {}, spoof)
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
        _require_volume(incoming, most)
        if whole_logs:
            leaving.add((repo, log.source_path) for repo, log in incoming.logs if log.is_whole)
        moment = milliseconds(datetime.now(UTC) if now is None else now)
        if incoming or leaving or not result.errors:
            result = _changed(store, caller, incoming, leaving, result, moment, anew=whole_logs)
    except RefusedError as error:
        result = replace(result, errors=(*result.errors, PushError.of(error)))
    except (VocabgapError, OSError) as error:
        result = replace(result, ingested=0, errors=(*result.errors, _failure(error)))
    return replace(result, duration_ms=round((time.monotonic() - started) * 1000))


def _require_volume(incoming: Incoming, most: int) -> None:
    if len(incoming.chunks) > most:
        raise RefusedError(
            Code.VOLUME_EXCEEDED,
            f"{len(incoming.chunks):,} chunks are more than the {most:,} that one push may bring; "
            "nothing was written. Push them in parts",
            chunks=len(incoming.chunks),
            limit=most,
        )


def _changed(  # noqa: PLR0917 - what a push is made of
    store: Store,
    caller: Caller,
    incoming: Incoming,
    leaving: Withdrawal,
    result: PushResult,
    moment: int,
    *,
    anew: bool,
) -> PushResult:
    """Change the corpus, and count what came of it.

    The first push makes the corpus even if it brings nothing; not where all that it brings is refused.
    """
    tenant = caller.tenant_id
    with store.changing(f"push to {tenant}/{caller.repo_slug}") as change:
        rows, again = _rows(caller, incoming, change, moment, anew=anew)
        rows, forgotten = without_forgotten(change, rows)
        deleted = change.delete(leaving.condition(tenant, rows["id"])) if leaving else 0
        if again:
            change.delete(pl.col("id").is_in(again))
        added = change.add(rows) - len(again) if rows.height else 0
        left = change.table("logs").filter(~leaving.condition(tenant))
        change.keep("logs", logs_with(left, incoming.logs, tenant, rows, change.table("forgotten")))
        if leaving.manifest is not None:
            snapshot = PathSnapshot(tenant, *leaving.manifest, moment_of(moment))
            known = {each.repository: each.paths for each in change.snapshots}
            if deleted or added or known.get(snapshot.repository) != snapshot.paths:
                change.keep_snapshot(snapshot)
    return replace(result, deleted=deleted, added=added, forgotten=forgotten.height)


def _rows(
    caller: Caller, incoming: Incoming, change: Change, moment: int, *, anew: bool
) -> tuple[pl.DataFrame, list[str]]:
    """The chunks as rows, and the ids of those that are there and are to be written again.

    Those say since when they are there, and keep their vectors. They are written again where the tenant was
    configured anew, and `anew` where anything is said of them that was not, such as another line.
    """
    version = change.config_versions.get(caller.tenant_id, 0)
    chunks: dict[str, dict[str, Any]] = {}
    for chunk in incoming.chunks:
        stamp = Stamp(
            tenant_id=caller.tenant_id,
            repo_slug=caller.repo_slug if caller.alone else chunk["repoSlug"],
            visibility=caller.visibility,
            tenant_config_version=version,
            ingested_at=moment,
            origin_agent_identity=caller.agent or msgspec.UNSET,
        )
        row = stamped(chunk, stamp)
        chunks[row["id"]] = row
    there = pl.col("tenant_id").eq(caller.tenant_id) & pl.col("id").is_in(list(chunks))
    known = change.rows(_KNOWN, there if anew or version else pl.lit(value=False))
    vectors = {}
    for identity, ingested_at, vector in known.select("id", "ingested_at", "embedding").iter_rows():
        vectors[identity] = vector
        if ingested_at is not None:
            chunks[identity]["ingestedAt"] = milliseconds(ingested_at)
    rows = frame_of(
        row_of(each, metadata_of(chunk), chunk["content"], vectors.get(each))
        for each, chunk in chunks.items()
    )
    compared = known.join(rows.select("id", said="metadata"), on="id")
    differs = pl.col("metadata") != pl.col("said") if anew else pl.col("config_version") < version
    return rows, compared.filter(differs)["id"].to_list()


def _failure(error: VocabgapError | OSError) -> PushError:
    """The entry of a corpus that could not be changed; it is as it was before."""
    known = error if isinstance(error, VocabgapError) else refusal("the corpus cannot be changed", error)
    code = known.exit_code if known.exit_code is not ExitCode.BUG else ExitCode.STATE
    details = {"exitCode": int(code), "error": type(error).__name__}
    return PushError(Code.FAILED, f"{known}; nothing was written", details, code)
