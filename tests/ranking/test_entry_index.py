"""What makes an entry come near a need, one thing at a time."""

import random

import pytest

from vocabgap.ranking.coverage import EntryIndex, Match
from vocabgap.ranking.vocabulary import Entry

OTHERS = tuple(
    Entry(name) for name in ("anchor_chain", "bell_buoy", "cargo_net", "deck_lamp", "engine_room")
)
SEA_WORDS = ["anchor", "bell", "cargo", "deck", "chain", "nets", "lamp", "rooms", "tide", "quay"]
PUMPS = ["pump", "sail", "winch", "deck"]


def best(phrase: str, *entries: Entry, operations: tuple[str, ...] = ()) -> Match:
    return EntryIndex([*entries, *OTHERS]).covering(phrase, dict.fromkeys(operations, 1.0))[0]


def order(phrase: str, *entries: Entry, operations: tuple[str, ...] = ()) -> list[str]:
    matches = EntryIndex(entries).covering(phrase, dict.fromkeys(operations, 1.0))
    return [match.entry.name for match in matches]


@pytest.mark.parametrize(
    "entry",
    [
        Entry("tide_table"), Entry("tideTable"), Entry("x", "Shows the tide."), Entry("x", tags=("tides",)),
        Entry("x", operations=("tide",)),
    ],
    ids=["name", "camelCase name", "description", "tag", "operation"],
)  # fmt: skip
def test_a_word_is_found_in_every_field(entry: Entry) -> None:
    match = best("tide", entry)

    assert match.entry == entry
    assert match.explained > 0.0


def test_terms_are_words_as_written_and_their_shares_make_the_score() -> None:
    entry = Entry("tide", "Tide at the quay.", operations=("pump",))

    match = best("Tides and quays", entry, operations=("pump",))

    shares = dict(match.terms)
    assert shares.keys() == {"tides", "pump", "quays"}
    assert [*shares.values()] == sorted(shares.values(), reverse=True)
    assert sum(shares.values()) == pytest.approx(match.score)


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    entries = [Entry("tide_lamp"), Entry("quay_lamp"), Entry("pier_lamp"), Entry("mole_rope")]

    assert order("rope lamp", *entries)[0] == "mole_rope"


def test_a_word_that_no_entry_knows_counts_against_all_of_them() -> None:
    known, unknown = (best(need, Entry("tide")) for need in ("tide", "tide zeppelin"))
    assert unknown.explained < known.explained / 2


def test_an_entry_whose_name_says_more_than_the_need_covers_less_of_it() -> None:
    assert best("tide", Entry("tide")).explained > best("tide", Entry("tide_gauge_alarm")).explained


def test_the_first_sentence_says_what_an_entry_is() -> None:
    early, late = "Fog in sight. Brass and oil.", "Brass and oil. Fog in sight."

    assert order("fog", Entry("a", late), Entry("b", early))[0] == "b"


@pytest.mark.parametrize("name", ["tide_table", "tide-table", "tideTable", "Tide table"])
def test_what_a_description_says_of_another_entry_is_said_of_that_one(name: str) -> None:
    entries = [Entry("rope_work", f"Knots; for fog see {name}."), Entry(name, "Water.")]

    assert order("tide", *entries) == [name]


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
def test_names_of_others_are_taken_out_whole_and_the_longest_first(
    description: str, left: str
) -> None:
    entries = [Entry("pier_fog", description), *map(Entry, ("quay_haze", "quay_haze_thin", "quay"))]

    index, words = EntryIndex(entries), ("quay", "haze", "thin", "pier", "fog")
    of_word = {word: {match.entry.name for match in index.covering(word, top=9)} for word in words}
    found = {word for word, names in of_word.items() if "pier_fog" in names}

    assert found == {"pier", "fog", *left.split()}


def test_words_that_are_spelt_alike_stand_for_each_other_in_part() -> None:
    exact = best("photograph", Entry("photograph"))
    near = best("photography", Entry("photographer"))

    assert near.entry.name == "photographer"
    assert 0.0 < near.explained < exact.explained


def test_two_words_that_an_entry_writes_as_one_are_one() -> None:
    assert best("tide table", Entry("tidetable")).terms[0][0] == "tide table"


def test_an_operation_that_few_entries_share_counts_more() -> None:
    entries = [Entry(f"e{number}", operations=("pump",)) for number in range(4)]

    entries.append(Entry("z", operations=("sail",)))

    assert order("zeppelin", *entries, operations=("pump", "sail"))[0] == "z"


def test_an_operation_that_is_called_like_an_entry_is_that_entry() -> None:
    entries = [Entry("a", operations=("pump",)), Entry("pump", operations=("x",))]

    assert order("zeppelin", *entries, operations=("Pump",))[0] == "pump"


def test_the_entry_that_explains_most_is_told_wherever_operations_put_it() -> None:
    pumps = [Entry(f"pump_{what}", operations=("pump",)) for what in ("hand", "foot", "bilge")]
    index = EntryIndex([*pumps, Entry("quay_lamp"), *OTHERS])

    found = index.covering("lamp of a zeppelin balloon", {"pump": 1.0})

    assert [match.entry.name for match in found] == ["pump_bilge", "pump_foot", "deck_lamp"]
    assert found[-1].score < found[0].score


@pytest.mark.parametrize("phrase", ["", "???", "the of and", "35"])
def test_a_phrase_without_a_telling_word_is_no_error(phrase: str) -> None:
    assert EntryIndex(OTHERS).covering(phrase) == []


def some(words: list[str], most: int, chance: random.Random) -> list[str]:
    return [chance.choice(words) for _ in range(chance.randint(0, most))]


def asked_of_many(seed: int) -> tuple[EntryIndex, str, dict[str, float]]:
    """Many more entries than are told, with words that come again and again, a need, and its operations."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    entries = [
        Entry(
            "_".join([*some(SEA_WORDS, 2, chance), f"no{number}"]),
            " ".join(some(SEA_WORDS, 12, chance)),
            tuple(some(SEA_WORDS, 2, chance)),
            tuple(some(PUMPS, 2, chance)),
        )
        for number in range(40)
    ]
    need = " ".join([*some(SEA_WORDS, 4, chance), *some(["zeppelin"], 2, chance), "tide"])
    operations = {name: chance.uniform(0.1, 1.0) for name in some(PUMPS, 3, chance)}
    return EntryIndex(entries), need, operations


@pytest.mark.parametrize("seed", range(20))
def test_the_first_three_are_those_of_the_whole_order_and_the_one_that_explains_most(
    seed: int,
) -> None:
    index, need, operations = asked_of_many(seed)

    every = index.covering(need, operations, top=40)  # so many that none is passed over
    most = max(round(match.explained, 9) for match in every)
    expected = every[:3]
    if most > max(round(match.explained, 9) for match in expected):
        telling = [match for match in every if round(match.explained, 9) == most]
        expected[2] = min(telling, key=lambda match: match.entry.name)
    assert index.covering(need, operations) == expected
