"""The evidence of the selected need, and the address that names what is shown."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from builders.pages import listed

FIRST, SECOND, COVERED, SETTLED = (f"cap-{place:012x}" for place in (0, 1, 5, 8))

Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(30)


@pytest.fixture
def page(file: Path, visit: Visit) -> Page:
    return visit(file)


def link(page: Page, identifier: str) -> Locator:
    return page.locator(f'#needs a[href="#{identifier}"]')


def fragment(page: Page) -> str:
    return page.url.partition("#")[2]


def test_link_shows_the_evidence_and_the_address_names_it(page: Page) -> None:
    expect(link(page, FIRST)).to_have_attribute("aria-current", "true")
    link(page, SECOND).click()
    expect(page.locator("#need")).to_have_text(f"2. {link(page, SECOND).inner_text()}")
    expect(page.locator("#needs [aria-current]")).to_have_count(1)
    expect(link(page, SECOND)).to_have_attribute("aria-current", "true")
    assert fragment(page) == SECOND


@pytest.mark.parametrize(
    ("name", "view", "shown"),
    [
        (SETTLED, "needs", "9. "), (COVERED, "needs", "6. "), ("cap-%zz", "needs", "1. "),
        ("categories", "Overview", "By category"), ("account", "Account", "counted 334"),
        ("map", "map", "Category"),
    ],
)  # fmt: skip
def test_address_shows_what_it_names(
    file: Path, visit: Visit, name: str, view: str, shown: str
) -> None:
    page = visit(file, fragment=name)
    expect(page.locator("body")).to_have_attribute("data-view", view)
    visible = " ".join(page.locator("main").inner_text().split())
    assert shown in visible
    expect(page.locator("#views [aria-current]")).to_have_count(1)


def test_views_are_made_when_they_are_first_shown_and_left_by_back(page: Page) -> None:
    assert page.locator("#sections section").count() == 0
    page.locator("#views a", has_text="Overview").click()
    expect(page.locator("#categories")).to_be_visible()
    expect(page.locator("#account")).to_be_hidden()
    page.locator("#operations tbody a").first.click()
    expect(page.locator("#need")).to_be_focused()
    page.go_back()
    expect(page.locator("#operations")).to_be_visible()


def test_evidence_has_all_texts_of_its_need(page: Page, file: Path) -> None:
    (need,) = (row for row in listed(file) if row["id"] == FIRST)
    page.locator("#evidence details").evaluate_all(
        "all => all.forEach(each => { each.open = true; })"
    )
    text = " ".join(page.locator("#evidence").inner_text().lower().split())
    assert len(need["variants"]) > 25
    for wording, mentions, similarity in need["variants"]:
        assert f"{' '.join(wording.lower().split())} {mentions:,} {similarity:.2f}" in text
    workarounds = [workaround for workaround, _ in need["workarounds"]]
    for part in (need["level"], *need["beside"], *need["past"], *need["facts"][1::2], *workarounds):
        assert " ".join(part.lower().split()) in text


def test_covered_and_settled_needs_say_so(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=COVERED)
    expect(page.locator("#evidence .covers")).to_contain_text("tone_lifted_shadows")
    expect(page.locator(f"tr[data-id='{COVERED}'] .mark").first).to_contain_text("probably exists")
    page = visit(file, fragment=SETTLED)
    expect(page.locator("#evidence [data-action=reopen]")).to_be_visible()
    expect(page.locator("#evidence .past")).to_contain_text(
        "dismissed by ada on 2026-06-01: <b>rare</b>"
    )


def test_ranks_of_earlier_runs_are_a_table_with_the_newest_first(page: Page) -> None:
    link(page, SECOND).click()
    page.locator("#evidence > details > summary").click()
    rows = page.locator("#evidence .ranks tbody tr")
    expect(rows).to_have_count(3)  # one of four runs did not see it
    expect(rows.first).to_contain_text("2026-07-01")


def test_scroll_room_of_the_evidence_has_its_own_bar(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    page.locator("#evidence details").evaluate_all(
        "all => all.forEach(each => { each.open = true; })"
    )
    heights = page.locator("#evidence").evaluate("each => [each.clientHeight, each.scrollHeight]")
    assert heights[0] < 600 < heights[1]
    expect(page).to_have_title(re.compile("What to author next"))
