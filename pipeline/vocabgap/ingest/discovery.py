"""Which log files a scan reads: every one below its roots, in an order that does not depend on the disk."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError
from vocabgap.record import LOG_NAME
from vocabgap.text import printable_name


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log to read, and whose it is."""

    path: Path
    repo_slug: str
    source_path: str
    problem: str = ""

    @property
    def folder(self) -> str:
        """The name of the folder that holds the log: the image, where a record names none."""
        return printable_name(self.path.parent.name)


def discover(roots: Iterable[str | Path]) -> list[LogFile]:
    """Find every gap log at any depth below the roots.

    Folders whose name starts with a dot are passed over, and links to folders are not followed.

    Args:
        roots: Folders to search, or single log files of any name.

    Returns:
        The logs, ordered by repository and source path. A folder that could not be listed is there
        too, with its `problem`.

    Raises:
        InvalidInputError: No root was given.
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read.
    """
    bases = resolve_roots(roots)
    slugs = repository_slugs([base if base.is_dir() else base.parent for base in bases])
    found: dict[Path, LogFile] = {}
    for base, slug in zip(bases, slugs, strict=True):
        for log in _logs(base, slug):
            found.setdefault(log.path, log)  # a root inside another one adds nothing
    return sorted(found.values(), key=lambda log: (log.repo_slug, log.source_path))


def resolve_roots(roots: Iterable[str | Path]) -> list[Path]:
    """Absolute paths of the roots, sorted, each once. A `~` is the home folder unless something is called so.

    Raises:
        InvalidInputError: No root was given.
        NotFoundError: A root does not exist.
        AccessDeniedError: A root may not be read.
    """
    bases = sorted({_resolve(Path(root)) for root in roots})
    if not bases:
        raise InvalidInputError("no root to scan", hint="name at least one folder or log file")
    return bases


def repository_slugs(folders: list[Path]) -> list[str]:
    """A short name for each folder: its own, with as many parents as tell it from others of that name.

    Args:
        folders: Absolute paths; the same one may occur twice.
    """

    def slug(folder: Path) -> str:
        named = [part for part in folder.parts if part != folder.anchor] or [folder.anchor]
        for depth in range(1, len(named) + 1):
            tail = named[-depth:]
            rivals = {other for other in folders if list(other.parts[-depth:]) == tail}
            if len(rivals) == 1:
                return printable_name("/".join(tail))
        return printable_name("/".join(named))

    return [slug(folder) for folder in folders]


def _resolve(path: Path) -> Path:
    try:
        resolved = (path if os.path.lexists(path) else path.expanduser()).resolve(strict=True)
    except PermissionError as error:
        raise AccessDeniedError(f"root '{path}' may not be read: {error.strerror}") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFoundError(f"root '{path}' does not exist", hint="check the path") from error
    if resolved.is_dir() and not os.access(resolved, os.R_OK | os.X_OK):
        raise AccessDeniedError(f"root '{path}' may not be read", hint="check the folder's permissions")
    return resolved


def _logs(base: Path, slug: str) -> Iterator[LogFile]:
    if not base.is_dir():
        yield LogFile(base, slug, printable_name(base.name))
        return
    pending = [base]  # not `os.walk`, which recurses: a tree may be deeper than the stack
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = Path(folder, entry.name)
                    if entry.name == LOG_NAME:
                        yield LogFile(path, slug, _relative(path, base))
                    if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                        pending.append(path)
        except OSError as problem:
            detail = f"the folder cannot be listed: {problem.strerror}"
            yield LogFile(folder, slug, _relative(folder, base), detail)


def _relative(path: Path, base: Path) -> str:
    return printable_name(path.relative_to(base).as_posix())
