from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from vocabgap.corpus.upkeep import config_orphans, snapshot_orphans
from vocabgap.corpus.version import CHUNKS, PathSnapshot

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
LATER = NOW + timedelta(milliseconds=1)


def chunks(*rows: tuple[str | None, str | None, datetime | None], version: int | None = None) -> pl.DataFrame:
    names = ("repo_slug", "source_path", "ingested_at")
    columns = {name: [row[position] for row in rows] for position, name in enumerate(names)}
    frame = pl.DataFrame(columns, schema_overrides={name: CHUNKS.schema[name] for name in names})
    return frame.with_columns(tenant_id=pl.lit("ada"), config_version=pl.lit(version, pl.Int64))


def test_only_what_a_snapshot_can_know_of_is_missing_from_it() -> None:
    frame = chunks(
        ("lab", "gone", NOW),
        ("lab", "gone", LATER),
        ("lab", "gone", None),
        ("lab", "there", NOW),
        ("lab", None, NOW),
        ("lab", "", NOW),
        ("den", "gone", NOW),
        (None, "gone", NOW),
    )
    snapshots = [PathSnapshot("ada", "lab", ("there",), NOW), PathSnapshot("bo", "den", (), NOW)]
    assert snapshot_orphans(frame, snapshots).to_list() == [True] + [False] * 7


@pytest.mark.parametrize(
    ("version", "gap", "flags"),
    [
        (5, 2, (False, False)),
        (4, 2, (True, False)),
        (3, 2, (True, True)),
        (4, 1, (True, True)),
        (3, 3, (True, False)),
        (6, 1, (False, False)),
        (None, 1, (False, False)),
    ],
)
def test_a_chunk_that_is_configurations_behind_is_stale_and_later_actionable(
    version: int | None, gap: int, flags: tuple[bool, bool]
) -> None:
    found = config_orphans(chunks(("lab", "a", NOW), version=version), {"ada": 5, "bo": 9}, gap)
    assert found.rows() == [flags]
