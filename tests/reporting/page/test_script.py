"""The script as it is written: it has no way to make markup of a text, and stays small."""

from pathlib import Path

import pytest

import vocabgap.reporting

FOLDER = Path(vocabgap.reporting.__file__).parent / "templates" / "page"
FILES = sorted((FOLDER / "script").glob("*.js"))
MAKING_MARKUP = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "createContextualFragment", "DOMParser", "srcdoc",
)  # fmt: skip
RUNNING_TEXT = ("document.write", "eval(", "Function(", "import(", "javascript:")
REACHING_OUT = ("fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "new Image")
KEEPING = ("localStorage", "sessionStorage", "indexedDB", "cookie")
FORBIDDEN = (*MAKING_MARKUP, *RUNNING_TEXT, *REACHING_OUT, *KEEPING)
ALLOWED = {"basket.js": ["localStorage"]}  # decisions that no command has recorded yet


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_script_neither_makes_markup_of_a_text_nor_reaches_out(file: Path) -> None:
    script = file.read_text(encoding="utf-8")
    assert [name for name in FORBIDDEN if name in script] == ALLOWED.get(file.name, [])


def test_style_and_script_leave_room_for_what_is_told() -> None:
    assert sum(file.stat().st_size for file in (*FILES, FOLDER / "page.css")) < 68_000
