from datetime import UTC, datetime
from typing import NoReturn

from conforming.memory_store import MemoryStore
from vocabgap.corpus.contracts import Code
from vocabgap.corpus.upkeep import set_config, set_manifest
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
        assert set_manifest(store, tenant, repo, [path], NOW).code is None
    kept = {(each.tenant_id, each.repo_slug): each.paths for each in store.current.snapshots}
    assert kept == {("ada", "lab"): ("d",), ("ada", "den"): ("b",), ("bo", "lab"): ("c",)}
    assert store.current.config_versions == {}


def test_a_snapshot_that_is_no_list_is_not_written() -> None:
    store = MemoryStore()
    assert set_manifest(store, "ada", "lab", "a").code is Code.TENANT_MANIFEST_INVALID
    assert store.current.snapshots == ()


def test_each_configuration_of_a_tenant_is_counted() -> None:
    store = MemoryStore()
    assert [set_config(store, tenant).value["version"] for tenant in ("ada", "@ada", "bo")] == [1, 2, 1]


def test_a_corpus_that_cannot_be_changed_is_part_of_the_answer() -> None:
    assert set_manifest(LockedStore(), "ada", "lab", []).code is Code.TENANT_MANIFEST_FAILED
    assert set_config(LockedStore(), "ada").code is Code.TENANT_CONFIG_FAILED
    assert set_config(MemoryStore(), "").code is Code.TENANT_CONFIG_FAILED
