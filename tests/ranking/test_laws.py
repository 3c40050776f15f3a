"""What holds of any records: counts are those of a count by hand, and their order changes nothing."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.ranking import records
from vocabgap.clustering.describing import labels_of
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.model.settings import RankBy
from vocabgap.ranking.capabilities import rank

Row = Mapping[str, Any]

CATEGORY_OF = {
    "tone": "tone",
    "tonal": "tone",
    "Colour": "color",
    "white_balance": "wb",
    "mask": "local",
    "Odd One": "Odd One",
    "uncategorized": "uncategorized",
}
OPERATION_OF = {
    "toneequal": "toneequal",
    "ToneEqualizer": "toneequal",
    " tone equalizer ": "toneequal",
    "exposure": "exposure",
    "Exposure": "Exposure",
}
WORDINGS_ASKED = [
    "lamp glow",
    "Lamp-Glow",
    "lamp glow halo",
    "tilt shift",
    "tiltShift",
    "ice ring brush",
    "???",
]

rows = st.fixed_dictionaries(
    {
        "missing_capability": st.sampled_from(WORDINGS_ASKED),
        "timestamp": st.none()
        | st.datetimes(datetime(2024, 1, 1), datetime(2025, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
        "image_id": st.sampled_from(["a", "b", "c"]),
        "session_id": st.sampled_from([None, "", " ", "s1", "s2"]),
        "snapshot_hash": st.sampled_from([None, "abc123"]),
        "workaround": st.sampled_from(["", "a brush"]),
        "intent_category": st.sampled_from(sorted(CATEGORY_OF)),
        "operations_involved": st.lists(st.sampled_from(sorted(OPERATION_OF)), max_size=4),
        "vocabulary_used": st.lists(st.sampled_from(["warm_dusk", " warm_dusk", "cool"]), max_size=3),
        "satisfaction": st.sampled_from([None, -1, 0, 1]),
        "tenant_id": st.sampled_from(["ana", "bo"]),
        "repo_slug": st.sampled_from(["coast", "inland"]),
    }
)
row_lists = st.lists(rows, max_size=20)


def with_their_rows(
    table: pl.DataFrame, found: Clusters, asked: Sequence[Row]
) -> list[tuple[dict[str, Any], list[Row]]]:
    """Each capability with the rows that ask for it, put together in plain Python."""
    number = dict(found.wordings.select("wording", "cluster").iter_rows())
    members: defaultdict[int, list[Row]] = defaultdict(list)
    for row in asked:
        members[number[row["missing_capability"]]].append(row)
    return [
        (capability, members[number[capability["variants"][0]["wording"]]]) for capability in table.to_dicts()
    ]


def by_frequency(names: Counter[str]) -> list[dict[str, Any]]:
    ordered = sorted(names.items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"name": name, "mentions": mentions} for name, mentions in ordered]


@given(row_lists)
def test_every_record_is_a_mention_of_one_capability(asked: list[Row]) -> None:
    frame = records(asked)

    table = rank(frame, cluster(frame))

    assert table["mentions"].sum() == len(asked)


@given(row_lists)
def test_counts_are_those_of_a_count_by_hand(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        sessions = {(row["tenant_id"], row["session_id"]) for row in own if (row["session_id"] or "").strip()}
        assert capability["mentions"] == len(own)
        assert capability["images"] == len(
            {(row["tenant_id"], row["repo_slug"], row["image_id"]) for row in own}
        )
        assert capability["sessions"] == len(sessions)
        assert capability["tenants"] == len({row["tenant_id"] for row in own})


@given(row_lists)
def test_ratings_are_those_of_a_count_by_hand(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        ratings = Counter(row["satisfaction"] for row in own)
        assert [capability[name] for name in ("unsatisfied", "neutral", "satisfied", "unrated")] == [
            ratings[-1],
            ratings[0],
            ratings[1],
            ratings[None],
        ]


@given(row_lists)
def test_first_and_last_seen_are_the_extremes(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        moments = [row["timestamp"] for row in own if row["timestamp"]]
        assert capability["first_seen"] == min(moments, default=None)
        assert capability["last_seen"] == max(moments, default=None)


@given(row_lists)
def test_tallies_are_those_of_a_count_by_hand(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        categories = Counter(CATEGORY_OF[row["intent_category"]] for row in own)
        operations = Counter(
            name for row in own for name in {OPERATION_OF[each] for each in row["operations_involved"]}
        )
        used = Counter(name for row in own for name in {each.strip() for each in row["vocabulary_used"]})
        assert capability["categories"] == by_frequency(categories)
        assert capability["operations"] == by_frequency(operations)
        assert capability["vocabulary_used"] == by_frequency(used)


@given(row_lists)
def test_main_category_is_the_first_named_one(asked: list[Row]) -> None:
    frame = records(asked)

    table = rank(frame, cluster(frame))

    for capability in table.to_dicts():
        names = [entry["name"] for entry in capability["categories"]]
        named = [name for name in names if name != "uncategorized"]
        assert capability["intent_category"] == (named or ["uncategorized"])[0]


@given(row_lists)
def test_variants_are_the_wordings_with_their_mentions(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        spelt = {entry["wording"]: entry["mentions"] for entry in capability["variants"]}
        assert spelt == Counter(row["missing_capability"] for row in own)
        assert sum(spelt.values()) == capability["mentions"]
        assert capability["label"] in {*spelt, *(each for text in spelt for each in labels_of([text]))}


@given(row_lists)
def test_examples_are_records_from_as_many_images_as_possible(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)
    line_of = dict(enumerate(asked, start=1))

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        shown = [line_of[example["line"]] for example in capability["examples"]]
        images = {(row["tenant_id"], row["repo_slug"], row["image_id"]) for row in shown}
        assert all(any(row is other for other in own) for row in shown)
        assert len(shown) == min(3, len(own))
        assert len(images) == min(3, capability["images"])


@given(row_lists)
def test_examples_are_newest_first(asked: list[Row]) -> None:
    frame = records(asked)

    table = rank(frame, cluster(frame))

    for capability in table.to_dicts():
        moments = [example["timestamp"] for example in capability["examples"]]
        readable = [moment for moment in moments if moment]
        assert moments == sorted(readable, reverse=True) + [None] * (len(moments) - len(readable))


@given(row_lists, st.sampled_from(list(RankBy)))
def test_order_is_that_of_the_documented_keys(asked: list[Row], by: RankBy) -> None:
    frame = records(asked)

    capabilities = rank(frame, cluster(frame), by=by).to_dicts()

    def place(capability: dict[str, Any]) -> tuple[int, int, int, int, float, str]:
        last = capability["last_seen"]
        return (
            -capability[by],
            -capability["mentions"],
            -capability["images"],
            -capability["sessions"],
            -last.timestamp() if last else 0.0,
            capability["label"],
        )

    assert capabilities == sorted(capabilities, key=place)
    assert [capability["rank"] for capability in capabilities] == list(range(1, len(capabilities) + 1))


@pytest.mark.slow
@given(row_lists, st.sampled_from(list(RankBy)), st.randoms(use_true_random=False))
def test_order_of_records_changes_nothing(asked: list[Row], by: RankBy, shuffle: random.Random) -> None:
    frame = records(asked)
    shuffled = frame[shuffle.sample(range(frame.height), frame.height)]

    once, again = rank(frame, cluster(frame), by=by), rank(shuffled, cluster(shuffled), by=by)
    assert_frame_equal(again, once, check_exact=True)


@given(st.lists(st.text(min_size=1, max_size=8).filter(str.strip), max_size=12), st.floats(0.0, 1.0))
def test_identifiers_are_unique(phrases: list[str], threshold: float) -> None:
    frame = records([{"missing_capability": phrase} for phrase in phrases])

    table = rank(frame, cluster(frame, threshold=threshold))

    assert table["capability_id"].is_unique().all()
    assert table["capability_id"].str.contains(r"^cap-[0-9a-f]{12}$").all()
