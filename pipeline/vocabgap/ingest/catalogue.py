"""Which files are gap logs, and of what kind, by their names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import translate
from pathlib import PurePosixPath
from typing import Final

from vocabgap.ingest.mapping import FieldMap
from vocabgap.ingest.reading import COMPRESSIONS
from vocabgap.sources import NATIVE, Source

_WILDCARDS: Final = frozenset("*?[")
_NATIVE: Final = FieldMap.of(NATIVE)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of gap log.

    Attributes:
        source: The name of its source; empty where a file was named outright and fits none.
        fields: How its objects become records.
        compression: How it is packed: `gz`, `zst` or not.
        digest: What of the source decides how a line is read, to tell whether it has changed.
        by_pattern: Whether its name only fits a pattern, so that a folder may well be called so.
    """

    source: str = ""
    fields: FieldMap = _NATIVE
    compression: str = ""
    digest: str = ""
    by_pattern: bool = False


class Catalogue:
    """The names of gap logs.

    Args:
        sources: Name to source. A name without wildcards goes before a pattern, else the first one counts.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._named: dict[str, Kind] = {}
        self._patterns: list[tuple[re.Pattern[str], str, Kind]] = []
        for name, source in sources.items():
            kind = Kind(name, FieldMap.of(source), digest=source.digest)
            for compression in ("", *COMPRESSIONS):
                for glob in source.globs:
                    packed = f"{glob}.{compression}" if compression else glob
                    self._add(packed, replace(kind, compression=compression))

    def kind_of(self, name: str, relative: str) -> Kind | None:
        """The kind of log that a file is; None for any other file.

        Args:
            name: The file's name.
            relative: Its path below the root, with forward slashes.
        """
        kind = self._named.get(name)
        if kind is not None:
            return kind
        for pattern, folders, kind in self._patterns:
            if pattern.match(name) and (not folders or PurePosixPath(relative).match(folders)):
                return kind
        return None

    def kind_of_root(self, name: str) -> Kind:
        """The kind of a file that was named outright: a record a line, if its name says nothing else."""
        compression = name.rpartition(".")[2]
        fallback = Kind(compression=compression if compression in COMPRESSIONS else "")
        return self.kind_of(name, name) or fallback

    def _add(self, glob: str, kind: Kind) -> None:
        if _WILDCARDS.isdisjoint(glob) and "/" not in glob:
            self._named.setdefault(glob, kind)
            return
        last = glob.rpartition("/")[2]
        folders = glob if "/" in glob else ""
        self._patterns.append((re.compile(translate(last)), folders, replace(kind, by_pattern=True)))
