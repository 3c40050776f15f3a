"""Find the log files below the roots of a scan, in an order that does not depend on the disk."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase, translate
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, expanded
from vocabgap.extensions import extensions
from vocabgap.files.budget import MIB
from vocabgap.files.refusals import current_folder
from vocabgap.ingest.adapters import ADAPTERS
from vocabgap.ingest.choosing import Chooser
from vocabgap.ingest.decoding import Decoded, Rejected, decode_line
from vocabgap.ingest.formats import (
    ROWS,
    Form,
    FormError,
    LogKind,
    compression_of,
    is_data_file,
    is_log,
    row_blocks,
    rows_of,
)
from vocabgap.ingest.reading import COMPRESSIONS, Block, OpenLog, blocks, elements, values_in
from vocabgap.ingest.roots import repository_slugs, resolve_roots, shown_root
from vocabgap.model.record import ROOT_KIND, GapRecord, RejectReason
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Source
from vocabgap.model.tables import CAPABILITIES
from vocabgap.text import count, printable_name

_WILDCARDS: Final = frozenset("*?[")
_SHOWN: Final = 4  # names of gap logs in a message


class Catalogue:
    """The names of gap logs.

    A glob also matches the names of compressed logs. The ending of the name shows the compression.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.kinds: dict[str, LogKind] = {}  # by source
        self._named: dict[str, LogKind] = {}
        self._patterns: list[tuple[re.Pattern[str], str, LogKind]] = []
        for name, source in sources.items():
            self.kinds[name] = LogKind.of(name, source)
            kind = replace(self.kinds[name], is_named=True)
            for glob in source.globs:
                if _WILDCARDS.isdisjoint(glob) and "/" not in glob:
                    for packed in (glob, *(f"{glob}.{compression}" for compression in COMPRESSIONS)):
                        self._named.setdefault(packed, kind.packed_as(packed))
                else:
                    pattern = re.compile(translate(glob.rpartition("/")[2]))
                    place = glob if "/" in glob else ""
                    self._patterns.append((pattern, place, replace(kind, by_pattern=True)))

    def kind_of(self, name: str, path: str) -> LogKind | None:
        """Return the kind of log of a file; None for any other file."""
        kind = self._named.get(name)
        if kind is not None or not self._patterns:
            return kind
        compression = compression_of(name)
        for suffix in ("", f".{compression}") if compression else ("",):
            plain, place = name.removesuffix(suffix), path.removesuffix(suffix)
            for pattern, folders, kind in self._patterns:
                if pattern.match(plain) and (not folders or PurePosixPath(place).match(folders)):
                    return kind.packed_as(name)
        return None

    def kind_of_root(self, path: str) -> LogKind:
        """Return the kind of a root that is a file; by default it has one record per line."""
        name = path.rpartition("/")[2]
        return self.kind_of(name, path) or LogKind().packed_as(name)


class LogFile(msgspec.Struct, frozen=True):
    """One log to read, and its origin."""

    path: str  # absolute
    repo_slug: str
    source_path: str  # below the root, with forward slashes
    folder: str  # the name of its folder: the image, if a record names none
    kind: LogKind
    problem: Rejected | None = None  # why it cannot be read, if that is already known
    tenant_id: str = ""  # if a scan has logs of several tenants
    root_kind: str = ROOT_KIND
    repeats: str = ""  # the source path of a log with the same gaps, for which it is left out


def discover(
    roots: str | Path | Iterable[str | Path],
    settings: ScanSettings | None = None,
    unread: list[str] | None = None,
) -> list[LogFile]:
    """Find every gap log at any depth below the roots, ordered by repository and source path.

    The content of a file decides how it is read, unless a source knows its name. The source or the fields of
    the settings read files that fit no other source. The paths of data files that nothing fits are added to
    `unread`.

    A link to a log within the roots is followed, a link to a folder is not. Unreadable folders, and links out
    of the roots or to hidden folders, are returned with their `problem`.
    """
    bases = resolve_roots(roots)
    slugs = repository_slugs([base if base.is_dir() else base.parent for base in bases])
    settings = settings or ScanSettings()
    catalogue = Catalogue(settings.sources)
    chooser = Chooser.of(catalogue.kinds, settings, [*map(shown_root, bases)])
    own = frozenset(os.path.realpath(current_folder() / expanded(file)) for file in settings.own_files)
    by_path: dict[str, LogFile] = {}
    unread = [] if unread is None else unread
    for base, slug in zip(bases, slugs, strict=True):
        walk = _Walk(str(base), slug, [*map(str, bases)], catalogue, chooser, own, unread)
        for log in walk.logs() if base.is_dir() else [walk.single(base)]:
            by_path.setdefault(log.path, log)  # a root inside another one adds nothing
    unread[:] = [path for path in unread if path not in by_path]
    most = settings.max_expanded_mib * MIB
    found = [_or_left_out(log, by_path, most) for log in by_path.values()]
    return sorted(found, key=lambda log: (log.repo_slug, log.source_path, log.path))


def _or_left_out(log: LogFile, by_path: Mapping[str, LogFile], max_expanded: int) -> LogFile:
    """Mark a log whose gaps are also in other logs, as its source tells.

    A log of several runs is left out if other logs have all of them. Otherwise it is read without the runs
    that others have.
    """
    folder, runs, places = log.path.rpartition("/")[0], set[str | None](), list[str]()
    for place in log.kind.unless if log.problem is None else ():
        wanted = os.path.normpath(f"{folder}/{place}")
        names = [wanted, *(f"{wanted}.{compression}" for compression in COMPRESSIONS)]
        if not _WILDCARDS.isdisjoint(place):
            names = [path for path in by_path if any(PurePosixPath(path).match(name) for name in names)]
        for other in filter(None, map(by_path.get, sorted(names))):
            if other.problem is not None or other.path == log.path:
                continue
            gaps = _gaps(other, max_expanded)
            if (first := next(gaps, None)) is None:
                continue
            if not log.kind.fields.split:
                return structs.replace(log, repeats=other.source_path)
            runs |= {gap.session_id for gap in (first, *gaps)}
            places.append(other.source_path)
    if not runs:
        return log
    fields = replace(log.kind.fields, elsewhere=frozenset(filter(None, runs)))
    log = structs.replace(log, kind=replace(log.kind, fields=fields))
    return log if any(_gaps(log, max_expanded)) else structs.replace(log, repeats=places[0])


def _gaps(log: LogFile, max_expanded: int) -> Iterator[GapRecord]:
    """Yield the gaps of a log, as far as it can be read."""
    compression = log.kind.content.compression
    with suppress(OSError, FormError), OpenLog.open(log.path, compression, max_expanded) as content:
        for block in blocks_of(log, content):
            for line in block.lines if block.rejected is None else ():
                if isinstance(found := decode_line(line, log.kind.fields), Decoded):
                    yield found.record


def blocks_of(log: LogFile, opened: OpenLog) -> Iterator[Block]:
    """Cut a log into lines, a document into its elements, or a table into its rows."""
    fields, content = log.kind.fields, log.kind.content
    chunks = iter(content.in_utf8(opened.chunks()))
    first = next(chunks, b"")
    chunks = chain([first], chunks) if first else chunks
    if content.form is Form.LINES and is_log(first):  # a folder was walked without reading its files
        content = content._replace(form=Form.LOG)
    if content.form in ROWS and not log.kind.adapter:
        return row_blocks(content, chunks, fields, opened.budget)
    if content.form in ROWS:
        values = (("", row.value) for row in rows_of(content, chunks, opened.budget) if row.rejected is None)
        return elements(values, fields, ADAPTERS[log.kind.adapter])
    if fields.each or log.kind.adapter:
        return elements(values_in(chunks), fields, ADAPTERS.get(log.kind.adapter))
    return blocks(chunks)


def looked_for(sources: Mapping[str, Source]) -> str:
    """Describe what a scan looks for: names of logs, and sources that their content tells."""
    globs = [glob for source in sources.values() for glob in source.globs]
    names, others = ", ".join(globs[:_SHOWN]), len(globs) - _SHOWN
    names += f" and {others} more that `vocabgap --json status` lists" if others > 0 else ""
    packed = " or ".join(f".{compression}" for compression in COMPRESSIONS)
    named = f"{names}, each with {packed}, too" if names else "no name, since every source is off"
    known = sum(bool(source.known) for source in sources.values())
    return f"{named}, and for {count(known, 'source')} by content"


def undecided(root: Path, files: Iterable[Path], settings: ScanSettings) -> list[Path]:
    """Return the files at or below a root whose content decides whether or how they are read."""
    catalogue = Catalogue(settings.sources)
    kinds = {path: catalogue.kind_of(path.name, str(path)) for path in files}
    globs = {place.rpartition("/")[2] for kind in kinds.values() if kind for place in kind.unless}
    also = {root, *(root / extension.reader.entry for extension in extensions() if extension.reader)}

    def is_undecided(path: Path, kind: LogKind | None) -> bool:
        if kind is None:
            return is_data_file(path.name)
        name = path.name.removesuffix(f".{compression_of(path.name)}")
        return bool(kind.unless) or any(fnmatchcase(name, glob) for glob in globs)

    return [path for path, kind in kinds.items() if path in also or is_undecided(path, kind)]


_IRREGULAR: Final = Rejected(RejectReason.UNREADABLE_FILE, "the log cannot be read: not a regular file")


def _is_own(folder: str) -> bool:
    """Tell whether vocabgap has written a folder: a published run, or a corpus."""
    readers = (extension.reader for extension in extensions() if extension.reader is not None)
    entries = (CAPABILITIES.file, *(reader.entry for reader in readers))
    return any(os.path.lexists(f"{folder}/{entry}") for entry in entries)


@dataclass(frozen=True, slots=True)
class _Walk:
    """The search below one root. A link may lead to any of the roots (`bases`)."""

    base: str
    slug: str
    bases: list[str]
    catalogue: Catalogue
    chooser: Chooser
    own_files: frozenset[str]
    unread: list[str]  # paths of data files that nothing fits

    def single(self, base: Path) -> LogFile:
        """Return the root, which is a file, as a log."""
        named = self.catalogue.kind_of(base.name, self.base)
        kind = self.chooser.kind_of(self.base, named) if base.is_file() else named
        kind = kind or named or LogKind().packed_as(base.name)
        return self._log(self.base, base.name, kind, None if base.is_file() else _IRREGULAR)

    def logs(self) -> Iterator[LogFile]:
        """Yield the logs in the root, which is a folder."""
        # Not `os.walk`, which recurses: a tree may be deeper than the stack.
        pending = [(self.base, "", False)]
        while pending:
            folder, within, is_own = pending.pop()
            try:
                is_own = is_own or _is_own(folder)
                with os.scandir(folder) as entries:
                    for entry in entries:
                        name = entry.name
                        if name.startswith(".") and not self.chooser.settings.hidden:
                            continue
                        relative = within + name
                        kind = self.catalogue.kind_of(name, entry.path)
                        if entry.is_symlink():
                            yield from self._linked(entry.path, relative, kind)
                            continue
                        is_folder = entry.is_dir(follow_symlinks=False)
                        if is_folder:
                            pending.append((entry.path, relative + "/", is_own))
                        regular = entry.is_file(follow_symlinks=False)
                        if kind is not None and not (is_folder and kind.by_pattern):
                            yield self._log(entry.path, relative, kind, None if regular else _IRREGULAR)
                        elif regular and not is_own and is_data_file(name):
                            yield from self._data_file(entry.path, relative)
            except OSError as problem:
                detail = f"the folder cannot be listed: {problem.strerror}"
                why = Rejected(RejectReason.UNREADABLE_FILE, detail)
                yield self._log(folder, within.rstrip("/") or ".", LogKind(), why)

    def _data_file(self, path: str, relative: str) -> Iterator[LogFile]:
        """Yield a file of an unknown name if a source fits or it cannot be read; else note it as unread."""
        if path in self.own_files:
            return
        try:
            kind, why = self.chooser.kind_of(path, is_root=False), None
        except InvalidInputError as error:
            detail = f"the file cannot be read: {error.message}"
            kind, why = None, Rejected(RejectReason.UNREADABLE_FILE, detail)
        if kind is None and (why is None or self.chooser.wanted is None):
            self.unread.append(path)
        else:
            yield self._log(path, relative, kind or LogKind(), why)

    def _linked(self, path: str, relative: str, kind: LogKind | None) -> Iterator[LogFile]:
        """Yield the log that a link leads to; do not follow links to folders."""
        try:
            # `stat` first: it stops after 40 links, but `realpath` recurses without a limit.
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - paths are text here
            target = os.path.realpath(path, strict=True)
        except OSError as problem:
            if problem.errno == errno.ELOOP:
                yield self._not_followed(path, relative, kind, "back to itself")
            elif kind is not None:  # a dead link matters only if it has the name of a log
                detail = f"the link leads nowhere: {problem.strerror}"
                yield self._log(path, relative, kind, Rejected(RejectReason.UNREADABLE_FILE, detail))
            return
        if kind is None and not is_folder:
            return
        bases = [base.rstrip("/") for base in self.bases]
        below = [target[len(base) :] for base in bases if f"{target}/".startswith(f"{base}/")]
        if not below:
            yield self._not_followed(path, relative, kind, "out of the roots")
        elif is_folder and not self.chooser.settings.hidden and all("/." in name for name in below):
            yield self._not_followed(path, relative, kind, "to a hidden folder")
        elif kind is not None and not is_folder:
            irregular = None if os.path.isfile(target) else _IRREGULAR  # noqa: PTH113
            log = self._log(path, relative, kind, irregular)
            # Its image is the folder of the target: else the same lines would belong to two images.
            yield structs.replace(log, folder=kind.folder_of(target))

    def _log(self, path: str, relative: str, kind: LogKind, problem: Rejected | None) -> LogFile:
        folder = kind.folder_of(path)
        return LogFile(path, self.slug, printable_name(relative), folder, kind, problem)

    def _not_followed(self, path: str, relative: str, kind: LogKind | None, where: str) -> LogFile:
        why = Rejected(RejectReason.LINK_NOT_FOLLOWED, f"the link leads {where}")
        return self._log(path, relative, kind or LogKind(), why)
