"""How sure a place is: intervals from draws of whole images."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import log1p
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.ranking import by_surface, ranked, records
from vocabgap.model.settings import RankBy
from vocabgap.ranking import capabilities, intervals
from vocabgap.ranking.identity import default_identities

Row = Mapping[str, Any]

NOW = datetime(2025, 6, 1, tzinfo=UTC)
NAMES = ["lamp glow", "tilt shift", "ice ring", "reed mask"]
FALLING = [
    {"missing_capability": name, "image_id": f"{name} {number}"}
    for name, times in zip(NAMES, (30, 22, 15, 3), strict=True)
    for number in range(times)
]

rows = st.fixed_dictionaries(
    {
        "missing_capability": st.sampled_from(NAMES),
        "timestamp": st.none()
        | st.datetimes(datetime(2025, 1, 1), datetime(2025, 7, 1), timezones=st.just(UTC)),  # noqa: DTZ001
        "image_id": st.sampled_from(["a", "b", "c", "d", "e"]),
        "session_id": st.sampled_from([None, "s1", "s2", "s3"]),
        "satisfaction": st.sampled_from([None, -1, 0, 1]),
        "tenant_id": st.sampled_from(["ana", "bo"]),
    }
)


def intervals_of(table: pl.DataFrame) -> dict[str, tuple[int, int]]:
    return {
        label: (low, high)
        for label, low, high in table.select("label", "rank_low", "rank_high").rows()
    }


def ties_of(table: pl.DataFrame) -> list[int]:
    return table["tie_group"].to_list()


def ties_by_hand(best: list[list[int]], *, known: bool) -> list[int]:
    """The group of each capability, from the places in each draw."""

    def share(behind: int, ahead: int) -> float:
        pairs = zip(best[behind], best[ahead], strict=True)
        return sum(one <= other for one, other in pairs) / 500

    if not known:
        return [1] * len(best)
    groups: list[int] = []
    first, group = 0, 1
    for place in range(len(best)):
        if place and share(place, first) <= 0.1:
            first, group = place, group + 1
        groups.append(group)
    return groups


def images_of(asked: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["tenant_id"], row["image_id"]) for row in asked]


def units_of(asked: Sequence[Row]) -> list[tuple[str, str]]:
    """What is drawn of each record: its image, or its session if there is one image; none for mentions."""
    images = images_of(asked)
    if len({*images}) > 1:
        return images
    sessions = [(row["session_id"] or "", "") for row in asked]
    return sessions if len({*sessions}) > 1 and ("", "") not in sessions else []


def drawn_images(
    images: Sequence[tuple[str, str]],
) -> Iterator[tuple[Counter[tuple[str, str]], int]]:
    """Each draw of images, from the seed that the ranking has, and how many draws are like it."""
    generator = np.random.Generator(np.random.PCG64(20_260_501))
    size = len(images)
    draws = [sorted(generator.integers(0, size, size=size).tolist()) for _ in range(500)]
    for numbers, times in Counter(map(tuple, draws)).items():
        yield Counter(images[number] for number in numbers), times


def scores_by_hand(
    by: str, asked: Sequence[Row], drawn: Mapping[tuple[str, str], int]
) -> Callable[[str], float]:
    """What the ranking counts first, for one draw, added up record by record."""
    own: defaultdict[str, list[Row]] = defaultdict(list)
    for row in asked:
        own[row["missing_capability"]].append(row)

    units = units_of(asked)

    def image(row: Row) -> tuple[str, str]:
        return units[asked.index(row)]

    def images(name: str) -> int:
        found = sum(drawn[each] for each in {image(row) for row in own[name]})
        return found if units == images_of(asked) else min(found, 1)

    def records(name: str, ratings: Sequence[int | None]) -> int:
        return sum(drawn[image(row)] for row in own[name] if row["satisfaction"] in ratings)

    def priority(name: str) -> float:
        known = [row["timestamp"] for row in asked if row["timestamp"]]
        earliest = min(known, default=NOW)
        moments = [row["timestamp"] or earliest for row in own[name] if drawn[image(row)]]
        age = min(
            (max((NOW - moment).total_seconds(), 0.0) for moment in moments), default=float("inf")
        )
        unsatisfied = sum(records(other, [-1]) for other in own)
        share = (unsatisfied + 1) / (sum(records(other, [-1, 0, 1]) for other in own) + 2)
        need = (records(name, [-1]) + 5 * share) / (records(name, [-1, 0, 1]) + 5)
        reach = log1p(images(name)) / log1p(max(images(other) for other in own))
        recency: float = 0.5 ** (age / 86_400 / 90)
        return round(reach * need * recency, 9)

    counted: dict[str, Callable[[str], float]] = {
        "mentions": lambda name: records(name, [None, -1, 0, 1]),
        "images": images,
        "unsatisfied": lambda name: records(name, [-1]),
        "priority": priority,
    }
    return counted[by]


@pytest.mark.slow
@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(list(RankBy)), st.lists(rows, min_size=1, max_size=12))
def test_intervals_are_those_of_a_bootstrap_by_hand(by: RankBy, asked: list[Row]) -> None:
    table = ranked(asked, by=by, now=NOW)

    images = sorted({*units_of(asked)})
    if not images:
        return  # mentions are drawn
    known = by is not RankBy.IMAGES or images == sorted({*images_of(asked)})
    labels = table["label"].to_list()
    best, worst = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for drawn, times in drawn_images(images):
        score = scores_by_hand(by, asked, drawn)
        scores = {label: score(label) for label in labels}
        for label, own in scores.items():
            best[label] += [1 + sum(other > own for other in scores.values())] * times
            worst[label] += [sum(other >= own for other in scores.values())] * times
    assert ties_of(table) == ties_by_hand([best[label] for label in labels], known=known)
    for rank, label in enumerate(labels, start=1):
        low, high = sorted(best[label])[25], sorted(worst[label])[-26]
        expected = (min(rank, low), max(rank, high)) if known else (1, len(labels))
        assert intervals_of(table)[label] == expected


def test_one_that_hardly_ever_comes_first_is_not_tied_with_the_first() -> None:
    # The intervals of the first and of the second overlap, and those of the second and the third.
    table = ranked(FALLING)

    assert table["tie_group"].to_list() == [1, 1, 2, 3]
    assert intervals_of(table)["tilt shift"][1] == intervals_of(table)["ice ring"][1] == 3


def test_a_pin_keeps_the_interval_that_the_counts_give_and_moves_no_other() -> None:
    frame = records(FALLING)
    found = by_surface(frame)
    known = default_identities(found.clusters)
    label = pl.col("cluster").replace_strict(
        dict(found.clusters.select("cluster", "label").iter_rows())
    )
    pins = known.with_columns(
        pinned=label == "ice ring", pinned_by=pl.when(label == "ice ring").then(pl.lit("ana"))
    )

    free, by_hand = (capabilities.rank(frame, found, identities=each) for each in (known, pins))

    assert by_hand["label"].to_list() == ["ice ring", "lamp glow", "tilt shift", "reed mask"]
    assert by_hand["pinned_by"].to_list() == ["ana", None, None, None]
    assert intervals_of(by_hand)["ice ring"] == intervals_of(free)["ice ring"]
    # Behind the pin the others are ranked among themselves.
    assert intervals_of(by_hand)["reed mask"] == (4, 4)


def test_a_pin_is_level_with_nothing() -> None:
    frame = records([*FALLING, *FALLING])
    found = by_surface(frame)
    known = default_identities(found.clusters)

    free, pinned = (
        capabilities.rank(frame, found, identities=known.with_columns(pinned=pl.lit(pin)))
        for pin in (False, True)
    )

    assert free["tie_group"].n_unique() < 4
    assert pinned["tie_group"].to_list() == [1, 2, 3, 4]


def test_many_mentions_on_one_image_do_not_make_a_place_sure() -> None:
    # Twelve mentions against nine: on as many images they tell the two apart, on one they do not.
    nine = [{"missing_capability": "tilt shift", "image_id": f"i{n}"} for n in range(9)]
    piled = [{"missing_capability": "lamp glow", "image_id": "i0"}] * 12
    spread = [{"missing_capability": "lamp glow", "image_id": f"i{n}"} for n in range(12)]

    assert intervals_of(ranked([*nine, *spread]))["tilt shift"] == (2, 2)
    assert intervals_of(ranked([*nine, *piled]))["tilt shift"] == (1, 2)


def test_what_is_not_established_stays_behind_in_every_draw() -> None:
    piled = [
        {"missing_capability": name, "image_id": "i0"} for name in ("lamp glow", "ice ring")
    ] * 9
    spread = [{"missing_capability": "tilt shift", "image_id": f"i{n}"} for n in range(2)]

    table = ranked([*piled, *spread], min_images=2)

    assert intervals_of(table) == {"tilt shift": (1, 1), "ice ring": (2, 3), "lamp glow": (2, 3)}
    assert ties_of(table) == [1, 2, 2]


def test_draws_made_a_few_at_a_time_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [{"missing_capability": NAMES[n % 7 % 4], "image_id": f"i{n % 11}"} for n in range(40)]
    at_once = ranked(asked)

    monkeypatch.setattr(intervals, "_CELLS", 100)

    assert intervals_of(ranked(asked)) == intervals_of(at_once)


def test_a_single_image_without_sessions_has_draws_of_its_mentions() -> None:
    counts = {"lamp glow": 900, "tilt shift": 60, "ice ring": 56, "reed mask": 2}
    asked = [{"missing_capability": name, "count": times} for name, times in counts.items()]

    assert intervals_of(ranked(asked)) == {
        "lamp glow": (1, 1), "tilt shift": (2, 3), "ice ring": (2, 3), "reed mask": (4, 4),
    }  # fmt: skip
    assert {*intervals_of(ranked(asked, by=RankBy.IMAGES)).values()} == {(1, 4)}


def test_draws_are_the_same_however_many_are_computed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_once = ranked(FALLING, now=NOW)
    monkeypatch.setattr(intervals, "_CELLS", 1)

    assert ranked(FALLING, now=NOW).equals(at_once)
