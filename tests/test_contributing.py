"""CONTRIBUTING names only what exists: paths, names in the code, targets of make, options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import vocabgap
from slices import absent
from vocabgap.reporting.manifest import RUN_FILES

PROJECT = Path(__file__).parents[1]
PACKAGE = Path(vocabgap.__file__).parent
TEXT = re.sub(
    r"```.*?```", "", (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.DOTALL
)
NAME = r"@?[A-Za-z_]\w*"
PATH = r"[\w.-]+(?:/[\w.-]*)+|[\w-]+\.(?:pyi?|md|toml|yml|html|cff|j2)"
TERMS = {"Raises", "chromium", "pypi", "tmp_path", "version"}  # of other programs


def quoted(pattern: str) -> list[str]:
    return sorted({*re.findall(rf"`({pattern})`", TEXT)})


def names(path: Path) -> Iterator[str]:
    """Yield the names that a module declares or holds as text."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        for attribute in ("name", "id", "arg", "attr"):
            if isinstance(name := getattr(node, attribute, None), str):
                yield name
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.fixture(scope="module")
def known() -> set[str]:
    declared = {name for path in PACKAGE.rglob("*.py") for name in names(path)}
    return declared | {path.stem for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.parametrize("path", quoted(PATH))
def test_a_path_exists(path: str) -> None:
    if {*path.split("/")} & absent():
        pytest.skip("the slice is not there")
    homes = (PROJECT, PACKAGE, PROJECT / ".github/workflows")
    assert path in RUN_FILES or any((home / path).exists() for home in homes)


def test_a_name_exists_in_the_code(known: set[str]) -> None:
    assert {name.lstrip("@") for name in quoted(NAME)} - known - TERMS - absent() == set()


@pytest.mark.parametrize(
    ("name", "path"), re.findall(rf"`({NAME})` (?:in|of) `([\w./]+\.py)`", TEXT)
)
def test_a_name_is_in_the_file_beside_it(name: str, path: str) -> None:
    assert name.lstrip("@") in {*names(PACKAGE / path)}


def test_a_target_of_make_exists() -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = {command.split()[1] for command in quoted(r"make [^`]+")}
    assert targets - {*re.findall(r"^(\w+):", makefile, re.MULTILINE)} == set()


def test_an_option_exists() -> None:
    commands = (PACKAGE / "manual/reference-commands.md").read_text(encoding="utf-8")
    assert [option for option in quoted(r"--[a-z-]+") if f"`{option}" not in commands] == []
