"""The list in a browser: sorted, filtered, searched and turned page by page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from builders.pages import listed

NUMBER = 120
TRENDS = ["rising", "new", "steady", "fading"]
Rows = list[dict[str, Any]]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(NUMBER, written_out=1)


@pytest.fixture
def rows(file: Path) -> Rows:
    return listed(file)


@pytest.fixture
def page(file: Path, visit: Callable[..., Page]) -> Page:
    page = visit(file, viewport={"width": 1440, "height": 900})  # with room for every column
    page.locator("#f-fold").click()
    return page


def shown(page: Page) -> list[str]:
    found: list[str] = page.locator("#rows tr[data-id]").evaluate_all(
        "rows => rows.map(row => row.dataset.id)"
    )
    return found


def identifiers(rows: Rows) -> list[str]:
    return [row["id"] for row in rows]


def to_author(rows: Rows) -> Rows:
    return [row for row in rows if row["group"] == "open"]


def test_list_opens_with_the_first_of_what_is_to_be_authored(page: Page, rows: Rows) -> None:
    assert shown(page) == identifiers(to_author(rows))[:50]
    expect(page.locator("#f-count")).to_have_text("84 capabilities; 36 in other lists")
    expect(page.locator("th[aria-sort]")).to_have_attribute("data-key", "rank")


@pytest.mark.parametrize(
    ("column", "key", "descending"),
    [
        ("label", lambda row: row["label"].casefold(), False),
        ("mentions", lambda row: row["mentions"], True),
        ("sessions", lambda row: row["sessions"], True),
        ("priority", lambda row: row["priority"], True),
        ("last_seen", lambda row: row["last_seen"] or "", True),
        ("unsatisfied", lambda row: row["unsatisfied"], True),
        ("rank_low", lambda row: (row["rank_low"], row["rank_high"]), False),
        ("trend", lambda row: [*TRENDS, None].index(row["trend"]), False),
        ("category", lambda row: row["category"], False),
    ],
)
def test_heading_sorts_the_list(
    page: Page, rows: Rows, column: str, key: Callable[[dict[str, Any]], Any], descending: bool
) -> None:
    page.locator(f'th[data-key="{column}"] button').click()

    values = [key(row) for row in sorted(to_author(rows), key=key, reverse=descending)[:50]]
    by_id = {row["id"]: row for row in rows}
    assert [key(by_id[each]) for each in shown(page)] == values
    order = "descending" if descending else "ascending"
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", order)
    expect(page.locator("th[aria-sort]")).to_have_attribute("data-key", column)


@pytest.mark.parametrize("descending", [False, True])
def test_what_has_no_date_comes_last_either_way(
    page: Page, rows: Rows, *, descending: bool
) -> None:
    page.locator('th[data-key="last_seen"] button').click(click_count=1 if descending else 2)
    page.locator("#page-next").click()
    undated = [row for row in to_author(rows) if row["last_seen"] is None]
    assert shown(page)[-len(undated) :] == identifiers(undated)


@pytest.mark.parametrize(
    ("field", "label", "column"),
    [("category", "tone", "categories"), ("operation", "toneequal", "operations")],
)
def test_choice_leaves_what_has_a_mention_of_it(
    page: Page, rows: Rows, field: str, label: str, column: str
) -> None:
    page.locator(f"#f-{field}").select_option(label=label)
    fitting = [row for row in to_author(rows) if label in row[column]]
    assert shown(page) == identifiers(fitting)
    assert fitting


def test_image_is_found_by_a_part_of_its_name(page: Page, rows: Rows) -> None:
    page.locator("#f-image").fill("HERON-MARSH")
    fitting = [
        row for row in to_author(rows) if any("heron-marsh" in each for each in row["image_counts"])
    ]
    expect(page.locator("#f-count")).to_contain_text(f"{len(fitting)} of 84 capabilities")
    assert 0 < len(fitting) < 84


@pytest.mark.parametrize(
    ("since", "until", "column", "fits"),
    [
        ("2026-06-13", "", "last_seen", lambda day: day >= "2026-06-13"),
        ("", "2026-03-06", "first_seen", lambda day: day <= "2026-03-06"),
    ],
)
def test_dates_leave_what_was_mentioned_between_them(
    page: Page, rows: Rows, since: str, until: str, column: str, fits: Callable[[str], bool]
) -> None:
    page.locator("#f-since").fill(since)
    page.locator("#f-until").fill(until)
    fitting = [row for row in to_author(rows) if row[column] and fits(row[column])]
    assert shown(page) == identifiers(fitting)[:50]
    assert (since or until) in {row[column] for row in fitting}
    assert len(fitting) < 84


def test_every_word_of_the_text_has_to_be_there(page: Page, rows: Rows) -> None:
    page.locator("#f-text").fill("mask sky")

    def searched(row: dict[str, Any]) -> str:
        return " ".join([row["label"], *(wording for wording, _, _ in row["variants"])]).lower()

    fitting = [row for row in to_author(rows) if "mask" in searched(row) and "sky" in searched(row)]
    assert shown(page) == identifiers(fitting)
    assert len(fitting) < len([row for row in to_author(rows) if "mask" in searched(row)])


def test_identifier_is_found_in_whatever_list_it_is(page: Page) -> None:
    page.locator("#f-text").fill("cap-000000000005")
    expect(page.locator("#f-count")).to_have_text("0 of 84 capabilities; 1 in other lists")
    expect(page.locator("#rows")).to_have_text("No match.")


def test_filters_are_cleared_at_once(page: Page, rows: Rows) -> None:
    page.locator("#f-text").fill("mask")
    page.locator("#f-category").select_option(label="local")
    page.locator("#f-clear").click()
    assert shown(page) == identifiers(to_author(rows))[:50]
    expect(page.locator("#f-text")).to_have_value("")


def test_enter_in_the_search_leaves_the_page_where_it_is(page: Page) -> None:
    page.locator("#f-text").fill("mask")
    before = page.url
    page.locator("#f-text").press("Enter")
    assert page.url == before


def test_pages_are_turned(page: Page, rows: Rows) -> None:
    expect(page.locator("#page-place")).to_have_text("1–50 of 84")
    expect(page.locator("#page-back")).to_be_disabled()
    page.locator("#page-next").click()
    assert shown(page) == identifiers(to_author(rows))[50:]
    expect(page.locator("#page-place")).to_have_text("51–84 of 84")
    expect(page.locator("#page-next")).to_be_disabled()
    expect(page.locator("#list-title")).to_be_focused()
    expect(page.locator("#list-title")).to_be_in_viewport()
