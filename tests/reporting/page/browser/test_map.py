"""The map of the needs in a browser: followed by mouse and by keys, and one category at a time."""

from collections.abc import Callable
from math import dist
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from builders.page import listed
from vocabgap.pipeline import Run
from vocabgap.reporting.map import FEWEST_CIRCLES
from vocabgap.reporting.overviews import Place
from vocabgap.reporting.page import payload_of, render_page

WAYS = {"ArrowRight": 1, "ArrowDown": 2, "ArrowLeft": 1, "ArrowUp": 0}
BOXES = """all => all.map((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return [left, top, right, bottom];
})"""
Box = tuple[float, float, float, float]


@pytest.fixture
def page(page_of: Callable[..., Path], visit: Callable[..., Page]) -> Page:
    return visit(page_of(120), fragment="map")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('href')?.slice(1) ?? ''"))


def test_circle_leads_to_its_need_and_back_to_the_map(page: Page) -> None:
    expect(page.locator("svg.map a")).to_have_count(60)
    page.locator("svg.map a circle").nth(39).click()
    expect(page.locator("#need")).to_contain_text("40. ")
    expect(page.locator("#need")).to_be_focused()
    expect(page.locator("#map")).to_be_hidden()
    page.go_back()
    expect(page.locator("#map")).to_be_visible()


def test_map_is_one_stop_and_arrows_go_on_from_there(page: Page) -> None:
    page.locator("#map input").first.focus()
    page.keyboard.press("Tab")
    assert focused(page) == "cap-000000000000"
    for key, place in WAYS.items():
        page.keyboard.press(key)
        assert focused(page) == f"cap-{place:012x}"
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "cap-000000000000"
    last = focused(page)
    page.keyboard.press("Tab")
    assert focused(page) != last
    page.keyboard.press("Shift+Tab")
    assert focused(page) == last


def test_one_category_stands_out_when_it_is_chosen(page: Page) -> None:
    page.locator("#map label", has_text="tone").click()
    opacity = "all => all.map(a => [a.classList[0], getComputedStyle(a).opacity])"
    shown = page.locator("svg.map a").evaluate_all(opacity)
    theme = str(page.locator("#map label", has_text="tone").get_attribute("class"))
    assert {theme for theme, opacity in shown if opacity == "1"} == {theme}
    assert len({theme for theme, _ in shown}) > 3
    page.locator("#map label", has_text="All").click()
    assert {opacity for _, opacity in page.locator("svg.map a").evaluate_all(opacity)} == {"1"}


@pytest.fixture(params=["one spot", "sixty"])
def drawn(
    request: pytest.FixtureRequest, demo_run: Run, tmp_path: Path, visit: Callable[..., Page]
) -> Page:
    """The map of sixty needs, at one spot or apart; better ranks have more mentions."""
    summary = demo_run.published.summary
    spots = [(n * 37 % 60 / 30 - 1, n * 17 % 60 / 30 - 1) for n in range(60)]
    everything = tuple(
        listed(
            summary,
            capability_id=f"cap-{rank}",
            rank=rank,
            mentions=600 // rank,
            label=f"need {rank} of some words",
            intent_category=f"category {rank % 12}",
        )
        for rank in range(1, 61)
    )
    places = tuple(
        Place(f"cap-{rank}", *((0.0, 0.0) if request.param == "one spot" else spot))
        for rank, spot in enumerate(spots, 1)
    )
    file = tmp_path / "report.html"
    page = render_page(replace(summary, everything=everything, places=places))
    file.write_text(page, encoding="utf-8")
    return visit(file, fragment="map")


def meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_no_circle_covers_another_and_all_are_inside(drawn: Page) -> None:
    (left, top, right, bottom) = drawn.locator("svg.map").evaluate_all(BOXES)[0]
    circles = drawn.locator("svg.map circle").evaluate_all(BOXES)
    assert len(circles) == 60
    for place, one in enumerate(circles):
        assert left <= one[0] < one[2] <= right
        assert top <= one[1] < one[3] <= bottom
        for other in circles[:place]:
            middles = [((each[0] + each[2]) / 2, (each[1] + each[3]) / 2) for each in (one, other)]
            assert 2 * dist(*middles) > one[2] - one[0] + other[2] - other[0]


def test_labels_are_inside_and_meet_no_circle_and_no_label(drawn: Page) -> None:
    (left, top, right, bottom) = drawn.locator("svg.map").evaluate_all(BOXES)[0]
    labels = drawn.locator("svg.map text:not(.rank)").evaluate_all(BOXES)
    others = drawn.locator("svg.map circle").evaluate_all(BOXES)
    assert labels
    for label in labels:
        assert left <= label[0] < label[2] <= right
        assert top <= label[1] < label[3] <= bottom
        assert not any(meet(label, each) for each in others)
        others.append(label)


def test_most_frequent_categories_have_a_colour_and_the_others_one_together(drawn: Page) -> None:
    legend = drawn.locator("#map label")
    names = [f"category {rank % 12} (5)" for rank in range(1, 9)]
    assert legend.all_inner_texts() == ["All", *names, "other (20)"]
    expect(drawn.locator("#map a.theme-0")).to_have_count(20)


@pytest.mark.parametrize("number", [0, FEWEST_CIRCLES - 1, FEWEST_CIRCLES])
def test_few_needs_have_no_map(demo_run: Run, number: int) -> None:
    summary = demo_run.published.summary
    places = tuple(
        Place(each.capability.capability_id, 0.0, 0.0) for each in summary.everything[:number]
    )
    spots = payload_of(replace(summary, places=places))["map"]
    assert len(spots) == (number if number >= FEWEST_CIRCLES else 0)
