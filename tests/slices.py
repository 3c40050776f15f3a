"""The slices that are there, and what their test folders add to tests of the whole program."""

import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from vocabgap.extensions import extensions

_TESTS: Final = Path(__file__).parent


def parts(name: str) -> list[ModuleType]:
    """Import the module of a name from the test folder of each slice that has it, as `glossary.faults`."""
    places = {each.name: _TESTS / each.name / name for each in extensions()}
    there = [each for each, place in places.items() if place.is_dir() or place.with_suffix(".py").is_file()]
    return [import_module(f"{each}.{name}") for each in there]


def absent() -> set[str]:
    """Return the slices that were taken out: the first layer of `[tool.importlinter]` names all of them."""
    project = tomllib.loads((_TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return {*contract["layers"][0].split(" | ")} - {each.name for each in extensions()}
