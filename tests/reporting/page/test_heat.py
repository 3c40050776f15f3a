"""Which capability touches which operations."""

from builders.page import listed
from vocabgap.model.capability import Tally
from vocabgap.reporting.page import heat_map
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


def test_without_operations_there_is_nothing_to_show(summary: Summary) -> None:
    made, _ = rows(summary, {})
    assert heat_map(made).operations == ()
