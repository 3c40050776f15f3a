import errno
import os

import pytest

import vocabgap.doors.mcp.tools  # noqa: F401 - a hint names its tools
from vocabgap.doors.mcp.tools import failure
from vocabgap.errors import (
    AccessDeniedError,
    Hint,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InvalidInputError("limit: 0", hint="name one"), "invalid_input", "limit: 0 (name one)"),
        (NotFoundError("no image"), "not_found", "no image"),
        (
            NotFoundError("gone", hint=Hint("{} has all", (("list",),))),
            "not_found",
            "gone (`list_gaps` has all)",
        ),
        (StateError("held"), "state", "held"),
        (AccessDeniedError("closed"), "permission", "closed"),
        (
            PermissionError(errno.EACCES, "Permission denied", "a.jsonl"),
            "permission",
            "a.jsonl: Permission",
        ),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.jsonl"),
            "state",
            "a.jsonl: No space left",
        ),
        (VocabgapError("what"), "bug", "what"),
        (ZeroDivisionError("division"), "bug", "this is a bug: ZeroDivisionError: division"),
    ],
)
def test_an_error_has_a_code_and_says_what_to_do(error: Exception, code: str, message: str) -> None:
    result = failure(error)
    assert result["code"] == code
    assert result["message"].startswith(message)


def test_the_message_of_an_error_is_one_line_of_some_length() -> None:
    output = failure(InvalidInputError("a\n\u202eb" + "x" * 5000))["message"]
    assert output.startswith("a \\u202ebxxx")
    assert output.endswith("characters)")
