import polars as pl
import pytest

from builders.ranking import ranked
from vocabgap.errors import InvalidInputError
from vocabgap.model.lookup import find_capability


@pytest.fixture
def two() -> pl.DataFrame:
    needs = ["Lamp glow", "lamp-glow", "tilt shift"]
    return ranked([{"missing_capability": need} for need in needs])


def test_a_capability_is_found_by_its_identifier_or_the_beginning_of_it(two: pl.DataFrame) -> None:
    wanted = two["capability_id"][1]

    for asked in (wanted, wanted[:8], wanted.removeprefix("cap-"), wanted[4:8]):
        assert find_capability(two, asked)["capability_id"].to_list() == [wanted]


def test_a_whole_number_is_a_rank(two: pl.DataFrame) -> None:
    assert find_capability(two, "2")["label"].to_list() == ["tilt shift"]


def test_a_number_that_is_also_exactly_a_name_is_refused() -> None:
    needs = ["1", "tilt shift", "tilt shift", "3"]
    found = ranked([{"missing_capability": need} for need in needs])
    assert found["label"].to_list() == ["tilt shift", "1", "3"]

    with pytest.raises(InvalidInputError, match="'1' means several capabilities: cap-"):
        find_capability(found, "1")
    assert find_capability(found, "3")["label"].to_list() == ["3"]
