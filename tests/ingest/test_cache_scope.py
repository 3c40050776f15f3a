"""What a cache is good for once other roots, sources or names are asked for."""

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from builders.ingest import let_it_settle, same_as_fresh, write_log
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME
from vocabgap.model.sources import Source

NEED: Final = b'{"description":"soft reeds"}\n'

INTENT: Final = Source(glob=LOG_NAME, fields={"intent": "description"})
OF_NEW: Final = Source(glob=(LOG_NAME, "*.copy"), where={"description": ("new", "old")})

SOURCES: Final = {
    "of other fields": (INTENT, Source(glob=LOG_NAME, fields={"notes": "description", "intent": "notes"})),
    "with a filter": (INTENT, OF_NEW),
    "as they are": (INTENT, Source(glob=LOG_NAME)),
    # A moment of TOML that is not in quotes is no text, and is not read like one.
    "in quotes": (
        Source(glob=LOG_NAME, constants={"timestamp": datetime(2026, 1, 1, tzinfo=UTC)}),
        Source(glob=LOG_NAME, constants={"timestamp": "2026-01-01T00:00:00Z"}),
    ),
}


@pytest.mark.usefixtures("heron")
def test_a_subset_of_the_logs_can_be_scanned_and_then_all_again(workspace: Path, cache: Path) -> None:
    assert same_as_fresh(workspace / "fox-3", cache).cache == CacheUse(unchanged=1, resumed=0, read=0)
    assert same_as_fresh(workspace, cache).cache == CacheUse(unchanged=1, resumed=0, read=1)


@pytest.mark.usefixtures("heron")
def test_known_logs_take_the_place_and_the_tenant_that_are_asked_for(workspace: Path, cache: Path) -> None:
    scanned = same_as_fresh(workspace.parent, cache, tenant_id="gamekeeper")

    assert scanned.cache == CacheUse(unchanged=2, resumed=0, read=0)
    assert set(scanned.gaps["tenant_id"]) == {"gamekeeper"}
    assert scanned.files["source_path"].to_list() == [
        f"shoots/{each}/{LOG_NAME}" for each in ("fox-3", "heron-11")
    ]


@pytest.mark.usefixtures("heron")
@pytest.mark.parametrize("change", SOURCES)
def test_logs_are_read_again_once_their_source_is_another(workspace: Path, cache: Path, change: str) -> None:
    before, after = SOURCES[change]
    scan(workspace, cache=cache, sources={"own": before})

    assert same_as_fresh(workspace, cache, sources={"own": after}).cache == CacheUse(0, resumed=0, read=2)


def test_a_log_is_read_again_once_it_is_not_taken_for_packed(workspace: Path, cache: Path) -> None:
    path = workspace / "gaps.gz"
    path.write_bytes(gzip.compress(NEED))
    let_it_settle()
    scan(path, cache=cache)

    same_as_fresh(path, cache, sources={"own": Source(glob="gaps.gz")})


def test_a_log_reached_through_a_link_is_read_again_once_its_folder_has_another_name(
    workspace: Path, cache: Path
) -> None:
    store = write_log(workspace, "store/a", NEED).parent
    link = workspace / "img" / LOG_NAME
    link.parent.mkdir()
    link.symlink_to("../store/a/" + LOG_NAME)
    let_it_settle()
    scan(workspace, cache=cache)
    store.rename(store.with_name("b"))
    link.unlink()
    link.symlink_to("../store/b/" + LOG_NAME)

    assert set(same_as_fresh(workspace, cache).gaps["image_id"]) == {"b"}
