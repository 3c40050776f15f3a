"""The drawing of the map."""

from math import dist

import pytest
from msgspec.structs import replace

from builders.page import listed, read
from vocabgap.reporting.map import HEIGHT, THEMES, WIDTH, NeedsMap, needs_map
from vocabgap.reporting.overviews import Place
from vocabgap.reporting.page import payload_of, render_page
from vocabgap.reporting.summary import Summary


def drawn(summary: Summary, spots: list[tuple[float, float]], **changed: object) -> NeedsMap:
    """The map of so many capabilities, most of them rarely mentioned."""
    everything = tuple(
        listed(
            summary,
            **{"capability_id": f"cap-{rank}", "rank": rank, "mentions": 600 // rank, **changed},
            label=f"need {rank} of some words",
            intent_category=f"category {rank % 12}",
        )
        for rank in range(1, len(spots) + 1)
    )
    page = payload_of(replace(summary, everything=everything))
    places = [Place(f"cap-{rank}", x, y) for rank, (x, y) in enumerate(spots, 1)]
    made = needs_map(places, {row["id"]: row for row in page["rows"]}, page["categories"])
    assert made is not None
    return made


def spots_of_sixty() -> list[tuple[float, float]]:
    return [((number * 37 % 60) / 30 - 1, (number * 17 % 60) / 30 - 1) for number in range(60)]


@pytest.mark.parametrize("spots", [[(0.0, 0.0)] * 12, spots_of_sixty()], ids=["one spot", "sixty"])
def test_no_circle_covers_another_and_all_are_inside(
    summary: Summary, spots: list[tuple[float, float]]
) -> None:
    circles = drawn(summary, spots).circles
    for place, one in enumerate(circles):
        assert one.radius <= one.x <= WIDTH - one.radius
        assert one.radius <= one.y <= HEIGHT - one.radius
        for other in circles[:place]:
            assert dist((one.x, one.y), (other.x, other.y)) > one.radius + other.radius


def test_labels_are_inside_and_meet_no_circle(summary: Summary) -> None:
    circles = drawn(summary, spots_of_sixty()).circles
    lines = [line for circle in circles for line in circle.label]
    assert sum(bool(circle.label) for circle in circles) > 20
    for line in lines:
        assert 0 < line.x < WIDTH
        assert 0 < line.y <= HEIGHT
        assert all(dist((line.x, line.y - 4), (each.x, each.y)) > each.radius for each in circles)


def test_most_frequent_categories_have_a_colour_and_the_others_one_together(
    summary: Summary,
) -> None:
    made = drawn(summary, spots_of_sixty())
    assert [theme.number for theme in made.themes] == [*range(1, THEMES + 1), 0]
    assert sum(theme.capabilities for theme in made.themes) == len(made.circles)
    assert made.themes[-1].name == "other"
    assert {circle.theme for circle in made.circles} == {*range(THEMES + 1)}


def test_map_is_told_as_a_table_too(summary: Summary) -> None:
    seen = read(render_page(summary))
    circles, rows = (
        [each for each in seen.all(tag) if within in each.within]
        for tag, within in (("circle", "svg"), ("tr", "details"))
    )
    assert len(circles) == len(summary.places) > 30
    assert "The same as a table" in seen.text
    assert len(rows) > len(circles)
