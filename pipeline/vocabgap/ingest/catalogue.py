"""Which files are gap logs, and of what kind, by their names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import translate
from pathlib import PurePosixPath
from typing import Final

from vocabgap.ingest.mapping import NATIVE_FIELDS, FieldMap
from vocabgap.ingest.reading import COMPRESSIONS
from vocabgap.settings.sources import Source

_WILDCARDS: Final = frozenset("*?[")


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
    fields: FieldMap = NATIVE_FIELDS
    compression: str = ""
    digest: str = ""
    by_pattern: bool = False


class Catalogue:
    """The names of gap logs.

    A glob may name a log as it is or as it is compressed; how it is packed, its own name says.

    Args:
        sources: Name to source. A name without wildcards goes before a pattern, else the first one counts.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._named: dict[str, Kind] = {}
        self._patterns: list[tuple[re.Pattern[str], str, Kind]] = []
        for name, source in sources.items():
            kind = Kind(name, FieldMap.of(source), digest=source.digest)
            for glob in source.globs:
                if _WILDCARDS.isdisjoint(glob) and "/" not in glob:
                    for packed in (glob, *(f"{glob}.{compression}" for compression in COMPRESSIONS)):
                        self._named.setdefault(packed, replace(kind, compression=_compression(packed)))
                else:
                    self._patterns.append(_pattern(glob, kind))

    def kind_of(self, name: str, path: str) -> Kind | None:
        """The kind of log that a file is; None for any other file.

        Args:
            name: The file's name.
            path: Its path, with forward slashes.
        """
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

    def kind_of_root(self, path: str) -> Kind:
        """The kind of a file that was named outright: a record a line, if its name says nothing else."""
        name = path.rpartition("/")[2]
        return self.kind_of(name, path) or Kind(compression=_compression(name))


def _pattern(glob: str, kind: Kind) -> tuple[re.Pattern[str], str, Kind]:
    last = glob.rpartition("/")[2]
    return re.compile(translate(last)), glob if "/" in glob else "", replace(kind, by_pattern=True)


def _compression(name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return suffix if stem and suffix in COMPRESSIONS else ""
