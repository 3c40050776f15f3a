"""The drawing of the map."""

from math import dist

import pytest
from msgspec.structs import replace

from builders.page import listed
from vocabgap.model.capability import Tally
from vocabgap.reporting.map import FEWEST_CIRCLES, HEIGHT, THEMES, WIDTH, NeedsMap, needs_map
from vocabgap.reporting.overviews import Place
from vocabgap.reporting.page import payload_of
from vocabgap.reporting.summary import Summary

Spots = list[tuple[float, float]]
ONE_SPOT, SIXTY = (
    [(0.0, 0.0)] * 20,
    [(n * 37 % 60 / 30 - 1, n * 17 % 60 / 30 - 1) for n in range(60)],
)


def drawn(summary: Summary, spots: Spots) -> NeedsMap | None:
    """Draw the map of as many needs as spots; better ranks have more mentions."""
    everything = tuple(
        listed(
            summary,
            capability_id=f"cap-{rank}",
            rank=rank,
            mentions=600 // rank,
            label=f"need {rank} of some words",
            categories=(Tally(f"category {rank % 12}", 1),),
        )
        for rank in range(1, len(spots) + 1)
    )
    page = payload_of(replace(summary, everything=everything))
    places = [Place(f"cap-{rank}", x, y) for rank, (x, y) in enumerate(spots, 1)]
    return needs_map(places, {row["id"]: row for row in page["rows"]}, page["categories"])


@pytest.mark.parametrize("spots", [ONE_SPOT, SIXTY], ids=["one spot", "sixty"])
def test_no_circle_covers_another_and_all_are_inside(summary: Summary, spots: Spots) -> None:
    made = drawn(summary, spots)
    assert made is not None
    for place, one in enumerate(made.circles):
        assert one.radius <= one.x <= WIDTH - one.radius
        assert one.radius <= one.y <= HEIGHT - one.radius
        for other in made.circles[:place]:
            assert dist((one.x, one.y), (other.x, other.y)) > one.radius + other.radius


def test_labels_are_inside_and_meet_no_circle(summary: Summary) -> None:
    made = drawn(summary, SIXTY)
    assert made is not None
    assert sum(bool(circle.label) for circle in made.circles) > 20
    for line in (line for circle in made.circles for line in circle.label):
        assert 0 < line.x < WIDTH
        assert 0 < line.y <= HEIGHT
        middle = (line.x, line.y - 4)
        assert all(dist(middle, (each.x, each.y)) > each.radius for each in made.circles)


def test_most_frequent_categories_have_a_colour_and_the_others_one_together(
    summary: Summary,
) -> None:
    made = drawn(summary, SIXTY)
    assert made is not None
    assert [theme.number for theme in made.themes] == [*range(1, THEMES + 1), 0]
    assert sum(theme.capabilities for theme in made.themes) == len(made.circles)
    assert made.themes[-1].name == "other"
    assert {circle.theme for circle in made.circles} == {*range(THEMES + 1)}


@pytest.mark.parametrize("number", [0, FEWEST_CIRCLES - 1, FEWEST_CIRCLES])
def test_few_needs_have_no_map(summary: Summary, number: int) -> None:
    assert (drawn(summary, SIXTY[:number]) is None) == (number < FEWEST_CIRCLES)
