"""The contracts of the shared corpus: two schemas, prose, and what a push answers by them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, ValidationError

from vocabgap.errors import ExitCode, VocabgapError

PARSED_CHUNK: Final = "parsed-chunk-v1"
BACKUP_RECORD: Final = "backup-record-v1"
FILES: Final = {
    PARSED_CHUNK: "parsed-chunk-v1.schema.json",
    BACKUP_RECORD: "backup-record-v1.schema.json",
    "identity": "identity.md",
    "deletion-signals": "deletion-signals.md",
}
"""Name of a contract to its file; the first two are JSON Schemas (2020-12), the others prose."""
_OPEN: Final = ("customMeta", "metadata")  # objects of which the contracts say nothing more
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff\U000f0000]")
_LEVELS: Final = 3  # a record, a list in it, and what is wrong in that
_SHOWN: Final = 60  # characters of a value that a message shows


class Code(StrEnum):
    """Why something was refused or failed. The list is the contract's."""

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
    TENANT_MANIFEST_FAILED = "KB_TENANT_MANIFEST_WRITE_FAILED"
    TENANT_CONFIG_FAILED = "KB_TENANT_CONFIG_WRITE_FAILED"
    DIVERGENCE = "KB_MERGE_NATURAL_KEY_DIVERGENCE"
    IMPORT_FAILED = "DATABASE_IMPORT_ERROR"


class Metric(StrEnum):
    """What a push amounted to."""

    ERROR = "error"
    RECONCILE = "reconcile"
    TOMBSTONE = "tombstone"
    INGEST = "ingest"


def contract_text(name: str) -> str:
    """A contract as its file has it.

    Args:
        name: One of `FILES`.
    """
    return files(__name__).joinpath(FILES[name]).read_text(encoding="utf-8")


@cache
def contract_schema(name: str) -> dict[str, Any]:
    """A contract's JSON Schema."""
    schema: dict[str, Any] = json.loads(contract_text(name))
    return schema


@dataclass(frozen=True, slots=True)
class Fault:
    """One place of a record that does not keep its contract.

    Attributes:
        pointer: The value's JSON pointer (RFC 6901); that of the object where a key is missing or surplus.
        key: The key that is missing or surplus; None where a value is wrong.
        rule: The keyword of the schema that it breaks.
        message: What is there and what was expected.
    """

    pointer: str
    key: str | None
    rule: str
    message: str

    def as_object(self) -> dict[str, str]:
        """The fault as an object of JSON."""
        key = {} if self.key is None else {"key": self.key}
        return {"pointer": self.pointer, **key, "rule": self.rule, "message": self.message}


def keeps(name: str, record: object) -> bool:
    """Whether a record keeps a contract."""
    shallow = _shallow(record)
    try:
        return _validator(name).is_valid(shallow)
    except ValueError:
        return _validator(name).is_valid(_takeable(shallow))


def faults(name: str, record: object) -> tuple[Fault, ...]:
    """Every place of a record that does not keep a contract, each once, by pointer and key."""
    shallow = _shallow(record)
    try:
        errors = list(_validator(name).iter_errors(shallow))
    except ValueError:
        errors = list(_validator(name).iter_errors(_takeable(shallow)))
    by_place: dict[tuple[str, str | None], Fault] = {}
    for error in errors:
        for fault in _faults_of(name, error, record):
            by_place.setdefault((fault.pointer, fault.key), fault)
    return tuple(by_place[place] for place in sorted(by_place, key=lambda place: (place[0], place[1] or "")))


def _faults_of(name: str, error: ValidationError, record: object) -> Iterator[Fault]:
    path = list(error.instance_path)
    pointer, rule = pointer_to(path), str(error.schema_path[-1])
    properties: Mapping[str, Any] = contract_schema(name)["properties"]
    if rule == "required" and isinstance(record, dict):
        for key in contract_schema(name)["required"]:
            if key not in record:
                expected = properties[key]["description"]
                yield Fault(pointer, key, rule, f"'{key}' is missing, expected {expected}")
    elif rule == "additionalProperties" and isinstance(record, dict):
        for key in record:
            if key not in properties:
                message = f"{key!a} is no field of {name}, expected to be left out"
                yield Fault(pointer, key, rule, message)
    else:
        place = f"{pointer}: " if pointer else ""
        expected = _description(name, path)
        yield Fault(pointer, None, rule, f"{place}expected {expected}, found {_shown(_at(record, path))}")


def _description(name: str, path: list[str | int]) -> str:
    """What a schema expects at a place that it says something about."""
    if not path:
        return "an object"
    node: Mapping[str, Any] = contract_schema(name)
    for part in path:
        node = node["items"] if isinstance(part, int) else node["properties"][part]
    description: str = node["description"]
    return description


def _at(record: Any, path: list[str | int]) -> Any:  # noqa: ANN401 - whatever JSON may hold
    for part in path:
        record = record[part]
    return record


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _shallow(record: object) -> object:
    """A record without what its open objects hold: nothing is asked of that, however deep it goes."""
    if not isinstance(record, dict):
        return record
    filled: dict[str, object] = {key: {} for key in _OPEN if isinstance(record.get(key), dict)}
    return {**record, **filled} if filled else record


def _takeable(value: object, levels: int = _LEVELS) -> Any:  # noqa: ANN401 - whatever JSON may hold
    """A value as the validator can take it: halves of surrogate pairs spelled out, and not too deep.

    Lists and objects are empty from so many levels on: no contract looks further.
    """
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(lambda half: f"\U000f0000{ord(half[0]):x};", value)
    if isinstance(value, dict):
        items = value.items() if levels else ()
        return {_takeable(key): _takeable(each, levels - 1) for key, each in items}
    if isinstance(value, list):
        return [_takeable(each, levels - 1) for each in value] if levels else []
    return value


def pointer_to(path: list[str | int]) -> str:
    """The JSON pointer of keys and positions, in order."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(contract_schema(name))


class RefusedError(VocabgapError):
    """Something that is refused with one of the contract's codes."""

    exit_code = ExitCode.INVALID_INPUT

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


@dataclass(frozen=True, slots=True)
class PushError:
    """One thing that went wrong with a push.

    Attributes:
        code: One of `Code`.
        message: What is wrong, and what to do.
        details: What a program may want to know of it, such as `fileIndex` and `chunkIndex`.
        exit_code: With what a command would end that met nothing worse.
    """

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    exit_code: ExitCode = ExitCode.INVALID_INPUT

    @classmethod
    def of(cls, error: RefusedError, **details: object) -> "PushError":
        """The entry of an error that was raised."""
        return cls(error.code, error.message, {**error.details, **details}, error.exit_code)

    def as_object(self) -> dict[str, Any]:
        """The entry as the contract has it."""
        details = {"details": self.details} if self.details else {}
        return {"code": str(self.code), "message": self.message, **details}


@dataclass(frozen=True, slots=True)
class Warned:
    """A claim of a payload that was overwritten with what the receiving side knows, or a version not read."""

    field: str
    claimed: object
    stamped: object
    chunks: int

    def __str__(self) -> str:
        """What was overwritten or refused, in words."""
        if self.field == "schemaVersion":
            which = f"deprecated: {self.chunks} of version {self.claimed} of {PARSED_CHUNK} refused"
            return f"{which}; {self.stamped} is read here, so have them parsed by that"
        return f"{self.field} was claimed as {self.claimed!r} by {self.chunks}, stamped as {self.stamped!r}"


@dataclass(frozen=True, slots=True)
class PushResult:
    """What came of a push.

    Attributes:
        tenant_id: Whose corpus was pushed to.
        ingested: Valid chunks of the payload, also those that were there already.
        added: Chunks that were new, for which a vector is to be made.
        deleted: Chunks that were there and were withdrawn.
        forgotten: Chunks that were left out, for somebody had them forgotten.
        errors: What was refused; everything else of the payload was done all the same.
        warnings: Claims that were overwritten.
        duration_ms: How long it took.
    """

    tenant_id: str
    ingested: int = 0
    added: int = 0
    deleted: int = 0
    forgotten: int = 0
    errors: tuple[PushError, ...] = ()
    warnings: tuple[Warned, ...] = ()
    duration_ms: int = 0

    @property
    def metric(self) -> Metric:
        """What it amounted to."""
        if self.errors:
            return Metric.ERROR
        if self.deleted:
            return Metric.RECONCILE if self.ingested else Metric.TOMBSTONE
        return Metric.INGEST

    @property
    def exit_code(self) -> ExitCode:
        """With what a command ends: the gravest of its errors, a failure of the store before all others."""
        return max((error.exit_code for error in self.errors), default=ExitCode.DONE)

    def as_object(self) -> dict[str, Any]:
        """The contract's result object, and the warnings in words."""
        return {
            "ingested": self.ingested,
            "deleted": self.deleted,
            "embeddingsGenerated": self.added,
            "errors": [error.as_object() for error in self.errors],
            "tenantId": self.tenant_id,
            "durationMs": self.duration_ms,
            "forgotten": self.forgotten,
            "warnings": [str(warned) for warned in self.warnings],
        }
