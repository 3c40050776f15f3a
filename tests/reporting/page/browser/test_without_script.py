"""The page on paper, and in a browser that runs no script: all that the report says can be read."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

SHOWN = "cap-000000000000"
ONLY_WITH_SCRIPT = ("#filters", "#pager", "#panel", "th button")


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(120)


@pytest.fixture
def plain(file: Path, visit: Callable[..., Page]) -> Page:
    return visit(file, java_script_enabled=False)


@pytest.fixture
def paper(file: Path, visit: Callable[..., Page]) -> Page:
    page = visit(file, fragment=SHOWN, color_scheme="dark")
    page.emulate_media(media="print")
    return page


def test_page_without_script_shows_nothing_that_needs_one(plain: Page) -> None:
    for needing in ONLY_WITH_SCRIPT:
        assert plain.locator(needing).filter(visible=True).count() == 0
    expect(plain.locator("#f-count")).to_be_empty()


def test_evidence_is_read_without_script(plain: Page) -> None:
    articles = plain.locator("article.capability")
    assert articles.count() == 30  # ten of each list
    expect(articles.filter(visible=True)).to_have_count(30)
    expect(articles.first.locator(".wordings tbody tr")).to_have_count(25 + 17)


def test_every_link_of_the_page_leads_somewhere_without_script(plain: Page) -> None:
    links = plain.locator("a[href]").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    targets = Counter(
        plain.locator("[id]").evaluate_all("all => all.map(element => `#${element.id}`)")
    )
    assert f"#{SHOWN}" in links
    assert {link: targets[link] for link in links} == dict.fromkeys(links, 1)


def test_paper_has_the_evidence_and_nothing_to_press(paper: Page) -> None:
    expect(paper.locator("#evidence")).to_be_visible()
    for pressed in (*ONLY_WITH_SCRIPT[:3], "button:not(th button)", "nav"):
        assert paper.locator(pressed).filter(visible=True).count() == 0


def test_paper_has_the_beginning_of_the_evidence(paper: Page) -> None:
    body = paper.locator(f"#{SHOWN}")
    expect(body.locator(".key")).to_be_visible()
    assert body.locator(".wordings tbody tr").filter(visible=True).count() == 5
    assert body.locator(".examples li").filter(visible=True).count() == 2
    expect(body.locator("details").first).to_be_hidden()


def test_paper_says_which_rows_it_has(paper: Page) -> None:
    expect(paper.locator("#f-count")).to_be_visible()
    expect(paper.locator("#f-place")).to_have_text("Rows 1–50 of 84, sorted by rank")
    expect(paper.locator("#f-place")).to_be_visible()
    expect(paper.locator("#evidence .note")).to_contain_text("30 of 120 capabilities")


def test_page_is_read_as_it_was_written_where_its_script_fails(
    file: Path, tmp_path: Path, browser: Browser
) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(
        file.read_text(encoding="utf-8").replace('id="f-group"', 'id="gone"'), encoding="utf-8"
    )
    page = browser.new_page()
    with page.expect_event("pageerror"):
        page.goto(broken.as_uri())
    expect(page.locator("#evidence")).to_be_visible()
    expect(page.locator("#filters")).to_be_hidden()
    page.close()


def test_paper_has_every_page_that_it_needs(paper: Page) -> None:
    pages = paper.pdf(format="A4", prefer_css_page_size=True).count(b"/Type /Page\n")
    paper.set_viewport_size({"width": 680, "height": 1000})  # between the margins of A4
    heights = "all => all.reduce((sum, each) => sum + each.getBoundingClientRect().height, 0)"
    needed = paper.locator("#rows tr, article.capability").evaluate_all(heights) / 1000
    assert needed > 10
    assert pages >= 0.9 * needed
