"""What goes wrong in the glossary, beside what goes wrong anywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vocabgap.errors import InvalidInputError, StateError, VocabgapError

if TYPE_CHECKING:
    from vocabgap.glossary.conflicts import SemanticConflict
    from vocabgap.glossary.strictness import Strictness


class InvalidTermError(InvalidInputError, ValueError):
    """A term, a sense, a conflict or a checkpoint that breaks its own rules."""


class BlockedByConflictError(StateError):
    """The gate does not let a step go on.

    Args:
        conflicts: What stands in the way.
        strictness: The strictness that was in force.
        message: What is wrong; by default how many conflicts there are.
        retry_token: What resumes the step; empty where no checkpoint could be kept.
    """

    def __init__(
        self,
        conflicts: "Sequence[SemanticConflict]",
        strictness: "Strictness | None" = None,
        message: str = "",
        *,
        retry_token: str = "",
        hint: str = "",
    ) -> None:
        told = message or (
            f"Generation blocked by {len(conflicts)} semantic conflict(s)."
            " Resolve conflicts or use --strictness off to bypass."
        )
        super().__init__(told, hint=hint)
        self.conflicts = tuple(conflicts)
        self.strictness = strictness
        self.retry_token = retry_token


class DeferredToAsyncError(StateError):
    """A person puts the answer off.

    Args:
        conflict_id: The question that stays open.
    """

    def __init__(self, conflict_id: str) -> None:
        super().__init__(f"conflict {conflict_id} is deferred", hint="resolve it later by this identifier")
        self.conflict_id = conflict_id


class AbortResumeError(StateError):
    """A step does not go on with what has changed: a person does not want it to, or none was asked.

    Args:
        reason: Why.
        hint: What to do.
    """

    def __init__(self, reason: str, *, hint: str = "") -> None:
        super().__init__(reason, hint=hint)
        self.reason = reason


class MiddlewareError(VocabgapError, RuntimeError):
    """A middleware failed; what went wrong is its cause.

    Args:
        name: The middleware.
        cause: What went wrong.
    """

    def __init__(self, name: str, cause: Exception) -> None:
        told = cause.message if isinstance(cause, VocabgapError) else f"{type(cause).__name__}: {cause}"
        super().__init__(f"{name}: {told}", hint=getattr(cause, "hint", ""))
        self.exit_code = getattr(cause, "exit_code", VocabgapError.exit_code)


class SeedProblem(NamedTuple):
    """One thing that is wrong in a seed file.

    Attributes:
        term: The term, counted from 0; none where the whole file is meant.
        surface: Its surface as it stands there; empty where there is none.
        field: The field.
        message: What is wrong.
        line: The line, counted from 1; none where there is no file.
    """

    term: int | None
    surface: str
    field: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.field
        if self.term is not None:
            place = f"term[{self.term}]{f' {self.surface!r}' if self.surface else ''} -> {self.field}"
        return f"{'' if self.line is None else f'line {self.line}: '}{place}: {self.message}"


class SeedFileValidationError(InvalidInputError, ValueError):
    """A seed file with errors, all of them at once.

    Args:
        path: The file.
        errors: What is wrong, in the order of the file.
        hint: What to do.
    """

    def __init__(self, path: Path | str, errors: Sequence[SeedProblem], *, hint: str = "") -> None:
        told = "\n".join(f"  {each}" for each in errors)
        super().__init__(f"{len(errors)} validation error(s) in {path}:\n{told}", hint=hint)
        self.file_path = Path(path)
        self.errors = tuple(errors)


__all__ = [
    "AbortResumeError",
    "BlockedByConflictError",
    "DeferredToAsyncError",
    "InvalidTermError",
    "MiddlewareError",
    "SeedFileValidationError",
    "SeedProblem",
    "VocabgapError",
]
