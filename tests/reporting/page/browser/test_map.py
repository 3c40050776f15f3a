"""The map of the needs in a browser: followed by mouse and by keys, and one category at a time."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

MIDDLES = """all => Object.fromEntries(all.map((link) => {
    const { e: x, f: y } = link.transform.baseVal[0].matrix;
    return [link.getAttribute('href').slice(1), [x, y]];
}))"""
WAYS = (("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("ArrowLeft", 0, -1), ("ArrowUp", 1, -1))


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
    spots = page.locator("svg.map a").evaluate_all(MIDDLES)
    page.locator("#map input").first.focus()
    page.keyboard.press("Tab")
    assert focused(page) == "cap-000000000000"
    for key, axis, sign in WAYS:
        before = focused(page)
        page.keyboard.press(key)
        moved = spots[focused(page)][axis] - spots[before][axis]
        assert moved * sign > 0 or focused(page) == before
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
