"""A person decides on the page; one command or one file records it, and the next report follows."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Locator, Page, expect

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.model.settings import DEFAULT_DECISIONS

FIRST, SECOND, DISMISSED, RARE = (f"cap-{place:012x}" for place in (0, 1, 8, 59))
NEEDS = {
    "sharpen the eyes": 9, "sharpen both eyes": 4, "sharpen eyes in a portrait": 3,
    "a brush for the teeth": 5, "whiten teeth with a brush": 4, "brush to whiten every tooth": 3,
    "teeth brush": 2, "polish the teeth of one person": 2, "lens flare": 1,
}  # fmt: skip
TOLD = 'it\'s "50 %" \\n `x` $HOME — naïve'

Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(61)


@pytest.fixture
def page(file: Path, visit: Visit) -> Page:
    return visit(file, fragment=FIRST)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a report in the present folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_EMBEDDER", "none")
    mentioned = [need for need, times in NEEDS.items() for _ in range(times)]
    lines = [gap(need, session_id=str(number)) for number, need in enumerate(mentioned)]
    write_corpus(tmp_path, {"heron": lines})
    assert vocabgap("report", "photos").code == 0
    return tmp_path / "out" / "report.html"


def groups(report: Path) -> dict[str, frozenset[str]]:
    """Return the wordings of each capability, by label."""
    rows = (
        pl.read_parquet(report.parent / "capabilities.parquet")
        .select("label", "variants")
        .iter_rows()
    )
    return {label: frozenset(each["wording"] for each in variants) for label, variants in rows}


def boxes(page: Page, action: str) -> list[Locator]:
    """Open the form of an action, and return its boxes."""
    page.locator(f"#evidence [data-action={action}]").click()
    return page.locator("#asking [type=checkbox]").all()


def selected(page: Page, label: str) -> None:
    page.locator("#needs").get_by_role("link", name=label, exact=True).click()


def told(page: Page, action: str, text: str) -> None:
    """Decide with a text; an action may be folded."""
    page.locator(f"#evidence [data-action={action}]").evaluate("each => each.click()")
    page.keyboard.insert_text(text)
    page.keyboard.press("Enter")


def saved(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        page.locator("#basket-save").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def lines(page: Page) -> Locator:
    return page.locator("#basket-lines li")


def test_next_report_is_what_was_ticked(report: Path, visit: Visit) -> None:
    page = visit(report)
    selected(page, "a brush for the teeth")
    for box in boxes(page, "merge"):
        box.check()
    expect(page.locator("#asking [role=status]")).to_have_text("11 → 16 mentions")
    selected(page, "sharpen the eyes")
    for box in boxes(page, "split")[:2]:
        box.check()
    expect(page.locator("#asking [role=status]")).to_have_text("16 → 9 mentions")
    told(page, "rename", "sharper eyes")

    assert vocabgap("decide", "apply", saved(page, report.parent)).code == 0
    vocabgap("report", "photos")

    teeth = {need for need in NEEDS if "te" in need or "tooth" in need}
    alone = ("sharpen both eyes", "sharpen eyes in a portrait", "lens flare")
    assert groups(report) == {
        "a brush for the teeth": teeth,
        "sharper eyes": {"sharpen the eyes"},
        **{need: {need} for need in alone},
    }


def test_copied_command_runs_as_it_stands(report: Path, visit: Visit) -> None:
    page = visit(report)
    selected(page, "lens flare")
    told(page, "dismiss", TOLD)
    page.locator("#basket-copy").click()
    expect(page.locator("#basket-said")).to_have_text("Copied: paste it into a terminal.")
    reading = visit(report, permissions=["clipboard-read", "clipboard-write"])
    command = reading.evaluate("navigator.clipboard.readText()")

    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    subprocess.run(["/bin/bash", "-c", command], env={**os.environ, "PATH": path}, check=True)

    assert command.isascii()
    (decision,) = map(json.loads, Path(DEFAULT_DECISIONS).read_text(encoding="utf-8").splitlines())
    assert (decision["action"], decision["reason"]) == ("dismiss", TOLD)


def test_command_is_selected_if_it_cannot_be_copied(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=FIRST, address="http://reports.example/report.html")
    page.evaluate("document.execCommand = () => false")
    page.locator("#evidence [data-action=pin]").click()
    page.locator("#basket-copy").click()
    expect(page.locator("#basket-said")).to_contain_text("Selected")
    selected = page.evaluate("getSelection().toString()")
    assert selected.startswith("printf '%s\\n' '{\"run\":\"")
    assert selected.endswith("}' | vocabgap decide apply -")


def test_command_is_one_for_powershell_on_windows(page: Page) -> None:
    page.evaluate("Object.defineProperty(navigator, 'platform', { value: 'Win32' })")
    page.locator("#evidence [data-action=pin]").click()
    command = page.locator("#basket-command")
    expect(command).to_have_text(re.compile(r"^'\{[^']*\}' \| vocabgap decide apply -$"))


def test_decisions_survive_a_reload_and_say_if_they_are_from_another_run(page: Page) -> None:
    boxes(page, "merge")[1].check()
    page.reload()
    expect(page.locator("#basket-count")).to_have_text("1 decision")
    assert [box.is_checked() for box in boxes(page, "merge")] == [False, True]
    expect(page.locator("#basket-note")).to_be_empty()
    page.evaluate(
        "localStorage.setItem(localStorage.key(0), localStorage.getItem(localStorage.key(0))"
        '.replace(/"run":"20/, \'"run":"19\'))'
    )
    page.reload()
    expect(page.locator("#basket-note")).to_contain_text("1 decision comes from another run.")
    page.evaluate('localStorage.setItem(localStorage.key(0), \'[{"action": "merge"}]\')')
    page.reload()  # another page has overwritten them
    expect(page.locator("#need")).to_be_visible()
    expect(page.locator("#basket")).to_be_hidden()


def test_page_says_if_the_browser_stores_nothing(page: Page) -> None:
    page.evaluate("Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })")
    for box in boxes(page, "merge"):
        box.check()
    expect(lines(page)).to_have_count(2)
    expect(page.locator("#basket-note")).to_contain_text("This browser stores nothing")


def test_another_decision_about_the_same_replaces_it(page: Page) -> None:
    for action in ("author", "dismiss"):
        told(page, action, "sky")
        button = page.locator(f"#evidence [data-action={action}]")
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(button).to_be_focused()
        expect(page.locator("#basket-count")).to_have_text("1 decision")
    expect(page.locator("#evidence [aria-pressed=true]")).to_have_count(1)
    expect(page.locator(f"tr[data-id='{FIRST}'] .own")).to_have_text("✓ dismissed")


def test_splits_that_share_a_wording_replace_each_other_and_are_taken_back(page: Page) -> None:
    part, *_, other = boxes(page, "split")
    part.check()
    for box in boxes(page, "split"):
        if box is not other and not box.is_checked():
            box.check()
    assert lines(page).count() > 1
    page.locator("#basket-clear").click()
    expect(lines(page)).to_have_count(0)
    page.locator("#basket-undo").click()
    assert lines(page).count() > 1


def test_undo_takes_back_what_its_own_window_decided(page: Page) -> None:
    page.locator("#evidence [data-action=claim]").click()
    other = page.context.new_page()
    other.goto(f"{page.url.partition('#')[0]}#{SECOND}")
    other.locator("#evidence [data-action=pin]").click()
    expect(page.locator("#basket-count")).to_have_text("2 decisions")
    page.locator("#basket-undo").click()
    expect(lines(page)).to_have_count(1)
    expect(lines(page)).to_contain_text("Pin")
    other.close()


def test_a_merge_is_ticked_at_both_needs(page: Page) -> None:
    boxes(page, "merge")[0].check()
    page.goto(f"{page.url.partition('#')[0]}#{SECOND}")
    box = boxes(page, "merge")[0]
    expect(box).to_be_checked()
    box.uncheck()
    expect(lines(page)).to_have_count(0)


def test_each_need_has_the_actions_that_fit_it(page: Page) -> None:
    def actions(identifier: str) -> list[str]:
        page.goto(f"{page.url.partition('#')[0]}#{identifier}")
        buttons = "all => all.map((each) => each.dataset.action)"
        found: list[str] = page.locator("#evidence [data-action]").evaluate_all(buttons)
        return found

    assert [*actions(FIRST)] == ["author", "claim", "dismiss", "pin", "merge", "split", "rename"]
    mine = page.get_by_role("button", name="Mine", exact=True)
    expect(mine).to_have_accessible_description("I author it")
    settled = ["reopen", "pin", "merge", "split", "rename"]
    assert actions(DISMISSED) == settled
    assert {"author", "claim", "dismiss"} <= {*actions(RARE)}


@pytest.mark.parametrize("width", [1280, 390])
def test_all_is_done_by_keyboard(file: Path, visit: Visit, width: int) -> None:
    page = visit(file, fragment=FIRST)
    page.set_viewport_size({"width": width, "height": 844})
    press = page.keyboard.press
    page.locator("#need").focus()
    for key in ("m", "p", "g", "Space", "Enter"):
        press(key)
    expect(page.locator("#basket-count")).to_have_text("3 decisions")
    press("a")
    page.keyboard.type("mj")
    press("ArrowLeft")  # moves in the text
    press("Escape")
    expect(page.locator("#need")).to_be_focused()
    press("z")
    expect(page.locator("#basket-count")).to_have_text("2 decisions")
    page.locator("#basket-count").focus()
    press("Enter")
    for left in (1, 0):
        press("Tab")
        press("Enter")
        expect(lines(page)).to_have_count(left)
        press("Shift+Tab")


def test_paper_has_no_decisions(page: Page) -> None:
    page.locator("#evidence [data-action=pin]").click()
    page.emulate_media(media="print")
    expect(page.locator("#basket")).to_be_hidden()
