from datetime import UTC, datetime
from typing import NoReturn

import pytest

from conforming.memory_store import MemoryStore
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.upkeep import set_manifest
from vocabgap.errors import StateError

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)


class LockedStore(MemoryStore):
    """A corpus that somebody else is changing."""

    def changing(self, purpose: str) -> NoReturn:
        raise StateError(f"locked, no {purpose}")


def test_a_snapshot_is_kept_until_the_next_one_of_its_repository() -> None:
    store = MemoryStore()
    for tenant, repo, path in [
        ("ada", "lab", "a"),
        ("ada", "den", "b"),
        ("bo", "lab", "c"),
        ("@ada", "lab", "d"),
    ]:
        assert set_manifest(store, tenant, repo, [path], NOW).paths == (path,)
    kept = {(each.tenant_id, each.repo_slug): each.paths for each in store.current.snapshots}
    assert kept == {("ada", "lab"): ("d",), ("ada", "den"): ("b",), ("bo", "lab"): ("c",)}
    assert store.current.config_versions == {}


def test_a_snapshot_that_is_no_list_is_not_written() -> None:
    store = MemoryStore()
    with pytest.raises(RefusedError) as refused:
        set_manifest(store, "ada", "lab", "a")
    assert (refused.value.code, store.current.snapshots) == (Code.TENANT_MANIFEST_INVALID, ())


def test_a_snapshot_of_a_corpus_that_cannot_be_changed_is_refused() -> None:
    with pytest.raises(RefusedError, match="locked") as refused:
        set_manifest(LockedStore(), "ada", "lab", [])
    assert refused.value.code is Code.TENANT_MANIFEST_FAILED
