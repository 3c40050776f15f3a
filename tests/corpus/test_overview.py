"""What is in a corpus, and what is left over in it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from corpus.builders import NORTH, ids_of
from vocabgap.corpus.corpus import Corpus, Identity, Overview, overview
from vocabgap.model.record import LOG_NAME


def snapshot_of(corpus: Corpus, paths: list[str], now: datetime) -> None:
    with corpus.store.changing("snapshot") as change:
        change.keep_paths("north", "photos", paths, now)


EARLY, LATE = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2))


def only(actual: Overview) -> Identity:
    (identity,) = actual.identities
    return identity


def test_records_are_counted_by_identity(corpus: Corpus, photos: Path) -> None:
    corpus.push(photos, **NORTH)
    corpus.push(photos, tenant="south", repo="photos")
    corpus.push({"files": [{"content": "text", "sourcePath": "notes.md"}]}, **NORTH)

    actual = corpus.status()

    message = [
        (item.tenant_id, item.root_kind, item.records, item.gap_records, item.paths)
        for item in actual.identities
    ]
    assert message == [("north", "external-source", 4, 3, 3), ("south", "external-source", 3, 3, 2)]
    assert (actual.measures.rows, actual.measures.version, actual.orphans) == (7, 3, 0)


def test_records_that_the_last_snapshot_lacks_are_missing(corpus: Corpus, photos: Path) -> None:
    corpus.push(photos, **NORTH, now=EARLY)
    snapshot_of(corpus, [f"fjord/{LOG_NAME}"], EARLY)

    assert only(corpus.status()).missing == 2


@pytest.mark.parametrize(("times", "stale", "outdated"), [(0, 0, 0), (1, 3, 0), (2, 3, 3)])
def test_records_two_configurations_behind_are_outdated(
    corpus: Corpus, photos: Path, times: int, stale: int, outdated: int
) -> None:
    corpus.push(photos, **NORTH)
    for _ in range(times):
        corpus.configure("north")

    actual = only(corpus.status())

    assert (actual.stale, actual.outdated) == (stale, outdated)
    assert only(overview(corpus.store.version(), gap=1)).outdated == stale


def test_orphans_are_removed_and_nothing_else(corpus: Corpus, photos: Path) -> None:
    corpus.push(photos, **NORTH, now=EARLY)
    snapshot_of(corpus, [f"fjord/{LOG_NAME}"], LATE)
    corpus.push(photos, tenant="south", repo="photos", now=EARLY)

    assert corpus.remove_orphans("north", dry_run=True) == 2
    assert len(ids_of(corpus)) == 6
    assert (corpus.remove_orphans("south"), corpus.remove_orphans("north")) == (0, 2)
    assert len(ids_of(corpus)) == 4
    assert corpus.remove_orphans("north") == 0
