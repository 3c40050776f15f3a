"""What the operations of the ingestion contracts do: each gives what was observed, under the cases' names."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final
from unittest.mock import patch

import msgspec
import polars as pl

from conforming.cases import AnyOf, Case, Noted, Operation
from corpus.memory_store import MemoryStore, MemoryVersion
from corpus.pushing import ingest, repush_identical
from vocabgap.corpus.backups import divergent_records, refuse_divergence
from vocabgap.corpus.backups import restore as restore_file
from vocabgap.corpus.chunks import frame_of, row_of
from vocabgap.corpus.contracts import Code, RefusedError, faults, keeps
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import (
    DEFAULT_VISIBILITY,
    GUARDED,
    SHARED_REPO,
    content_hash,
    false_claims,
    natural_key,
    normal_tenant,
    refuse_claims,
    stamped,
    storage_id,
)
from vocabgap.corpus.version import TABLES
from vocabgap.corpus.withdrawal import config_orphans, normal_paths, snapshot_orphans
from vocabgap.errors import VocabgapError
from vocabgap.model.record import SHARED_TENANT

Input = Mapping[str, Any]
Cases = Mapping[str, Case]
NOW: Final = datetime(2026, 4, 1, 10, tzinfo=UTC)
TENANT: Final = "tenant"
DEFAULT_GAP: Final = CorpusSettings().orphan_version_gap
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def validate(given: Input, _: Cases) -> dict[str, Any]:
    found = faults(given["schema"], given["record"])
    places = {fault.pointer or "/" if fault.key is None else fault.key for fault in found}
    valid = keeps(given["schema"], given["record"]) and not found
    return {"valid": valid, "error_at": AnyOf(*sorted(places))}


def chunk_hash(given: Input, _: Cases) -> str:
    tenant = given.get("tenant") or {}
    return content_hash(given["record"], tenant.get("tenantId"), tenant.get("repoSlug"))


def same_hash(given: Input, cases: Cases) -> bool | Noted:
    """Compare two cases.

    Where one is not in the file, the other is compared with itself as it would be hashed if its `hashInputs`
    named only what the record has: what else they name may not count.
    """
    sides = [cases.get(given[side]) for side in ("a", "b")]
    present = [case for case in sides if case is not None]
    if not present:
        raise LookupError(f"neither case {given['a']} nor case {given['b']} is in this file")
    first = chunk_hash(present[0].input, cases)
    if len(present) == len(sides):
        return first == chunk_hash(present[1].input, cases)
    record = present[0].input["record"]
    named = [name for name in record["hashInputs"] if name in record]
    if named == record["hashInputs"]:
        raise LookupError(f"one of the cases {given['a']} and {given['b']} is not in this file")
    alone = chunk_hash({**present[0].input, "record": {**record, "hashInputs": named}}, cases)
    missing = given["b"] if cases.get(given["b"]) is None else given["a"]
    message = (
        f"case {missing} is not in this file; compared without the names that the record lacks"
    )
    return Noted(first == alone, message)


def stored_under(given: Input, _: Cases) -> str:
    return storage_id(given["chunk"], given["stamp"])


def natural_key_equal(given: Input, _: Cases) -> bool:
    return _key(given["a"]) == _key(given["b"])


def natural_key_distinct_count(given: Input, _: Cases) -> int:
    return len({_key(row) for row in given["rows"]})


def stamp(given: Input, _: Cases) -> dict[str, Any]:
    context = given.get("context") or {}
    facts = {
        "tenantId": SHARED_TENANT,
        "repoSlug": SHARED_REPO,
        "visibility": DEFAULT_VISIBILITY,
        "tenantConfigVersion": context.get("configVersion") or 0,
        "ingestedAt": 0,
    }
    facts |= {name: context[name] for name in GUARDED if context.get(name) is not None}
    chunk = {"source": chunk_path} if (chunk_path := given["chunk"].get("sourcePath")) else {}
    chunk |= given["chunk"]
    warned = sorted(false_claims(chunk, facts))
    try:
        if given.get("mode") == "reject":
            refuse_claims(chunk, facts)
    except RefusedError as error:
        return {"error": error.code, "details": error.details, "writes": 0, "warned": warned}
    row = stamped(chunk, facts)
    return {
        **row,
        "originAgentIdentity_present": "originAgentIdentity" in row,
        "id_len": len(row["id"]),
        "id_equals_hash": row["id"] == row["hash"],
        "warned": warned,
        "error": None,
        "writes": 1,
    }


def diff_manifest(given: Input, _: Cases) -> dict[str, Any]:
    rows, manifests = given.get("rows"), given.get("manifestsByRepo")
    chunks = _frame(rows if isinstance(rows, list) else [])
    snapshots = [
        (TENANT, repo, moment, list(filter(_is_path, said["pathsAfterPush"])))
        for repo, said in (manifests.items() if isinstance(manifests, dict) else ())
        if isinstance(said, dict) and isinstance(said.get("pathsAfterPush"), list)
        if (moment := _moment(said.get("updatedAt"))) is not None
    ]
    table = pl.DataFrame(snapshots, TABLES["paths"], orient="row")
    return {"actionableIds": chunks.filter(snapshot_orphans(chunks, table))["id"].to_list()}


def diff_config(given: Input, _: Cases) -> dict[str, Any]:
    rows, current = given.get("rows"), given.get("currentVersion")
    chunks = _frame(rows if isinstance(rows, list) else [])
    known = isinstance(current, int) and not isinstance(current, bool)
    found = config_orphans(chunks, {TENANT: current} if known else {}, _gap(given))  # type: ignore[dict-item]
    return {
        "stale": chunks.filter(found["stale"])["id"].to_list(),
        "actionableIds": chunks.filter(found["outdated"])["id"].to_list(),
    }


def keep_manifest(given: Input, _: Cases) -> dict[str, Any]:
    """Keep a snapshot alone: here only a push brings one."""
    store = MemoryStore()
    tenant = normal_tenant(given.get("tenantId") or TENANT) or ""
    with store.changing("configuration") as change:
        change.configure(tenant)
    paths = normal_paths(given["pathsAfterPush"])
    if paths is None:
        return {"error": str(Code.TENANT_MANIFEST_INVALID), "written": False}
    before = dict(store.current.config_versions)
    with store.changing("snapshot") as change:
        change.keep_paths(tenant, given["repoSlug"], paths, NOW)
    ((owner, _repo, _moment, snapshot),) = store.current.table("paths").rows()
    return {
        "node": f"kb-manifest:{owner}",
        "tenantId": owner,
        "pathsAfterPush": snapshot,
        "visibility": DEFAULT_VISIBILITY,
        "config_version_bumped": store.current.config_versions != before,
    }


def restore(given: Input, _: Cases) -> dict[str, Any]:
    """Restore the records from a file into a corpus that holds one chunk, 500 of them at once."""
    store = MemoryStore(frame_of([row_of("there before", {"name": "there before"}, "")]))
    error: str | None = None
    with NamedTemporaryFile(suffix=".jsonl") as file, patch("vocabgap.corpus.backups.AT_ONCE", 500):
        file.write(b"".join(msgspec.json.encode(record) + b"\n" for record in _backup(given)))
        file.flush()
        try:
            restore_file(store, Path(file.name), replace=given.get("mode") == "replace")
        except VocabgapError as refused:
            error = getattr(refused, "code", Code.IMPORT_FAILED)
    sizes, ids = store.current.added, store.current.rows(["id"])["id"]
    texts = store.current.rows(["content"], pl.col("id") != "there before")["content"].to_list()
    documents = [text or "" for text in texts] if any(texts) else "absent"
    return {
        "imported": sum(sizes),
        "upserts": len(sizes),
        "upsert_sizes": sizes,
        "documents_field": AnyOf(documents, [documents]),
        "null_documents": texts.count(None),
        "truncate_calls": int("there before" not in ids),
        "error": AnyOf(error is not None, error),
    }


def classify_merge(given: Input, _: Cases) -> dict[str, Any]:
    live = MemoryVersion(
        frame_of([row_of(row["id"], row["metadata"], "") for row in given["live"]])
    )
    single = isinstance(given["incoming"], dict)
    incoming = [given["incoming"]] if single else given["incoming"]
    records = [(record["id"], record["metadata"]) for record in incoming]
    divergent = {identity: ids for identity, _, ids in divergent_records(live, records)}
    present = set(live.rows(["id"])["id"])
    refusal: RefusedError | None = None
    try:
        refuse_divergence(live, records)
    except RefusedError as error:
        refusal = error
    outcomes = [
        "id-already-present"
        if identity in present
        else "natural-key-divergent"
        if identity in divergent
        else "inserted"
        for identity, _ in records
    ]
    live_ids = [[each] if each in present else divergent.get(each, []) for each, _ in records]
    return {
        "outcome": outcomes[0] if single else outcomes,
        "liveIds": live_ids[0] if single else live_ids,
        "scan": _divergence_scan(live, given),
        "refusal": refusal.code if refusal else None,
        "written": 0 if refusal else len(incoming),
    }


def _gap(given: Input) -> float:
    """Return the gap; here the settings refuse what is no number from 1 on, there it means the default."""
    gap = given.get("orphanVersionGap")
    if isinstance(gap, bool) or not isinstance(gap, int | float):
        return DEFAULT_GAP
    return gap if 1 <= gap < float("inf") else DEFAULT_GAP


def _divergence_scan(live: MemoryVersion, given: Input) -> str:
    if given.get("mode") == "replace":
        return "skipped-replace-mode"
    return "performed" if live.measures.rows else "skipped-empty-target"


def _key(row: Mapping[str, Any]) -> str:
    return natural_key(row["metadata"] if isinstance(row.get("metadata"), dict) else row)


def _is_path(path: object) -> bool:
    return isinstance(path, str) and path != ""


def _frame(rows: list[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the rows of a case as a corpus has them, all of one tenant."""
    made = [
        row_of(row["id"], {**(row.get("metadata") or {}), "tenantId": TENANT}, "") for row in rows
    ]
    return frame_of(made)


def _moment(count: object) -> datetime | None:
    """Return the moment of a number of milliseconds."""
    if isinstance(count, bool) or not isinstance(count, int | float):
        return None
    try:
        return EPOCH + timedelta(milliseconds=count)
    except (OverflowError, ValueError):
        return None


def _backup(given: Input) -> list[Any]:
    """Return the records that a case restores; it names only the fields that matter to it."""
    parts = [
        *({"embedding": vector} for vector in given.get("embeddings", ())),
        *({"document": text} for text in given.get("documents", ())),
        *([{"document": given.get("document")}] * given.get("document_count", 0)),
    ]
    return [
        {"id": f"record-{number}", "embedding": [0.1], "metadata": {}, "document": "text", **part}
        for number, part in enumerate(parts)
    ]


OPERATIONS: Final[Mapping[str, Operation]] = {
    "validate": validate, "ingest": ingest, "chunk_hash": chunk_hash, "same_hash": same_hash,
    "storage_id": stored_under, "natural_key_equal": natural_key_equal,
    "natural_key_distinct_count": natural_key_distinct_count, "stamp": stamp,
    "repush_identical": repush_identical, "diff_manifest": diff_manifest, "diff_config": diff_config,
    "set_manifest": keep_manifest, "import": restore, "classify_merge": classify_merge,
}  # fmt: skip
