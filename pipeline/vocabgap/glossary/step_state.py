"""What a stopped step keeps beside its checkpoint: its inputs, and what was found out about them."""

import json
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError
from vocabgap.files.atomic import write_whole
from vocabgap.files.refusals import FileRole
from vocabgap.glossary.checkpoints import is_uuid, plain
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.senses import ExtractedTerm
from vocabgap.text import escape_unseen

_FOLDER: Final = "steps"
_ENDING: Final = ".json"
_ABANDONED_SECONDS: Final = 3600
_PRIVATE: Final = 0o600  # inputs are what people wrote
_EXPECTED: Final = "expected a token as the step told it when it was stopped, a UUID"
_ROLE: Final = FileRole("state of a step", "see to its folder", undone="nothing was kept", again="try again")


class StepState(msgspec.Struct, frozen=True):
    """What a step was and what was found out about it.

    Attributes:
        step_id: The step.
        mission_id: Its mission.
        run_id: The run of it.
        inputs: What it was given.
        metadata: What it says of itself.
        config: What the mission says.
        step_input: What is scanned for terms.
        step_output: What it had generated.
        extracted_terms: The terms that were found.
    """

    step_id: str
    mission_id: str
    run_id: str
    inputs: dict[str, Any]
    metadata: dict[str, Any]
    config: dict[str, Any]
    step_input: dict[str, Any]
    step_output: dict[str, Any]
    extracted_terms: tuple[ExtractedTerm, ...]

    def context(self, retry_token: str, inputs: Mapping[str, Any] | None = None) -> ExecutionContext:
        """The step, about to go on.

        Args:
            retry_token: The token of its checkpoint.
            inputs: What it is given now; by default what it was given then.
        """
        given = self.inputs if inputs is None else dict(inputs)
        return ExecutionContext(
            self.step_id,
            self.mission_id,
            self.run_id,
            dict(given),
            self.metadata,
            self.config,
            step_input=dict(self.step_input) if inputs is None else None,
            step_output=dict(self.step_output),
            retry_token=retry_token,
        )


def save_state(events: Path, retry_token: str, context: ExecutionContext) -> None:
    """Keep a step, all of it or nothing.

    Args:
        events: The folder of the event logs.
        retry_token: The token of its checkpoint.
        context: The step.

    Raises:
        InvalidInputError: It holds what JSON cannot say.
        VocabgapError: It cannot be written.
    """
    state = StepState(
        context.step_id,
        context.mission_id,
        context.run_id,
        dict(context.inputs),
        dict(context.metadata),
        dict(context.config),
        dict(context.step_input or {}),
        dict(context.step_output),
        tuple(context.extracted_terms),
    )
    path = state_path(events, retry_token)
    try:
        content = json.dumps(msgspec.structs.asdict(state), default=_plain).encode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"the step cannot be kept: {error}") from error
    with _ROLE.refusing(path, "written"):
        write_whole(path, content, _PRIVATE)


def load_state(events: Path, retry_token: str) -> StepState | None:
    """What was kept of a step; none where nothing was, or it is damaged.

    Raises:
        NotFoundError: The token is none.
        VocabgapError: It cannot be read.
    """
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
    """Keep nothing of a step any more that is done; what others keep beside it still needs it.

    Args:
        events: The folder of the event logs.
        retry_token: The token of its checkpoint.

    Raises:
        NotFoundError: The token is none.
        VocabgapError: It cannot be removed.
    """
    path = state_path(events, retry_token)
    with _ROLE.refusing(path, "removed"):
        if not path.with_suffix("").exists():
            path.unlink(missing_ok=True)


def clear_abandoned(events: Path, mission_id: str) -> None:
    """Remove what runs that were killed have left beside the log, an hour ago or longer.

    That is what was never whole, and the steps of a mission whose runs wait beside them, where none does.

    Args:
        events: The folder of the event logs.
        mission_id: The mission.
    """
    for path in sorted((events / _FOLDER).glob("*")):
        with suppress(OSError, VocabgapError):
            if time.time() - path.stat().st_mtime < _ABANDONED_SECONDS:
                continue
            if path.name.startswith("."):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            elif path.suffix == _ENDING and not path.with_suffix("").exists():
                kept = load_state(events, path.stem)
                if kept is not None and kept.mission_id == mission_id:
                    path.unlink()


def state_path(events: Path, retry_token: str) -> Path:
    """Where a step is kept.

    Args:
        events: The folder of the event logs.
        retry_token: The token of its checkpoint, a UUID.

    Raises:
        NotFoundError: It is none, and so no checkpoint has it.
    """
    if not is_uuid(retry_token):
        raise NotFoundError(f"there is no checkpoint '{escape_unseen(retry_token)}'", hint=_EXPECTED)
    return events / _FOLDER / f"{retry_token}{_ENDING}"


def _plain(value: object) -> object:
    """What JSON holds for a value: what its hash was made of, where it is one that can be hashed."""
    try:
        return plain(value)
    except TypeError:
        return msgspec.to_builtins(value)
