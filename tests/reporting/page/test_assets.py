"""Style and script of the page."""

import base64
import hashlib
from importlib.resources import files

from vocabgap.reporting.page import bare, policy, script, style


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


def test_script_is_set_going_after_all_of_it_is_there() -> None:
    assert script().startswith("(() => {\n'use strict';\n")
    assert script().rstrip().endswith("start();\n})();")


def test_nothing_in_them_ends_their_elements() -> None:
    assert not any(ending in script().lower() for ending in ("</script", "<script", "<!--"))
    assert "</style" not in style().lower()


def test_text_of_the_script_lies_on_single_lines() -> None:
    # What takes indentation away would take it away in a text of several lines, too.
    assert [line for line in script().splitlines() if line.count("`") % 2] == []


def test_comments_and_indentation_stay_at_home() -> None:
    for text in (script(), style()):
        assert not any(line.startswith((" ", "//", "/*", " *")) or not line for line in text.splitlines())


def test_code_beside_a_comment_stays() -> None:
    assert bare("/* one */\n/* two */ kept();\n/*\n * three\n */\n  also(); // four\n") == (
        "/* two */ kept();\nalso(); // four\n"
    )


def test_no_comment_goes_on_in_the_next_line() -> None:
    # What goes on is joined, and the next line would be part of the comment.
    sources = (files("vocabgap.reporting") / "templates" / "page" / "script").iterdir()
    lines = [line for source in sources for line in source.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if " // " in line and line.endswith((";", "{", ",", "("))] == []


def test_style_loads_nothing() -> None:
    assert not any(name in style() for name in ("url(", "@import", "http:", "https:"))
