"""The section that says what the words of a report mean."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytest.importorskip("vocabgap.glossary.gate", reason="the glossary has the template of the section")
Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(10)


@pytest.mark.parametrize("surroundings", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
def test_contents_lead_to_the_meanings_and_the_open_questions(
    file: Path, visit: Visit, surroundings: dict[str, bool]
) -> None:
    page = visit(file, **surroundings)
    page.get_by_role("link", name="What the words mean").click()
    section = page.get_by_role("region", name="What the words mean")
    expect(section.get_by_role("heading", level=2)).to_be_in_viewport()
    expect(section.get_by_role("term")).to_have_text(
        ["lift <black> point", "sky mask", "mask", "frob_nicator" * 8]
    )
    meaning, waiting, question, unknown = section.get_by_role("definition").all()
    expect(meaning).to_contain_text("lift: Raise the tones of <the> shadows & blacks")
    expect(meaning).to_contain_text("(team_domain)")
    expect(waiting).to_have_text("mask: open")
    expect(question).to_contain_text("ambiguous, medium (0123abcd): A region; x")
    expect(unknown).to_have_text("unresolved critical, high (4567abcd)")


def test_long_words_do_not_widen_the_page_of_a_phone(file: Path, visit: Visit) -> None:
    page = visit(file, viewport={"width": 390, "height": 844})
    section = page.get_by_role("region", name="What the words mean")
    wide, shown = section.evaluate("element => [element.scrollWidth, element.clientWidth]")
    assert wide <= shown
    assert page.locator("html").evaluate("element => element.scrollWidth <= element.clientWidth")
