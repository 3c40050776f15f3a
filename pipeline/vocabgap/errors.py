"""Errors a person can act on. Each class knows the exit code of the command that it ends."""

from enum import IntEnum
from typing import Final

DEBUG_VARIABLE: Final = "VOCABGAP_DEBUG"
"""Where it is set, an error that is a bug is raised instead of told."""


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    BUG = 1
    INVALID_INPUT = 2
    NOT_FOUND = 3
    STATE = 4
    PERMISSION = 9
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


# A signal ended the run: 128 and its number, as shells have it.
STOPPED: Final = frozenset({ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED})


class VocabgapError(Exception):
    """Base of every error that vocabgap raises on purpose.

    Args:
        message: What is wrong, with the file, line or field it concerns.
        hint: What to do about it; empty where the message says it all.
    """

    exit_code: ExitCode = ExitCode.BUG

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Kinds have arguments of their own: one that comes from another process is not made again by them.
        return _as_it_was, (type(self), self.args), self.__dict__


def _as_it_was(kind: type[VocabgapError], args: tuple[object, ...]) -> VocabgapError:
    return kind.__new__(kind, *args)


class InvalidInputError(VocabgapError):
    """A value, a setting or a frame that does not have the expected form."""

    exit_code = ExitCode.INVALID_INPUT


class NotFoundError(VocabgapError):
    """A root, a file or an entity that does not exist."""

    exit_code = ExitCode.NOT_FOUND


class StateError(VocabgapError):
    """Something on disk stands in the way: a foreign folder, a full disk, an unreadable store."""

    exit_code = ExitCode.STATE


class AccessDeniedError(VocabgapError):
    """The operating system refused access."""

    exit_code = ExitCode.PERMISSION


def system_error(error: OSError) -> VocabgapError:
    """What the operating system refused outside the stages' own care, such as output to a full disk."""
    message = f"{error.filename or 'output'}: {error.strerror or error}"
    return AccessDeniedError(message) if isinstance(error, PermissionError) else StateError(message)
