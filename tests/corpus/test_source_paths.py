import pytest

from vocabgap.corpus.identity import path_fault

SOUND = [
    "a",
    "a/b.jsonl",
    ".hidden/x",
    "a..b/c",
    "console.txt",
    "com10",
    "é/日本.txt",
    "ab:c",
    "...",
]
FAULTS = {
    "": "is empty", "/etc/x": "is absolute", "//host/x": "is absolute", "C:/x": "drive letter",
    "a\\b": "backslash", "a\0b": "null byte", "../a": "'..'", "a/../b": "'..'", "a/..": "'..'", "./a": "'.'",
    "a//b": "empty part", "a/": "empty part",
}  # fmt: skip


def test_a_relative_path_inside_the_root_can_be_stored() -> None:
    assert [path_fault(path) for path in SOUND] == [None] * len(SOUND)


@pytest.mark.parametrize(("path", "fault"), FAULTS.items())
def test_any_other_path_is_refused_with_the_reason(path: str, fault: str) -> None:
    assert fault in str(path_fault(path))
