"""The list in a browser: its order, its filter, and more needs on request."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from builders.page import read
from builders.pages import listed

NUMBER = 120
Rows = list[dict[str, Any]]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(NUMBER)


@pytest.fixture
def rows(file: Path) -> Rows:
    """What is to be authored, in order of rank."""
    return [row for row in listed(file) if row["group"] == "open"]


@pytest.fixture
def page(file: Path, visit: Callable[..., Page]) -> Page:
    return visit(file)


def shown(page: Page) -> list[str]:
    found: list[str] = page.locator("#needs tr[data-id]").evaluate_all(
        "rows => rows.map(row => row.dataset.id)"
    )
    return found


def identifiers(rows: Rows) -> list[str]:
    return [row["id"] for row in rows]


def filtered(page: Page, text: str) -> list[str]:
    """The needs that a filter finds, all of them."""
    page.locator("#filter").fill(text)
    while page.locator("#more").is_visible():
        page.locator("#more").click()
    return shown(page)


def test_list_begins_with_the_first_ten_and_shows_more_on_request(page: Page, rows: Rows) -> None:
    assert shown(page) == identifiers(rows)[:10]
    expect(page.locator("#count")).to_have_text("10 of 96 needs")
    page.locator("#more").click()
    assert shown(page) == identifiers(rows)[:60]
    expect(page.locator("#needs a").nth(10)).to_be_focused()
    page.locator("#more").click()
    assert shown(page) == identifiers(rows)
    expect(page.locator("#more")).to_be_hidden()


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("category:tone", lambda row: "tone" in row["categories"]),
        ("operation:toneequal", lambda row: "toneequal" in row["operations"]),
        ('operation:"drawn mask"', lambda row: "drawn mask via blend" in row["operations"]),
        (
            "image:HERON-MARSH",
            lambda row: any("heron-marsh" in each for each in row["image_counts"]),
        ),
        ("mask sky", lambda row: all(word in searched(row) for word in ("mask", "sky"))),
        ("cap-000000000003", lambda row: row["id"] == "cap-000000000003"),
        ("status:new", lambda row: row["status"] == "new"),
        (
            "Category: Tone STATUS:New",
            lambda row: "tone" in row["categories"] and row["status"] == "new",
        ),
        ('"sky mask"', lambda row: "sky mask" in searched(row)),
    ],
)
def test_filter_leaves_what_fits(
    page: Page, rows: Rows, text: str, fits: Callable[[dict[str, Any]], bool]
) -> None:
    fitting = [row for row in rows if fits(row)]
    assert filtered(page, text) == identifiers(fitting)
    expect(page.locator("#count")).to_contain_text(f"{len(fitting)} of {len(rows)} needs match")
    expect(page.locator("#ties")).to_be_hidden()
    assert len(fitting) < len(rows)


def searched(row: dict[str, Any]) -> str:
    return " ".join([row["label"], *(wording for wording, _, _ in row["variants"])]).lower()


def test_dates_leave_what_was_mentioned_between_them(page: Page, rows: Rows, file: Path) -> None:
    first_day = date.fromisoformat(read(file.read_text(encoding="utf-8")).data["first_day"])
    since, until = ((date(2026, *day) - first_day).days for day in ((6, 13), (3, 6)))

    def stretches(row: dict[str, Any]) -> list[tuple[int, int]]:
        return [*zip(row["days"][::2], row["days"][1::2], strict=True)]

    late = [row for row in rows if any(day + length > since for day, length in stretches(row))]
    early = [row for row in rows if any(day <= until for day, _ in stretches(row))]
    assert filtered(page, "since:2026-06-13") == identifiers(late)
    assert filtered(page, "until:2026-03-06") == identifiers(early)
    assert 0 < len(early) < len(late) < len(rows)


def test_a_key_without_a_value_is_no_test_and_an_unclear_value_is_named(
    page: Page, rows: Rows
) -> None:
    assert filtered(page, "category: ") == identifiers(rows)
    assert filtered(page, "mask since:yesterday is:foo") == []
    expect(page.locator("#needs")).to_contain_text("Not understood: since:yesterday is:foo.")


def test_address_and_evidence_name_the_same_need_while_a_filter_comes_and_goes(
    file: Path, visit: Callable[..., Page]
) -> None:
    page = visit(file, fragment="cap-000000000004")
    for text, place in (("cap-000000000003", 3), ("nothing at all", None), ("", 4)):
        filtered(page, text)
        name = "" if place is None else f"cap-{place:012x}"
        assert page.url.partition("#")[2] == name
        current = page.locator("#needs [aria-current]")
        expect(current).to_have_count(0 if place is None else 1)
        if place is not None:
            expect(current).to_have_attribute("href", f"#{name}")


@pytest.mark.parametrize(
    ("value", "groups"), [("decided", {"settled"}), ("rare", {"hidden"}), ("ALL", None)]
)
def test_other_lists_are_filters_too(
    page: Page, file: Path, value: str, groups: set[str] | None
) -> None:
    every = [row for row in listed(file) if groups is None or row["group"] in groups]
    assert filtered(page, f"is:{value}") == identifiers(every)


def test_match_in_another_list_is_counted_and_no_match_can_be_cleared(
    page: Page, rows: Rows
) -> None:
    assert filtered(page, "cap-000000000008") == []
    expect(page.locator("#count")).to_have_text("0 of 96 needs match, and 1 in other lists")
    expect(page.locator("#needs")).to_contain_text("No match.")
    for name in ("#evidence", "#legend"):
        expect(page.locator(name)).to_be_hidden()
    page.locator("#needs button").focus()
    page.keyboard.press("p")
    expect(page.locator("#basket")).to_be_hidden()
    page.get_by_role("button", name="Clear the filter").click()
    assert shown(page) == identifiers(rows)[:10]
    expect(page.locator("#filter")).to_be_focused()
    for name in ("#evidence", "#legend"):
        expect(page.locator(name)).to_be_visible()


def test_an_address_of_an_unknown_need_says_so_until_another_is_selected(
    file: Path, visit: Callable[..., Page]
) -> None:
    page = visit(file, fragment="cap-fedcba987654")
    lost = page.locator("#lost")
    expect(lost).to_have_text("This report has no such need.")
    page.keyboard.press("j")
    expect(lost).to_be_empty()
    for name, is_lost in (("elsewhere", False), ("cap-é", True), ("whole", False)):
        page.goto(f"{page.url.partition('#')[0]}#{name}")
        expect(lost).to_have_text("This report has no such need." if is_lost else "")


@pytest.mark.parametrize("name", ["cap-000000000003.", "CAP-000000000003", "cap-000000000003%20)"])
def test_a_damaged_address_shows_the_need_that_it_names(
    file: Path, visit: Callable[..., Page], name: str
) -> None:
    page = visit(file, fragment=name)
    current = page.locator("#needs [aria-current]")
    expect(current).to_have_attribute("href", "#cap-000000000003")
    expect(page.locator("#lost")).to_be_empty()


def test_rows_have_the_numbers_and_marks_of_their_needs(page: Page, rows: Rows) -> None:
    for row, need in zip(page.locator("#needs tr[data-id]").all(), rows[:10], strict=True):
        cells = [
            row.locator(name).inner_text() for name in (".rank", ".mentions", ".failed", ".said")
        ]
        assert cells == [str(need["rank"]), f"{need['mentions']:,}", need["share"], need["quote"]]
        marks = row.locator(".mark").all_inner_texts()
        assert marks[:2] == need["beside"][:2]
