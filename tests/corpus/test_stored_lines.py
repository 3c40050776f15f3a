"""Lines that are kept elsewhere give what their logs give."""

from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from builders.ingest import write_log
from vocabgap.corpus.chunks import STORED, read_lines, scan_stored
from vocabgap.ingest.scanning import scan, united
from vocabgap.model.record import MAX_LINE_BYTES

NEED = b'{"description":"soft reeds"}\n'


def stored(root: Path, **changed: object) -> pl.DataFrame:
    """Return the lines of a root as a store would have them, in another order."""
    lines = read_lines(root).lines.with_row_index("id").with_columns(pl.col("id").cast(pl.String))
    lines = lines.with_columns(pl.lit(value).alias(name) for name, value in changed.items())
    return lines.select(STORED.names()).cast(STORED).reverse()


def test_a_stored_line_that_is_no_record_costs_no_other(tmp_path: Path) -> None:
    write_log(tmp_path, "heron-11", NEED, NEED)
    lines = stored(tmp_path).with_columns(
        pl.when(line=2).then(pl.lit("no json")).otherwise("text").alias("text")
    )

    found = scan_stored(lines)

    assert (found.summary.lines, found.summary.records, found.summary.rejects) == (2, 1, 1)
    assert found.rejects.select("line", "byte_offset", "reason").row(0) == (2, 29, "invalid_json")


def test_line_over_the_limit_is_rejected_alone(tmp_path: Path) -> None:
    write_log(tmp_path, "heron-11", NEED, NEED, NEED)
    long = '{"description":"' + "x" * MAX_LINE_BYTES + '"}'
    lines = stored(tmp_path).with_columns(
        pl.when(line=2).then(pl.lit(long)).otherwise("text").alias("text")
    )

    found = scan_stored(lines)

    assert found.gaps["line"].to_list() == [1, 3]
    assert found.rejects["reason"].to_list() == ["too_long"]


def test_line_without_a_number_comes_after_the_others(tmp_path: Path) -> None:
    write_log(tmp_path, "heron-11", NEED, b'{"description":"warm beak"}\n')
    lines = stored(tmp_path).with_columns(pl.when(pl.col("line") > 1).then("line"))

    found = scan_stored(lines)

    assert found.gaps.select("line", "description").rows() == [(2, "warm beak"), (3, "soft reeds")]


def test_same_record_of_two_tenants_counts_for_each(tmp_path: Path) -> None:
    write_log(tmp_path, "heron-11", NEED)
    lines = pl.concat([stored(tmp_path, tenant_id="north"), stored(tmp_path, tenant_id="south")])

    found = scan_stored(lines)

    assert found.gaps.select("tenant_id", "counted").rows() == [("north", True), ("south", True)]


def test_united_scans_are_the_scan_of_all_roots(tmp_path: Path) -> None:
    shoots, archive = tmp_path / "shoots", tmp_path / "archive"
    write_log(shoots, "heron-11", NEED, b"no json\n")
    write_log(archive, "heron-11", NEED, b'{"description":"warm beak"}\r\n')

    result = united([scan(shoots), scan(archive)])

    whole = scan([shoots, archive])
    for table in ("gaps", "rejects", "files"):
        assert_frame_equal(getattr(result, table), getattr(whole, table))
    assert result.summary == whole.summary
    assert result.summary.duplicates == 1
