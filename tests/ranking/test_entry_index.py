"""What makes an entry come near a need, one thing at a time."""

import time
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.ranking.entry_index import EntryIndex, Match
from vocabgap.vocabulary import Entry

OTHERS = tuple(Entry(name) for name in ("anchor_chain", "bell_buoy", "cargo_net", "deck_lamp", "engine_room"))
SEA_WORDS = ["anchor", "bell", "cargo", "deck", "chain", "nets", "lamp", "rooms", "tide", "quay"]


def best(phrase: str, *entries: Entry, operations: tuple[str, ...] = ()) -> Match:
    return EntryIndex([*entries, *OTHERS]).covering(phrase, dict.fromkeys(operations, 1.0))[0]


def order(phrase: str, *entries: Entry, operations: tuple[str, ...] = ()) -> list[str]:
    return [
        match.entry.name for match in EntryIndex(entries).covering(phrase, dict.fromkeys(operations, 1.0))
    ]


@pytest.mark.parametrize(
    "entry",
    [
        Entry("tide_table"),
        Entry("tideTable"),
        Entry("x", "Shows the tide."),
        Entry("x", tags=("tides",)),
        Entry("x", operations=("tide",)),
    ],
    ids=["name", "camelCase name", "description", "tag", "operation"],
)
def test_a_word_is_found_in_every_field(entry: Entry) -> None:
    match = best("tide", entry)

    assert match.entry == entry
    assert match.explained > 0.0


def test_terms_are_words_as_written_and_their_shares_make_the_score() -> None:
    match = best(
        "Tides and quays", Entry("tide", "Tide at the quay.", operations=("pump",)), operations=("pump",)
    )

    assert {term for term, _ in match.terms} == {"tides", "pump", "quays"}
    assert [share for _, share in match.terms] == sorted((share for _, share in match.terms), reverse=True)
    assert sum(share for _, share in match.terms) == pytest.approx(match.score)


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    entries = [Entry("tide_lamp"), Entry("quay_lamp"), Entry("pier_lamp"), Entry("mole_rope")]

    assert order("rope lamp", *entries)[0] == "mole_rope"


def test_a_word_that_no_entry_knows_counts_against_all_of_them() -> None:
    assert best("tide zeppelin", Entry("tide")).explained < best("tide", Entry("tide")).explained / 2


def test_an_entry_whose_name_says_more_than_the_need_covers_less_of_it() -> None:
    assert best("tide", Entry("tide")).explained > best("tide", Entry("tide_gauge_alarm")).explained


def test_a_long_description_earns_less_for_each_word() -> None:
    talk = "Much is said here of rope and paint and brass and oil before a word about fog is lost."

    assert order("fog", Entry("a", talk), Entry("b", "Paint the fog. Brass."))[0] == "b"


def test_the_first_sentence_says_what_an_entry_is() -> None:
    early, late = "Fog in sight. Brass and oil.", "Brass and oil. Fog in sight."

    assert order("fog", Entry("a", late), Entry("b", early))[0] == "b"


def test_what_a_description_says_of_another_entry_is_said_of_that_one() -> None:
    entries = [Entry("rope_work", "Knots; for fog see tide_table."), Entry("tide_table", "Water.")]

    assert order("tide", *entries) == ["tide_table"]


@pytest.mark.parametrize(
    ("description", "left"),
    [
        ("Like quay_haze, but quay_hazes and a_quay_haze are words.", "quay haze"),
        ("Not quay_haze_thin.", ""),
        ("Not quay_haze-thin.", "thin"),
        ("Not -quay_haze, nor (quay_haze)quay_haze", ""),
        ("pier_fog, and not quay_haze", "pier fog"),
        ("quay haze", "quay haze"),
    ],
)
def test_names_of_others_are_taken_out_whole_and_the_longest_first(description: str, left: str) -> None:
    entries = [Entry("pier_fog", description), *map(Entry, ("quay_haze", "quay_haze_thin", "quay"))]

    found = {
        word
        for word in ("quay", "haze", "thin", "pier", "fog")
        if any(match.entry.name == "pier_fog" for match in EntryIndex(entries).covering(word, top=9))
    }

    assert found == {"pier", "fog", *left.split()}


@pytest.mark.slow
def test_the_names_of_ten_thousand_others_do_not_make_a_description_slow() -> None:
    entries = [
        Entry(
            f"{chr(ord('a') + number % 26)}{number}_x",
            " ".join(f"{chr(ord('a') + number * step % 26)}word" for step in range(1, 13)),
        )
        for number in range(10_000)
    ]

    start = time.process_time()
    EntryIndex(entries).covering("quay")
    assert time.process_time() - start < 10.0


def test_words_that_are_spelt_alike_stand_for_each_other_in_part() -> None:
    exact, near = best("photograph", Entry("photograph")), best("photography", Entry("photographer"))

    assert near.entry.name == "photographer"
    assert 0.0 < near.explained < exact.explained


def test_another_number_is_another_thing() -> None:
    assert order("preset x100", Entry("preset_x100"), Entry("mode_x101")) == ["preset_x100"]


def test_a_bare_number_is_a_setting_and_not_the_need() -> None:
    assert best("tide 35", Entry("tide")).explained == best("tide", Entry("tide")).explained


def test_two_words_that_an_entry_writes_as_one_are_one() -> None:
    assert best("tide table", Entry("tidetable")).terms[0][0] == "tide table"


def test_an_operation_that_few_entries_share_counts_more() -> None:
    entries = [Entry(f"e{number}", operations=("pump",)) for number in range(4)]

    assert (
        order("zeppelin", *entries, Entry("z", operations=("sail",)), operations=("pump", "sail"))[0] == "z"
    )


def test_an_operation_that_is_called_like_an_entry_is_that_entry() -> None:
    assert (
        order(
            "zeppelin",
            Entry("a", operations=("pump",)),
            Entry("pump", operations=("x",)),
            operations=("Pump",),
        )[0]
        == "pump"
    )


def test_an_operation_that_half_of_the_records_name_counts_half() -> None:
    index = EntryIndex([Entry("x", operations=("pump",)), *OTHERS])

    half, whole = (index.covering("zeppelin", {"Pump": share})[0].score for share in (0.5, 1.0))

    assert half == pytest.approx(whole / 2)


def test_an_operation_that_the_need_names_counts_as_involved() -> None:
    match = best("bilge pump", Entry("x", operations=("pump",)))

    assert match.score > match.explained


def test_what_has_nothing_in_common_is_not_named() -> None:
    assert EntryIndex(OTHERS).covering("zeppelin") == []


@pytest.mark.parametrize("phrase", ["", "???", "the of and", "35"])
def test_a_phrase_without_a_telling_word_is_no_error(phrase: str) -> None:
    assert EntryIndex(OTHERS).covering(phrase) == []


def test_an_empty_vocabulary_covers_nothing() -> None:
    assert EntryIndex([]).covering("tide", {"pump": 1.0}) == []


def test_equal_scores_are_in_order_of_names() -> None:
    assert order("tide", *(Entry(name, "Tide.") for name in "cab")) == ["a", "b", "c"]


def test_the_order_of_entries_does_not_matter() -> None:
    entries = [Entry("tide"), Entry("tide_table", "Tide."), Entry("quay", tags=("tide",))]

    found = [order("tide table", *each) for each in permutations(entries)]

    assert all(each == found[0] for each in found)


@given(st.lists(st.sampled_from(SEA_WORDS), max_size=6).map(" ".join))
def test_the_first_three_are_those_of_the_whole_order(phrase: str) -> None:
    index = EntryIndex(OTHERS)

    assert index.covering(phrase) == index.covering(phrase, top=len(OTHERS))[:3]


@given(st.lists(st.sampled_from(SEA_WORDS), max_size=6).map(" ".join))
def test_a_share_is_between_none_and_all(phrase: str) -> None:
    assert all(0.0 <= match.explained <= 1.0 for match in EntryIndex(OTHERS).covering(phrase, {"deck": 1.0}))
