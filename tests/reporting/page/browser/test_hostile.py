"""What the page's script makes of hostile texts, in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from builders.hostile import benign_and_hostile, hostile_texts, piled
from vocabgap.pipeline import Run

pytestmark = pytest.mark.slow

PATIENCE = 60_000  # milliseconds
# What the script has made in the list, in each panel and in the fields, part by part: every element in its
# order, with its attributes. Their values are the same, but for what is made of identifiers and numbers.
# Nobody looks at the panels, so what is in them is not laid out, which would take most of the time.
MADE = Path(__file__).with_name("made.js").read_text(encoding="utf-8")
# Of attributes that are free, none but these may have a value that a text can be in.
BOUND = """() => ['href', 'data-id', 'data-action', 'aria-describedby', 'd', 'x', 'width'].flatMap(
    (name) => [...document.querySelectorAll(`[${name}]`)].map((each) => [name, each.getAttribute(name)])
)"""
SHAPES = {
    "href": r"#[a-z-]*(cap-[0-9a-f]{12})?", "data-id": r"cap-[0-9a-f]{12}", "data-action": r"[a-z]+",
    "aria-describedby": r"f-searched|basket-[0-9]+", "d": r"[MVhL0-9. -]*", "x": r"-?[0-9.]+%?",
    "width": r"[0-9.]+%",
}  # fmt: skip


@pytest.fixture(scope="module", params=["published"])
def opened_pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Run]:
    """Two runs, a few texts to a field, for a browser that opens each capability in turn."""
    return benign_and_hostile(
        tmp_path_factory.mktemp("pair"), piled(hostile_texts(request.param), 8)
    )


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[[Run], Page]]:
    """Opens a page; nothing may be asked for, said in the console or shown in a window of its own."""
    noticed: list[str] = []
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    context.on("console", lambda message: noticed.append(message.text))
    context.on("dialog", lambda dialog: noticed.append(dialog.message))
    context.on("weberror", lambda error: noticed.append(str(error.error)))

    def make(run: Run) -> Page:
        address = (run.published.folder / "report.html").as_uri()
        page = context.new_page()
        page.on(
            "request",
            lambda request: noticed.append(request.url) if request.url != address else None,
        )
        page.goto(address)
        return page

    yield make
    context.close()
    assert noticed == []


def test_script_makes_of_hostile_texts_what_it_makes_of_benign_ones(
    opened_pair: tuple[Run, Run], opened: Callable[[Run], Page]
) -> None:
    benign, made = (opened(each).evaluate(MADE) for each in opened_pair)
    assert {part.partition(",")[2] for part in benign} >= {" open", " covered", " settled"}
    assert made == benign


def test_no_text_gets_into_an_attribute(
    opened_pair: tuple[Run, Run], opened: Callable[[Run], Page]
) -> None:
    page = opened(opened_pair[1])
    page.locator("#rows a").first.click()
    for box in page.locator("#panel .decide [type=checkbox]").all():
        box.check()
    found = page.evaluate(BOUND)
    assert {"d", *(name for name, _ in found)} == set(
        SHAPES
    )  # no trend, and so no drawing, of so old records
    assert [(name, value) for name, value in found if not re.fullmatch(SHAPES[name], value)] == []
