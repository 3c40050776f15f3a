"""`make mutants` on a small module: what a test notices, what no test runs, what changes nothing."""

from pathlib import Path

import pytest

from mutants.__main__ import table
from mutants.changes import places, same_code
from mutants.running import Mutant, Room, every_place, outcomes, sample

MODULE = """\
def taller(one: int, two: int) -> bool:
    return one > two


def wider(one: int) -> int:
    return one


def longer(one: int) -> int:
    return one
"""
TEST = """\
from sizes import taller

def test_taller():
    assert taller(2, 1)
    assert not taller(1, 2)
"""
OTHER_TEST = """\
from sizes import wider

def test_wider():
    assert wider(1) == 1
"""
ROOMS = [
    Room("sizes", ("pipeline/sizes.py",), ("tests/test_sizes.py",)),
    Room("widths", (), ("tests/test_widths.py",)),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "pipeline/sizes.py": MODULE,
        "tests/test_sizes.py": TEST,
        "tests/test_widths.py": OTHER_TEST,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def changes(source: str) -> set[str]:
    return {change.shown for place in places(source.encode()) for change in place}


@pytest.mark.slow
def test_the_tests_of_its_room_kill_a_mutant_or_others_or_none(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    drawn = sample(every_place(project, ROOMS), 100, seed=1)

    found = [*outcomes(project, drawn, ROOMS, folder, folder / "records")]

    assert {str(mutant).partition(":")[2]: outcome for mutant, outcome in found} == {
        "2: one > two → not (one > two)": "killed",
        "2: one > two → one >= two": "survived",
        "6: one → 0": "killed elsewhere",
        "10: one → 0": "not covered",
    }
    assert table(found).splitlines()[-1] == "| all | 1 | 0 | 1 | 1 | 1 | 0 |"
    assert (project / "pipeline/sizes.py").read_text(encoding="utf-8") == MODULE


def test_the_same_seed_draws_the_same_mutants(project: Path) -> None:
    def drawn(seed: int) -> list[Mutant]:
        return sample(every_place(project, ROOMS), 3, seed)

    assert drawn(1) == drawn(1) != drawn(2)


def test_types_texts_and_messages_stay() -> None:
    kept = '''
"""Docstring."""
from dataclasses import dataclass
@dataclass(frozen=True)
class Named(Base, frozen=True):
    number: Annotated[int, Meta(ge=0)]
    def __repr__(self) -> str:
        return str(1)
def check(one: int | None, name="x") -> None:
    raise ValueError(f"{1 + one}" + str(2))
    tell("rows", 1, 2)
'''
    assert changes(kept) == set()


def test_operators_constants_results_and_statements_change() -> None:
    source = """
def f() -> list[int]:
    while a < b <= c:
        x += 1
        call(not a)
        break
    return [y] if a else -z
"""
    assert changes(source) == {
        "a < b <= c → a <= b <= c", "a < b <= c → a < b < c", "x += 1 → x -= 1", "1 → 2", "1 → 0",
        "call(not a) → pass", "not a → a", "break → continue", "[y] if a else -z → []", "a → not a",
        "-z → z",
    }  # fmt: skip


def test_a_change_applies_to_the_bytes_of_its_place() -> None:
    source = "größe = 2 * (ä - 1)\n".encode()
    applied = {place[0].applied(source).decode() for place in places(source)}
    assert "größe = 2 * ((ä + 1))\n" in applied
    assert same_code(source, "größe = (2) * (ä - 1)\n".encode())
    assert not same_code(source, "größe = (2.0) * (ä - 1)\n".encode())
