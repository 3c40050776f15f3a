"""Which capability touches which operations, and which of these stand together."""

from builders.page import listed
from vocabgap.model.capability import Tally
from vocabgap.reporting.overviews import RecurringSet
from vocabgap.reporting.page import OPERATIONS, ROWS, heat_map, matrix
from vocabgap.reporting.payload import LEVELS
from vocabgap.reporting.rows import Index, Row, row_of
from vocabgap.reporting.summary import Summary


def rows(summary: Summary, *capabilities: dict[str, int]) -> tuple[list[Row], tuple[str, ...]]:
    index = Index()
    made = [
        row_of(
            listed(
                summary,
                operations=tuple(Tally(name, mentions) for name, mentions in each.items()),
                combinations=(),
            ),
            index,
            LEVELS[0],
        )
        for each in capabilities
    ]
    return made, index.operations.shown(99)


def test_operations_with_most_mentions_come_first(summary: Summary) -> None:
    made, names = rows(summary, {"crop": 2, "exposure": 1}, {"exposure": 5})
    found = heat_map(made)
    assert [names[place] for place in found.operations] == ["exposure", "crop"]
    assert [[cell.number for cell in cells] for _, cells in found.rows] == [[1, 2], [5, 0]]


def test_the_most_is_the_darkest_and_nothing_has_no_colour(summary: Summary) -> None:
    made, _ = rows(summary, {"crop": 60, "exposure": 1})
    ((_, cells),) = heat_map(made).rows
    assert [cell.step for cell in cells] == [6, 1]


def test_what_is_left_out_is_counted(summary: Summary) -> None:
    made, _ = rows(summary, {f"operation {number}": 1 for number in range(OPERATIONS + 3)})
    found = heat_map(made)
    assert (len(found.operations), found.others) == (OPERATIONS, 3)


def test_only_the_first_capabilities_are_shown(summary: Summary) -> None:
    made, _ = rows(summary, *({"crop": 1} for _ in range(ROWS + 1)))
    assert len(heat_map(made).rows) == ROWS


def test_without_operations_there_is_nothing_to_show(summary: Summary) -> None:
    made, _ = rows(summary, {})
    assert heat_map(made).operations == ()


def test_cells_of_the_matrix_are_records_with_both_operations() -> None:
    sets = [
        RecurringSet(tuple(names), records, records, records / 2, 2.0, 1.5)
        for names, records in (("abc", 4), ("ab", 6), ("cd", 1))
    ]
    found = {name: [(cell.number, cell.lift) for cell in cells] for name, cells in matrix(sets)}
    # Of a and c there is no set of their own.
    assert found == {
        "a": [],
        "b": [(6, 2.0)],
        "c": [(4, 0.0), (4, 0.0)],
        "d": [(0, 0.0), (0, 0.0), (1, 2.0)],
    }


def test_the_matrix_has_the_operations_that_stand_together_most() -> None:
    sets = [RecurringSet((f"a{n}", f"b{n}"), 99 - n, 9, 1.0, 2.0, 1.5) for n in range(20)]
    assert len(matrix(sets)) == OPERATIONS
