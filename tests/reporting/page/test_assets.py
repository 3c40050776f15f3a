"""Style and script of the page."""

import base64
import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

import vocabgap.reporting
from vocabgap.reporting.page import policy, script, style

ROOM = Path(vocabgap.reporting.__file__).parent
FILES = sorted((ROOM / "templates" / "page" / "script").glob("*.js"))
MAKING_MARKUP = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "createContextualFragment", "DOMParser", "srcdoc",
)  # fmt: skip
RUNNING_TEXT = ("document.write", "eval(", "Function(", "import(", "javascript:")
REACHING_OUT = ("fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "new Image")
KEEPING = ("localStorage", "sessionStorage", "indexedDB", "cookie")
FORBIDDEN = (*MAKING_MARKUP, *RUNNING_TEXT, *REACHING_OUT, *KEEPING)
ALLOWED = {"basket.js": ["localStorage"]}  # decisions that no command has recorded yet
LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|`([^`]*)`")
WORDS = re.compile(r"[a-zA-Z]+(?:[ ,:;]+[a-zA-Z]+){3,}")


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_policy_allows_one_script_and_one_style_and_nothing_else() -> None:
    allowed = dict(part.split(" ", 1) for part in policy().split("; "))
    assert allowed == {
        "default-src": "'none'",
        "script-src": digest(script()),
        "style-src": digest(style()),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


def test_nothing_in_them_ends_their_elements_or_loads_anything() -> None:
    assert not any(ending in script().lower() for ending in ("</script", "<script", "<!--"))
    assert not any(name in style() for name in ("</style", "url(", "@import", "http:", "https:"))


def test_comments_and_indentation_stay_at_home() -> None:
    lines = [*script().splitlines(), *style().splitlines()]
    assert not any(line.startswith((" ", "//", "/*", " *")) or not line for line in lines)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_script_neither_makes_markup_of_a_text_nor_reaches_out(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert [name for name in FORBIDDEN if name in text] == ALLOWED.get(file.name, [])


def test_no_name_is_declared_twice_as_all_files_share_one_scope() -> None:
    texts = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", texts, re.MULTILINE)
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert len(names) > 50


def test_style_and_script_stay_small() -> None:
    sizes = [file.stat().st_size for file in (*FILES, ROOM / "templates" / "page" / "page.css")]
    assert sum(sizes) < 66_000  # of which the map is a tenth; its data are small instead


def test_no_sentence_of_the_script_stands_in_a_template_or_in_python() -> None:
    """A sentence: four words in a row of a text of the script, without what fills its gaps."""
    said = {
        " ".join(words.split())
        for file in FILES
        for texts in LITERAL.findall(uncommented(file))
        for words in WORDS.findall(re.sub(r"\$\{[^}]*\}", "0", "".join(texts)))
    }
    others = [*ROOM.rglob("*.j2"), *ROOM.glob("*.py")]
    elsewhere = " ".join(" ".join(other.read_text(encoding="utf-8").split()) for other in others)
    assert [sentence for sentence in sorted(said) if sentence in elsewhere] == []
    assert len(said) > 5


def uncommented(file: Path) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
