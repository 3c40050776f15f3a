"""Which record a correction supersedes."""

from pathlib import Path

import pytest

from builders import gap
from builders.ingest import write_log
from vocabgap.ingest.scanning import Scan, scan

FIRST, SECOND, THIRD = "a1" * 32, "b2" * 32, "c3" * 32


def at(minute: int) -> str:
    return f"2026-03-14T06:{minute:02}:00Z"


def verdicts(scanned: Scan) -> dict[str, str | None]:
    return dict(scanned.gaps.select("description", "why_not").iter_rows())


def test_a_correction_supersedes_the_record_that_its_notes_name(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("softer reeds", timestamp=at(2), snapshot_hash=SECOND, notes=f"instead of {FIRST}: too weak"),
    )

    scanned = scan(workspace)

    assert verdicts(scanned) == {"soft reeds": "superseded", "softer reeds": None}
    assert (scanned.summary.records, scanned.summary.superseded) == (1, 1)


@pytest.mark.parametrize("in_record", [FIRST, FIRST.upper()])
@pytest.mark.parametrize("in_notes", [FIRST, FIRST.upper(), f"({FIRST})", f"sha256:{FIRST}."])
def test_a_hash_is_recognised_in_either_case_and_between_punctuation(
    in_record: str, in_notes: str, workspace: Path
) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=in_record),
        gap("softer reeds", timestamp=at(2), notes=in_notes),
    )

    assert scan(workspace).summary.superseded == 1


@pytest.mark.parametrize("notes", [FIRST[:12], FIRST + "0", "0" + FIRST, "an earlier one"])
def test_only_a_whole_hash_names_a_record(notes: str, workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("softer reeds", timestamp=at(2), notes=notes),
    )

    assert scan(workspace).summary.superseded == 0


@pytest.mark.parametrize(
    ("need", "superseded"),
    [("warm beaks", "warm beak"), ("glossy feathers", "glossy feather"), ("calm water", "dark eyes")],
)
def test_among_several_records_of_a_snapshot_the_same_need_is_meant_else_the_latest(
    need: str, superseded: str, workspace: Path
) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("warm beak", timestamp=at(1), snapshot_hash=FIRST),
        gap("glossy feather", timestamp=at(2), snapshot_hash=FIRST),
        gap("dark eyes", timestamp=at(3), snapshot_hash=FIRST),
        gap(need, timestamp=at(4), snapshot_hash=SECOND, notes=FIRST),
    )

    found = verdicts(scan(workspace))

    assert [text for text, why in found.items() if why == "superseded"] == [superseded]


def test_the_same_need_is_the_same_phrase_where_the_capability_is_blank(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("warm beak", timestamp=at(1), snapshot_hash=FIRST, missing_capability=" "),
        gap("dark eyes", timestamp=at(2), snapshot_hash=FIRST, missing_capability=" "),
        gap("warm beaks", timestamp=at(3), missing_capability=" ", notes=FIRST),
    )

    assert verdicts(scan(workspace)) == {"warm beak": "superseded", "dark eyes": None, "warm beaks": None}


def test_a_chain_of_corrections_leaves_the_last(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("softer reeds", timestamp=at(2), snapshot_hash=SECOND, notes=FIRST),
        gap("softest reeds", timestamp=at(3), snapshot_hash=THIRD, notes=SECOND),
    )

    assert verdicts(scan(workspace)) == {
        "soft reeds": "superseded",
        "softer reeds": "superseded",
        "softest reeds": None,
    }


def test_a_chain_on_one_snapshot_leaves_the_last(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("softer reeds", timestamp=at(2), snapshot_hash=FIRST, notes=FIRST),
        gap("softest reeds", timestamp=at(3), snapshot_hash=FIRST, notes=FIRST),
    )

    assert scan(workspace).records["description"].to_list() == ["softest reeds"]


def test_one_correction_can_name_two_records(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("calm reeds", timestamp=at(2), snapshot_hash=SECOND),
        gap("soft calm reeds", timestamp=at(3), notes=f"replaces {FIRST} and {SECOND}"),
    )

    assert scan(workspace).summary.superseded == 2


def test_a_hash_that_is_named_twice_supersedes_one_record(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("warm beak", timestamp=at(1), snapshot_hash=FIRST),
        gap("dark eyes", timestamp=at(2), snapshot_hash=FIRST),
        gap("calm water", timestamp=at(3), notes=f"{FIRST}, yes, {FIRST.upper()}"),
    )

    assert scan(workspace).summary.superseded == 1


def test_a_record_that_names_its_own_snapshot_corrects_only_earlier_ones(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("softer reeds", timestamp=at(2), snapshot_hash=FIRST, notes=f"see {FIRST}"),
    )
    write_log(
        workspace, "fox-3", gap("warm fur", timestamp=at(3), snapshot_hash=FIRST, notes=f"logged at {FIRST}")
    )

    assert verdicts(scan(workspace)) == {
        "warm fur": None,
        "soft reeds": "superseded",
        "softer reeds": None,
    }


def test_a_later_record_is_not_superseded_by_an_earlier_one(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("softer reeds", timestamp=at(1), notes=FIRST),
        gap("soft reeds", timestamp=at(2), snapshot_hash=FIRST),
    )

    assert scan(workspace).summary.superseded == 0


def test_a_record_of_another_image_is_untouched(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST))
    write_log(workspace, "heron-12", gap("softer reeds", timestamp=at(2), notes=FIRST))

    assert scan(workspace).summary.superseded == 0


def test_a_record_of_another_repository_is_untouched(tmp_path: Path) -> None:
    write_log(tmp_path / "ana", "heron-11", gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST))
    write_log(tmp_path / "ben", "heron-11", gap("softer reeds", timestamp=at(2), notes=FIRST))

    assert scan([tmp_path / "ana", tmp_path / "ben"]).summary.superseded == 0


def test_a_correction_may_stand_in_another_log_of_the_image(workspace: Path) -> None:
    write_log(
        workspace, "heron-11", gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST, image_id="heron-11")
    )
    write_log(workspace, "archive", gap("softer reeds", timestamp=at(2), notes=FIRST, image_id="heron-11"))

    assert verdicts(scan(workspace)) == {"softer reeds": None, "soft reeds": "superseded"}


def test_of_two_copies_of_a_corrected_record_none_counts(workspace: Path) -> None:
    original = gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST)
    write_log(workspace, "heron-11", original, original, gap("softer reeds", timestamp=at(2), notes=FIRST))

    scanned = scan(workspace)

    assert scanned.gaps["why_not"].to_list() == ["superseded", "duplicate", None]


def test_two_copies_of_a_correction_supersede_one_record(workspace: Path) -> None:
    correction = gap("softer reeds", timestamp=at(3), notes=FIRST)
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("dark eyes", timestamp=at(2), snapshot_hash=FIRST),
        correction,
        correction,
    )

    assert scan(workspace).summary.superseded == 1


@pytest.mark.parametrize("timestamp", [None, "monday"])
def test_without_readable_timestamps_the_order_of_lines_decides(
    timestamp: str | None, workspace: Path
) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=timestamp, snapshot_hash=FIRST),
        gap("softer reeds", timestamp=timestamp, notes=FIRST),
    )

    assert verdicts(scan(workspace)) == {"soft reeds": "superseded", "softer reeds": None}


@pytest.mark.parametrize("timestamp", [None, "monday"])
def test_a_correction_without_readable_timestamp_corrects_a_line_above_it(
    timestamp: str | None, workspace: Path
) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("soft reeds", timestamp=at(1), snapshot_hash=FIRST),
        gap("softer reeds", timestamp=timestamp, notes=FIRST),
    )

    assert verdicts(scan(workspace)) == {"soft reeds": "superseded", "softer reeds": None}


def test_rows_stay_in_the_order_of_the_log(workspace: Path) -> None:
    write_log(
        workspace,
        "heron-11",
        gap("third in time", timestamp=at(3), notes=FIRST),
        gap("first in time", timestamp=at(1), snapshot_hash=FIRST),
        gap("second in time", timestamp=at(2)),
    )

    assert scan(workspace).gaps["line"].to_list() == [1, 2, 3]


def test_a_record_without_a_time_stands_after_the_line_before_it_whatever_image_that_is_of(
    workspace: Path,
) -> None:
    snapshot = "cd" * 32
    early = gap("reeds", image_id="a", snapshot_hash=snapshot, timestamp="2026-01-05T10:00:00Z")
    other = gap("mist", image_id="b", timestamp="2026-01-10T10:00:00Z")
    soon = gap("reeds, softer", image_id="a", notes=f"corrects {snapshot}", timestamp="soon")
    write_log(workspace, "one", other, soon)
    write_log(workspace, "two", early)

    assert scan(workspace).summary.superseded == 1
