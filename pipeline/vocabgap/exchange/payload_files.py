"""Payloads as files: one JSON object with the parsed chunks of a repository and what it withdraws."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError

STANDARD_INPUT: Final = "-"
_HINT: Final = "expected one JSON object with `files`, as `vocabgap corpus export-chunks` writes it"
_ENCODER: Final = msgspec.json.Encoder()
_MARK: Final = b"\xef\xbb\xbf"


def read_payload(path: str | Path) -> dict[str, Any]:
    """The payload in a file, or what comes through standard input where the file is called `-`.

    Raises:
        NotFoundError: There is no such file.
        AccessDeniedError: It may not be read.
        InvalidInputError: It is no JSON object; the error says on which line.
    """
    name, content = _content(path)
    try:
        payload = msgspec.json.decode(content.removeprefix(_MARK))
    except (msgspec.DecodeError, UnicodeDecodeError):
        payload = _closely(name, content)
    except RecursionError as error:
        raise InvalidInputError(f"{name}: nested too deeply to be a payload", hint=_HINT) from error
    if not isinstance(payload, dict):
        raise InvalidInputError(f"{name}: expected an object, found another JSON value", hint=_HINT)
    return payload


def write_payload(
    file: BinaryIO, head: Mapping[str, Any], logs: Iterable[tuple[str, Iterable[Mapping[str, Any]]]]
) -> int:
    """Write a payload chunk by chunk.

    Args:
        file: Where to.
        head: Its other fields.
        logs: Source path and parsed chunks of each file.

    Returns:
        How many chunks there are.
    """
    chunks = 0
    file.write(_ENCODER.encode(head).removesuffix(b"}") + (b"," if head else b"") + b'"files":[')
    between_files = b"\n"
    for source_path, records in logs:
        file.write(between_files + b'{"sourcePath":' + _ENCODER.encode(source_path) + b',"parsedChunks":[')
        between_files, between = b",\n", b"\n"
        for record in records:
            file.write(between + _ENCODER.encode(record))
            between = b",\n"
            chunks += 1
        file.write(b"]}")
    file.write(b"]}\n")
    return chunks


def _content(path: str | Path) -> tuple[str, bytes]:
    if str(path) == STANDARD_INPUT:
        return "standard input", sys.stdin.buffer.read()
    try:
        return str(path), Path(path).read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"payload '{path}' does not exist", hint="check the path") from error
    except PermissionError as error:
        raise AccessDeniedError(f"payload '{path}' may not be read") from error
    except OSError as error:
        raise StateError(f"payload '{path}' cannot be read: {error.strerror or error}") from error


def _closely(name: str, content: bytes) -> object:
    """What the fast reader refused, read as JSON allows it, or the line that is wrong.

    The fast one takes no half of a surrogate pair, which the check of the chunk that has it tells of.
    """
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InvalidInputError(f"{name}:{line}: expected UTF-8, {error.reason}", hint=_HINT) from error
    except json.JSONDecodeError as error:
        told = f"{error.msg[:1].lower()}{error.msg[1:]} at column {error.colno}"
        raise InvalidInputError(f"{name}:{error.lineno}: expected JSON: {told}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{name}: expected JSON: {error}", hint=_HINT) from error


def _no_constant(constant: str) -> float:
    raise ValueError(f"there is no {constant} in it")
