"""Everyone can use the page: by keyboard, on a phone, in the dark, with a screen reader."""

import re
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
def file(page_of: Callable[[int], Path]) -> Path:
    return page_of(10)


@pytest.mark.parametrize(
    ("fragment", "surroundings"),
    [
        ("", {}),
        ("", DARK),
        ("", PHONE),
        (SHOWN, {}),
        (SHOWN, {**DARK, **PHONE}),
    ],
    ids=["light", "dark", "phone", "panel", "panel on a dark phone"],
)
def test_no_rule_of_accessibility_is_broken(
    file: Path, visit: Visit, fragment: str, surroundings: dict[str, Any]
) -> None:
    page = visit(file, fragment=fragment, **surroundings)
    assert violations(page) == []


def test_no_rule_is_broken_without_script(file: Path, tmp_path: Path, visit: Visit) -> None:
    # What looks for violations is a script itself, and would not run either where none may.
    plain = tmp_path / "plain.html"
    plain.write_text(
        re.sub(r"(?s)<script>.*?</script>", "", file.read_text(encoding="utf-8")), encoding="utf-8"
    )
    page = visit(plain)
    expect(page.locator("#evidence")).to_be_visible()
    assert violations(page) == []


def violations(page: Page) -> list[tuple[str, str]]:
    """The rules that are broken, and by which elements."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("fragment", ["", SHOWN])
@pytest.mark.parametrize("scripted", [True, False])
def test_page_is_not_wider_than_a_phone(file: Path, visit: Visit, fragment: str, *, scripted: bool) -> None:
    page = visit(file, fragment=fragment, java_script_enabled=scripted, **PHONE)
    widths = "element => [element.scrollWidth, element.clientWidth]"
    for place in ("html", "#panel") if fragment and scripted else ("html",):
        wide, shown = page.locator(place).evaluate(widths)
        assert wide <= shown


def test_dark_and_light_are_two_looks(file: Path, visit: Visit) -> None:
    page = visit(file)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != light


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
    focus(page, "button.copy")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-said")).to_have_text("Copied")
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
    page.locator("#f-slash").uncheck()
    page.locator("#rows a").first.focus()
    page.keyboard.press("/")
    expect(page.locator("#rows a").first).to_be_focused()


def test_focus_stays_in_the_panel_while_it_is_open(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN)
    for _ in range(20):
        page.keyboard.press("Tab")
        inside = "document.activeElement === document.body || !!document.activeElement.closest('#panel')"
        assert page.evaluate(inside)


def test_keys_of_the_browser_are_left_to_it(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN)
    before = page.locator("#panel-title").inner_text()
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#panel-title")).to_have_text(before)


def test_nothing_moves_for_who_wants_no_motion(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN, reduced_motion="reduce")
    moving = "element => element.getAnimations({subtree: true}).length"
    assert page.locator("html").evaluate(moving) == 0
