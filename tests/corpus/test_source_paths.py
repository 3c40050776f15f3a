import pytest

from vocabgap.corpus.identity import path_fault


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "a/b.jsonl",
        ".hidden/x",
        "a..b/c",
        "console.txt",
        "com10",
        "null/x",
        "é/日本.txt",
        "ab:c",
        "...",
        "c",
    ],
)
def test_a_relative_path_inside_the_root_can_be_stored(path: str) -> None:
    assert path_fault(path) is None


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "is empty"),
        ("/etc/x", "is absolute"),
        ("//host/x", "is absolute"),
        ("C:/x", "drive letter"),
        ("c:x", "drive letter"),
        ("a\\b", "backslash"),
        ("a\0b", "null byte"),
        ("../a", "'..'"),
        ("a/../b", "'..'"),
        ("a/..", "'..'"),
        ("./a", "'.'"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("a/NUL", "reserves"),
        ("con.txt", "reserves"),
        ("x/Lpt1 .log/y", "reserves"),
        ("com¹", "reserves"),
    ],
)
def test_any_other_path_is_refused_with_the_reason(path: str, told: str) -> None:
    fault = path_fault(path)
    assert fault is not None
    assert told in fault
