"""Laws of pushing, for any sequence of pushes: against a plain dictionary, and against itself."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conforming.memory_store import MemoryStore
from conforming.model import Model
from vocabgap.corpus.push import push
from vocabgap.corpus.store import Store

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
PATHS = st.sampled_from(["a", "b", "c/d"])
REPOS = st.sampled_from(["lab", "den"])
PIECES = st.fixed_dictionaries({"path": PATHS, "content": st.sampled_from(["x", "y"])})
PUSHES = st.fixed_dictionaries(
    {
        "tenant": st.sampled_from(["ada", "bo"]),
        "repo": REPOS,
        "pieces": st.lists(PIECES, max_size=4),
        "tombstones": st.lists(PATHS, max_size=2),
        "boundary": st.none() | st.lists(PATHS, max_size=2),
        "manifest": st.none() | st.lists(PATHS, max_size=3),
    }
)


def carry_out(store: Store, asked: dict[str, Any], day: int = 0) -> tuple[int, int]:
    """Push what a strategy drew; gives how many chunks were new and how many withdrawn."""
    payload: dict[str, Any] = {
        "files": [{"content": piece["content"], "sourcePath": piece["path"]} for piece in asked["pieces"]],
        "deleted": asked["tombstones"],
    }
    if asked["manifest"] is not None:
        payload["manifestSnapshot"] = {"pathsAfterPush": asked["manifest"]}
    if asked["boundary"] is not None:
        payload |= {"baseRevision": "old", "headRevision": "new"}
    result = push(
        store,
        payload,
        tenant=asked["tenant"],
        repo=asked["repo"],
        now=NOW + timedelta(days=day),
        resolver=lambda _base, _head: asked["boundary"],
        confirmed=True,
    )
    assert result.errors == ()
    return result.added, result.deleted


@given(st.lists(PUSHES, max_size=5))
def test_any_sequence_of_pushes_equals_a_dictionary(pushes: list[dict[str, Any]]) -> None:
    store, model = MemoryStore(), Model()
    for day, asked in enumerate(pushes):
        assert carry_out(store, asked, day) == model.push(asked, NOW + timedelta(days=day))
    assert model.rows() == sorted(store.version().rows(list(Model.COLUMNS)).rows())
    kept = {
        (each.tenant_id, each.repo_slug): (each.paths, each.updated_at) for each in store.version().snapshots
    }
    assert kept == model.snapshots


@given(st.lists(PUSHES, max_size=3), PUSHES)
def test_the_same_push_twice_changes_nothing(before: list[dict[str, Any]], asked: dict[str, Any]) -> None:
    store = MemoryStore()
    for each in before:
        carry_out(store, each)
    carry_out(store, asked, day=1)
    kept, snapshots = store.current.rows(), store.current.snapshots
    assert carry_out(store, asked, day=2) == (0, 0)
    assert store.current.rows().equals(kept)
    assert store.current.snapshots == snapshots


@given(PUSHES, PATHS, PATHS, st.lists(PATHS, max_size=2))
def test_the_union_of_deletions_does_not_depend_on_their_order(
    first: dict[str, Any], tombstone: str, bounded: str, manifest: list[str]
) -> None:
    nothing = {**first, "pieces": [], "tombstones": [], "boundary": None, "manifest": None}
    signals = [{"tombstones": [tombstone]}, {"boundary": [bounded]}, {"manifest": manifest}]
    left = []
    for order in permutations(signals):
        store = MemoryStore()
        carry_out(store, {**first, "tombstones": [], "boundary": None, "manifest": None})
        for signal in order:
            carry_out(store, {**nothing, **signal})
        left.append(sorted(store.current.rows(["id"])["id"]))
    at_once = MemoryStore()
    carry_out(at_once, {**first, "tombstones": [], "boundary": None, "manifest": None})
    carry_out(at_once, {**nothing, **signals[0], **signals[1], **signals[2]})
    assert all(each == sorted(at_once.current.rows(["id"])["id"]) for each in left)
