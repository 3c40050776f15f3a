"""What holds of any records: counts are those of a count by hand, and their order changes nothing."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.ranking import records
from vocabgap.clustering.describing import labels_of
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.files.parts import Parts
from vocabgap.model.settings import RankBy, RankSettings
from vocabgap.ranking.capabilities import capabilities_of, rank
from vocabgap.ranking.evidence import READ, Whole, drawn_units, evidence
from vocabgap.ranking.identity import default_identities

Row = Mapping[str, Any]

CATEGORY_OF = {
    "tone": "tone", "tonal": "tone", "Colour": "color", "white_balance": "wb", "mask": "local",
    "Odd One": "Odd One", "uncategorized": "uncategorized",
}  # fmt: skip
OPERATION_OF = {
    "toneequal": "toneequal", "ToneEqualizer": "toneequal", " tone equalizer ": "toneequal",
    "exposure": "exposure", "Exposure": "Exposure",
}  # fmt: skip
WORDINGS_ASKED = [
    "lamp glow", "Lamp-Glow", "lamp glow halo", "tilt shift", "tiltShift", "ice ring brush", "???",
]  # fmt: skip

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
        "vocabulary_used": st.lists(
            st.sampled_from(["warm_dusk", " warm_dusk", "cool"]), max_size=3
        ),
        "satisfaction": st.sampled_from([None, -1, 0, 1]),
        "tenant_id": st.sampled_from(["ana", "bo"]),
        "repo_slug": st.sampled_from(["coast", "inland"]),
    }
)
row_lists = st.lists(rows, max_size=20)
MANY = settings(max_examples=3 * settings().max_examples)


def with_their_rows(
    table: pl.DataFrame, found: Clusters, asked: Sequence[Row]
) -> list[tuple[dict[str, Any], list[Row]]]:
    """Each capability with the rows that ask for it, put together in plain Python."""
    number = dict(found.wordings.select("wording", "cluster").iter_rows())
    members: defaultdict[int, list[Row]] = defaultdict(list)
    for row in asked:
        members[number[row["missing_capability"]]].append(row)
    return [
        (capability, members[number[capability["variants"][0]["wording"]]])
        for capability in table.to_dicts()
    ]


def by_frequency(names: Counter[str]) -> list[dict[str, Any]]:
    ordered = sorted(names.items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"name": name, "mentions": mentions} for name, mentions in ordered]


@MANY
@given(row_lists)
def test_every_column_is_that_of_a_count_by_hand(asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)
    line_of = dict(enumerate(asked, start=1))

    table = rank(frame, found)

    assert table["mentions"].sum() == len(asked)
    for capability, own in with_their_rows(table, found, asked):
        assert {name: capability[name] for name in counted(own)} == counted(own)
        named = [
            name["name"] for name in capability["categories"] if name["name"] != "uncategorized"
        ]
        assert capability["intent_category"] == (named or ["uncategorized"])[0]
        spelt = {entry["wording"]: entry["mentions"] for entry in capability["variants"]}
        assert spelt == Counter(row["missing_capability"] for row in own)
        assert capability["label"] in {
            *spelt,
            *(label for text in spelt for label in labels_of([text])),
        }
        shown = [line_of[example["line"]] for example in capability["examples"]]
        assert all(any(row is other for other in own) for row in shown)
        assert len(shown) == min(3, len(own))
        assert len(images_of(shown)) == min(3, capability["images"])
        moments = [row["timestamp"] for row in shown]
        readable = [moment for moment in moments if moment]
        assert moments == sorted(readable, reverse=True) + [None] * (len(moments) - len(readable))


def images_of(own: Sequence[Row]) -> set[tuple[str, ...]]:
    return {(row["tenant_id"], row["repo_slug"], row["image_id"]) for row in own}


def counted(own: Sequence[Row]) -> dict[str, Any]:
    """The columns of a capability that some rows ask for, counted in plain Python."""
    ratings = Counter(row["satisfaction"] for row in own)
    moments = [row["timestamp"] for row in own if row["timestamp"]]
    sessions = {
        (row["tenant_id"], row["session_id"]) for row in own if (row["session_id"] or "").strip()
    }
    operations = (
        name for row in own for name in {OPERATION_OF[each] for each in row["operations_involved"]}
    )
    used = (name for row in own for name in {each.strip() for each in row["vocabulary_used"]})
    return {
        "mentions": len(own),
        "images": len(images_of(own)),
        "sessions": len(sessions),
        "tenants": len({row["tenant_id"] for row in own}),
        "unsatisfied": ratings[-1],
        "neutral": ratings[0],
        "satisfied": ratings[1],
        "unrated": ratings[None],
        "first_seen": min(moments, default=None),
        "last_seen": max(moments, default=None),
        "categories": by_frequency(Counter(CATEGORY_OF[row["intent_category"]] for row in own)),
        "operations": by_frequency(Counter(operations)),
        "vocabulary_used": by_frequency(Counter(used)),
    }


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
    assert [capability["rank"] for capability in capabilities] == list(
        range(1, len(capabilities) + 1)
    )


@pytest.mark.slow
@given(row_lists, st.sampled_from(list(RankBy)), st.randoms(use_true_random=False))
def test_order_and_buckets_of_records_change_nothing(
    asked: list[Row], by: RankBy, shuffle: random.Random
) -> None:
    frame = records(asked)
    shuffled = frame[shuffle.sample(range(frame.height), frame.height)]

    found, now = cluster(frame), datetime(2025, 3, 1, tzinfo=UTC)
    once, again = (rank(frame, each, by=by, now=now) for each in (found, cluster(shuffled)))
    assert_frame_equal(again, once, check_exact=True)

    wanted, is_selected = RankSettings(by=by), [shuffle.random() < 0.7 for _ in asked]
    columns = found.wordings.select(
        "wording",
        "surface",
        "cluster",
        missing_capability="wording",
        since=pl.lit(None, pl.Datetime("us", "UTC")),
    )
    marked = shuffled.with_columns(counted=pl.Series(is_selected, dtype=pl.Boolean), recorded=True)
    clustered = Parts.of(marked).collect().join(columns, on="missing_capability")
    selected = Parts.of(clustered.filter("counted"))
    whole = Whole(now, clustered["timestamp"].min(), drawn_units(selected))  # type: ignore[arg-type]
    buckets = [
        clustered.filter(pl.col("cluster") % 3 == number).select(READ) for number in range(3)
    ]
    counted = [evidence(bucket, whole, wanted) for bucket in buckets]
    tables = {name: pl.concat([each[name] for each in counted]) for name in counted[0]}
    assert_frame_equal(
        capabilities_of(tables, found, wanted, whole, default_identities(found.clusters)),
        rank(selected.collect().select(shuffled.columns), found, wanted, now=now, corpus=frame),
        check_exact=True,
    )


@given(st.lists(st.tuples(rows, st.integers(1, 4)), max_size=12), st.sampled_from(list(RankBy)))
def test_a_record_of_many_mentions_counts_as_so_many_records(
    asked: list[tuple[Row, int]], by: RankBy
) -> None:
    weighted = records([{**row, "count": often} for row, often in asked])
    single = records([row for row, often in asked for _ in range(often)])

    groups, others = cluster(weighted), cluster(single)
    assert_frame_equal(groups.wordings, others.wordings, check_exact=True)
    assert_frame_equal(groups.clusters, others.clusters, check_exact=True)
    assert_frame_equal(groups.linkage, others.linkage, check_exact=True)
    # An example is one record, and the tests of trends and repeats are about independent events.
    events = ["examples", "trend", "repeats"]
    ranked, same = (rank(frame, groups, by=by).drop(events) for frame in (weighted, single))
    assert_frame_equal(ranked, same, check_exact=True)


@given(
    st.lists(st.text(min_size=1, max_size=8).filter(str.strip), max_size=12), st.floats(0.0, 1.0)
)
def test_identifiers_are_unique(phrases: list[str], threshold: float) -> None:
    frame = records([{"missing_capability": phrase} for phrase in phrases])

    table = rank(frame, cluster(frame, threshold=threshold))

    assert table["capability_id"].is_unique().all()
    assert table["capability_id"].str.contains(r"^cap-[0-9a-f]{12}$").all()
