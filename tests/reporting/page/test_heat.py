"""Which capability touches which operations."""

from collections.abc import Callable

from vocabgap.reporting.capability import Listed, Tally
from vocabgap.reporting.page.payload import LEVELS
from vocabgap.reporting.page.rendering import OPERATIONS, ROWS, heat_map
from vocabgap.reporting.page.rows import Index, Row, row_of

Make = Callable[..., Listed]


def rows(listed: Make, *capabilities: dict[str, int]) -> tuple[list[Row], tuple[str, ...]]:
    index = Index()
    made = [
        row_of(
            listed(
                operations=tuple(Tally(name, mentions) for name, mentions in each.items()), combinations=()
            ),
            index,
            LEVELS[0],
        )
        for each in capabilities
    ]
    return made, index.operations.shown(99)


def test_operations_with_most_mentions_come_first(listed: Make) -> None:
    made, names = rows(listed, {"crop": 2, "exposure": 1}, {"exposure": 5})
    found = heat_map(made)
    assert [names[place] for place in found.operations] == ["exposure", "crop"]
    assert [[cell.mentions for cell in cells] for _, cells in found.rows] == [[1, 2], [5, 0]]


def test_the_most_is_the_darkest_and_nothing_has_no_colour(listed: Make) -> None:
    made, _ = rows(listed, {"crop": 60, "exposure": 1})
    ((_, cells),) = heat_map(made).rows
    assert [cell.step for cell in cells] == [6, 1]


def test_what_is_left_out_is_counted(listed: Make) -> None:
    made, _ = rows(listed, {f"operation {number}": 1 for number in range(OPERATIONS + 3)})
    found = heat_map(made)
    assert (len(found.operations), found.others) == (OPERATIONS, 3)


def test_only_the_first_capabilities_are_shown(listed: Make) -> None:
    made, _ = rows(listed, *({"crop": 1} for _ in range(ROWS + 1)))
    assert len(heat_map(made).rows) == ROWS


def test_without_operations_there_is_nothing_to_show(listed: Make) -> None:
    made, _ = rows(listed, {})
    assert heat_map(made).operations == ()
