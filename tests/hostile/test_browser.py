"""What the page's script makes of hostile texts, in a real browser."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from vocabgap.pipeline import Run

Dressed = tuple[list[Path], Path]

pytestmark = pytest.mark.slow

PATIENCE = 60_000  # milliseconds
# Every element that the script has made, with the names of its attributes: in the list, and in each panel.
MADE = """async () => {
    const found = new Set();
    const note = (within) => within.querySelectorAll('*').forEach((each) => {
        found.add([each.tagName, ...each.getAttributeNames()].join(' '));
    });
    const run = JSON.parse(document.getElementById('run-data').textContent);
    const [id, group] = ['id', 'group'].map((name) => run.columns.indexOf(name));
    for (const row of run.rows.filter((row) => row[group] === 'open')) {
        const changed = new Promise((done) => addEventListener('hashchange', done, { once: true }));
        location.hash = row[id];
        await changed;
        note(document.getElementById('panel-body'));
    }
    document.getElementById('f-group').value = '';
    document.getElementById('filters').dispatchEvent(new Event('input'));
    note(document.getElementById('rows'));
    note(document.getElementById('filters'));
    return [...found].sort();
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on PATH: install Debian's package 'chromium' to test the page in a browser")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--headless", "--no-sandbox"])
        yield chromium
        chromium.close()


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
    hostile: Dressed,
    dress: Callable[[list[str]], Dressed],
    publish: Callable[[Dressed], Run],
    opened: Callable[[Run], Page],
) -> None:
    plain = dress([f"kind{number} " for number in range(len(hostile[0]))])
    benign, made = (opened(publish(each)).evaluate(MADE) for each in (plain, hostile))
    assert made == benign
    assert any(each.startswith("TD") for each in benign)
