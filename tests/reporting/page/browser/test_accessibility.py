"""Everyone can use the page: by keyboard, on a phone, in the dark, with a screen reader."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

SHOWN = "cap-000000000000"
PHONE = {"viewport": {"width": 390, "height": 844}}
DARK = {"color_scheme": "dark"}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}

Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(10)


@pytest.mark.parametrize(
    ("fragment", "surroundings"),
    [("", {}), (SHOWN, {**DARK, **PHONE}), ("", {"forced_colors": "active"})],
    ids=["light", "panel on a dark phone", "forced colours"],
)
def test_no_rule_of_accessibility_is_broken(
    file: Path, visit: Visit, fragment: str, surroundings: dict[str, Any]
) -> None:
    page = visit(file, fragment=SHOWN, **surroundings)
    page.locator(".decide [type=checkbox]").first.check()
    page.get_by_role("button", name="Author").click()
    if not fragment:
        page.locator("#panel-basket").click()
    assert violations(page) == []


@pytest.mark.parametrize("surroundings", [{}, DARK, PHONE, {**DARK, **PHONE}])
def test_no_rule_of_accessibility_is_broken_with_all_unfolded(
    file: Path, visit: Visit, surroundings: dict[str, Any]
) -> None:
    page = visit(file, **surroundings)
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    assert violations(page) == []


def violations(page: Page) -> list[tuple[str, str]]:
    """The rules that are broken, and by which elements."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("fragment", ["", SHOWN])
@pytest.mark.parametrize("scripted", [True, False])
def test_nothing_is_wider_than_the_window(
    file: Path, visit: Visit, fragment: str, *, scripted: bool
) -> None:
    page = visit(file, fragment=fragment, java_script_enabled=scripted)
    widths = "element => [element.scrollWidth, element.clientWidth]"
    for width in (320, 390, 720, 768, 980, 1024, 1110, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for place in ("html", ".rows", "#panel") if fragment and scripted else ("html", ".rows"):
            wide, shown = page.locator(place).evaluate(widths)
            assert (width, wide) <= (width, shown), place


def test_first_key_leads_past_the_head_of_the_page(file: Path, visit: Visit) -> None:
    page = visit(file)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_list_is_used_by_keyboard_alone(file: Path, visit: Visit) -> None:
    page = visit(file)
    page.keyboard.press("/")
    expect(page.locator("#f-text")).to_be_focused()
    page.keyboard.type("sky/mask")
    expect(page.locator("#f-text")).to_have_value("sky/mask")
    page.locator("#f-text").fill("")
    focus(page, 'th[data-key="mentions"] button')
    page.keyboard.press("Enter")
    expect(page.locator('th[data-key="mentions"]')).to_have_attribute("aria-sort", "descending")
    focus(page, "#rows a")
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#rows a").first).to_be_focused()


def focus(page: Page, selector: str) -> None:
    """Press the tabulator until it is the turn of the first that fits, as a person would."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached")


def test_slash_is_typed_as_it_is_where_the_key_is_turned_off(file: Path, visit: Visit) -> None:
    page = visit(file)
    page.locator("#f-fold").click()
    page.locator("#f-slash").uncheck()
    page.locator("#rows a").first.focus()
    page.keyboard.press("/")
    expect(page.locator("#rows a").first).to_be_focused()


def test_filters_are_folded_away(file: Path, visit: Visit) -> None:
    page = visit(file)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        expect(page.locator("#f-text")).to_be_visible()
        for folded in ("#f-category", "#f-slash"):
            expect(page.locator(folded)).to_be_hidden()


def test_phone_shows_the_lead_first_and_rows_as_cards(file: Path, visit: Visit) -> None:
    page = visit(file, **PHONE)
    expect(page.locator(".lead dd").last).to_be_in_viewport(ratio=1)
    tops = [
        page.locator(each).evaluate("each => each.getBoundingClientRect().top")
        for each in (".opening", "#shortlist", "#list", "#map")
    ]
    assert tops == sorted(tops)
    row = page.locator("#rows tr").first
    height = "(row) => row.clientHeight / parseFloat(getComputedStyle(row).lineHeight)"
    assert row.evaluate(height) < 5
    expect(row.locator(".c-unsatisfied")).to_be_visible()


def test_what_the_panel_scrolls_to_is_not_behind_its_head(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN, viewport={"width": 1280, "height": 500})
    head = page.locator(".panel-ways").bounding_box()
    top = "element => { element.scrollIntoView(); return element.getBoundingClientRect().top; }"
    assert head is not None
    assert page.locator("#panel .wordings").evaluate(top) >= head["y"] + head["height"]


def test_focus_stays_in_the_panel_while_it_is_open(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN)
    for _ in range(20):
        page.keyboard.press("Tab")
        inside = (
            "document.activeElement === document.body || !!document.activeElement.closest('#panel')"
        )
        assert page.evaluate(inside)


def test_keys_of_the_browser_are_left_to_it(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN)
    before = page.locator("#panel-title").inner_text()
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#panel-title")).to_have_text(before)


def test_nothing_moves_for_who_wants_no_motion(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN, reduced_motion="reduce")
    behaviour = "element => getComputedStyle(element).scrollBehavior"
    assert page.locator("html").evaluate(behaviour) == "auto"
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator("html").evaluate(behaviour) == "smooth"
