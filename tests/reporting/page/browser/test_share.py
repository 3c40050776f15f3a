"""The page that may leave the machine, in a browser: nothing is missing that it would point to."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from vocabgap.pipeline import Run
from vocabgap.reporting.page import render_page
from vocabgap.reporting.published_run import read_gaps
from vocabgap.reporting.sharing import NO_WORDING, shareable

WITHHELD = (
    ".examples",
    ".workarounds",
    ".images",
    ".covers",
    ".lineage",
    ".decisions",
    ".commands",
)


@pytest.fixture(scope="session")
def file(demo_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    gaps = read_gaps(demo_run.published.folder)
    place = tmp_path_factory.mktemp("page") / "share.html"
    shared = shareable(demo_run.published.summary, gaps, 3)
    place.write_text(render_page(shared), encoding="utf-8")
    return place


@pytest.fixture
def page(file: Path, visit: Callable[..., Page]) -> Page:
    return visit(file)


def test_list_has_what_may_be_shared(page: Page) -> None:
    expect(page.locator("#f-count")).to_have_text("27 capabilities")
    expect(page.locator("#rows tr")).to_have_count(27)
    assert page.locator("#rows a", has_text=NO_WORDING).count() > 0


def test_filters_of_what_was_left_out_are_not_offered(page: Page) -> None:
    expect(page.locator("#f-text")).to_be_visible()
    for field in ("image", "status", "since", "until"):
        expect(page.locator(f"#f-{field}")).to_be_hidden()


def test_panel_has_no_section_of_what_was_left_out(page: Page) -> None:
    page.locator("#rows a").first.click()
    body = page.locator("#panel-body")
    expect(body.locator(".wordings")).to_be_visible()
    for name in WITHHELD:
        assert body.locator(name).count() == 0
    expect(body).not_to_contain_text("Identifier")


def test_panel_says_what_is_said_without_script(
    page: Page, file: Path, visit: Callable[..., Page]
) -> None:
    plain = visit(file, java_script_enabled=False)
    page.locator("#rows a").first.click()
    expect(page.locator("#panel-body")).to_be_visible()
    message = " ".join(page.locator("#panel-body").inner_text().split())
    assert message == " ".join(plain.locator("article.capability .body").first.inner_text().split())


def test_what_was_left_out_is_told_and_linked(page: Page) -> None:
    page.locator(".opening a").click()
    expect(page.locator("#withheld")).to_be_in_viewport()
    left_out = "9 capabilities on fewer images, or in fewer folders, with 17 mentions"
    expect(page.locator("#withheld")).to_contain_text(left_out)
