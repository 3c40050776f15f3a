"""A person decides on the page; one command or one file records it, and the next report follows."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Locator, Page, expect

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.model.settings import DEFAULT_DECISIONS
from vocabgap.reporting import listed

FIRST, DISMISSED, RARE = (f"cap-{place:012x}" for place in (0, 8, 60))
ANOTHER, SAME = "Split off what does not belong", "Merge what is the same need"
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


def boxes(page: Page, question: str) -> list[Locator]:
    return page.get_by_role("group", name=question).get_by_role("checkbox").all()


def opened(page: Page, label: str) -> None:
    page.locator("#rows").get_by_role("link", name=label, exact=True).click()


def saved(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        page.locator("#basket-save").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_next_report_is_what_was_ticked(report: Path, visit: Visit) -> None:
    page = visit(report)
    opened(page, "a brush for the teeth")
    for box in boxes(page, SAME):
        box.check()
    expect(page.locator(".decide [role=status]")).to_have_text("11 → 16 mentions")
    page.keyboard.press("Escape")
    opened(page, "sharpen the eyes")
    for box in boxes(page, ANOTHER):
        box.check()
    expect(page.locator(".decide [role=status]")).to_have_text("16 → 9 mentions")
    page.get_by_role("button", name="Rename").click()
    page.keyboard.type("sharper eyes")
    page.keyboard.press("Enter")
    page.locator("#panel-basket").click()

    assert vocabgap("decide", "apply", saved(page, report.parent)).code == 0
    vocabgap("report", "photos")

    teeth = {need for need in NEEDS if "te" in need or "tooth" in need}
    assert groups(report) == {
        "a brush for the teeth": teeth,
        "sharper eyes": {"sharpen the eyes"},
        **{
            need: {need}
            for need in ("sharpen both eyes", "sharpen eyes in a portrait", "lens flare")
        },
    }


def test_copied_command_runs_as_it_stands(report: Path, visit: Visit) -> None:
    page = visit(report)
    opened(page, "lens flare")
    page.get_by_role("button", name="Dismiss").click()
    page.keyboard.insert_text(TOLD)
    page.keyboard.press("Enter")
    page.locator("#panel-basket").click()
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
    boxes(page, SAME)[0].check()
    page.locator("#panel-basket").click()
    page.locator("#basket-copy").click()
    expect(page.locator("#basket-said")).to_have_text("Selected: copy it with the keyboard.")
    selected = page.evaluate("getSelection().toString()")
    assert selected.startswith("printf '%s\\n' '{\"run\":\"")
    assert selected.endswith("}' | vocabgap decide apply -")


def test_command_is_one_for_powershell_on_windows(page: Page) -> None:
    page.evaluate("Object.defineProperty(navigator, 'platform', { value: 'Win32' })")
    page.evaluate(
        "navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false"
    )
    boxes(page, SAME)[0].check()
    page.locator("#panel-basket").click()
    page.locator("#basket-copy").click()
    expect(page.locator("#basket-command")).to_have_text(
        re.compile(r"'\{[^']*\}' \| vocabgap decide apply -")
    )


def test_basket_survives_a_reload_and_says_if_it_is_from_another_run(
    file: Path, visit: Visit
) -> None:
    page = visit(file, fragment=FIRST)
    boxes(page, SAME)[1].check()
    expect(page.locator("#panel-basket")).to_have_text("1 decision")
    page.reload()
    expect(page.locator("#panel-basket")).to_have_text("1 decision")
    assert [box.is_checked() for box in boxes(page, SAME)] == [False, True]
    page.locator("#panel-basket").click()
    expect(page.locator("#basket-note")).to_be_empty()
    later = (
        "localStorage.setItem(localStorage.key(0), localStorage.getItem(localStorage.key(0))"
        '.replace(/"run":"20/, \'"run":"19\'))'
    )
    page.evaluate(later)
    page.reload()
    expect(page.locator("#basket-note")).to_contain_text(
        "1 decision comes from another run of this report."
    )


def test_page_says_if_the_browser_stores_nothing(page: Page) -> None:
    page.evaluate("Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })")
    for box in boxes(page, SAME):
        box.check()
    page.locator("#panel-basket").click()
    expect(page.locator("#basket-lines li")).to_have_count(2)
    expect(page.locator("#basket-note")).to_contain_text("This browser stores nothing")


def test_another_decision_about_the_same_replaces_it(page: Page) -> None:
    for name in ("Author", "Dismiss"):
        page.get_by_role("button", name=name).click()
        page.keyboard.type("sky")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#panel-basket")).to_have_text("1 decision")
    expect(page.locator(".decide [aria-pressed=true]")).to_have_text(["Dismiss"])


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
@pytest.mark.parametrize(
    ("target", "key", "done"),
    [
        (".decide fieldset:last-of-type input", "", "Merge"),
        (".wordings tbody tr:nth-child(2) button", "", "Split"),
        (".wordings details tr:nth-child(2) button", "", "Split"),
        ("#panel-undo", "Control+z", ""),
        ("#panel-next", "ArrowRight", ""),
    ],
)
def test_a_task_takes_two_actions(page: Page, by: str, target: str, key: str, done: str) -> None:
    expect(
        page.locator(".key dd").last
    ).to_be_in_viewport()  # why these wordings are one need: none
    if "undo" in target:
        boxes(page, SAME)[0].check()
    element = page.locator(target).first
    keys = [key] if key else [str(element.get_attribute("aria-keyshortcuts")), "Space"]
    actions: list[Callable[[], None]] = [element.click]
    if by == "keyboard":
        actions = [partial(page.keyboard.press, each) for each in keys]
    if by == "mouse" and "details" in target:
        actions.insert(0, page.locator("#panel .wordings summary").click)
    assert len([act() for act in actions]) <= 2
    expect(page.locator("#basket-lines")).to_contain_text(done)
    assert page.locator("#basket-lines li").count() == bool(done)
    expect(page.locator("#panel-place")).to_have_text(
        re.compile("^2 " if "next" in target else "^1 ")
    )


def test_splits_that_share_a_wording_replace_each_other(page: Page) -> None:
    boxes(page, ANOTHER)[0].check()
    page.locator(".wordings tbody tr:nth-child(2) button").first.click()
    expect(page.locator("#basket-lines li")).to_have_count(1)
    page.keyboard.press("Control+z")
    assert boxes(page, ANOTHER)[0].is_checked()


def test_a_merge_is_ticked_in_both_panels(page: Page) -> None:
    boxes(page, SAME)[0].check()
    page.keyboard.press("ArrowRight")
    box = boxes(page, SAME)[0]
    expect(box).to_be_checked()
    box.uncheck()
    expect(page.locator("#panel-basket")).to_be_hidden()


def test_an_open_capability_can_be_claimed(page: Page) -> None:
    expect(page.locator(".decide button[data-action]")).to_have_text(
        ["Rename", "Authored already", "Dismiss", "Claim", "Pin to the top"]
    )
    page.locator(".decide button[data-action=claim]").click()
    expect(page.locator("#basket-lines")).to_contain_text("Claim")


def test_decided_capabilities_can_be_reopened_and_rare_ones_have_no_lists(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#{DISMISSED}")
    expect(page.locator(".decide button[data-action]")).to_have_text(
        ["Rename", "Reopen", "Pin to the top"]
    )
    page.goto(f"{page.url.partition('#')[0]}#{RARE}")
    expect(page.locator(".decide .ways")).to_be_visible()
    assert page.locator(".decide [type=checkbox]").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_all_is_done_by_keyboard(file: Path, visit: Visit, width: int) -> None:
    page = visit(file)
    page.set_viewport_size({"width": width, "height": 844})
    press = page.keyboard.press
    page.locator("#rows a").first.focus()
    for key in ("Enter", "Tab", "Space", "Tab", "Space"):
        press(key)
    expect(page.locator("#panel-basket")).to_have_text("2 decisions")
    page.get_by_role("button", name="Author").focus()
    press("Enter")
    page.keyboard.type("x")
    press("ArrowLeft")  # moves in the text
    press("Escape")
    expect(page.get_by_role("button", name="Author")).to_be_focused()
    press("Enter")
    page.keyboard.type("sky_mask")
    press("Enter")
    expect(page.get_by_role("button", name="Author")).to_be_focused()
    page.locator("#panel-basket").focus()
    press("Enter")
    expect(page.locator("#basket-count")).to_be_focused()
    for left in (2, 1):
        press("Tab")
        press("Enter")
        expect(page.locator("#basket-lines li")).to_have_count(left)
        assert page.evaluate("document.activeElement.textContent") == "Remove"
        press("Shift+Tab")
    press("Tab")
    press("Enter")
    expect(page.locator("#basket")).to_be_hidden()
    expect(page.locator("#list-title")).to_be_focused()


def test_paper_has_no_basket(page: Page) -> None:
    boxes(page, SAME)[0].check()
    page.emulate_media(media="print")
    expect(page.locator("#basket")).to_be_hidden()


def test_doubts_lead_to_the_lists(
    report: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "LIKELY", 0.05)
    assert vocabgap("report", "photos").code == 0
    page = visit(report)
    expect(page.locator(".doubts code").first).to_be_hidden()
    page.locator(".doubts a").first.click()
    expect(page.locator(".decide fieldset").first).to_be_visible()


def test_unreadable_decisions_are_removed(page: Page) -> None:
    boxes(page, SAME)[0].check()
    page.evaluate('localStorage.setItem(localStorage.key(0), \'[{"action": "merge"}]\')')
    page.reload()
    expect(page.locator("#panel-title")).to_be_visible()
    expect(page.locator("#panel-basket")).to_be_hidden()
