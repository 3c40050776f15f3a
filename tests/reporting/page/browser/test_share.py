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
    ".acts",
    ".examples",
    ".workarounds",
    ".images",
    ".covers",
    ".past",
    ".records",
    ".draft",
)


@pytest.fixture(scope="session")
def file(demo_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    gaps = read_gaps(demo_run.published.folder)
    place = tmp_path_factory.mktemp("page") / "share.html"
    place.write_text(render_page(shareable(demo_run.published.summary, gaps, 3)), encoding="utf-8")
    return place


@pytest.fixture
def page(file: Path, visit: Callable[..., Page]) -> Page:
    return visit(file)


def test_list_has_what_may_be_shared(page: Page) -> None:
    expect(page.locator("#count")).to_have_text("10 of 27 needs")
    page.locator("#more").click()
    expect(page.locator("#needs tr[data-id]")).to_have_count(27)
    assert page.locator("#needs a", has_text=NO_WORDING).count() > 0


def test_evidence_has_no_part_of_what_was_left_out(page: Page) -> None:
    body = page.locator("#evidence")
    body.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    expect(body.locator(".wordings")).to_be_visible()
    assert {name: body.locator(name).count() for name in WITHHELD} == dict.fromkeys(WITHHELD, 0)
    expect(body).not_to_contain_text("Identifier")
    expect(page.locator("#basket")).to_have_count(0)


def test_what_was_left_out_is_told(page: Page) -> None:
    page.locator("#views a", has_text="Account").click()
    left_out = "9 needs on fewer images, or in fewer folders, with 17 mentions"
    expect(page.locator("#withheld")).to_contain_text(left_out)
    shown = "all => all.map((each) => each.id)"
    assert page.locator("#sections section:visible").evaluate_all(shown) == ["account", "withheld"]
