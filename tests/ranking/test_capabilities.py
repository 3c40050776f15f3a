import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sklearn.cluster import AgglomerativeClustering
from sklearn.feature_extraction.text import TfidfVectorizer

import vocabgap
from vocabgap.clustering import Clusters, cluster
from vocabgap.clustering.stopwords import content_words, ignored_stems
from vocabgap.config import RankBy
from vocabgap.errors import InvalidInputError
from vocabgap.ranking import rank
from vocabgap.schema import CAPABILITIES
from vocabgap.text import surface

Row = Mapping[str, Any]
Records = Callable[[Sequence[Row]], pl.DataFrame]
Ranked = Callable[..., pl.DataFrame]
BySurface = Callable[[pl.DataFrame], Clusters]

CHEMIGRAM = Path(__file__).parents[2].parent / "shared" / "data" / "chemigram" / "workspace"

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
some_rows = settings(deadline=None, max_examples=25)


def day(number: int) -> datetime:
    return datetime(2025, 5, number, 12, tzinfo=UTC)


def labels_of(table: pl.DataFrame) -> list[str]:
    labels: list[str] = table["label"].to_list()
    return labels


def with_their_rows(
    table: pl.DataFrame, found: Clusters, asked: Sequence[Row]
) -> list[tuple[dict[str, Any], list[Row]]]:
    """Each capability with the rows that ask for it, put together in plain Python."""
    number = dict(found.wordings.select("wording", "cluster").iter_rows())
    members: defaultdict[int, list[Row]] = defaultdict(list)
    for row in asked:
        members[number[row["missing_capability"]]].append(row)
    return [(capability, members[number[capability["label"]]]) for capability in table.to_dicts()]


def by_frequency(names: Counter[str]) -> list[dict[str, Any]]:
    ordered = sorted(names.items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"name": name, "mentions": mentions} for name, mentions in ordered]


def test_no_records_give_the_empty_table(records: Records) -> None:
    frame = records([])

    assert_frame_equal(rank(frame, cluster(frame)), CAPABILITIES.empty())


def test_nothing_of_what_was_clustered_gives_the_empty_table(records: Records) -> None:
    frame = records([{}, {}])

    assert_frame_equal(rank(frame.clear(), cluster(frame)), CAPABILITIES.empty())


def test_table_has_its_schema(ranked: Ranked) -> None:
    table = ranked([{}, {"missing_capability": "tilt shift", "operations_involved": ["blur"]}])

    assert list(table.schema.items()) == list(CAPABILITIES.schema.items())


def test_ranks_count_from_one(ranked: Ranked) -> None:
    table = ranked([{"missing_capability": name} for name in ("lamp glow", "tilt shift", "ice ring")])

    assert table["rank"].to_list() == [1, 2, 3]


def test_most_mentioned_comes_first(ranked: Ranked) -> None:
    asked = ["lamp glow", "tilt shift", "tilt shift", "ice ring", "ice ring", "ice ring"]

    table = ranked([{"missing_capability": name} for name in asked])

    assert labels_of(table) == ["ice ring", "tilt shift", "lamp glow"]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("mentions", ["often", "widely", "long", "badly"]),
        ("images", ["widely", "often", "long", "badly"]),
        ("sessions", ["long", "often", "widely", "badly"]),
        ("unsatisfied", ["badly", "often", "widely", "long"]),
    ],
)
def test_what_is_asked_for_is_counted_first(ranked: Ranked, by: str, expected: list[str]) -> None:
    often = [{"missing_capability": "often"}] * 9
    widely = [{"missing_capability": "widely", "image_id": f"i{n % 6}"} for n in range(8)]
    long = [{"missing_capability": "long", "session_id": f"s{n % 5}"} for n in range(7)]
    badly = [{"missing_capability": "badly", "satisfaction": -1}] * 2

    assert labels_of(ranked([*often, *widely, *long, *badly], by=by)) == expected


@pytest.mark.parametrize("by", list(RankBy))
def test_ranking_is_given_as_a_member_or_as_its_name(ranked: Ranked, by: RankBy) -> None:
    asked = [{"missing_capability": "lamp glow"}, {"missing_capability": "tilt shift", "satisfaction": -1}]

    assert_frame_equal(ranked(asked, by=by), ranked(asked, by=by.value))


@pytest.mark.parametrize("by", ["images", "sessions", "unsatisfied"])
def test_tie_goes_to_the_more_mentioned(ranked: Ranked, by: str) -> None:
    same = {"session_id": "s1", "image_id": "a"}

    table = ranked(
        [
            {"missing_capability": "lamp glow", **same},
            {"missing_capability": "tilt shift", **same},
            {"missing_capability": "tilt shift", **same},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", ["mentions", "sessions", "unsatisfied"])
def test_tie_of_mentions_goes_to_more_images(ranked: Ranked, by: str) -> None:
    # The one with fewer images has the later mention, so only the images can decide.
    table = ranked(
        [
            {"missing_capability": "lamp glow", "image_id": "a", "timestamp": day(9)},
            {"missing_capability": "lamp glow", "image_id": "a", "timestamp": day(9)},
            {"missing_capability": "tilt shift", "image_id": "a", "timestamp": day(1)},
            {"missing_capability": "tilt shift", "image_id": "b", "timestamp": day(1)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


def test_more_images_go_before_more_sessions(ranked: Ranked) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "image_id": "a", "session_id": "s1"},
            {"missing_capability": "lamp glow", "image_id": "a", "session_id": "s2"},
            {"missing_capability": "tilt shift", "image_id": "a", "session_id": "s1"},
            {"missing_capability": "tilt shift", "image_id": "b", "session_id": "s1"},
        ]
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", ["mentions", "images", "unsatisfied"])
def test_tie_of_images_goes_to_more_sessions(ranked: Ranked, by: str) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "session_id": "s1", "timestamp": day(9)},
            {"missing_capability": "lamp glow", "session_id": "s1", "timestamp": day(9)},
            {"missing_capability": "tilt shift", "session_id": "s1", "timestamp": day(1)},
            {"missing_capability": "tilt shift", "session_id": "s2", "timestamp": day(1)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", list(RankBy))
def test_tie_of_sessions_goes_to_the_later_last_mention(ranked: Ranked, by: RankBy) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "timestamp": day(1)},
            {"missing_capability": "tilt shift", "timestamp": day(2)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", list(RankBy))
def test_capability_without_a_timestamp_comes_after_one_with(ranked: Ranked, by: RankBy) -> None:
    table = ranked(
        [
            {"missing_capability": "lamp glow", "timestamp": None},
            {"missing_capability": "tilt shift", "timestamp": day(2)},
        ],
        by=by,
    )

    assert labels_of(table) == ["tilt shift", "lamp glow"]


@pytest.mark.parametrize("by", list(RankBy))
def test_full_tie_goes_to_the_label_that_sorts_first(ranked: Ranked, by: RankBy) -> None:
    table = ranked([{"missing_capability": name} for name in ("tilt shift", "ice ring", "Lamp glow")], by=by)

    assert labels_of(table) == ["Lamp glow", "ice ring", "tilt shift"]


def test_unknown_ranking_is_refused_with_the_known_ones(ranked: Ranked) -> None:
    with pytest.raises(
        InvalidInputError,
        match=r"'stars' is not a ranking \(expected one of mentions, images, sessions, unsatisfied\)",
    ):
        ranked([{}], by="stars")


def test_wording_that_was_not_clustered_is_refused(records: Records) -> None:
    found = cluster(records([{"missing_capability": "lamp glow"}]))
    others = records([{"missing_capability": name} for name in ("lamp glow", "tilt shift", "ice ring")])

    with pytest.raises(InvalidInputError, match="2 records have wordings that were not clustered"):
        rank(others, found)


@pytest.mark.parametrize("column", ["timestamp", "image_id", "tenant_id", "satisfaction", "source_path"])
def test_missing_column_of_the_records_is_named(records: Records, column: str) -> None:
    frame = records([{}])

    with pytest.raises(InvalidInputError, match=f"frame 'records': column '{column}' is missing"):
        rank(frame.drop(column), cluster(frame))


def test_missing_column_of_the_clusters_is_named(records: Records) -> None:
    frame = records([{}])
    found = cluster(frame)
    broken = Clusters(found.wordings, found.clusters.drop("cohesion"), found.linkage, found.threshold)

    with pytest.raises(InvalidInputError, match="frame 'clusters': column 'cohesion' is missing"):
        rank(frame, broken)


def test_missing_column_of_the_wordings_is_named(records: Records) -> None:
    frame = records([{}])
    found = cluster(frame)
    broken = Clusters(found.wordings.drop("similarity"), found.clusters, found.linkage, found.threshold)

    with pytest.raises(InvalidInputError, match="frame 'wordings': column 'similarity' is missing"):
        rank(frame, broken)


def test_part_of_the_clustered_records_can_be_ranked(records: Records) -> None:
    frame = records(
        [{"missing_capability": name} for name in ("lamp glow", "lamp glow", "tilt shift", "ice ring")]
    )
    found = cluster(frame)

    table = rank(frame.slice(1, 2), found)

    assert table.select("label", "mentions").rows() == [("lamp glow", 1), ("tilt shift", 1)]


def test_part_of_the_records_keeps_the_identifiers_of_the_whole(records: Records) -> None:
    frame = records([{"missing_capability": name} for name in ("Lamp Glow", "Lamp Glow", "lamp glow halo")])
    found = cluster(frame)

    whole, part = rank(frame, found), rank(frame.tail(1), found)

    assert part["capability_id"].to_list() == whole["capability_id"].to_list()


def test_label_of_a_part_is_a_wording_of_that_part(records: Records) -> None:
    wordings = ["lamp glow halo"] * 3 + ["lamp glow", "lamp glow", "lamp glow halos"]
    frame = records([{"missing_capability": wording} for wording in wordings])
    found = cluster(frame, threshold=1.0)

    table = rank(frame.slice(3), found)

    assert labels_of(table) == ["lamp glow halos"]


def test_cohesion_is_that_of_the_cluster(records: Records) -> None:
    frame = records([{"missing_capability": name} for name in ("lamp glow", "lamp glow halo")])
    found = cluster(frame, threshold=1.0)

    assert rank(frame, found)["cohesion"].to_list() == found.clusters["cohesion"].to_list()


@given(row_lists)
@some_rows
def test_every_record_is_a_mention_of_one_capability(records: Records, asked: list[Row]) -> None:
    frame = records(asked)

    table = rank(frame, cluster(frame))

    assert table["mentions"].sum() == len(asked)


@given(row_lists)
@some_rows
def test_counts_are_those_of_a_count_by_hand(records: Records, asked: list[Row]) -> None:
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
@some_rows
def test_ratings_are_those_of_a_count_by_hand(records: Records, asked: list[Row]) -> None:
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
@some_rows
def test_first_and_last_seen_are_the_extremes(records: Records, asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        moments = [row["timestamp"] for row in own if row["timestamp"]]
        assert capability["first_seen"] == min(moments, default=None)
        assert capability["last_seen"] == max(moments, default=None)


@given(row_lists)
@some_rows
def test_tallies_are_those_of_a_count_by_hand(records: Records, asked: list[Row]) -> None:
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
@some_rows
def test_main_category_is_the_first_named_one(records: Records, asked: list[Row]) -> None:
    frame = records(asked)

    table = rank(frame, cluster(frame))

    for capability in table.to_dicts():
        names = [entry["name"] for entry in capability["categories"]]
        named = [name for name in names if name != "uncategorized"]
        assert capability["intent_category"] == (named or ["uncategorized"])[0]


@given(row_lists)
@some_rows
def test_variants_are_the_wordings_with_their_mentions(records: Records, asked: list[Row]) -> None:
    frame = records(asked)
    found = cluster(frame)

    table = rank(frame, found)

    for capability, own in with_their_rows(table, found, asked):
        spelt = {entry["wording"]: entry["mentions"] for entry in capability["variants"]}
        assert spelt == Counter(row["missing_capability"] for row in own)
        assert sum(spelt.values()) == capability["mentions"]
        assert capability["label"] in spelt


@given(row_lists)
@some_rows
def test_examples_are_records_from_as_many_images_as_possible(records: Records, asked: list[Row]) -> None:
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
@some_rows
def test_examples_are_newest_first(records: Records, asked: list[Row]) -> None:
    frame = records(asked)

    table = rank(frame, cluster(frame))

    for capability in table.to_dicts():
        moments = [example["timestamp"] for example in capability["examples"]]
        readable = [moment for moment in moments if moment]
        assert moments == sorted(readable, reverse=True) + [None] * (len(moments) - len(readable))


@given(row_lists, st.sampled_from(list(RankBy)))
@some_rows
def test_order_is_that_of_the_documented_keys(records: Records, asked: list[Row], by: RankBy) -> None:
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
@given(row_lists, st.randoms(use_true_random=False))
@some_rows
def test_order_of_records_changes_nothing(records: Records, asked: list[Row], shuffle: random.Random) -> None:
    frame = records(asked)
    shuffled = frame[shuffle.sample(range(frame.height), frame.height)]

    assert_frame_equal(rank(shuffled, cluster(shuffled)), rank(frame, cluster(frame)), check_exact=True)


@given(st.lists(st.text(min_size=1, max_size=8).filter(str.strip), max_size=12), st.floats(0.0, 1.0))
@some_rows
def test_identifiers_are_unique(records: Records, phrases: list[str], threshold: float) -> None:
    frame = records([{"missing_capability": phrase} for phrase in phrases])

    table = rank(frame, cluster(frame, threshold=threshold))

    assert table["capability_id"].is_unique().all()
    assert table["capability_id"].str.contains(r"^cap-[0-9a-f]{12}$").all()


def test_identifier_does_not_depend_on_unrelated_records(records: Records) -> None:
    needs: list[Row] = [
        {"missing_capability": name} for name in ("lamp glow", "Lamp Glow", "lamp glows halo")
    ]
    unrelated: list[Row] = [{"missing_capability": name} for name in ("tilt shift", "ice ring brush", "???")]
    alone, among = records(needs), records([*unrelated, *needs])

    expected = rank(alone, cluster(alone))
    found = rank(among, cluster(among))

    assert expected.height == 1
    assert found.filter(pl.col("label") == expected["label"].item())["capability_id"].to_list() == (
        expected["capability_id"].to_list()
    )


def test_identifier_does_not_depend_on_the_spelling_of_the_label(ranked: Ranked) -> None:
    identifiers = {
        ranked([{"missing_capability": spelling}])["capability_id"].item()
        for spelling in ("lamp glow", "Lamp_Glow", "lampGlows")
    }

    assert len(identifiers) == 1


def test_ranking_leaves_the_records_as_they_were(records: Records, by_surface: BySurface) -> None:
    frame = records([{"missing_capability": name} for name in ("tilt shift", "lamp glow")])
    before = frame.clone()

    rank(frame, by_surface(frame))

    assert_frame_equal(frame, before)


def test_top_of_the_chemigram_workspace_is_that_of_an_independent_count() -> None:
    if not CHEMIGRAM.is_dir():
        pytest.skip(f"the chemigram workspace is not beside the project: {CHEMIGRAM} is missing")
    entries = [
        json.loads(line)
        for log in CHEMIGRAM.rglob("vocabulary_gaps.jsonl")
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    expected = independent_top(entries, 10)

    records = vocabgap.scan(CHEMIGRAM).records
    table = rank(records, cluster(records, threshold=0.70)).head(10)

    assert len(entries) == 631
    assert table.select("mentions", "images", "sessions").rows() == expected


def independent_top(entries: Sequence[Mapping[str, Any]], top: int) -> list[tuple[int, int, int]]:
    """Mentions, images and sessions of the most asked-for groups, from scikit-learn on one row a record."""
    ignored = ignored_stems()
    phrases = [
        next(entry[name] for name in ("missing_capability", "description", "intent") if entry.get(name))
        for entry in entries
    ]
    texts = [" ".join(content_words(surface(phrase), ignored)) for phrase in phrases]
    word_rows = TfidfVectorizer(
        analyzer="word", tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2)
    ).fit_transform(texts)
    character_rows = TfidfVectorizer(analyzer="char_wb", lowercase=False, ngram_range=(3, 5)).fit_transform(
        texts
    )
    similarity = (
        0.5 * (word_rows @ word_rows.T).toarray() + 0.5 * (character_rows @ character_rows.T).toarray()
    )
    model = AgglomerativeClustering(
        metric="precomputed", linkage="average", distance_threshold=0.70, n_clusters=None
    ).fit(np.clip(1.0 - similarity, 0.0, 1.0))
    labels = model.labels_.tolist()
    mentions = Counter(labels)
    images, sessions = defaultdict(set), defaultdict(set)
    for label, entry in zip(labels, entries, strict=True):
        images[label].add(entry["image_id"])
        if entry.get("session_id"):
            sessions[label].add(entry["session_id"])
    counted = [(mentions[label], len(images[label]), len(sessions[label])) for label in mentions]
    return sorted(counted, reverse=True)[:top]
