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
    """The additions of a slice to tests that go over all tables and all commands.

    Attributes:
        tables: Tables of the page of reference.
        files: What some commands need in their folder, by path.
        commands: Command to the arguments with which it does something with these files.
        looked_for: Commands that look for what an argument names before they check their options.
    """

    tables: tuple[Table, ...] = ()
    files: Mapping[str, str] = {}
    commands: Mapping[str, tuple[str, ...]] = {}
    looked_for: frozenset[str] = frozenset()


def parts(name: str) -> list[ModuleType]:
    """Import the module of a name from the test folder of each slice that has it, as `glossary.faults`."""
    places = {each.name: _TESTS / each.name / name for each in extensions()}
    there = [
        each
        for each, place in places.items()
        if place.is_dir() or place.with_suffix(".py").is_file()
    ]
    return [import_module(f"{each}.{name}") for each in there]


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
