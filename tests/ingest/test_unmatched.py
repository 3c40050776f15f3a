"""What a selection asks for and no record has."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from vocabgap.files.parts import Parts
from vocabgap.ingest.scanning import scan, undated, unmatched
from vocabgap.model.selection import Selection
from vocabgap.model.tables import GAPS

SPAN = "the oldest record has the time 2026-04-01T10:00:00Z, the newest 2026-05-02T00:00:00Z"


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Three images, one record without a readable timestamp."""
    mask = gap("sky mask", intent_category="mask", operations_involved=["toneequal"])
    grain = gap("film grain", session_id="s-17", timestamp="2026-05-02T00:00:00Z")
    flare = gap("lens flare", timestamp="some day")
    images = {"alps-0412": [mask], "alps-0413": [grain], "fjord": [flare]}
    return scan(write_corpus(tmp_path_factory.mktemp("unmatched"), images)).gaps


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(images=("alps",)), "image 'alps'; the nearest: alps-0412, alps-0413"),
        (Selection(images=("fjord", "Fjort")), "image 'Fjort'; the nearest: fjord"),
        (Selection(operations=("tonequal",)), "operation 'tonequal'; the nearest: toneequal"),
        (Selection(categories=("locale",)), "category 'locale'; the nearest: local"),
        (Selection(sessions=("s-1",)), "session 's-1'; the nearest: s-17"),
        (
            Selection(images=("xyz",)),
            "image 'xyz'; there are 3, such as alps-0412, alps-0413, fjord",
        ),
        (Selection(tenants=("locl",)), "tenant 'locl'; the nearest: local"),
        (Selection(repositories=("photo",)), "repository 'photo'; the nearest: photos"),
    ],
)
def test_a_value_that_no_record_has_is_named_with_the_nearest(
    gaps: pl.DataFrame, selection: Selection, message: str
) -> None:
    assert unmatched(Parts.of(gaps), selection) == (f"no record has {message}",)


def test_a_time_without_a_record_is_named_with_the_oldest_and_the_newest(
    gaps: pl.DataFrame,
) -> None:
    april, may, june = (datetime(2026, month, 1, tzinfo=UTC) for month in (4, 5, 6))
    day = april.replace(day=2)
    asked = {
        "since 2026-06-01T00:00:00Z": Selection(since=june),
        "since 2026-04-02T00:00:00Z and before 2026-05-01T00:00:00Z": Selection(
            since=day, until=may
        ),
    }
    for named, selection in asked.items():
        assert unmatched(Parts.of(gaps), selection) == (f"no record {named}: {SPAN}",)


@pytest.mark.parametrize(
    "selection",
    [
        Selection(),
        Selection(images=("fjord",), sessions=("s-17",)),
        Selection(categories=("MASK", "local")),
        Selection(operations=("toneequal",)),
        Selection(since=datetime(2026, 5, 2, tzinfo=UTC)),
    ],
)
def test_a_value_that_a_record_has_is_not_unmatched(
    gaps: pl.DataFrame, selection: Selection
) -> None:
    assert unmatched(Parts.of(gaps), selection) == ()


def test_without_records_nothing_is_unmatched() -> None:
    assert unmatched(Parts.of(GAPS.empty()), Selection(images=("alps",))) == ()


def test_a_selection_by_date_says_if_no_timestamp_is_readable(gaps: pl.DataFrame) -> None:
    asked = Selection(until=datetime(2026, 6, 1, tzinfo=UTC))

    message = unmatched(Parts.of(gaps.filter(image_id="fjord")), asked)

    assert message == ("no record before 2026-06-01T00:00:00Z: no timestamp can be read",)


def test_records_without_a_date_are_counted_if_a_date_leaves_them_out(tmp_path: Path) -> None:
    scanned = scan(
        write_corpus(tmp_path, {"one": [gap("sky mask"), gap("film grain", timestamp="some day")]})
    )
    by_date = Selection(since=datetime(2026, 1, 1, tzinfo=UTC))
    by_image = Selection(images=("two",))

    assert undated(scanned.select(by_date).lines, by_date) == 1
    assert undated(scanned.select(by_image).lines, by_image) == 0
