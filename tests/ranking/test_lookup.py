import polars as pl
import pytest

from builders.ranking import ranked
from vocabgap.errors import NotFoundError
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


def test_what_is_not_there_is_told_with_the_nearest_labels(two: pl.DataFrame) -> None:
    with pytest.raises(NotFoundError, match="'tilt shaft'") as caught:
        find_capability(two, "tilt shaft")

    assert "tilt shift" in caught.value.hint
