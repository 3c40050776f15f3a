"""Style and script of the page."""

import base64
import hashlib

from vocabgap.reporting.page import policy, script, style


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


def test_nothing_in_them_ends_their_elements() -> None:
    assert not any(ending in script().lower() for ending in ("</script", "<script", "<!--"))
    assert "</style" not in style().lower()


def test_comments_and_indentation_stay_at_home() -> None:
    for text in (script(), style()):
        assert not any(
            line.startswith((" ", "//", "/*", " *")) or not line for line in text.splitlines()
        )


def test_style_loads_nothing() -> None:
    assert not any(name in style() for name in ("url(", "@import", "http:", "https:"))
