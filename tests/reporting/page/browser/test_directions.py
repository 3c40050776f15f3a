"""Texts that are written from right to left: what stands beside them stays where it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page

from vocabgap.model.capability import Tally, Workaround
from vocabgap.pipeline import Run
from vocabgap.reporting.page import render_page

LABEL, ONE, OTHER = "מסיכת שמיים", "חשיפה", "ניגודיות"
# Where a number after a name begins, and where the name ends: in pixels from the left.
PLACES = """element => {
    const text = (node, start, end) => {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        return range.getBoundingClientRect();
    };
    const names = [...element.querySelectorAll('bdi')];
    return names.map((each) => {
        const name = each.getBoundingClientRect();
        const number = text(each.nextSibling, 0, each.nextSibling.length);
        return [name.left, name.right, number.left];
    });
}"""


@pytest.fixture(scope="session")
def file(demo_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose first capability is written in Hebrew."""
    summary = demo_run.published.summary
    first, *others = summary.everything
    item = replace(
        first.capability,
        label=LABEL,
        operations=(Tally(ONE, 12), Tally(OTHER, 7)),
        workarounds=(Workaround(ONE, 34),),
        examples=(replace(first.capability.examples[0], source_path=ONE, image_id=OTHER),),
    )
    made = replace(
        summary,
        everything=(replace(first, capability=item), *others),
        capabilities=(item, *summary.capabilities[1:]),
    )
    place = tmp_path_factory.mktemp("page") / "report.html"
    place.write_text(render_page(made), encoding="utf-8")
    return place


@pytest.fixture
def page(file: Path, visit: Callable[..., Page]) -> Page:
    page = visit(file)
    page.locator("#evidence details").evaluate_all(
        "all => all.forEach((each) => { each.open = true; })"
    )
    return page


@pytest.mark.parametrize("part", [".operations p", ".workarounds li", ".records code:last-of-type"])
def test_number_stands_behind_its_name(page: Page, part: str) -> None:
    places = page.locator(f"#evidence {part}").first.evaluate(PLACES)
    assert places
    assert all(right <= number + 1 for _, right, number in places)
    lefts = [left for left, _, _ in places]
    assert lefts == sorted(lefts)


def test_rank_stands_before_the_title(page: Page) -> None:
    title = page.locator("#need")
    name = title.locator("bdi").bounding_box()
    whole = title.bounding_box()
    assert name is not None
    assert whole is not None
    assert name["x"] > whole["x"] + 5


def test_answer_keeps_its_order(page: Page) -> None:
    left = "element => element.getBoundingClientRect().left"
    answer = page.locator("#answer")
    assert 0 < answer.locator("strong").evaluate(left) - answer.evaluate(left) < 120  # "Author"
