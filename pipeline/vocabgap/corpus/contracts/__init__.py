"""The contracts of the shared corpus: two schemas, two pages of prose, the codes of refusals."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final, TypeVar

from jsonschema_rs import Draft202012Validator, ValidationError

from vocabgap.corpus.extension import EXTENSION
from vocabgap.errors import ExitCode, VocabgapError
from vocabgap.files import whole
from vocabgap.model.sources import json_pointer

PARSED_CHUNK: Final = "parsed-chunk-v1"
BACKUP_RECORD: Final = "backup-record-v1"
_OPEN: Final = ("customMeta", "metadata")  # the contracts allow any content in these objects
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff\U000f0000]")
_LEVELS: Final = 3  # the contracts describe a record, its lists and their items
_T = TypeVar("_T")
_SHOWN: Final = 60  # characters of a value that a message shows


class Code(StrEnum):
    """The codes of refusals and failures, as the contract lists them."""

    FILES_INVALID = "KB_INGEST_FILES_INVALID"
    TENANT_MISMATCH = "KB_INGEST_TENANT_MISMATCH"
    FAILED = "KB_INGEST_FAILED"
    FILE_INVALID = "KB_FILE_PAYLOAD_INVALID"
    PARSE_FAILED = "KB_FILE_PARSE_FAILED"
    NO_PARSER = "KB_PARSER_NOT_REGISTERED"
    EMBEDDING_REJECTED = "KB_PARSED_CHUNK_EMBEDDING_REJECTED"
    CHUNK_INVALID = "KB_PARSED_CHUNK_INVALID"
    VERSION_DRIFT = "KB_PARSED_CHUNK_VERSION_DRIFT"
    SPOOF_REJECTED = "KB_TENANT_SPOOF_REJECTED"
    DELETE_SIGNAL_INVALID = "KB_DELETE_SIGNAL_INVALID"
    TOMBSTONE_INVALID = "KB_TOMBSTONE_INVALID"
    MANIFEST_INVALID = "KB_MANIFEST_INVALID"
    BOUNDARY_INVALID = "KB_REVISION_BOUNDARY_INVALID"
    BOUNDARY_UNAVAILABLE = "KB_REVISION_BOUNDARY_UNAVAILABLE"
    BOUNDARY_FAILED = "KB_REVISION_BOUNDARY_RESOLVER_FAILED"
    EMBED_FAILED = "KB_VECTOR_EMBED_FAILED"
    VOLUME_EXCEEDED = "KB_SYNC_VOLUME_EXCEEDED"
    TENANT_MANIFEST_INVALID = "KB_TENANT_MANIFEST_INVALID"
    DIVERGENCE = "KB_MERGE_NATURAL_KEY_DIVERGENCE"
    IMPORT_FAILED = "DATABASE_IMPORT_ERROR"


class RefusedError(VocabgapError):
    """A refusal with one of the contract's codes; `details` are facts for a program."""

    exit_code = ExitCode.INVALID_INPUT

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.details: dict[str, Any] = details

    def at(self, **place: object) -> "RefusedError":
        """Add the place in a payload."""
        self.details |= place
        return self

    def as_object(self) -> dict[str, Any]:
        """Return the refusal as an error of the contract's result."""
        details = {"details": self.details} if self.details else {}
        return {"code": str(self.code), "message": self.message, **details}


@cache
def contract_schema(name: str) -> dict[str, Any]:
    """Read the JSON Schema of a contract."""
    schema: dict[str, Any] = json.loads(whole(EXTENSION.folder / EXTENSION.documents[name]))
    return schema


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(contract_schema(name))


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where a record breaks its contract."""

    pointer: str  # JSON pointer (RFC 6901) of the value, or of the object with a missing or surplus key
    key: str | None  # the missing or surplus key
    rule: str  # the keyword of the schema
    message: str

    def as_object(self) -> dict[str, str]:
        """Return the fault as an object of JSON."""
        key = {} if self.key is None else {"key": self.key}
        return {"pointer": self.pointer, **key, "rule": self.rule, "message": self.message}


def keeps(name: str, record: object) -> bool:
    """Tell whether a record conforms to a contract."""
    return _checked(_validator(name).is_valid, record)


def faults(name: str, record: object) -> tuple[Fault, ...]:
    """List every place where a record breaks a contract, once each, by pointer and key."""
    by_place: dict[tuple[str, str], Fault] = {}
    for error in _checked(lambda value: list(_validator(name).iter_errors(value)), record):
        for fault in _faults_of(name, error, record):
            by_place.setdefault((fault.pointer, fault.key or ""), fault)
    return tuple(by_place[place] for place in sorted(by_place))


def _faults_of(name: str, error: ValidationError, record: object) -> Iterator[Fault]:
    path, rule = list(error.instance_path), str(error.schema_path[-1])
    schema, pointer = contract_schema(name), json_pointer(path)
    if rule == "required" and isinstance(record, dict):
        for key in schema["required"]:
            if key not in record:
                expected = schema["properties"][key]["description"]
                yield Fault(pointer, key, rule, f"'{key}' is missing, expected {expected}")
    elif rule == "additionalProperties" and isinstance(record, dict):
        for key in record:
            if key not in schema["properties"]:
                yield Fault(pointer, key, rule, f"{key!a} is not a field of {name}; leave it out")
    else:
        value: Any = record
        for part in path:
            value = value[part]
            schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
        place, expected = (f"{pointer}: ", schema["description"]) if path else ("", "an object")
        yield Fault(pointer, None, rule, f"{place}expected {expected}, found {_shown(value)}")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _checked(check: Callable[[object], _T], record: object) -> _T:
    """Check a record without its open objects, which may hold anything, at any depth."""
    if isinstance(record, dict):
        record = record | {key: {} for key in _OPEN if isinstance(record.get(key), dict)}
    try:
        return check(record)
    except ValueError:
        return check(_acceptable(record))


def _acceptable(value: object, levels: int = _LEVELS) -> Any:  # noqa: ANN401 - any JSON value
    """Replace halves of surrogate pairs and deep levels, which the validator cannot process."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(lambda half: f"\U000f0000{ord(half[0]):x};", value)
    if isinstance(value, dict):
        items = value.items() if levels else ()
        return {_acceptable(key): _acceptable(inner, levels - 1) for key, inner in items}
    if isinstance(value, list):
        return [_acceptable(inner, levels - 1) for inner in value] if levels else []
    return value
