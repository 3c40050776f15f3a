"""A room of the package has at most the lines that CONTRIBUTING grants it."""

import re
from pathlib import Path

import pytest

import vocabgap
from slices import absent

PACKAGE = Path(vocabgap.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
BUDGETS = {
    room: int(lines.replace(",", ""))
    for room, lines in re.findall(
        r"^\| (\w+) \| ([\d,]+) \|$", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE
    )
}


def lines_of(room: str) -> int:
    paths = PACKAGE.glob("*.py") if room == "root" else (PACKAGE / room).rglob("*.py")
    return sum(path.read_bytes().count(b"\n") for path in paths)


def test_every_room_has_a_budget() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {"root"}
    assert rooms == BUDGETS.keys() - absent()


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_stays_within_its_budget(room: str) -> None:
    lines, budget = lines_of(room), BUDGETS[room]
    assert lines <= budget, (
        f"{room} has {lines:,} lines, its budget in CONTRIBUTING.md is {budget:,}:"
        " a new path replaces an old one, so name what it replaces"
    )
