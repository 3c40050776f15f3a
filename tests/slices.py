"""The slices that are there, and what their test folders add to tests of the whole program."""

import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from vocabgap.extensions import extensions
from vocabgap.model.tables import Table

_TESTS: Final = Path(__file__).parent


class Additions(NamedTuple):
    """The additions of a slice to tests that go over all tables and all commands."""

    tables: tuple[Table, ...] = ()  # of the page of reference
    files: Mapping[str, str] = {}  # by path, for the commands
    commands: Mapping[
        str, tuple[str, ...]
    ] = {}  # the arguments with which a command uses the files
    looked_for: frozenset[str] = (
        frozenset()
    )  # commands that look up an argument before their options


def parts(name: str) -> list[ModuleType]:
    """Import the module of a name from the test folder of each slice that has it, as `glossary.faults`."""
    folders = [extension.name for extension in extensions()]
    holders = [folder for folder in folders if [*(_TESTS / folder).glob(f"{name}*")]]
    return [import_module(f"{folder}.{name}") for folder in holders]


def additions() -> list[Additions]:
    """Return the additions of every slice that is there."""
    return [part.ADDITIONS for part in parts("additions")]


def absent() -> set[str]:
    """Return the slices that were taken out: the first layer of `[tool.importlinter]` names all of them."""
    project = tomllib.loads((_TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each["type"] == "layers")
    named = {name.strip("()") for name in layers[0].split(" | ")}
    return named - {each.name for each in extensions()}
