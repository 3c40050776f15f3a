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
# What the script makes in the list, the evidence, the forms, the decisions and the overviews: every element
# with its attributes. Most of it is not laid out, which would take most of the time.
MADE = Path(__file__).with_name("made.js").read_text(encoding="utf-8")
# Attributes whose values differ, and the shapes that they may have; only a title is a text.
BOUND = """names => names.flatMap(
    (name) => [...document.querySelectorAll(`[${name}]`)].map((each) => [name, each.getAttribute(name)])
)"""
SHAPES = {
    "href": r"#[a-z-]*(cap-[0-9a-f]{12})?", "data-id": r"cap-[0-9a-f]{12}", "data-action": r"[a-z]+",
    "aria-describedby": r"basket-[0-9]+", "class": r"[a-z0-9 -]*", "id": r"[a-z0-9-]+",
    "transform": r"translate\([0-9. ]+\)", "r": r"[0-9.]+",
    "x": r"-?[0-9.]+%?", "y": r"-?[0-9.]+", "width": r"[0-9.]+%", "d": r"[MVhL0-9. -]*",
}  # fmt: skip


@pytest.fixture(scope="module", params=["own", "published"])
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
    benign = opened(opened_pair[0])
    expected = benign.evaluate(MADE)
    benign.close()
    hostile = opened(opened_pair[1])
    made = hostile.evaluate(MADE)
    assert {part.partition(",")[2] for part in expected} >= {" open", " settled"}
    assert made == expected
    found = hostile.evaluate(BOUND, [*SHAPES])
    assert {"href", "data-id", "class", "aria-describedby"} <= {name for name, _ in found}
    assert [each for each in found if not re.fullmatch(SHAPES[each[0]], each[1])] == []
