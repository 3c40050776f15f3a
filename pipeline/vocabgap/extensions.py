"""Extensions of the program by slices.

A slice is a folder of this package with a module `extension.py` that defines `EXTENSION`. The core finds the
slices here and never imports them directly. To remove a slice, remove its folder.
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
PathText = Annotated[str, msgspec.Meta(min_length=1, pattern=rf"\A(?!{ADDRESS})")]
"""A path as text. It is local, not a URL."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings file. An unknown key is an error."""


def meaning(
    sentence: str,
    *,
    flag: str = "",
    variable: str = "",
    written: bool = False,
    rare: bool = False,
    **bounds: Any,  # noqa: ANN401 - as msgspec has them
) -> msgspec.Meta:
    """Describe a setting and the bounds of its value. The sentence is also the help of its option.

    `written` marks a place to write to, which a settings file of a stranger must not choose. `rare` marks an
    option that few people need.
    """
    extra = {"flag": flag, "variable": variable, "written": written, "rare": rare}
    return msgspec.Meta(description=sentence, extra=extra, **bounds)


def flag(name: str, sentence: str, **facts: Any) -> msgspec.Meta:  # noqa: ANN401 - as `meaning`
    """Describe a setting that an option of the command line sets."""
    return meaning(sentence, flag=name, **facts)


@dataclass(frozen=True)
class Reference:
    """A name in a module of the package, such as `corpus.push:push`, loaded when it is first used."""

    place: str

    def load(self) -> Any:  # noqa: ANN401 - any object
        """Import the module and return the named object."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(f"vocabgap.{module}"), name)


@dataclass(frozen=True)
class RootReader:
    """A reader of roots that need no search for logs, such as corpora."""

    entry: str  # a file in every such root; without it, no module is loaded
    recognises: Reference  # `(root) -> bool` for a folder with that entry
    scan: Reference  # `(roots, *, tenants, repositories, shared, sources) -> Scan`

    def reads(self, root: Path) -> bool:
        """Tell whether a root belongs to this reader."""
        return (root / self.entry).exists() and self.recognises.load()(root) is True


@dataclass(frozen=True, kw_only=True)
class Extension:
    """The additions of one slice. Its module `extension` stays light: it refers to other modules by name."""

    name: str  # of the folder, and of the table in the settings file
    settings: type[Any] | None = None  # the struct of this table
    commands: Mapping[str, Reference] = field(default_factory=dict)  # group or function by verb
    purpose: str = ""  # of the commands: their heading in the help
    reader: RootReader | None = None  # of its own kind of roots
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # pages of its `manual/` by kind
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # further flags by verb
    # `(ranked, settings) -> None` raises an error to stop a report before it is published. The settings of
    # slices without a gate do not affect reports.
    gate: Reference | None = None
    tools: Reference | None = None  # any name of the module that adds tools for agents
    documents: Mapping[str, str] = field(default_factory=dict)  # files by name, for `vocabgap schema`

    @property
    def folder(self) -> Path:
        """The folder of the slice."""
        return _PACKAGE / self.name


@cache
def extensions() -> tuple[Extension, ...]:
    """Return the extensions of all slices, sorted by name."""
    names = sorted(place.parent.name for place in _PACKAGE.glob("*/extension.py"))
    return tuple(import_module(f"vocabgap.{name}.extension").EXTENSION for name in names)


def reader_of(root: Path) -> RootReader | None:
    """Return the reader that a root belongs to, or None if it is searched for logs."""
    readers = (extension.reader for extension in extensions() if extension.reader is not None)
    return next((reader for reader in readers if reader.reads(root)), None)
