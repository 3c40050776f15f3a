"""What a scan gives: its tables, their order, and what a row carries."""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import gap
from builders.ingest import assert_every_line_is_accounted_for, write_log
from vocabgap.errors import InvalidInputError
from vocabgap.files.parts import Parts
from vocabgap.ingest.scanning import newest_moment, scan
from vocabgap.model.record import LOG_NAME
from vocabgap.model.settings import IngestSettings, Settings
from vocabgap.model.tables import FILES, GAPS, RECORDS, REJECTS

SNAPSHOT = "d4" * 32


def test_a_record_carries_its_provenance(workspace: Path) -> None:
    write_log(workspace, "2026/heron-11", gap("soft reeds"))

    row = scan(workspace).records.row(0, named=True)

    expected = {
        "tenant_id": "local", "repo_slug": "shoots", "root_kind": "external-source",
        "source_path": f"2026/heron-11/{LOG_NAME}", "line": 1, "byte_offset": 0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert len(row["record_id"]) == 64


@pytest.mark.parametrize("lines", [[gap("soft reeds"), b"{\n"], []], ids=["some", "none"])
def test_frames_have_their_published_columns(
    workspace: Path, lines: list[dict[str, object] | bytes]
) -> None:
    write_log(workspace, "heron-11", *lines)

    scanned = scan(workspace)

    assert scanned.records.schema == RECORDS.schema
    assert scanned.gaps.schema == GAPS.schema
    assert scanned.rejects.schema == REJECTS.schema
    assert scanned.files.schema == FILES.schema
    assert_every_line_is_accounted_for(scanned, len(lines))


@pytest.mark.parametrize("given", [5, 0, {"a": 1}, Settings().cluster])
def test_other_settings_are_refused(workspace: Path, given: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError) as caught:
        scan(workspace, settings=given)

    assert caught.value.message.startswith("settings: expected a Settings, found ")
    assert caught.value.hint == "vocabgap.load_settings reads one"


def test_all_settings_may_be_given_for_those_of_a_scan(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds"))
    settings = Settings(ingest=IngestSettings(tenant="acme"))

    for given in (settings, settings.scan):
        assert scan(workspace, settings=given).records["tenant_id"].to_list() == ["acme"]
    assert scan(workspace, settings=settings, tenant_id="own").records["tenant_id"][0] == "own"


def test_a_file_is_listed_with_its_size_lines_and_digest(workspace: Path) -> None:
    content = write_log(workspace, "heron-11", gap("soft reeds"), b"\n{\n").read_bytes()

    assert scan(workspace).files.rows(named=True) == [
        {
            "repo_slug": "shoots",
            "source_path": f"heron-11/{LOG_NAME}",
            "bytes": len(content),
            "lines": 2,
            "sha256": hashlib.sha256(content).hexdigest(),
            "source": "chemigram",
            "passed_over": 0,
            "repeats": None,
            "calls": [],
        }
    ]


def test_a_scan_shows_its_account_and_not_the_records(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds"))

    assert "1 record, " in repr(scan(workspace))
    assert "soft reeds" not in repr(scan(workspace))


def test_the_order_in_which_files_were_made_does_not_matter(tmp_path: Path) -> None:
    images = ["heron-11", "heron-11-copy", "fox-3", "a/owl-7", "a-b", "Zebra-1"]
    for place, order in (("one", images), ("other", images[::-1])):
        for image in order:
            write_log(
                tmp_path / place / "shoots",
                image,
                gap("soft reeds", image_id="heron-11", snapshot_hash=SNAPSHOT),
                gap(f"need of {image.removesuffix('-copy')}", image_id="heron-11", notes=SNAPSHOT),
                b"{\n",
            )

    one, other = (scan(tmp_path / place / "shoots") for place in ("one", "other"))

    assert_frame_equal(one.gaps, other.gaps)
    assert_frame_equal(one.rejects, other.rejects)
    assert_frame_equal(one.files, other.files)
    assert one.summary == other.summary


def test_the_newest_moment_is_that_of_a_counted_record_not_after_the_clock() -> None:
    clock = datetime(2026, 3, 14, 6, 5, tzinfo=UTC)
    second = timedelta(seconds=1)

    def newest(*moments: datetime | None, counted: bool = True) -> tuple[datetime, int]:
        schema: dict[str, Any] = {"timestamp": pl.Datetime("us", "UTC"), "counted": pl.Boolean}
        rows = {"timestamp": moments, "counted": [counted] * len(moments)}
        return newest_moment(Parts.of(pl.DataFrame(rows, schema)), clock)

    assert newest(clock - second, clock, clock + second, None) == (clock, 1)
    assert newest(clock - 2 * second, clock - second) == (clock - second, 0)
    assert newest(clock + second, clock + 2 * second) == (clock, 2)
    assert newest(clock - second, clock + second, counted=False) == (clock, 0)
