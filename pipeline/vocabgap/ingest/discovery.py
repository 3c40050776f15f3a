"""Which log files a scan reads: every one below its roots, in an order that does not depend on the disk."""

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import structs

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    VocabgapError,
    alike,
    require_kind,
)
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.ingest.decoding import NATIVE_FIELDS, FieldMap, Rejected
from vocabgap.ingest.reading import COMPRESSIONS
from vocabgap.model.record import ROOT_KIND, RejectReason
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Source
from vocabgap.text import printable_name

_WILDCARDS: Final = frozenset("*?[")
_TOLD: Final = 4  # names of gap logs that a message has


@dataclass(frozen=True, slots=True)
class LogKind:
    """A kind of gap log: where it is from, and how it is packed and mapped."""

    source: str = ""  # by name; empty where a file was named outright and fits none
    fields: FieldMap = NATIVE_FIELDS
    compression: str = ""
    digest: str = ""  # of what in the source decides how a line is read
    by_pattern: bool = False  # a folder may well be called so, too


class Catalogue:
    """The names of gap logs.

    A glob may name a log as it is or as it is compressed; how it is packed, its own name says.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._named: dict[str, LogKind] = {}
        self._patterns: list[tuple[re.Pattern[str], str, LogKind]] = []
        for name, source in sources.items():
            kind = LogKind(name, FieldMap.of(source), digest=source.digest)
            for glob in source.globs:
                if _WILDCARDS.isdisjoint(glob) and "/" not in glob:
                    for packed in (glob, *(f"{glob}.{compression}" for compression in COMPRESSIONS)):
                        self._named.setdefault(packed, replace(kind, compression=_compression(packed)))
                else:
                    pattern = re.compile(translate(glob.rpartition("/")[2]))
                    place = glob if "/" in glob else ""
                    self._patterns.append((pattern, place, replace(kind, by_pattern=True)))

    def kind_of(self, name: str, path: str) -> LogKind | None:
        """The kind of log that a file is; None for any other file."""
        kind = self._named.get(name)
        if kind is not None or not self._patterns:
            return kind
        compression = _compression(name)
        for suffix in ("", f".{compression}") if compression else ("",):
            plain, place = name.removesuffix(suffix), path.removesuffix(suffix)
            for pattern, folders, kind in self._patterns:
                if pattern.match(plain) and (not folders or PurePosixPath(place).match(folders)):
                    return replace(kind, compression=compression)
        return None

    def kind_of_root(self, path: str) -> LogKind:
        """The kind of a file that was named outright: a record a line, if its name says nothing else."""
        name = path.rpartition("/")[2]
        return self.kind_of(name, path) or LogKind(compression=_compression(name))


def _compression(name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return suffix if stem and suffix in COMPRESSIONS else ""


class LogFile(msgspec.Struct, frozen=True):
    """One log to read, and whose it is."""

    path: str  # absolute
    repo_slug: str
    source_path: str  # below the root, with forward slashes
    folder: str  # the name of the one that holds it: the image, where a record names none
    kind: LogKind
    problem: Rejected | None = None  # why it is not read, where that is known beforehand
    tenant_id: str = ""  # where that is not the same for a whole scan
    root_kind: str = ROOT_KIND


def discover(roots: str | Path | Iterable[str | Path], settings: ScanSettings | None = None) -> list[LogFile]:
    """Find every gap log at any depth below the roots, ordered by repository and source path.

    A link is followed where it leads to something below a root that is not there under its own name. One
    that leads out of the roots, or back to a folder above it, is not followed. What could not be listed or
    must not be followed is among the logs, too, with its `problem`.
    """
    bases = resolve_roots(roots)
    slugs = repository_slugs([base if base.is_dir() else base.parent for base in bases])
    settings = settings or ScanSettings()
    catalogue = Catalogue(settings.sources)
    by_path: dict[str, LogFile] = {}
    for base, slug in zip(bases, slugs, strict=True):
        if base.is_dir():
            logs = _Walk(str(base), slug, list(map(str, bases)), catalogue, hidden=settings.hidden).logs()
        else:
            logs = iter([_single(base, slug, catalogue)])
        for log in logs:
            by_path.setdefault(log.path, log)  # a root inside another one adds nothing
    return sorted(by_path.values(), key=lambda log: (log.repo_slug, log.source_path, log.path))


def looked_for(sources: Mapping[str, Source]) -> str:
    """What gap logs are called, in words."""
    globs = [glob for source in sources.values() for glob in source.globs]
    names, others = ", ".join(globs[:_TOLD]), len(globs) - _TOLD
    names += f" and {others} more that `vocabgap status` lists" if others > 0 else ""
    packed = " or ".join(f".{compression}" for compression in COMPRESSIONS)
    return f"{names}, each with {packed}, too" if names else "nothing, since every source is off"


def resolve_roots(roots: str | Path | Iterable[str | Path]) -> list[Path]:
    """Absolute paths of the roots, sorted, each once; `~` is the home folder unless a file is called so."""
    require_kind("roots", roots, (str, Path, Iterable), "paths")
    several = [roots] if isinstance(roots, str | Path) else list(roots)
    for root in several:
        require_kind("roots", root, (str, os.PathLike), "paths")
        if not str(root).strip():  # the variable that was to hold it is unset
            hint = "name a folder or a log file; this folder is called ."
            raise InvalidInputError("a root has an empty name", hint=hint)
    bases = sorted({_resolve(Path(root)) for root in several})
    if not bases:
        raise InvalidInputError("no root to scan", hint="name at least one folder or log file")
    return bases


def repository_slugs(folders: list[Path]) -> list[str]:
    """A short name for each folder: its own, with as many parents as tell it from others of that name."""
    distinct = set(folders)

    @cache
    def named_so(depth: int) -> Counter[tuple[str, ...]]:
        return Counter(folder.parts[-depth:] for folder in distinct)

    def slug(folder: Path) -> str:
        parts = tuple(part for part in folder.parts if part != folder.anchor) or (folder.anchor,)
        for depth in range(1, len(parts) + 1):
            tail = parts[-depth:]
            if named_so(depth)[tail] == 1:
                return printable_name("/".join(tail))
        return printable_name("/".join(parts))

    return [slug(folder) for folder in folders]


def _resolve(path: Path) -> Path:
    try:
        resolved = (path if os.path.lexists(path) else path.expanduser()).resolve(strict=True)
    except PermissionError as error:
        raise AccessDeniedError(f"root '{path}' may not be read: {error.strerror}") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise _unresolved(path) from error
    if resolved.is_dir() and not os.access(resolved, os.R_OK | os.X_OK):
        raise AccessDeniedError(f"root '{path}' may not be read", hint="check the folder's permissions")
    return resolved


def _unresolved(path: Path) -> VocabgapError:
    """What a root is that has no path of its own. It may be there all the same, as `<(command)` is."""
    with suppress(OSError):
        kind = file_kind(path)
        if kind is FileKind.DANGLING:
            return NotFoundError(f"root '{path}' is {kind}", hint="check the path")
        if kind in {FileKind.FILE, FileKind.FOLDER}:
            return NotFoundError(f"root '{path}' has been deleted", hint="check the path")
        if kind is not FileKind.NOTHING:
            piped = kind is FileKind.PIPE
            hint = "save what comes through it in a file, and name that" if piped else "check the path"
            return InvalidInputError(f"root '{path}' is {kind}, expected a folder or a log file", hint=hint)
    near: list[str] = []
    with suppress(OSError):  # nothing to propose where the folder that would hold it is not there either
        near = alike(path.name, sorted(each.name for each in path.parent.iterdir()), 1)
    return NotFoundError(
        f"root '{path}' does not exist",
        hint=f"did you mean '{path.with_name(near[0])}'?"
        if near
        else "check the path, and that its disk is there; where none was typed, [ingest] roots of the"
        " settings names it",
    )


def _single(base: Path, slug: str, catalogue: Catalogue) -> LogFile:
    problem = None if base.is_file() else _IRREGULAR
    name, folder = printable_name(base.name), printable_name(base.parent.name)
    return LogFile(str(base), slug, name, folder, catalogue.kind_of_root(str(base)), problem)


_IRREGULAR = Rejected(RejectReason.UNREADABLE_FILE, "the log cannot be read: not a regular file")


@dataclass(slots=True)
class _Walk:
    """The search below one root of all of them: a link may lead to any."""

    base: str
    slug: str
    bases: list[str]
    catalogue: Catalogue
    hidden: bool = field(kw_only=True)
    _seen: set[str] = field(default_factory=set)
    _links: list[tuple[str, str]] = field(default_factory=list)

    def logs(self) -> Iterator[LogFile]:
        yield from self._below(self.base, "")
        # What is there under its own name comes first, so that the way through a link adds nothing to it.
        while self._links:
            links, self._links = sorted(self._links), []
            for relative, path in links:
                yield from self._through(path, relative)

    def _below(self, top: str, prefix: str) -> Iterator[LogFile]:
        pending = [(top, prefix)]  # not `os.walk`, which recurses: a tree may be deeper than the stack
        while pending:
            folder, within = pending.pop()
            self._seen.add(folder)
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        name = entry.name
                        if name.startswith(".") and not self.hidden:
                            continue
                        relative = within + name
                        if entry.is_symlink():
                            self._links.append((relative, entry.path))
                            continue
                        is_folder = entry.is_dir(follow_symlinks=False)
                        if is_folder:
                            pending.append((entry.path, relative + "/"))
                        kind = self.catalogue.kind_of(name, entry.path)
                        if kind is not None and not (is_folder and kind.by_pattern):
                            regular = entry.is_file(follow_symlinks=False)
                            yield self._log(entry.path, relative, kind, None if regular else _IRREGULAR)
            except OSError as problem:
                detail = f"the folder cannot be listed: {problem.strerror}"
                why = Rejected(RejectReason.UNREADABLE_FILE, detail)
                yield self._log(folder, within.rstrip("/") or ".", LogKind(), why)

    def _through(self, path: str, relative: str) -> Iterator[LogFile]:
        kind = self.catalogue.kind_of(path.rpartition("/")[2], path)
        try:
            # The system first: it follows 40 links in a row, `realpath` any number, recursively.
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - paths are text here
            target = os.path.realpath(path, strict=True)
        except OSError as problem:
            if problem.errno == errno.ELOOP:
                yield self._log(path, relative, kind or LogKind(), _link("leads back to itself"))
            # A link that leads nowhere is this program's business only where it is called like a log.
            elif kind is not None:
                detail = f"the link leads nowhere: {problem.strerror}"
                yield self._log(path, relative, kind, Rejected(RejectReason.UNREADABLE_FILE, detail))
            return
        if kind is None and not is_folder:
            return
        within = any(target == base or target.startswith(base.rstrip("/") + "/") for base in self.bases)
        if not within:
            yield self._log(path, relative, kind or LogKind(), _link("leads out of the roots"))
        elif is_folder and f"{os.path.dirname(path)}/".startswith(target.rstrip("/") + "/"):  # noqa: PTH120
            yield self._log(path, relative, kind or LogKind(), _link("leads back to a folder above it"))
        elif is_folder and not self._is_walked(target):
            yield from self._below(target, relative + "/")
        elif kind is not None and not is_folder:
            irregular = None if os.path.isfile(target) else _IRREGULAR  # noqa: PTH113
            # The folder it really is in is its image: else the same lines would be of two.
            yield structs.replace(
                self._log(path, relative, kind, irregular), folder=printable_name(target.rsplit("/", 2)[-2])
            )

    def _is_walked(self, target: str) -> bool:
        """Whether a folder is searched under its own name, here or as part of another root."""
        if target in self._seen or target in self.bases:
            return True
        others = [base.rstrip("/") for base in self.bases if base != self.base]
        return any(
            target.startswith(base + "/") and (self.hidden or "/." not in target[len(base) :])
            for base in others
        )

    def _log(self, path: str, relative: str, kind: LogKind, problem: Rejected | None) -> LogFile:
        folder = printable_name(path.rsplit("/", 2)[-2])
        return LogFile(path, self.slug, printable_name(relative), folder, kind, problem)


def _link(where: str) -> Rejected:
    return Rejected(RejectReason.LINK_NOT_FOLLOWED, f"the link {where}")
