"""One order of needs: more evidence never stands below less evidence because of its age."""

from datetime import UTC, datetime
from typing import Any, Final

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.ranking import ranked
from vocabgap.model.settings import RankBy
from vocabgap.ranking.priority import ORDER, in_order

COUNTS: Final = ("mentions", "images", "unsatisfied", "sessions")
BY_COUNT: Final = [each for each in RankBy if each is not RankBy.PRIORITY]  # it halves with age
LARGER: Final = st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(
    lambda more: any(more[:3])
)
MOMENTS: Final = st.none() | st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1))  # noqa: DTZ001


def row(
    label: str, counts: list[int], last_seen: datetime | None, **facts: object
) -> dict[str, Any]:
    moment = None if last_seen is None else last_seen.replace(tzinfo=UTC)
    named = dict(zip(COUNTS, counts, strict=True))
    facts = {"status": "open", "pinned": False, **facts}
    return {"label": label, "capability_id": f"cap-{label}", "last_seen": moment, **named, **facts}


def ordered(*rows: dict[str, Any], by: RankBy = RankBy.MENTIONS) -> list[str]:
    dated = {"last_seen": pl.Datetime("us", "UTC")}
    frame = in_order(pl.DataFrame(rows, schema_overrides=dated), by.value, {"images": 1})
    return frame["label"].to_list()


@pytest.mark.parametrize("by", BY_COUNT)
@given(
    counts=st.lists(st.integers(1, 5), min_size=4, max_size=4),
    more=LARGER,
    ages=st.tuples(MOMENTS, MOMENTS),
)
@example(counts=[3, 3, 0, 3], more=[0, 0, 3, 0], ages=(datetime(2026, 4, 2), datetime(2026, 6, 30)))  # noqa: DTZ001
def test_a_need_with_more_of_a_count_and_less_of_none_stands_higher_whatever_its_age(
    by: RankBy, counts: list[int], more: list[int], ages: tuple[datetime | None, datetime | None]
) -> None:
    greater = [own + extra for own, extra in zip(counts, more, strict=True)]
    # A label that comes later in the alphabet: only the counts can put it first.
    assert ordered(row("zoom", greater, ages[0]), row("arch", counts, ages[1]), by=by)[0] == "zoom"


def test_pinned_rare_and_settled_needs_are_blocks_in_which_the_same_order_holds() -> None:
    rows = [
        row(f"{name} {mentions}", [mentions, images, 0, 1], None, status=status, pinned=pinned)
        for name, images, status, pinned in (
            ("settled", 9, "authored", True),
            ("rare", 0, "open", False),
            ("usual", 9, "claimed", False),
            ("pinned", 0, "open", True),
        )
        for mentions in (1, 2)
    ]
    blocks = [name.split()[0] for name in ordered(*rows)]
    assert blocks == [name for name in ("pinned", "usual", "rare", "settled") for _ in range(2)]
    assert [name.split()[1] for name in ordered(*rows)] == ["2", "1"] * 4


def test_age_is_the_last_count_that_decides() -> None:
    assert ORDER[-1] == "last_seen"


def asked(need: str, times: int, day: str, **fields: object) -> list[dict[str, object]]:
    return [
        {
            "missing_capability": need,
            "image_id": f"{need} {number}",
            "session_id": f"{need} {number}",
            "timestamp": datetime.fromisoformat(f"{day}T12:00:00+00:00"),
            **fields,
        }
        for number in range(times)
    ]


@pytest.mark.parametrize(
    ("old", "young"),
    [
        (asked("noise reduction", 3, "2026-04-02", satisfaction=-1),
         asked("perspective warp", 3, "2026-06-30", satisfaction=1)),
        (asked("noise reduction", 14, "2026-04-02", satisfaction=-1),
         asked("perspective warp", 1, "2026-06-28") + asked("tether alarm", 1, "2026-06-29")),
    ],
)  # fmt: skip
def test_old_needs_whose_workarounds_failed_stay_above_recent_ones(
    old: list[dict[str, object]], young: list[dict[str, object]]
) -> None:
    table = ranked([*old, *young], now=datetime(2026, 7, 1, tzinfo=UTC))
    assert table["label"][0] == "noise reduction"
