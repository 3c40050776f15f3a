"""A push: withdrawn chunks leave the corpus and the chunks of a payload come in, both in one step."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from vocabgap.corpus.chunks import frame_of, metadata_of, row_of
from vocabgap.corpus.contracts import Code, PushError, RefusedError
from vocabgap.corpus.identity import (
    SHARED_TENANT,
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
_PRESENT: Final = ("id", "ingested_at", "embedding", "config_version", "metadata")


@dataclass(frozen=True, slots=True)
class PushResult:
    """The result of a push: `ingested` counts the valid chunks, and `added` the new ones among them."""

    tenant_id: str
    ingested: int = 0
    added: int = 0
    deleted: int = 0
    forgotten: int = 0
    errors: tuple[PushError, ...] = ()
    warnings: tuple[str, ...] = ()
    duration_ms: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command: that of the gravest error."""
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
    """Bring a payload into a corpus. Its faults are part of the answer, never an exception.

    Everything valid is done in one step, deletions before additions. A second push of the same payload
    changes nothing, unless the tenant was configured in between: then the chunks get the new configuration.
    Without a `repo`, each part of the payload names its own. With `whole_logs`, a gap log replaces everything
    of its path. With `refuse_false`, a false claim refuses the whole push. With `strict_tombstones`, a
    tombstone must be an object, not a bare path. `confirmed` lets an empty snapshot withdraw everything.
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
            warnings=tuple(incoming.warnings),
        )
        _require_volume(incoming, most)
        if whole_logs:
            leaving.add((repo, log.source_path) for repo, log in incoming.logs if log.is_whole)
        moment = milliseconds(datetime.now(UTC) if now is None else now)
        if incoming or leaving or not result.errors:
            with store.changing(f"push to {caller.tenant_id}/{caller.repo_slug}") as change:
                counts = _carry_out(change, caller, incoming, leaving, moment, rewrite=whole_logs)
            deleted, added, forgotten = counts
            result = replace(result, deleted=deleted, added=added, forgotten=forgotten)
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


def _carry_out(
    change: Change, caller: Caller, incoming: Incoming, leaving: Withdrawal, moment: int, *, rewrite: bool
) -> tuple[int, int, int]:
    """Change the corpus; return the counts of deleted, added and forgotten chunks."""
    tenant = caller.tenant_id
    rows, again = _rows(caller, incoming, change, moment, rewrite=rewrite)
    rows, forgotten = without_forgotten(change, rows)
    deleted = change.delete(leaving.condition(tenant, rows["id"])) if leaving else 0
    if again:
        change.delete(pl.col("id").is_in(again))
    added = change.add(rows) - len(again) if rows.height else 0
    left = change.table("logs").filter(~leaving.condition(tenant))
    change.keep("logs", logs_with(left, incoming.logs, tenant, rows, change.table("forgotten")))
    if leaving.manifest is not None:
        snapshot = PathSnapshot(tenant, *leaving.manifest, moment_of(moment))
        before = {earlier.repository: earlier.paths for earlier in change.snapshots}
        if deleted or added or before.get(snapshot.repository) != snapshot.paths:
            change.keep_snapshot(snapshot)
    return deleted, added, forgotten.height


def _rows(
    caller: Caller, incoming: Incoming, change: Change, moment: int, *, rewrite: bool
) -> tuple[pl.DataFrame, list[str]]:
    """Return the chunks as rows, and the ids of present chunks to write again.

    Present chunks keep their first moment and their vectors. They are written again if the tenant was
    configured since, and with `rewrite` if their metadata differ, for instance in the line.
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
    present = change.rows(_PRESENT, among if rewrite or version else pl.lit(value=False))
    vectors = {}
    for identity, ingested_at, vector in present.select("id", "ingested_at", "embedding").iter_rows():
        vectors[identity] = vector
        if ingested_at is not None:
            chunks[identity]["ingestedAt"] = milliseconds(ingested_at)
    rows = frame_of(
        row_of(identity, metadata_of(chunk), chunk["content"], vectors.get(identity))
        for identity, chunk in chunks.items()
    )
    compared = present.join(rows.select("id", new="metadata"), on="id")
    differs = pl.col("metadata") != pl.col("new") if rewrite else pl.col("config_version") < version
    return rows, compared.filter(differs)["id"].to_list()


def _failure(error: VocabgapError | OSError) -> PushError:
    """Make the entry of a corpus that could not be changed."""
    known = error if isinstance(error, VocabgapError) else refusal("the corpus cannot be changed", error)
    code = known.exit_code if known.exit_code is not ExitCode.BUG else ExitCode.STATE
    details = {"exitCode": int(code), "error": type(error).__name__}
    return PushError(Code.FAILED, f"{known}; nothing was written", details, code)
