import pytest

from vocabgap.ranking.drafting import name_words, propose_name
from vocabgap.ranking.vocabulary import Entry, Form
from vocabgap.text import ignored_stems


def name(
    *chosen: str,
    entries: tuple[Entry, ...] = (),
    operations: tuple[str, ...] = (),
    form: Form = Form.MANIFEST,
) -> str:
    return propose_name(chosen, operations, entries, "cap-0ff", form)[0]


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
        ("glowing lamps, per-lamp", ["glowing", "lamps"]),
        ("glow each lamp tide, per-row", ["glow", "each", "lamp", "tide"]),
        ("glow lamp tide, per-row fog", ["glow", "lamp", "tide"]),
        ("turn-off-free step-by-step glow", ["turn", "off", "free", "step"]),
        ("cannot delete a branch", ["delete", "branch"]),
        ("after a lamp through the glow itself", ["lamp", "through", "glow"]),
        ("through", ["through"]),
        ("one-two-three-four-five lamp", ["one", "two", "three", "four"]),
    ],
)
def test_the_words_of_a_label_are_what_it_is_about(label: str, expected: list[str]) -> None:
    assert name_words(label, ignored_stems(())) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # As most of the others are written.
        (("read_tide", "listShips", "fog_bank"), "lamp_glow"),
        (("read-tide", "list-ships", "fog_bank"), "lamp-glow"),
        (("fog", "tide"), "lamp_glow"),
        # Longer than names that entries have.
        (("Lamp_Glow",), "lamp_glow_bloom"),
        (("lamp_glow", "lamp_glow_bloom"), "lamp_glow_2"),
        (("lamp_glow", "lamp_glow_bloom", "lamp_glow_2"), "lamp_glow_3"),
    ],
)
def test_a_name_goes_with_those_of_the_entries(names: tuple[str, ...], expected: str) -> None:
    assert name("lamp", "glow", entries=tuple(map(Entry, names)), operations=("bloom",)) == expected


def test_an_entry_of_the_name_is_told_as_what_to_look_at_first() -> None:
    proposed, notes = propose_name(["mask", "sky"], [], [Entry("mask_sky")], "", Form.MANIFEST)

    assert proposed == "mask_sky_2"
    assert notes[-1] == (
        "the records suggest the name 'mask_sky', which an entry has: check it first"
    )


def test_a_need_without_a_word_is_called_by_its_identifier() -> None:
    assert name() == "cap_0ff"


def test_a_skill_is_called_in_small_letters_of_ascii_with_dashes() -> None:
    taken = (Entry("read_tide"), Entry("list_ships"))

    assert name("café", "lamp", entries=taken, form=Form.SKILL) == "cafe-lamp"
    assert name("灯", form=Form.SKILL) == "cap-0ff"


def test_a_skill_has_a_name_of_at_most_64_characters_even_if_it_is_taken() -> None:
    first = name("a" * 58, "b", "c" * 20, form=Form.SKILL)
    second = name("a" * 58, "b", "c" * 20, entries=(Entry(first),), form=Form.SKILL)

    assert (first, second) == (f"{'a' * 58}-b-ccc", f"{'a' * 58}-b-c-2")


def test_a_tool_has_a_short_name_of_ascii() -> None:
    taken = (Entry("lamp_glow"),)

    assert (
        name("lämp", "glow", entries=taken, operations=("blöom",), form=Form.TOOL) == "lamp_glow_2"
    )
    assert name("x" * 90, form=Form.TOOL) == "x" * 64
