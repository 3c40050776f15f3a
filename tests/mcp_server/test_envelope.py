import errno
import json
import os

import msgspec
import pytest

from vocabgap.doors.mcp.tool import Envelope, failure, schema_of
from vocabgap.errors import (
    AccessDeniedError,
    Hint,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
)


class Found(msgspec.Struct):
    texts: list[str]


class Defaulted(msgspec.Struct):
    """What it is.

    Attributes:
        name: A name.
    """

    name: str
    number: int = 0


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
    assert result.code == code
    assert result.message.startswith(message)


def test_the_message_of_an_error_is_one_line_of_some_length() -> None:
    output = failure(InvalidInputError("a\n\u202eb" + "x" * 5000)).message
    assert output.startswith("a \\u202ebxxx")
    assert output.endswith("characters)")


def test_the_schema_of_an_envelope_has_no_reference_at_its_root() -> None:
    schema = schema_of(Envelope[Found])
    assert (schema["type"], schema["required"]) == ("object", ["success", "data", "error"])
    references = set(json.dumps(schema).split('"#/$defs/')[1:])
    assert (
        {each.partition('"')[0] for each in references}
        == schema["$defs"].keys()
        == {"Found", "Failure"}
    )


def test_an_answer_has_every_field_and_an_argument_may_be_left_out() -> None:
    schemas = [schema_of(Defaulted, is_answer=is_answer) for is_answer in (True, False)]
    assert [schema["required"] for schema in schemas] == [["name", "number"], ["name"]]
    assert schemas[0]["description"] == "What it is.\n\nAttributes:\n    name: A name."
