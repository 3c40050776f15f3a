"""Everyone can use the page: by keyboard, on a phone, in the dark, with a screen reader."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

SHOWN, SECOND = "cap-000000000000", "cap-000000000001"
PHONE = {"viewport": {"width": 390, "height": 844}}
DARK = {"color_scheme": "dark"}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}

Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(20)


def unfold(page: Page) -> None:
    page.locator("#evidence details").evaluate_all(
        "all => all.forEach(each => { each.open = true; })"
    )


def ask(page: Page) -> None:
    page.locator("#evidence [data-action=split]").click()
    page.locator("#asking [type=checkbox]").first.check()


def decide(page: Page) -> None:
    page.locator("#evidence [data-action=claim]").click()
    page.locator("#basket-count").click()


@pytest.mark.parametrize(
    ("fragment", "surroundings", "prepare"),
    [
        ("", {}, unfold),
        (SHOWN, {}, ask),
        (SHOWN, DARK, decide),
        ("categories", {}, None),
        ("map", DARK, None),
        ("", PHONE, None),
        (SHOWN, {**DARK, **PHONE}, ask),
        ("", {"forced_colors": "active"}, decide),
    ],
    ids=[
        "list and evidence", "form", "dark basket", "overviews", "dark map", "phone", "dark form on a phone",
        "forced colours",
    ],
)  # fmt: skip
def test_no_rule_of_accessibility_is_broken(
    file: Path,
    visit: Visit,
    fragment: str,
    surroundings: dict[str, Any],
    prepare: Callable[[Page], None] | None,
) -> None:
    page = visit(file, fragment=fragment, **surroundings)
    if prepare is not None:
        prepare(page)
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]] == []


def test_first_key_leads_to_the_selected_need(file: Path, visit: Visit) -> None:
    page = visit(file)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#needs a").first).to_be_focused()


def test_list_and_evidence_are_used_by_keyboard_alone(file: Path, visit: Visit) -> None:
    page = visit(file)
    press = page.keyboard.press
    page.locator("#needs a").first.focus()
    press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("sky/mjd")  # letters of a text are no keys
    expect(page.locator("#filter")).to_have_value("sky/mjd")
    expect(page.locator("#basket")).to_be_hidden()
    page.locator("#filter").fill("")
    press("Enter")
    page.locator("#needs a").first.click()
    press("ArrowDown")
    expect(page.locator("#needs a").nth(1)).to_be_focused()
    expect(page.locator("#needs [aria-current]")).to_have_attribute("href", f"#{SECOND}")
    press("Enter")
    press("d")
    expect(page.locator("#asked")).to_be_focused()
    press("Escape")
    page.locator("#need").focus()
    press("j")
    expect(page.locator("#need")).to_contain_text("3. ")
    expect(page.locator("#need")).to_be_focused()
    press("Escape")
    expect(page.locator("#needs a").nth(2)).to_be_focused()


def test_keys_act_from_the_start_of_the_page_and_the_list_names_them(
    file: Path, visit: Visit
) -> None:
    page = visit(file)
    expect(page.locator("#legend kbd")).to_have_text("j ↓ k ↑")
    for key in ("j", "m", "j", "k"):
        page.keyboard.press(key)
    expect(page.locator("#need")).to_contain_text("2. ")
    expect(page.locator("#needs a").nth(1)).to_be_focused()
    expect(page.locator("#basket-count")).to_have_text("1 decision")


def test_keys_decide_nothing_while_another_view_is_open(file: Path, visit: Visit) -> None:
    page = visit(file, fragment="whole")
    for key in ("m", "p", "j", "/"):
        page.keyboard.press(key)
    expect(page.locator("#basket")).to_be_hidden()
    expect(page.locator("#need")).to_contain_text("1. ")


@pytest.mark.parametrize("selector", [".skip", "#filter", "#views a", "#basket-count"])
def test_letters_are_no_keys_while_something_else_has_the_focus(
    file: Path, visit: Visit, selector: str
) -> None:
    page = visit(file)
    page.locator("#needs a").first.focus()
    page.keyboard.press("m")
    page.locator(selector).first.focus()
    for key in ("p", "j", "z"):
        page.keyboard.press(key)
    expect(page.locator("#basket-count")).to_have_text("1 decision")
    expect(page.locator("#need", has_text="2. ")).to_have_count(0)


def test_keys_of_the_browser_are_left_to_it(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=SHOWN)
    page.locator("#needs a").first.focus()
    for key in ("Control+ArrowDown", "Alt+m", "Control+p"):
        page.keyboard.press(key)
    expect(page.locator("#need")).to_contain_text("1. ")
    expect(page.locator("#basket")).to_be_hidden()
