"""Checkpoints: what a step that was stopped at the gate needs to go on later."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from enum import Enum, StrEnum
from pathlib import PurePath
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.errors import InvalidTermError
from vocabgap.glossary.senses import ScopeRef, require_id
from vocabgap.glossary.strictness import Strictness

SHOWN_DIGITS: Final = 16  # of a hash
_HASH: Final = re.compile("[0-9a-f]{64}")
_TOKEN_LENGTH: Final = 36
_JSON_HINT: Final = "expected what JSON can hold: texts, numbers, true, false, null, lists and objects"


class Cursor(StrEnum):
    """Where a step goes on."""

    PRE_GENERATION_GATE = "pre_generation_gate"
    POST_CLARIFICATION = "post_clarification"
    POST_GATE = "post_gate"


class StepCheckpoint(msgspec.Struct, frozen=True):
    """The least that a step needs to go on.

    Attributes:
        mission_id: The mission.
        run_id: The run of it.
        step_id: The step.
        strictness: The strictness in force.
        scope_refs: The active scopes and their versions.
        input_hash: Digest of the inputs, see `hash_inputs`.
        cursor: Where it goes on: one of `Cursor`.
        retry_token: What names this checkpoint, a UUID.
        timestamp: When it was made; one without an offset is in UTC.

    Raises:
        InvalidTermError: A field is none of these.
    """

    mission_id: str
    run_id: str
    step_id: str
    strictness: Strictness
    scope_refs: tuple[ScopeRef, ...]
    input_hash: str
    cursor: str
    retry_token: str
    timestamp: datetime

    def __post_init__(self) -> None:
        for name in ("mission_id", "run_id", "step_id"):
            require_id(name, getattr(self, name))
        if not _HASH.fullmatch(self.input_hash):
            raise InvalidTermError(
                f"Invalid input_hash format: expected 64 of 0-9a-f, found {self.input_hash!r}"
            )
        if self.cursor not in set(Cursor):
            raise InvalidTermError(
                f"Unknown cursor value {self.cursor!r}: expected one of {', '.join(Cursor)}"
            )
        if not is_uuid(self.retry_token):
            raise InvalidTermError(f"Invalid retry_token format: expected a UUID, found {self.retry_token!r}")
        if self.timestamp.tzinfo is None:
            msgspec.structs.force_setattr(self, "timestamp", self.timestamp.replace(tzinfo=UTC))


class Verified(NamedTuple):
    """Whether the inputs are those of a checkpoint.

    Attributes:
        matches: Whether they are.
        old: The first digits of their hash then.
        new: Those of their hash now.
    """

    matches: bool
    old: str
    new: str


def checkpoint_of(payload: object) -> StepCheckpoint:
    """The checkpoint that a JSON object stands for; keys of other names mean nothing.

    Raises:
        InvalidTermError: It is none.
    """
    try:
        return msgspec.convert(payload, StepCheckpoint)
    except msgspec.ValidationError as error:
        raise InvalidTermError(f"Invalid checkpoint event payload: {error}") from error


def hash_inputs(inputs: Mapping[str, Any]) -> str:
    """SHA-256 of the inputs as JSON, the same whatever the order of their keys.

    Moments, paths, bytes, sets and enumerations have a form of their own: ISO 8601, text, hexadecimal
    digits, a sorted list, and their value.

    Returns:
        64 hexadecimal digits.

    Raises:
        InvalidInputError: The inputs hold something else that JSON cannot say.
    """
    return hashlib.sha256(_canonical(inputs).encode("utf-8", "surrogatepass")).hexdigest()


def verify_inputs(input_hash: str, inputs: Mapping[str, Any]) -> Verified:
    """Whether the inputs are still those of a hash.

    Raises:
        InvalidInputError: As `hash_inputs`.
    """
    found = hash_inputs(inputs)
    return Verified(found == input_hash, input_hash[:SHOWN_DIGITS], found[:SHOWN_DIGITS])


def input_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What changed in the inputs, by key: what was there and what is now, none for what is not there.

    Raises:
        InvalidInputError: As `hash_inputs`.
    """
    return {
        key: (old.get(key), new.get(key))
        for key in sorted({*old, *new})
        if (key in old) != (key in new) or _canonical(old[key]) != _canonical(new[key])
    }


def plain(value: object) -> object:
    """What JSON holds for a value that it cannot hold itself.

    Raises:
        TypeError: There is nothing that it could hold for it.
    """
    match value:
        case set() | frozenset():
            return sorted(value, key=_canonical)
        case Mapping():
            return dict(value)
        case datetime() | date() | time():
            return value.isoformat()
        case PurePath():
            return str(value)
        case bytes() | bytearray():
            return value.hex()
        case Enum():
            return value.value
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__} is no JSON")


def _canonical(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"inputs cannot be hashed: {error}", hint=_JSON_HINT) from error


def is_uuid(token: object) -> bool:
    """Whether something is a UUID as it is usually written."""
    if not isinstance(token, str) or len(token) != _TOKEN_LENGTH:
        return False
    try:
        return str(UUID(token)) == token.lower()
    except ValueError:
        return False
