import pytest

from vocabgap.ranking.drafting import propose_name, shared_words
from vocabgap.ranking.vocabulary import Entry
from vocabgap.text import ignored_stems


def name(*chosen: str, entries: tuple[Entry, ...] = (), operations: tuple[str, ...] = ()) -> str:
    return propose_name(chosen, ["spare"], operations, entries, fallback="cap-0ff")[0]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("please add a Lamp Glow", ["add", "lamp", "glow"]),
        ("lampGlow", ["lamp", "glow"]),
        ("lamp glow, glowing lamps", ["lamp", "glow"]),
        ("Lamp glow (halo, bloom)", ["lamp", "glow"]),
        ("Lamp glow — as on wet quays", ["lamp", "glow"]),
        ("lamp-glow: as on wet quays", ["lamp", "glow"]),
        ("no lamp glow", ["lamp", "glow"]),
        ("lamp glow -20", ["lamp", "glow"]),
        ("(lamp)", ["lamp"]),
        ("one two three four five", ["one", "two", "three", "four"]),
        ("???", []),
    ],
)
def test_the_words_of_a_label_are_what_it_is_about(label: str, expected: list[str]) -> None:
    assert shared_words(label, {label: 1}, ignored_stems(()))[0] == expected


def test_a_word_that_few_mentions_use_is_left_for_later() -> None:
    chosen, spare = shared_words("soft lamp glow", {"soft lamp glow": 1, "Lamp glow": 2, "glowing lamps": 1})

    assert chosen == ["lamp", "glow"]
    assert spare == ["soft"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("read_tide", "listShips", "fog_bank"), "lamp_glow"),
        (("read-tide", "list-ships", "fog_bank"), "lamp-glow"),
        (("readTide", "listShips", "fog_bank"), "lampGlow"),
        (("fog", "tide"), "lamp_glow"),
    ],
)
def test_a_name_is_written_as_most_of_the_others_are(names: tuple[str, ...], expected: str) -> None:
    assert name("lamp", "glow", entries=tuple(map(Entry, names))) == expected


@pytest.mark.parametrize(("elsewhere", "expected"), [(1, "mask_lamp"), (2, "lamp_mask")])
def test_three_names_of_four_are_a_habit_and_three_of_five_are_none(elsewhere: int, expected: str) -> None:
    names = ("mask_sky", "mask_water", "mask_skin", *("tide_mask", "fog_mask")[:elsewhere])

    assert name("lamp", "mask", entries=tuple(map(Entry, names))) == expected


def test_words_are_spelt_as_in_several_other_names() -> None:
    entries = (Entry("hue_shadows"), Entry("lift_shadows"), Entry("hue_pixels"))

    assert name("shadow", "pixel", entries=entries) == "shadows_pixel"


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (("lamp_glow",), "lamp_glow_spare"),
        (("Lamp_Glow", "lamp_glow_spare"), "lamp_glow_bloom"),
        (("lamp_glow", "lamp_glow_spare", "lamp_glow_bloom"), "lamp_glow_2"),
        (("lamp_glow", "lamp_glow_spare", "lamp_glow_bloom", "lamp_glow_2"), "lamp_glow_3"),
    ],
)
def test_a_name_that_an_entry_has_is_made_longer(taken: tuple[str, ...], expected: str) -> None:
    assert name("lamp", "glow", entries=tuple(map(Entry, taken)), operations=("bloom",)) == expected


def test_an_entry_of_the_name_is_told_as_what_to_look_at_first() -> None:
    proposed, notes = propose_name(["mask", "sky"], ["haze"], [], [Entry("mask_sky")], fallback="")

    assert proposed == "mask_sky_haze"
    assert notes[-1] == ("the records suggest the name 'mask_sky', which an entry has: check it first")


def test_a_need_without_a_word_is_called_by_its_identifier() -> None:
    assert name() == "cap_0ff"
