"""In what two runs are narrowed differently, and where that is told."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.reporting import publish, text_of
from vocabgap.model.selection import Selection
from vocabgap.model.settings import RankBy, RankSettings
from vocabgap.reporting.manifest import Difference, Narrowing, differences

JUNE, JULY = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
MONTH = JULY - JUNE


def narrowed(**selection: Any) -> Narrowing:  # noqa: ANN401 - passed on to Selection
    return Narrowing.of(Selection(**selection), RankSettings())


def ranked(**rank: Any) -> Narrowing:  # noqa: ANN401 - passed on to RankSettings
    return Narrowing.of(Selection(), RankSettings(**rank))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two needs of two categories."""
    return write_corpus(
        tmp_path,
        {
            "one": [
                gap("sky mask", intent_category="local"),
                gap("film grain", intent_category="detail"),
            ]
        },
    )


@pytest.mark.parametrize(
    ("earlier", "later", "message"),
    [
        (narrowed(), narrowed(images=("a", "b")), ("image", "all", "a or b")),
        (
            narrowed(categories=("tone",)),
            narrowed(categories=("color",)),
            ("category", "tone", "color"),
        ),
        (narrowed(operations=("crop",)), narrowed(), ("operation", "crop", "all")),
        (narrowed(), narrowed(sessions=("s",)), ("session", "all", "s")),
        (narrowed(), narrowed(tenants=("north",)), ("tenant", "all", "north")),
        (narrowed(repositories=("a", "b")), narrowed(), ("repository", "a or b", "all")),
        (narrowed(), narrowed(since=JUNE), ("since", "all", "2026-06-01T00:00:00Z")),
        (narrowed(until=JULY), narrowed(), ("until", "2026-07-01T00:00:00Z", "all")),
        (ranked(), ranked(min_images=2), ("min-images", "1", "2")),
        (ranked(min_sessions=3), ranked(), ("min-sessions", "3", "0")),
        (ranked(), ranked(by=RankBy.PRIORITY), ("rank-by", "mentions", "priority")),
        (None, narrowed(), ("narrowing", "not known", "known")),
    ],
)
def test_each_filter_that_differs_is_told_with_both_values(
    earlier: Narrowing | None, later: Narrowing, message: tuple[str, str, str]
) -> None:
    assert differences(earlier, later, between=MONTH) == (Difference(*message),)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (None, None),
        (narrowed(), narrowed()),
        (narrowed(images=("a", "b")), narrowed(images=("b", "a", "a"))),
        (narrowed(since=JUNE), narrowed(since=JUNE)),
        (narrowed(since=JUNE), narrowed(since=JUNE + MONTH)),
        (narrowed(since=JUNE, until=JULY), narrowed(since=JUNE, until=JULY + MONTH)),
    ],
)
def test_windows_that_move_along_and_the_order_of_values_are_no_difference(
    earlier: Narrowing | None, later: Narrowing | None
) -> None:
    assert differences(earlier, later, between=MONTH) == ()


@pytest.mark.parametrize(
    "before", [Selection(), Selection(categories=("local",))], ids=["to nothing", "like it"]
)
def test_a_report_says_what_the_run_before_was_narrowed_to(
    photos: Path, tmp_path: Path, before: Selection
) -> None:
    publish(tmp_path, photos, now=JUNE, selection=before)

    text = text_of(publish(tmp_path, photos, selection=Selection(categories=("local",))))

    assert (
        "Since the run before, of 2026-06-01 00:00 UTC, in all that was scanned: 2 continued."
        in text
    )
    message = "The run before was narrowed, grouped or ranked differently (category: all before, local now)."
    assert (message in text) == ("The run before was narrowed" in text) == (not before)
