"""Which capabilities are not told apart, by what was drawn."""

import numpy as np
import numpy.typing as npt
import pytest

from vocabgap.ranking.intervals import tie_groups

DRAWS = 100


def drawn(*turns: tuple[int, list[int]]) -> npt.NDArray[np.int32]:
    """The best places of each capability in some draws, given how often each order of them is drawn."""
    places = np.array([order for times, order in turns for _ in range(times)], np.int32)
    assert len(places) == DRAWS
    return places.T


@pytest.mark.parametrize(("ahead", "expected"), [(10, [1, 2]), (11, [1, 1])])
@pytest.mark.parametrize("places", [[1, 0], [0, 0]], ids=["ahead", "level"])
def test_two_are_tied_from_more_than_one_draw_in_ten_on(
    ahead: int, expected: list[int], places: list[int]
) -> None:
    assert tie_groups([drawn((DRAWS - ahead, [0, 1]), (ahead, places))]).tolist() == expected


def test_a_group_is_of_those_that_might_stand_before_its_first() -> None:
    # The third overtakes the second as often as that the first, but never the first.
    turns = drawn((60, [0, 1, 2, 3]), (20, [1, 0, 2, 3]), (20, [0, 2, 1, 3]))

    assert tie_groups(np.split(turns, 4)).tolist() == [1, 1, 2, 3]
