"""The first screen is the decision: ten needs, the evidence of the first, and a command after a few keys."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from builders.pages import listed
from vocabgap.pipeline import Run

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
HEIGHT = "document.documentElement.scrollHeight"
COUNTED = """() => {
    window.counted = { keys: 0, taps: 0 };
    addEventListener('keydown', () => { counted.keys += 1; }, true);
    addEventListener('pointerup', () => { counted.taps += 1; }, true);
}"""
# Elements that are too narrow for their text, and neither scroll nor cut it on purpose.
OVERFLOWING = """() => [...document.querySelectorAll('body *')].filter((each) => {
    const { clipPath, display, overflowX, textOverflow } = getComputedStyle(each);
    const isCut = clipPath !== 'none' || textOverflow === 'ellipsis';
    const isSeen = each.getClientRects().length && display !== 'inline' && !each.closest('svg');
    const isTooWide = each.scrollWidth > each.clientWidth + 1;
    return isSeen && isTooWide && !isCut && !['auto', 'scroll'].includes(overflowX);
}).map((each) => each.outerHTML.slice(0, 120))"""

Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def demo(demo_run: Run) -> Path:
    return demo_run.published.folder / "report.html"


@pytest.fixture(params=["demo", "five", "many"])
def file(request: pytest.FixtureRequest, demo: Path, page_of: Callable[..., Path]) -> Path:
    """The page of the demo, and of fewer and more needs with something in every part."""
    return {"demo": lambda: demo, "five": lambda: page_of(5), "many": lambda: page_of(120)}[
        request.param
    ]()


def bottom(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_ten_needs_and_the_evidence_of_the_first_are_on_the_first_screen(
    file: Path, visit: Visit
) -> None:
    page = visit(file, **DESK)
    rows = page.locator("#needs tbody tr")
    first = listed(file)[0]
    assert rows.count() == min(10, sum(row["group"] == "open" for row in listed(file)))
    assert bottom(rows.last) <= 800
    for element in (
        page.locator("#answer"),
        page.locator("#evidence .acts"),
        page.locator("#evidence q").first,
    ):
        assert bottom(element) <= 800
    expect(page.locator("#answer")).to_contain_text(first["label"])
    expect(page.locator("#evidence h2")).to_have_text(f"1. {first['label']}")
    for row in rows.all():
        for part in (".rank", ".label", ".mentions svg", ".mentions b", ".failed", ".said"):
            expect(row.locator(part)).to_be_visible()


def test_names_and_quotes_of_usual_length_are_whole(file: Path, visit: Visit) -> None:
    page = visit(file, **DESK)
    for text in page.locator("#needs tbody :is(.label bdi, .said)").all():
        if len(text.inner_text()) <= 80:
            assert text.evaluate("each => each.scrollHeight <= each.clientHeight + 1")


def test_the_answer_has_room_below_the_tabs(demo: Path, visit: Visit) -> None:
    page = visit(demo, **PHONE)
    answer = page.locator("#answer").bounding_box()
    assert answer is not None
    assert answer["y"] - bottom(page.locator("#views a[aria-current]")) >= 12


def test_demo_is_short_on_each_screen_and_on_paper(demo: Path, visit: Visit) -> None:
    assert visit(demo, **DESK).evaluate(HEIGHT) <= 1_600
    assert visit(demo, viewport={"width": 390, "height": 844}).evaluate(HEIGHT) <= 3_200
    paper = visit(demo, color_scheme="dark")
    paper.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    assert paper.pdf(format="A4", prefer_css_page_size=True).count(b"/Type /Page\n") <= 5


def test_nothing_is_wider_than_the_window_or_its_box(file: Path, visit: Visit) -> None:
    page = visit(file)
    for name in ("", listed(file)[0]["id"], "whole", "account"):
        page.goto(f"{page.url.partition('#')[0]}#{name}")
        for width in (320, 390, 760, 980, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 844})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert (name, width, wide, page.evaluate(OVERFLOWING)) == (name, width, width, [])


def test_ten_decisions_take_two_keys_each(demo: Path, visit: Visit) -> None:
    page = visit(demo, **DESK)
    page.evaluate(COUNTED)
    for key in (*("m", "j") * 9, "m"):
        page.keyboard.press(key)
    expect(page.locator("#basket-count")).to_have_text("10 decisions")
    assert page.evaluate("counted.keys") == 19
    expect(page.locator("#basket-command")).to_contain_text("vocabgap decide apply -")


def test_ten_decisions_take_two_taps_each_on_a_phone(demo: Path, visit: Visit) -> None:
    page = visit(demo, **PHONE)
    page.evaluate(COUNTED)
    page.locator("#needs a").first.tap()
    for place in range(10):
        page.locator("#evidence [data-action=claim]").tap()
        if place < 9:
            page.locator("#next").tap()
    assert page.evaluate("counted.taps") == 20
    page.locator("#back").tap()
    expect(page.locator("#basket-count")).to_have_text("10 decisions")
    for button in page.locator("button:visible, #views a").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44


def test_a_phone_shows_the_list_and_one_tap_leads_to_the_same_evidence(
    demo: Path, visit: Visit
) -> None:
    page = visit(demo, **PHONE)
    expect(page.locator("#evidence")).to_be_hidden()
    page.locator("#needs a").nth(1).tap()
    expect(page.locator("#needs")).to_be_hidden()
    on_phone = page.locator("#evidence section").all_inner_texts()
    page.go_back()
    expect(page.locator("#needs a").nth(1)).to_be_focused()
    beside = visit(demo, fragment=listed(demo)[1]["id"], **DESK)
    assert beside.locator("#evidence section").all_inner_texts() == on_phone
