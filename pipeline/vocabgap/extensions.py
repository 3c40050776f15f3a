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
    """Describe a setting, also for the help of its option, with the bounds of its value.

    A setting that is `written` names a place to write to: a settings file may come from a stranger.
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
    """A reader of roots that are not searched for logs."""

    entry: str  # a file that lies in every such root; the rest is loaded only if it is there
    recognises: Reference  # `(root) -> bool` for a folder with that entry
    scan: Reference  # `(roots, *, tenants, repositories, sources) -> Scan`

    def reads(self, root: Path) -> bool:
        """Tell whether a root belongs to this reader."""
        return (root / self.entry).exists() and self.recognises.load()(root) is True


@dataclass(frozen=True, kw_only=True)
class Extension:
    """The additions of one slice. Its module `extension` stays light: it refers to other modules by name."""

    name: str  # of the folder, and of the table in the settings file
    settings: type[Any] | None = None  # the struct of that table
    commands: Mapping[str, Reference] = field(default_factory=dict)  # verb to a Typer group or a function
    reader: RootReader | None = None  # of roots of its own kind
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # kind to pages in its `manual/`
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # verb to flags with their help
    # `(ranked, settings) -> None` raises what stops a report before it is published. The settings of slices
    # without a gate do not affect reports.
    gate: Reference | None = None
    documents: Mapping[str, str] = field(default_factory=dict)  # name to file, for `vocabgap schema NAME`

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
    readers = (extension.reader for extension in extensions() if extension.reader is not None)
    return next((reader for reader in readers if reader.reads(root)), None)
