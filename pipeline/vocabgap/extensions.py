"""Additions of a slice to the program.

A slice is a folder of this package with a module `extension.py` that defines `EXTENSION`; there is no list of
slices. The core finds and uses them here, and imports none of them. Without its folder a slice is not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import msgspec

from vocabgap.errors import ADDRESS

_PACKAGE = Path(__file__).parent
_MODULE = "extension"
PathText = Annotated[str, msgspec.Meta(min_length=1, pattern=rf"\A(?!{ADDRESS})")]
"""A path as text. It cannot be the address of another machine."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings file. An unknown key is an error."""


def meaning(
    sentence: str,
    *,
    flag: str = "",
    variable: str = "",
    written: bool = False,
    **bounds: Any,  # noqa: ANN401 - as msgspec has them
) -> msgspec.Meta:
    """Describe a setting.

    Args:
        sentence: The meaning; also the help of the option.
        flag: The option of the command line that sets it.
        variable: The environment variable that sets it.
        written: Whether it names a place to write to. A settings file may come with a folder of a stranger.
        **bounds: The bounds of its value.
    """
    extra = {"flag": flag, "variable": variable, "written": written}
    return msgspec.Meta(description=sentence, extra=extra, **bounds)


def flag(name: str, sentence: str, **facts: Any) -> msgspec.Meta:  # noqa: ANN401 - those of `meaning`
    """Describe a setting that an option of the command line sets."""
    return meaning(sentence, flag=name, **facts)


@dataclass(frozen=True)
class Reference:
    """A name in a module of the package, such as `corpus.push:push`, loaded when it is first used."""

    place: str

    def load(self) -> Any:  # noqa: ANN401 - whatever is there
        """Import the module and return what has the name there."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(f"vocabgap.{module}"), name)


@dataclass(frozen=True)
class RootReader:
    """A reader of roots that are not searched for logs.

    Attributes:
        entry: The name of a file that lies in every such root; the rest is loaded only if it is there.
        recognises: `(root) -> bool` tells whether a folder with that entry is such a root.
        scan: `(roots, *, tenants, repositories, sources) -> Scan` reads them.
    """

    entry: str
    recognises: Reference
    scan: Reference

    def reads(self, root: Path) -> bool:
        """Tell whether a root belongs to this reader."""
        return (root / self.entry).exists() and self.recognises.load()(root) is True


@dataclass(frozen=True, kw_only=True)
class Extension:
    """The additions of one slice. Its module `extension` stays light: it refers to other modules by name.

    Attributes:
        name: The name of the folder, and of the table in the settings file.
        settings: The struct of that table.
        commands: Verb to a Typer group or a function.
        reader: The reader of roots of its own kind.
        pages: Kind of manual page to the names of pages, which lie in `manual/` of the slice.
        options: Verb of the core to the flags of the table that it takes, each with its help.
        gate: `(ranked, settings) -> None` raises what stops a report before it is published. The settings of
            slices without a gate do not affect reports.
        documents: Name to file below the folder of the slice; `vocabgap schema NAME` prints it.
    """

    name: str
    settings: type[Any] | None = None
    commands: Mapping[str, Reference] = field(default_factory=dict)
    reader: RootReader | None = None
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gate: Reference | None = None
    documents: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder of the slice."""
        return _PACKAGE / self.name


@cache
def extensions() -> tuple[Extension, ...]:
    """Return the extensions of all slices that are there, by name."""
    names = sorted(place.parent.name for place in _PACKAGE.glob(f"*/{_MODULE}.py"))
    return tuple(import_module(f"vocabgap.{name}.{_MODULE}").EXTENSION for name in names)


def reader_of(root: Path) -> RootReader | None:
    """Return the reader that a root belongs to, or None if it is searched for logs."""
    readers = (each.reader for each in extensions() if each.reader is not None)
    return next((reader for reader in readers if reader.reads(root)), None)
