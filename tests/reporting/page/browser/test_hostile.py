"""What the page's script makes of hostile texts, in a real browser."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from builders.hostile import benign_and_hostile, hostile_texts, piled
from vocabgap.pipeline import Run

pytestmark = pytest.mark.slow

PATIENCE = 60_000  # milliseconds
# What the script has made in the list, in each panel and in the fields, part by part: every element in its
# order, with its attributes. Their values are the same, but for what is made of identifiers and numbers.
# Nobody looks at the panels, so what is in them is not laid out, which would take most of the time.
MADE = """async () => {
    const unseen = new CSSStyleSheet();
    unseen.replaceSync('#panel-body { display: none }');
    document.adoptedStyleSheets = [unseen];
    const free = new Set(['id', 'href', 'data-id', 'value', 'd', 'x', 'width', 'aria-describedby']);
    const shape = (value) => value.replace(/[0-9]+(–[0-9]+)?/g, '0');  // of an interval
    const made = (within) => [...within.querySelectorAll('*')].map((each) => [
        each.tagName,
        ...[...each.attributes].map(({ name, value }) => (free.has(name) ? name : `${name}=${shape(value)}`)),
    ].join(' '));
    const run = JSON.parse(document.getElementById('run-data').textContent);
    const [id, group] = ['id', 'group'].map((name) => run.columns.indexOf(name));
    const parts = {};
    const asking = [];  // which groups are near each other depends on the texts
    for (const [place, row] of run.rows.entries()) {
        const changed = new Promise((done) => addEventListener('hashchange', done, { once: true }));
        location.hash = row[id];
        await changed;
        const choices = document.querySelector('#panel .decide');
        const way = '[data-action=pin][aria-pressed=false], input:not(:checked)';
        for (const each of choices.querySelectorAll(way)) each.click();
        asking.push(...made(choices));
        choices.remove();
        document.getElementById('panel-basket').hidden = false;
        parts[`panel ${place}, ${row[group]}`] = made(document.getElementById('panel'));
    }
    document.getElementById('f-group').value = '';
    document.getElementById('filters').dispatchEvent(new Event('input'));
    parts.asking = [...new Set(asking)].sort();
    parts.basket = [...new Set(made(document.getElementById('basket')))].sort();
    parts.rows = made(document.getElementById('rows'));
    parts.filters = made(document.getElementById('filters'));
    return parts;
}"""
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
def opened_pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Two runs, a few texts to a field, for a browser that opens each capability in turn."""
    return benign_and_hostile(tmp_path_factory.mktemp("pair"), piled(hostile_texts(request.param), 8))


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
        page.on("request", lambda request: noticed.append(request.url) if request.url != address else None)
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


def test_no_text_gets_into_an_attribute(opened_pair: tuple[Run, Run], opened: Callable[[Run], Page]) -> None:
    page = opened(opened_pair[1])
    page.locator("#rows a").first.click()
    for box in page.locator("#panel .decide [type=checkbox]").all():
        box.check()
    found = page.evaluate(BOUND)
    assert {"d", *(name for name, _ in found)} == set(
        SHAPES
    )  # no trend, and so no drawing, of so old records
    assert [(name, value) for name, value in found if not re.fullmatch(SHAPES[name], value)] == []
