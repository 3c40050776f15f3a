"""Checkpoints: what a step that was stopped at the gate needs to go on later."""

import hashlib
import json
from collections.abc import Mapping
from datetime import date, datetime, time
from enum import Enum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.files.atomic import write_whole
from vocabgap.files.refusals import FileRole
from vocabgap.glossary.events import is_uuid
from vocabgap.glossary.senses import ExtractedTerm
from vocabgap.text import escape_unseen

if TYPE_CHECKING:
    from vocabgap.glossary.session import ExecutionContext

_SHOWN_DIGITS: Final = 16  # of a hash
_FOLDER: Final = "steps"
_ENDING: Final = ".json"
_PRIVATE: Final = 0o600  # inputs are what people wrote
_ROLE: Final = FileRole("state of a step", "see to its folder", undone="nothing was kept", again="try again")


def hash_inputs(inputs: Mapping[str, Any]) -> str:
    """SHA-256 of the inputs as JSON, the same whatever the order of their keys.

    Moments, paths, bytes, sets and enumerations have a form of their own: ISO 8601, text, hexadecimal
    digits, a sorted list, and their value.
    """
    return hashlib.sha256(_canonical(inputs).encode("utf-8", "surrogatepass")).hexdigest()


def verify_inputs(input_hash: str, inputs: Mapping[str, Any]) -> tuple[bool, str, str]:
    """Whether the inputs are still those of a hash, and the digits of it and of theirs that are shown."""
    digest = hash_inputs(inputs)
    return digest == input_hash, input_hash[:_SHOWN_DIGITS], digest[:_SHOWN_DIGITS]


def input_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What changed in the inputs, by key: what was there and what is now, none for what is not there."""
    return {
        key: (old.get(key), new.get(key))
        for key in sorted({*old, *new})
        if (key in old) != (key in new) or _canonical(old[key]) != _canonical(new[key])
    }


def plain(value: object) -> object:
    """What JSON holds for a value that it cannot hold itself."""
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
        raise InvalidInputError(
            f"inputs cannot be hashed: {error}",
            hint="expected what JSON can hold: texts, numbers, true, false, null, lists and objects",
        ) from error


class StepState(msgspec.Struct, frozen=True):
    """What a step was and what was found out about it."""

    step_id: str
    mission_id: str
    run_id: str
    inputs: dict[str, Any]
    metadata: dict[str, Any]
    config: dict[str, Any]
    step_input: dict[str, Any]
    step_output: dict[str, Any]
    extracted_terms: tuple[ExtractedTerm, ...]


def save_state(events: Path, retry_token: str, context: "ExecutionContext") -> None:
    """Keep a step, all of it or nothing."""
    state = {name: getattr(context, name) for name in StepState.__struct_fields__}
    path = state_path(events, retry_token)
    try:
        content = json.dumps(state, default=_plain).encode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"the step cannot be kept: {error}") from error
    with _ROLE.refusing(path, "written"):
        write_whole(path, content, _PRIVATE)


def load_state(events: Path, retry_token: str) -> StepState | None:
    """What was kept of a step; none where nothing was, or it is damaged."""
    path = state_path(events, retry_token)
    with _ROLE.refusing(path, "read"):
        if not path.is_file():
            return None
        content = path.read_bytes()
    try:
        return msgspec.convert(json.loads(content), StepState)
    except (msgspec.ValidationError, ValueError, RecursionError):
        return None


def drop_state(events: Path, retry_token: str) -> None:
    """Remove the state of a step that is done."""
    path = state_path(events, retry_token)
    with _ROLE.refusing(path, "removed"):
        path.unlink(missing_ok=True)


def state_path(events: Path, retry_token: str) -> Path:
    """Where a step is kept.

    Raises:
        NotFoundError: It is none, and so no checkpoint has it.
    """
    if not is_uuid(retry_token):
        raise NotFoundError(
            f"there is no checkpoint '{escape_unseen(retry_token)}'",
            hint="expected a token as the step told it when it was stopped, a UUID",
        )
    return events / _FOLDER / f"{retry_token}{_ENDING}"


def _plain(value: object) -> object:
    """What JSON holds for a value: what its hash was made of, where it is one that can be hashed."""
    try:
        return plain(value)
    except TypeError:
        return msgspec.to_builtins(value)
