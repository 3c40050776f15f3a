"""The contracts of the shared corpus as they are published: two schemas and what goes with them in words."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, ValidationError

PARSED_CHUNK: Final = "parsed-chunk-v1"
BACKUP_RECORD: Final = "backup-record-v1"
FILES: Final = {
    PARSED_CHUNK: "parsed-chunk-v1.schema.json",
    BACKUP_RECORD: "backup-record-v1.schema.json",
    "identity": "identity.md",
    "deletion-signals": "deletion-signals.md",
}
"""Name of a contract to its file; the first two are JSON Schemas (2020-12), the others prose."""


def contract_text(name: str) -> str:
    """A contract as its file has it.

    Args:
        name: One of `FILES`.
    """
    return files(__name__).joinpath(FILES[name]).read_text(encoding="utf-8")


@cache
def contract_schema(name: str) -> dict[str, Any]:
    """A contract's JSON Schema.

    Args:
        name: `PARSED_CHUNK` or `BACKUP_RECORD`.
    """
    schema: dict[str, Any] = json.loads(contract_text(name))
    return schema


# Whether a record keeps a contract, and where it does not: every place at once, by JSON pointer.


_OPEN: Final = ("customMeta", "metadata")  # objects of which the contracts say nothing more
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff\U000f0000]")
_LEVELS: Final = 3  # a record, a list in it, and what is wrong in that
_SHOWN: Final = 60  # characters of a value that a message shows


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
        """The same as an object of JSON."""
        named = {} if self.key is None else {"key": self.key}
        return {"pointer": self.pointer, **named, "rule": self.rule, "message": self.message}


def keeps(name: str, record: object) -> bool:
    """Whether a record keeps a contract.

    Args:
        name: `PARSED_CHUNK` or `BACKUP_RECORD`.
        record: Whatever JSON may hold.
    """
    shallow = _shallow(record)
    try:
        return _validator(name).is_valid(shallow)
    except ValueError:
        return _validator(name).is_valid(_takeable(shallow))


def faults(name: str, record: object) -> tuple[Fault, ...]:
    """Every place of a record that does not keep a contract, each once, by pointer and key.

    Args:
        name: `PARSED_CHUNK` or `BACKUP_RECORD`.
        record: Whatever JSON may hold.
    """
    shallow = _shallow(record)
    try:
        errors = list(_validator(name).iter_errors(shallow))
    except ValueError:
        errors = list(_validator(name).iter_errors(_takeable(shallow)))
    found: dict[tuple[str, str | None], Fault] = {}
    for error in errors:
        for fault in _told(name, error, record):
            found.setdefault((fault.pointer, fault.key), fault)
    return tuple(found[place] for place in sorted(found, key=lambda place: (place[0], place[1] or "")))


def pointer_to(path: list[str | int]) -> str:
    """The JSON pointer of keys and positions, in order."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(contract_schema(name))


def _shallow(record: object) -> object:
    """A record without what its open objects hold: nothing is asked of that, however deep it goes."""
    if not isinstance(record, dict):
        return record
    filled: dict[str, object] = {key: {} for key in _OPEN if isinstance(record.get(key), dict)}
    return {**record, **filled} if filled else record


def _takeable(record: object) -> Any:  # noqa: ANN401 - whatever JSON may hold
    """The same as the validator can take it: not too deep, and without halves of surrogate pairs."""
    return _spelled_out(_cut(record, _LEVELS))


def _cut(value: object, levels: int) -> object:
    """A value whose lists and objects are empty from so many levels on: no contract looks further."""
    if isinstance(value, dict):
        return {key: _cut(each, levels - 1) for key, each in value.items()} if levels else {}
    if isinstance(value, list):
        return [_cut(each, levels - 1) for each in value] if levels else []
    return value


def _spelled_out(value: object) -> Any:  # noqa: ANN401 - whatever JSON may hold
    """The same with halves of surrogate pairs, which the validator cannot take, spelled out."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(lambda found: f"\U000f0000{ord(found[0]):x};", value)
    if isinstance(value, dict):
        return {_spelled_out(key): _spelled_out(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_spelled_out(each) for each in value]
    return value


def _told(name: str, error: ValidationError, record: object) -> Iterator[Fault]:
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
                told = ascii(key)
                yield Fault(pointer, key, rule, f"{told} is no field of {name}, expected to be left out")
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
    told = json.dumps(value)
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}..."
