from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from corpus.memory_store import MemoryStore, MemoryVersion
from vocabgap.corpus.contracts import Code
from vocabgap.corpus.push import PushResult, push
from vocabgap.corpus.store import Store
from vocabgap.errors import AccessDeniedError, ExitCode, StateError

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
Chunk = dict[str, Any]


def configure(store: Store, tenant: str) -> None:
    with store.changing("configuration") as change:
        change.configure(tenant)


def codes(result: PushResult) -> list[str]:
    return [error.code for error in result.errors]


def test_a_chunk_becomes_a_row_with_its_owner(chunk: Chunk) -> None:
    store = MemoryStore()
    configure(store, "ada")
    result = push(store, {"files": [chunk]}, tenant="@ada", repo="lab", agent="@scribe", now=NOW)
    (row,) = store.current.rows().to_dicts()
    metadata = msgspec.json.decode(row.pop("metadata"))
    assert (result.tenant_id, result.ingested, result.added) == ("ada", 1, 1)
    assert row == {
        "id": metadata["hash"],
        "tenant_id": "ada",
        "repo_slug": "lab",
        "root_kind": "external-source",
        "source_path": chunk["sourcePath"],
        "kind": "gap-record",
        "name": "rain",
        "line": None,
        "content": chunk["content"],
        "embedding": None,
        "config_version": 1,
        "ingested_at": NOW,
        "backup_line": None,
    }
    assert metadata["ingestedAt"] == 1_775_037_600_000
    assert metadata["originAgentIdentity"] == "@scribe"
    assert not {"id", "content", "description"} & set(metadata)


def test_the_answer_is_the_contracts_object(chunk: Chunk) -> None:
    answer = push(MemoryStore(), {"files": [chunk, 5]}, tenant="ada", now=NOW).as_object()
    assert list(answer) == [
        "ingested", "deleted", "embeddingsGenerated", "errors", "tenantId", "durationMs",
        "forgotten", "warnings",
    ]  # fmt: skip
    (error,) = answer["errors"]
    assert error["code"] == "KB_FILE_PAYLOAD_INVALID"
    assert error["details"] == {"fileIndex": 0 + 1}
    assert msgspec.json.decode(msgspec.json.encode(answer)) == answer


def test_a_bad_chunk_is_an_error_with_its_place_and_discards_no_good_one(chunk: Chunk) -> None:
    bad = [{**chunk, "name": ""}, {**chunk, "embedding": None}]
    result = push(MemoryStore(), {"files": [{"chunks": [chunk, *bad]}]}, tenant="ada")
    assert (result.ingested, codes(result)) == (1, [Code.CHUNK_INVALID, Code.EMBEDDING_REJECTED])
    assert result.errors[0].details["errors"][0]["pointer"] == "/name"
    assert [
        (error.details["fileIndex"], error.details["chunkIndex"]) for error in result.errors
    ] == [
        (0, 1),
        (0, 2),
    ]
    assert "vocabgap corpus restore" in result.errors[1].message


def test_a_false_claim_is_overwritten_with_a_warning(chunk: Chunk) -> None:
    store = MemoryStore()
    files = [{**chunk, "tenantId": "bo", "repoSlug": "den", "name": name} for name in "abc"]
    result = push(store, {"files": files}, tenant="ada", repo="lab")
    assert store.current.rows(["tenant_id", "repo_slug"]).unique().rows() == [("ada", "lab")]
    assert result.warnings == (
        "repoSlug was claimed as 'den' 3 times, and stored as 'lab'",
        "tenantId was claimed as 'bo' 3 times, and stored as 'ada'",
    )
    assert (result.errors, result.exit_code) == ((), ExitCode.DONE)


def test_each_chunk_names_its_repository_if_the_push_names_none(chunk: Chunk) -> None:
    store = MemoryStore()
    result = push(store, {"files": [chunk, {**chunk, "repoSlug": "den"}]}, tenant="ada")
    assert sorted(store.current.rows(["repo_slug"])["repo_slug"]) == ["den", "lab"]
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("sourcePath", "/abs", "/sourcePath"),
        ("content", "\ud800", "/content"),
        ("name", "\udfff", "/name"),
        ("line_end", 2**70, "/line_end"),
    ],
)
def test_a_valid_chunk_that_cannot_be_stored_is_an_error_with_a_pointer(
    chunk: Chunk, field: str, value: object, pointer: str
) -> None:
    result = push(MemoryStore(), {"files": [{**chunk, field: value}]}, tenant="ada")
    assert codes(result) == [Code.CHUNK_INVALID]
    assert [fault["pointer"] for fault in result.errors[0].details["errors"]] == [pointer]


class BrokenStore(MemoryStore):
    """A corpus that cannot be changed, when the change begins or when it ends."""

    def __init__(self, error: Exception, *, late: bool) -> None:
        super().__init__()
        self.error, self.late = error, late

    @contextmanager
    def changing(self, purpose: str) -> Iterator[MemoryVersion]:
        if not self.late:
            raise self.error
        with super().changing(purpose) as change:
            yield change
            raise self.error


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StateError("locked by process 7", hint="wait"), ExitCode.STATE),
        (AccessDeniedError("may not be written"), ExitCode.PERMISSION),
        (OSError(28, "No space left on device"), ExitCode.STATE),
        (PermissionError(13, "Permission denied"), ExitCode.PERMISSION),
    ],
)
def test_a_store_that_cannot_be_changed_is_an_error_of_the_answer(
    chunk: Chunk, error: Exception, code: ExitCode, late: bool
) -> None:
    store = BrokenStore(error, late=late)
    result = push(store, {"files": [chunk, {}]}, tenant="ada")
    assert (codes(result), result.exit_code) == ([Code.FILE_INVALID, Code.FAILED], code)
    assert (result.ingested, result.added, len(store.current.rows())) == (0, 0, 0)
    assert result.errors[1].details["exitCode"] == code


def test_a_present_chunk_keeps_its_first_time(chunk: Chunk) -> None:
    store = MemoryStore()
    payload = {
        "files": [chunk, chunk],
        "deleted": [chunk["sourcePath"]],
        "manifestSnapshot": {"pathsAfterPush": ["other.jsonl"]},
    }
    first = push(store, payload, tenant="ada", now=NOW)
    rows, snapshots = store.current.rows(), store.current.table("paths")
    second = push(store, payload, tenant="ada", now=NOW + timedelta(days=1))
    assert [(item.ingested, item.added, item.deleted) for item in (first, second)] == [
        (2, 1, 0),
        (2, 0, 0),
    ]
    assert store.current.rows().equals(rows)
    assert store.current.table("paths").equals(snapshots)


def test_pushing_again_updates_the_configuration(store: Store, chunk: Chunk) -> None:
    push(store, {"files": [chunk, {**chunk, "name": "left"}]}, tenant="ada", now=NOW)
    configure(store, "ada")

    again = push(store, {"files": [chunk]}, tenant="ada", now=NOW + timedelta(days=1))

    assert (again.ingested, again.added, again.deleted) == (1, 0, 0)
    rows = store.version().rows(["name", "config_version", "ingested_at", "metadata"])
    assert rows.select("name", "config_version", "ingested_at").sort("name").rows() == [
        ("left", 0, NOW),
        ("rain", 1, NOW),
    ]
    metadata = rows.filter(name="rain")["metadata"].item()
    assert '"tenantConfigVersion":1' in metadata


@pytest.mark.parametrize("form", [{"content": "a note"}, {"parsedChunks": []}])
def test_a_file_that_claims_another_tenant_is_a_warning_or_refused(form: dict[str, Any]) -> None:
    payload = {"files": [{"sourcePath": "a.txt", "tenantId": "bo", **form}]}

    answer = push(MemoryStore(), payload, tenant="ada")
    refused = push(MemoryStore(), payload, tenant="ada", refuse_false=True)

    assert answer.warnings == ("tenantId was claimed as 'bo' 1 time, and stored as 'ada'",)
    assert codes(refused) == [Code.SPOOF_REJECTED]


@pytest.mark.parametrize(
    "wrong",
    [
        {"className": []},
        {"surplus": []},
        {"hashInputs": [[]]},
        {"parsedChunks": [[]]},
        {"kind": {}},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_chunk_that_goes_too_deep_costs_no_other(chunk: Chunk, wrong: dict[str, Any]) -> None:
    deep: Any = []
    for _ in range(3_000):
        deep = [deep]
    field, content = next(iter(wrong.items()))
    bad = (
        {field: [deep]}
        if field == "parsedChunks"
        else {**chunk, field: [deep] if content else {"deep": deep}}
    )

    result = push(MemoryStore(), {"files": [bad, chunk]}, tenant="ada")

    assert (codes(result), result.added) == ([Code.CHUNK_INVALID], 1)
