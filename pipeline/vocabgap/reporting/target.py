"""Where a run may be published: nothing of the person's may be at risk there."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from vocabgap.errors import InvalidInputError, StateError, expanded
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    LINEAGE_NAME,
    MANIFEST_NAME,
    MARKDOWN_NAME,
    PAGE_NAME,
    REJECTS_NAME,
    SHARE_NAME,
)

# Every name that a run may write: an earlier run's file is not carried into a run without it.
OWNED: Final = frozenset(
    {
        MARKDOWN_NAME,
        PAGE_NAME,
        SHARE_NAME,
        CAPABILITIES_NAME,
        GAPS_NAME,
        REJECTS_NAME,
        LINEAGE_NAME,
        GROUPS_NAME,
        MANIFEST_NAME,
    }
)
_ELSEWHERE: Final = "name a new or empty folder with --out, so that nothing of yours is touched"


class _Mark(msgspec.Struct):
    """What every manifest that vocabgap has written holds, whatever its version."""

    vocabgap: str
    schema_version: int


def resolve_target(folder: str | Path, *, option: str = "--out") -> Path:
    """The absolute path of a folder to publish, or of one that was published.

    Args:
        folder: Its path.
        option: What names it on the command line, for the error.

    Raises:
        InvalidInputError: It is not a path.
    """
    try:
        return expanded(folder).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{option}: '{folder}' is not a folder's path: {error}") from error


def check_target(target: Path, roots: Iterable[Path] = ()) -> None:
    """Refuse a target where publishing could hide or destroy something.

    Args:
        target: The absolute path of the folder to publish.
        roots: What is scanned; the target must not hold any of it.

    Raises:
        StateError: It is a file, holds files but no run, or holds a root or the current folder.
    """
    if any(root.is_relative_to(target) for root in roots):
        raise StateError(f"folder '{target}' holds what is scanned", hint=_ELSEWHERE)
    if not target.exists():
        return
    if not target.is_dir():
        raise StateError(f"'{target}' is a file, not a folder", hint="name another folder with --out")
    here = current_folder()
    if here is not None and here.is_relative_to(target):
        # Its place would be taken by a new folder, and the shell be left in the old one.
        raise StateError(f"'{target}' holds the current folder", hint="name another folder with --out")
    foreign = any(target.iterdir()) and not _holds_run(target)
    if foreign or any((target / name).is_dir() for name in OWNED):
        raise StateError(f"folder '{target}' holds files, but no run of vocabgap", hint=_ELSEWHERE)


def current_folder() -> Path | None:
    """The current folder; None where it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _holds_run(folder: Path) -> bool:
    try:
        msgspec.json.decode((folder / MANIFEST_NAME).read_bytes(), type=_Mark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
