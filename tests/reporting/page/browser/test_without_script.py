"""The page on paper, and in a browser that runs no script: the ten needs with their evidence can be read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

ONLY_WITH_SCRIPT = ("#app", "#views", "#basket", "button", "input")


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(120)


@pytest.fixture(params=["without script", "paper"])
def plain(request: pytest.FixtureRequest, file: Path, visit: Callable[..., Page]) -> Page:
    if request.param == "paper":
        page = visit(file, fragment="map", color_scheme="dark")
        page.emulate_media(media="print")
        return page
    return visit(file, java_script_enabled=False)


def test_plain_page_has_the_answer_the_table_and_nothing_to_press(plain: Page) -> None:
    expect(plain.locator("h1")).to_be_visible()
    expect(plain.locator("#answer")).to_be_visible()
    expect(plain.locator("#plain tbody").filter(visible=True)).to_have_count(10)
    expect(plain.locator("#plain tbody").first).to_contain_text("Wordings: ")
    expect(plain.locator("footer")).to_contain_text("Counted as of")
    assert not [
        name for name in ONLY_WITH_SCRIPT if plain.locator(name).filter(visible=True).count()
    ]


def test_page_is_read_as_it_was_written_where_its_script_fails(
    file: Path, tmp_path: Path, browser: Browser
) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(
        file.read_text(encoding="utf-8").replace('id="app"', 'id="gone"'), encoding="utf-8"
    )
    page = browser.new_page()
    with page.expect_event("pageerror"):
        page.goto(broken.as_uri())
    expect(page.locator("#plain")).to_be_visible()
    page.close()
