from typing import Any

import pytest

from corpus.memory_store import MemoryStore
from vocabgap.corpus.contracts import Code
from vocabgap.corpus.push import push
from vocabgap.errors import NotFoundError, StateError

Payload = dict[str, Any]
PLACES = [
    ("ada", "lab", "a"), ("ada", "lab", "b"), ("ada", "lab", "c"), ("ada", "den", "a"), ("bo", "lab", "a"),
]  # fmt: skip


@pytest.fixture
def store(chunk: Payload) -> MemoryStore:
    """Two tenants, one of them with two repositories, each with path `a`."""
    outcome = MemoryStore()
    for tenant, repo, path in PLACES:
        push(outcome, {"files": [{**chunk, "sourcePath": path}]}, tenant=tenant, repo=repo)
    return outcome


def left(store: MemoryStore) -> list[tuple[str, str, str]]:
    return sorted(store.current.rows(["tenant_id", "repo_slug", "source_path"]).rows())


def without(*gone: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    return sorted(set(PLACES) - set(gone))


@pytest.mark.parametrize(
    "tombstone", ["a", {"sourcePath": "a"}, {"sourcePath": "a", "repoSlug": "lab"}]
)
def test_tombstone_withdraws_one_path_of_one_owner(store: MemoryStore, tombstone: object) -> None:
    result = push(store, {"files": [], "deleted": [tombstone]}, tenant="ada", repo="lab")
    assert (result.deleted, result.errors) == (1, ())
    assert left(store) == without(("ada", "lab", "a"))


def test_a_bad_tombstone_does_not_keep_the_others_from_counting(store: MemoryStore) -> None:
    bad = [
        None,
        5,
        "",
        {},
        {"sourcePath": 5},
        {"sourcePath": "a", "repoSlug": 5},
        {"sourcePath": "\ud800"},
    ]
    result = push(store, {"files": [], "deleted": [*bad, "b"]}, tenant="ada", repo="lab")
    assert [error.code for error in result.errors] == [Code.TOMBSTONE_INVALID] * len(bad)
    assert left(store) == without(("ada", "lab", "b"))


def test_a_snapshot_withdraws_what_it_does_not_list_and_is_kept(store: MemoryStore) -> None:
    payload = {"files": [], "manifestSnapshot": {"pathsAfterPush": ["b", "b", "", 5, "new"]}}
    result = push(store, payload, tenant="ada", repo="lab")
    assert result.deleted == 2
    assert left(store) == without(("ada", "lab", "a"), ("ada", "lab", "c"))
    (kept,) = store.current.table("paths").select("tenant_id", "repo_slug", "paths").rows()
    assert kept == ("ada", "lab", ["b", "new"])


@pytest.mark.parametrize(
    "snapshot", [{}, [], {"pathsAfterPush": None}, {"pathsAfterPush": {"a": 1}}, "a", 5]
)
def test_snapshot_without_a_list_changes_nothing(store: MemoryStore, snapshot: object) -> None:
    result = push(
        store, {"files": [], "manifestSnapshot": snapshot}, tenant="ada", repo="lab", confirmed=True
    )
    assert [error.code for error in result.errors] == [Code.MANIFEST_INVALID]
    assert (left(store), store.current.table("paths").height) == (without(), 0)


def test_an_empty_snapshot_has_to_be_confirmed(store: MemoryStore) -> None:
    payload = {"files": [], "deleted": ["a"], "manifestSnapshot": {"pathsAfterPush": [5]}}
    refused = push(store, payload, tenant="ada", repo="lab")
    assert [error.code for error in refused.errors] == [Code.MANIFEST_INVALID]
    assert (left(store), store.current.table("paths").height) == (without(("ada", "lab", "a")), 0)
    assert push(store, payload, tenant="ada", repo="lab", confirmed=True).deleted == 2
    assert left(store) == [("ada", "den", "a"), ("bo", "lab", "a")]


@pytest.mark.parametrize(
    ("signal", "code"),
    [
        ({"deleted": [{"sourcePath": "a", "repoSlug": "den"}]}, Code.TOMBSTONE_INVALID),
        ({"manifestSnapshot": {"repoSlug": "den", "pathsAfterPush": ["x"]}}, Code.MANIFEST_INVALID),
    ],
)
def test_push_touches_no_other_repository(store: MemoryStore, signal: Payload, code: Code) -> None:
    result = push(store, {"files": [], **signal}, tenant="ada", repo="lab")
    assert [error.code for error in result.errors] == [code]
    assert left(store) == without()
    assert push(store, {"files": [], **signal}, tenant="ada").deleted == 1
    assert left(store) == without(("ada", "den", "a"))


def test_the_union_of_all_signals_counts_even_against_a_snapshot(store: MemoryStore) -> None:
    payload = {
        "files": [],
        "baseRevision": "old",
        "headRevision": "new",
        "deleted": ["b"],
        "manifestSnapshot": {"pathsAfterPush": ["a", "b", "c"]},
    }
    calls: list[tuple[str, str]] = []

    def resolve(base: str, head: str) -> list[str]:
        calls.append((base, head))
        return ["a"]

    result = push(store, payload, tenant="ada", repo="lab", resolver=resolve)
    assert (result.deleted, result.errors, calls) == (2, (), [("old", "new")])
    assert left(store) == without(("ada", "lab", "a"), ("ada", "lab", "b"))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFoundError("no repository here"), Code.BOUNDARY_UNAVAILABLE),
        (StateError("revision 'old' is not known"), Code.BOUNDARY_FAILED),
        (RuntimeError("broken"), Code.BOUNDARY_FAILED),
    ],
)
def test_unresolved_boundary_is_an_error(store: MemoryStore, error: Exception, code: Code) -> None:
    def resolve(_base: str, _head: str) -> list[str]:
        raise error

    payload = {"files": [], "baseRevision": "old", "headRevision": "new", "deleted": ["b"]}
    result = push(store, payload, tenant="ada", repo="lab", resolver=resolve)
    assert ([item.code for item in result.errors], result.deleted) == ([code], 1)
    assert str(error) in result.errors[0].message
