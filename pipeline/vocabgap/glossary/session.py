"""A step that is about to generate something, and the stored state of a stopped step."""

import hashlib
import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.errors import InvalidInputError, StateError, require_kind, require_text
from vocabgap.files.atomic import write_whole
from vocabgap.files.refusals import FileRole, content_of
from vocabgap.glossary.conflicts import strictness_of
from vocabgap.glossary.events import Actor, ActorType, StepCheckpointed
from vocabgap.glossary.questions import Question
from vocabgap.glossary.senses import ExtractedTerm, ScopeRef, SemanticConflict, Strictness, require_id

SERVICE: Final = Actor("system:vocabgap", ActorType.SERVICE, "vocabgap")
# Everything that is checked, and who asks for it: a step that resumes has the same.
_CHECKED: Final = ("step_id", "mission_id", "inputs", "step_input", "step_output", "metadata", "config")
_GIVEN: Final = (*_CHECKED, "run_id")
_STRICTNESS: Final = "glossary_check_strictness"
_JSON: Final = "expected JSON values: texts, numbers, true, false, null, lists and objects"
clock: Final = partial(datetime.now, UTC)
_ROLE: Final = FileRole("state of a step", "check its folder", undone="nothing was stored", again="try again")


@dataclass
class ExecutionContext:
    """A step that is about to generate something; each middleware adds its results.

    Attributes:
        inputs: The inputs, compared when the step resumes.
        metadata: `critical_step`, `glossary_check`, `glossary_check_strictness`, `glossary_fields`,
            `glossary_watch_terms`, `glossary_aliases`, `glossary_exclude_terms` and `glossary_signs`.
        config: The settings of the mission: `strictness` and `enabled` under `glossary`.
        step_input: The texts to scan, by default the inputs; `glossary_fields` names the fields, by default
            `description`, `prompt` and `output`.
        step_output: The generated texts, also scanned.
        extracted_terms: The terms, the surest first.
        drafts: The finds that may not be terms.
        conflicts: The terms whose meaning is open.
        meanings: The meanings of the other terms.
        resolved_conflicts: The conflicts that this run settled.
        questions: The open questions, with identifiers for later answers.
        check_event_id: The identifier of the logged check.
        is_stopped: Whether the gate has stopped the step.
        effective_strictness: The strictness that applied; None if nothing was checked.
        scope_refs: The scopes with their versions.
        retry_token: The token that resumes it; None without a checkpoint.
        resumed_from_checkpoint: Whether it was resumed.
        is_restored: Whether its terms come from its checkpoint.
        refused: The answers that were none, each with what was expected.
        notes: Messages for a person, such as events that could not be logged.
    """

    step_id: str
    mission_id: str
    run_id: str
    inputs: dict[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    step_input: dict[str, Any] | None = None
    step_output: dict[str, Any] = field(default_factory=dict)
    extracted_terms: list[ExtractedTerm] = field(default_factory=list)
    drafts: list[ExtractedTerm] = field(default_factory=list)
    conflicts: list[SemanticConflict] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    resolved_conflicts: list[SemanticConflict] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    check_event_id: str = ""
    is_stopped: bool = False
    effective_strictness: Strictness | None = None
    scope_refs: tuple[ScopeRef, ...] = ()
    retry_token: str | None = None
    resumed_from_checkpoint: bool = False
    is_restored: bool = False
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("step_id", "mission_id", "run_id"):
            require_text(name, getattr(self, name))
            require_id(name, getattr(self, name))
        require_text("retry_token", self.retry_token or "")
        for name in ("inputs", "metadata", "config", "step_output"):
            require_kind(name, getattr(self, name), Mapping, "a mapping of names to values")
        require_kind("step_input", self.scanned, Mapping, "a mapping of names to texts")

    @property
    def scanned(self) -> Mapping[str, Any]:
        """The texts to scan."""
        return self.step_input or self.inputs

    def copied(self) -> "ExecutionContext":
        """Return a copy without results; raise InvalidInputError if a part cannot be copied."""
        try:
            parts = deepcopy({name: getattr(self, name) for name in (*_GIVEN, "retry_token")})
            json.dumps(parts, skipkeys=True, default=repr)  # raises an error if a part contains itself
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInputError(f"the step cannot be copied: {error}", hint=_JSON) from error
        return ExecutionContext(**parts)

    def take(self, other: "ExecutionContext") -> None:
        """Take the results of a copy."""
        vars(self).update({**vars(other), **{name: getattr(self, name) for name in _GIVEN}})

    @property
    def is_checked(self) -> bool:
        """Tell whether the step is checked at all."""
        setting = self.metadata.get("glossary_check")
        if setting is None:
            return self._section.get("enabled") is not False
        if isinstance(setting, str):
            return setting.strip().casefold() not in {"disabled", "false"}
        return setting is not False

    @property
    def _section(self) -> Mapping[str, Any]:
        section = self.config.get("glossary")
        return section if isinstance(section, Mapping) else {}

    @property
    def named_strictness(self) -> tuple[Strictness | None, Strictness | None]:
        """The strictness of the step, and that of its mission, if they name one."""
        mission = strictness_of(self._section.get("strictness"))
        return strictness_of(self.metadata.get(_STRICTNESS), _STRICTNESS), mission


def hash_inputs(inputs: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the inputs as JSON, the same for any order of their keys."""
    return hashlib.sha256(_encoded(inputs)).hexdigest()


def verify_inputs(input_hash: str, inputs: Mapping[str, Any]) -> tuple[bool, str, str]:
    """Compare the inputs with a hash; return the result and both short hashes."""
    digest, shown = hash_inputs(inputs), 16
    return digest == input_hash, input_hash[:shown], digest[:shown]


def digest_of(step: ExecutionContext) -> str:
    """Return the SHA-256 of everything that is checked of a step."""
    return hash_inputs(_parts(step) | {"inputs": step.inputs, "step_input": step.scanned})


class ChangedInputs(NamedTuple):
    """The changes of a step's inputs since it was stopped."""

    old: str
    new: str
    changes: Mapping[str, tuple[Any, Any]]


def changes_of(input_hash: str, old: ExecutionContext, new: ExecutionContext) -> ChangedInputs:
    """Return both short hashes, the changed inputs by key, and the other changes of a step by name."""
    _, before, after = verify_inputs(input_hash, new.inputs)
    versions = [{f"glossary, {it.scope}": it.version_id for it in step.scope_refs} for step in (old, new)]
    changes = input_diff(old.inputs, new.inputs) | input_diff(_parts(old), _parts(new))
    return ChangedInputs(before, after, changes | input_diff(*versions))


def _parts(step: ExecutionContext) -> dict[str, Any]:
    return {name: getattr(step, name) for name in _CHECKED if name != "inputs"}


def input_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the changed inputs by key, each with its old and its new value."""
    return {
        key: (old.get(key), new.get(key))
        for key in sorted({*old, *new})
        if (key in old) != (key in new) or _encoded(old[key]) != _encoded(new[key])
    }


def _encoded(value: object) -> bytes:
    plain = partial(msgspec.to_builtins, order="deterministic")  # the same for any order of a set
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=plain)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"inputs cannot be hashed: {error}", hint=_JSON) from error
    return text.encode("utf-8", "surrogatepass")


def save_state(events: Path, retry_token: str, step: ExecutionContext) -> str:
    """Store the state of a step as a whole, or not at all; return its digest."""
    names = (*_GIVEN, "extracted_terms", "check_event_id")
    content = _encoded({name: getattr(step, name) for name in names})
    path = state_path(events, retry_token)
    with _ROLE.refusing(path, "written"):
        write_whole(path, content, 0o600)  # the inputs may be private
    return hashlib.sha256(content).hexdigest()


def load_state(events: Path, checkpoint: StepCheckpointed) -> ExecutionContext | None:
    """Load the state of a stopped step; None if it is missing or not the one that was stored."""
    content = content_of(state_path(events, checkpoint.retry_token), _ROLE.name)
    if not isinstance(content, bytes) or hashlib.sha256(content).hexdigest() != checkpoint.state_digest:
        return None
    return msgspec.convert(json.loads(content), ExecutionContext)


def drop_state(events: Path, retry_token: str) -> None:
    """Remove the state of a step that is done."""
    path = state_path(events, retry_token)
    with _ROLE.refusing(path, "removed"):
        path.unlink(missing_ok=True)


def state_path(events: Path, retry_token: str) -> Path:
    """Return the file of a stopped step; its token is a UUID, because an event with another is refused."""
    return events / "steps" / f"{retry_token}.json"


Confirm = Callable[[ChangedInputs], bool]


class AbortResumeError(StateError):
    """A step is not resumed with changed inputs."""
