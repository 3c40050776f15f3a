"""The panel about one capability: how it is opened and left, and that it says what paper says."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from builders.pages import listed

NUMBER = 30
FIRST, SECOND, THIRD = "cap-000000000000", "cap-000000000001", "cap-000000000002"
COVERED, SETTLED = "cap-000000000005", "cap-000000000008"

Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(NUMBER, written_out=3)


@pytest.fixture
def page(file: Path, visit: Visit) -> Page:
    return visit(file)


def link(page: Page, identifier: str) -> Locator:
    return page.locator(f'#rows a[href="#{identifier}"]')


def opened(page: Page, identifier: str) -> None:
    link(page, identifier).click()
    expect(page.locator("#panel")).to_be_visible()


def left(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page).to_have_url(re.compile(r"^[^#]*#?$"))


def fragment(page: Page) -> str:
    return page.url.partition("#")[2]


def test_link_opens_the_panel_and_the_address_names_it(page: Page) -> None:
    opened(page, SECOND)
    expect(page.locator("#panel-title")).to_have_text(f"2. {link(page, SECOND).inner_text()}")
    expect(page.locator("#panel-title")).to_be_focused()
    expect(page).to_have_title(re.compile(re.escape(link(page, SECOND).inner_text())))
    assert fragment(page) == SECOND


def test_address_opens_the_panel(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=COVERED)
    expect(page.locator("#panel-title")).to_contain_text("6. ")
    page.locator("#panel-close").click()
    expect(page.locator("#panel")).to_be_hidden()
    expect(page).to_have_url(re.compile(r"^[^#]*#?$"))


def test_address_of_no_capability_opens_nothing(file: Path, visit: Visit) -> None:
    page = visit(file, fragment="cap-%zz")
    expect(page.locator("#f-count")).not_to_be_empty()
    expect(page.locator("#panel")).to_be_hidden()


def test_ways_back_and_forward_close_and_open_the_panel(page: Page) -> None:
    opened(page, SECOND)
    page.go_back()
    expect(page.locator("#panel")).to_be_hidden()
    page.go_forward()
    expect(page.locator("#panel-title")).to_contain_text("2. ")


def test_list_is_gone_through_in_its_order(page: Page) -> None:
    page.locator('th[data-key="rank"] button').click()
    page.locator("#rows a").first.click()
    expect(page.locator("#panel-title")).to_contain_text("28. ")
    expect(page.locator("#panel-back")).to_be_disabled()
    page.locator("#panel-next").click()
    expect(page.locator("#panel-title")).to_contain_text("27. ")
    expect(page.locator("#panel-said")).to_contain_text(": 2 of 21")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel-title")).to_contain_text("25. ")
    left(page)
    expect(page.locator('#rows a[href="#cap-000000000018"]')).to_be_focused()


def test_capability_that_is_not_listed_leads_to_no_other(page: Page) -> None:
    page.locator(f'#covered a[href="#{COVERED}"]').click()
    expect(page.locator("#panel-back")).to_be_disabled()
    expect(page.locator("#panel-next")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-title")).to_contain_text("6. ")
    left(page)
    expect(page.locator(f'#covered a[href="#{COVERED}"]')).to_be_focused()


# White space between elements is as it is written in a template; what is set with a script has none.
_WRITTEN = """
(roots) => roots.map((root) => {
  const copy = root.cloneNode(true);
  copy.querySelectorAll('.decide, button').forEach((each) => each.remove());
  return copy.innerHTML.replace(/h4>/g, 'h3>').replace(/\\s+/g, ' ')
    .replace(/> | (?=<)/g, (part) => part.trim());
})
"""


@pytest.mark.parametrize("identifier", [FIRST, SECOND, THIRD, COVERED, SETTLED])
def test_panel_is_what_is_read_without_script(file: Path, visit: Visit, identifier: str) -> None:
    page = visit(file, fragment=identifier)
    panel = page.locator("#panel-body").evaluate_all(_WRITTEN)
    article = page.locator(f"#{identifier} .body").evaluate_all(_WRITTEN)
    assert panel == article
    assert len(panel[0]) > 2000


def test_rows_are_what_is_read_without_script(page_of: Callable[..., Path], visit: Visit) -> None:
    file = page_of(NUMBER)
    scripted = visit(file).locator("#rows tr").evaluate_all(_WRITTEN)
    plain = visit(file, java_script_enabled=False).locator("#rows tr").evaluate_all(_WRITTEN)
    assert scripted[: len(plain)] == plain
    assert len(plain) == 10


def test_all_wordings_are_in_the_panel(page: Page, file: Path) -> None:
    opened(page, FIRST)
    page.locator("#panel .wordings summary").click()
    wordings = [wording for wording, _, _ in listed(file)[0]["variants"]]
    assert len(wordings) > 25
    first = "cells => cells.map((cell) => cell.firstChild.textContent)"
    assert page.locator("#panel .wordings tbody th").evaluate_all(first) == wordings
