"""The map of the needs in a browser: followed by mouse and by keys, and one category at a time."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

MIDDLES = """all => Object.fromEntries(all.map((link) => {
    const { e: x, f: y } = link.transform.baseVal[0].matrix;
    return [link.getAttribute('href').slice(1), [x, y]];
}))"""

Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(120)


@pytest.fixture
def page(file: Path, visit: Visit) -> Page:
    return visit(file)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('href')?.slice(1) ?? ''"))


def test_circle_opens_the_panel_and_has_the_focus_again(page: Page) -> None:
    page.locator("svg.map a circle").nth(40).click()
    expect(page.locator("#panel-title")).to_contain_text("41. ")
    page.keyboard.press("Escape")
    expect(page.locator("svg.map a").nth(40)).to_be_focused()


def test_map_is_one_stop_and_arrows_go_on_from_there(page: Page) -> None:
    spots = page.locator("svg.map a").evaluate_all(MIDDLES)
    page.locator("#map input").first.focus()
    page.keyboard.press("Tab")
    assert focused(page) == "cap-000000000000"
    for key, axis, sign in (
        ("ArrowRight", 0, 1),
        ("ArrowDown", 1, 1),
        ("ArrowLeft", 0, -1),
        ("ArrowUp", 1, -1),
    ):
        before = focused(page)
        page.keyboard.press(key)
        moved = spots[focused(page)][axis] - spots[before][axis]
        assert moved * sign > 0 or focused(page) == before
    last = focused(page)
    page.keyboard.press("Tab")
    expect(page.locator("#map summary")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert focused(page) == last
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_visible()


def test_one_category_stands_out_when_it_is_chosen(page: Page) -> None:
    page.locator("#map label", has_text="tone").click()
    faint = page.locator("svg.map a").evaluate_all(
        "all => all.filter(a => getComputedStyle(a).opacity < 1).length"
    )
    tone = page.locator("svg.map a", has=page.locator("title", has_text=": tone,")).count()
    assert (faint, tone > 0) == (60 - tone, True)


def test_without_script_those_are_followed_whose_evidence_is_there(
    file: Path, visit: Visit
) -> None:
    plain = visit(file, java_script_enabled=False)
    expect(plain.locator("svg.map a")).to_have_count(60)
    plain.locator("svg.map a[href] circle").first.click()
    expect(plain.locator("#cap-000000000000")).to_be_in_viewport()


def test_ranks_of_earlier_runs_are_a_column_and_a_chart(page: Page) -> None:
    expect(page.locator('th[data-key="before"]')).to_have_text("Before")
    page.locator("#rows a").nth(2).click()
    rows = page.locator("#panel .past tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("2026-07-01")
    drawn = page.locator("#panel .trail path").get_attribute("d") or ""
    assert drawn.count("L") == 3
