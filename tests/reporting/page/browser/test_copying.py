"""Commands are copied, whatever the browser thinks of where the page comes from."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

CAPABILITY = "cap-000000000001"
Visit = Callable[..., Page]


@pytest.fixture
def file(page_of: Callable[..., Path]) -> Path:
    return page_of(10)


def copy(page: Page, does: str) -> None:
    page.get_by_role("button", name=f"Copy: {does}", exact=True).click()
    expect(page.locator("#panel-said")).to_have_text("Copied")


def copied(visit: Visit, file: Path) -> str:
    """What is in the clipboard, as another page of this browser reads it."""
    page = visit(file, permissions=["clipboard-read", "clipboard-write"])
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.parametrize(
    "address", ["", "http://localhost/report.html", "http://reports.example/report.html"]
)
def test_command_is_copied(file: Path, visit: Visit, address: str) -> None:
    page = visit(file, fragment=CAPABILITY, address=address)
    copy(page, "dismiss")
    assert copied(visit, file) == f"vocabgap decide dismiss {CAPABILITY} --why 'REASON'"


def test_each_command_has_its_button(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=CAPABILITY)
    lines = page.locator("#panel .commands code").all_inner_texts()
    buttons = page.locator("#panel .commands button.copy")
    assert buttons.evaluate_all("buttons => buttons.map(button => button.dataset.copy)") == lines
    for does in ("merge", "rename", "dismiss", "author"):
        assert any(line.startswith(f"vocabgap decide {does} {CAPABILITY}") for line in lines)


def test_command_stays_selected_where_it_cannot_be_copied(file: Path, visit: Visit) -> None:
    page = visit(file, fragment=CAPABILITY, address="http://reports.example/report.html")
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="Copy: pin", exact=True).click()
    expect(page.locator("#panel-said")).to_have_text("Selected: copy it with the keyboard")
    assert page.evaluate("getSelection().toString()") == f"vocabgap decide pin {CAPABILITY}"
