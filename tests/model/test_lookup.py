"""One way to find a thing by what a person calls it."""

from typing import Any

import pytest

from vocabgap.errors import InvalidInputError, NotFoundError, alike
from vocabgap.model.lookup import Named, lookup

KNOWN = [
    Named("dec-4bef00", "pin sky mask"),
    Named("dec-4c0011", "film grain", ("Grain of film", "no grain")),
]


def place_of(name: str, fewest: int = 4) -> int:
    names = {"singular": "thing", "plural": "things", "prefix": "dec-"}
    return lookup(KNOWN, name, hint="see the list", fewest=fewest, **names)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("dec-4bef00", 0), ("4bef", 0), (" dec-4c00 ", 1), ("film grain", 1), ("Film-Grain", 1),
        ("grainOfFilm", 1),
    ],
)  # fmt: skip
def test_a_thing_is_found_by_any_of_its_names(name: str, place: int) -> None:
    assert place_of(name) == place


def test_a_program_may_give_a_rank_as_a_number() -> None:
    number: Any = 1
    names = {"singular": "thing", "plural": "things", "prefix": ""}

    assert lookup([Named("", "sky mask", rank=1)], number, hint="", fewest=1, **names) == 0


def test_things_without_an_identifier_are_named_by_their_labels() -> None:
    things = [Named("", "sky mask"), Named("", "Sky-Mask")]

    with pytest.raises(InvalidInputError, match=r"'sky mask'.*'Sky-Mask'"):
        lookup(things, "skyMask", hint="", fewest=4, singular="thing", plural="things", prefix="")


def test_a_beginning_that_several_have_is_refused_with_their_names() -> None:
    with pytest.raises(InvalidInputError) as caught:
        place_of("4", fewest=1)

    message = "'4' means several things: dec-4bef00 (pin sky mask), dec-4c0011 (film grain)"
    assert caught.value.message == message
    assert caught.value.hint == "name one of them by its identifier"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("film grian", "did you mean 'film grain'?"),
        ("sky", "did you mean 'pin sky mask'?"),
        ("zzz", "see the list"),
    ],
)
def test_what_is_not_there_is_told_with_what_comes_nearest(name: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        place_of(name)

    assert caught.value.hint == hint


def test_names_that_hold_what_was_said_come_before_those_that_are_spelt_like_it() -> None:
    assert alike("Mask", ["masks", "sky mask", "mast"]) == ["masks", "sky mask"]
    assert alike("msak", ["mask", "grain"]) == ["mask"]
    assert alike("", ["mask"]) == []
