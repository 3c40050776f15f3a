import polars as pl
import pytest

from builders.ranking import ranked
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.model.lookup import find_capability


@pytest.fixture
def two() -> pl.DataFrame:
    needs = ["Lamp glow", "lamp-glow", "tilt shift"]
    return ranked([{"missing_capability": need} for need in needs])


@pytest.mark.parametrize("asked", ["Lamp glow", "lamp-glow", " lampGlow ", "LAMPS GLOW"])
def test_a_capability_is_found_by_label_wording_or_surface(two: pl.DataFrame, asked: str) -> None:
    assert find_capability(two, asked)["mentions"].to_list() == [2]


def test_a_capability_is_found_by_its_identifier_or_the_beginning_of_it(two: pl.DataFrame) -> None:
    wanted = two["capability_id"][1]

    for asked in (wanted, wanted[:8], wanted.removeprefix("cap-"), wanted[4:8]):
        assert find_capability(two, asked)["capability_id"].to_list() == [wanted]


@pytest.mark.parametrize("asked", ["cap-", "cap-4be", "4be"])
def test_too_short_a_beginning_of_an_identifier_is_none(two: pl.DataFrame, asked: str) -> None:
    frame = two.with_columns(pl.Series("capability_id", ["cap-4bef00", "cap-123456"]))

    with pytest.raises(NotFoundError, match="no capability is called"):
        find_capability(frame, asked)


def test_a_beginning_that_several_have_is_refused_and_they_are_named(two: pl.DataFrame) -> None:
    frame = two.with_columns(pl.Series("capability_id", ["cap-4bef00", "cap-4bef11"]))

    with pytest.raises(InvalidInputError, match="'4bef' means several capabilities") as caught:
        find_capability(frame, "4bef")

    assert all(name in caught.value.message for name in frame["capability_id"])
    assert caught.value.hint == "name one of them by its identifier"


def test_a_name_is_found_as_it_is_shown() -> None:
    frame = ranked([{"missing_capability": "red \x1b mask"}, {"missing_capability": "red mask of skin"}])

    assert find_capability(frame, "red \\u001b mask")["label"].to_list() == ["red \x1b mask"]


def test_a_label_comes_before_a_wording_of_another(two: pl.DataFrame) -> None:
    variants = [[{"wording": "tilt shift", "mentions": 1, "similarity": 1.0}]] * 2
    frame = two.with_columns(pl.Series("variants", variants, dtype=two.schema["variants"]))

    assert find_capability(frame, "tilt-shift")["label"].to_list() == ["tilt shift"]


def test_what_is_not_there_is_told_with_the_nearest_labels(two: pl.DataFrame) -> None:
    with pytest.raises(NotFoundError, match="'tilt shaft'") as caught:
        find_capability(two, "tilt shaft")

    assert "tilt shift" in caught.value.hint


@pytest.mark.parametrize("asked", ["", "cap-nothing", "zzz"])
def test_what_is_like_nothing_is_told_with_what_was_expected(two: pl.DataFrame, asked: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        find_capability(two, asked)

    assert caught.value.hint
