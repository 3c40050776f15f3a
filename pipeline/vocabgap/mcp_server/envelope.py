"""The envelope that every tool answers in: what was found, or what is wrong and what to do."""

import os
import sys
import traceback
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from vocabgap.errors import DEBUG_VARIABLE, ExitCode, NotFoundError, VocabgapError, system_error
from vocabgap.mcp_server.telling import MOST_CHARACTERS, told
from vocabgap.text import shortened, visible

Code = Literal["bug", "invalid_input", "not_found", "state", "permission", "no_glossary"]
CODES: Final[Mapping[ExitCode, Code]] = {
    ExitCode.BUG: "bug",
    ExitCode.INVALID_INPUT: "invalid_input",
    ExitCode.NOT_FOUND: "not_found",
    ExitCode.STATE: "state",
    ExitCode.PERMISSION: "permission",
}
Data = TypeVar("Data")
_DEFINITIONS: Final = "#/$defs/{name}"


class Failure(msgspec.Struct):
    """What went wrong.

    Attributes:
        code: Its kind, as the exit codes of the command line have it.
        message: What is wrong, and what to do about it.
    """

    code: Code
    message: str


class Envelope(msgspec.Struct, Generic[Data]):
    """What every tool answers.

    Attributes:
        success: Whether it did what was asked.
        data: What was found; null where it did not.
        error: Why it did not; null where it did.
    """

    success: bool
    data: Data | None
    error: Failure | None


class NoGlossaryError(NotFoundError):
    """Terms were to be checked, and the server has no glossary."""


def failure(error: Exception) -> Failure:
    """What an answer says of an error: never where in the program it was raised.

    Args:
        error: One that was raised on purpose, one of the system, or a bug.
    """
    if isinstance(error, OSError):
        error = system_error(error)
    if isinstance(error, NoGlossaryError):
        return Failure("no_glossary", _shown(str(error)))
    if isinstance(error, VocabgapError):
        return Failure(CODES.get(error.exit_code, "state"), _shown(str(error)))
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error, file=sys.stderr)
    hint = f"set {DEBUG_VARIABLE}=1 for the server to see where, and please report it"
    return Failure("bug", _shown(f"this is a bug: {type(error).__name__}: {error} ({hint})"))


def encoded(envelope: Envelope[Any]) -> dict[str, Any]:
    """An envelope as a JSON object whose texts are fit to be shown."""
    made: dict[str, Any] = msgspec.to_builtins(envelope)
    return {**made, "data": told(made["data"])}


def schema_of(kind: Any, *, is_answer: bool = False) -> dict[str, Any]:  # noqa: ANN401 - a type, generic or not
    """The JSON Schema of a struct: an object at its root, as the protocol wants it.

    Args:
        kind: The struct.
        is_answer: Whether it is written here, and so has every field, those with a default among them.
    """
    (root,), definitions = msgspec.json.schema_components([kind], ref_template=_DEFINITIONS)
    made = {name: _finished(each, is_answer=is_answer) for name, each in definitions.items()}
    schema = made.pop(root["$ref"].rpartition("/")[2])
    return {**schema, "$defs": made} if made else schema


def _finished(schema: dict[str, Any], *, is_answer: bool) -> dict[str, Any]:
    finished = dict(schema)
    if "description" in schema:
        finished["description"] = cleandoc(schema["description"])
    if is_answer and "properties" in schema:
        finished["required"] = list(schema["properties"])
    return finished


def _shown(message: str) -> str:
    return shortened(visible(message), MOST_CHARACTERS)
