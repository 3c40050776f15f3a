"""The conformance runner, over the cases of every slice."""

import subprocess
import sys
from pathlib import Path

import pytest

from conformance import outcome
from conforming.cases import read_cases
from conforming.running import Run, run
from slices import parts

__all__ = ["run"]  # a fixture
OWN = {
    part.__name__: Path(str(part.__file__)).with_name("cases.jsonl") for part in parts("conforming")
}
FAILING = [
    (
        '{"id": "bad", "input": {"op": "levitate"}, "expected": 1}',
        "FAIL bad: there is no op 'levitate'",
    ),
    ("not json", "FAIL line 2: expected one JSON object"),
    ("[]", "FAIL line 3: expected one JSON object"),
    ('{"id": "bad", "expected": 1}', "FAIL bad: expected an `input`"),
]


CASES = {path: {case.id: case for case in read_cases(path)} for path in OWN.values()}
EACH = [(path, name) for path, cases in CASES.items() for name in cases]


@pytest.mark.parametrize(("path", "name"), EACH, ids=[name for _, name in EACH])
def test_own_case(path: Path, name: str) -> None:
    wrong, _ = outcome(CASES[path][name], CASES[path])
    assert wrong == []


@pytest.mark.parametrize("path", OWN.values(), ids=OWN)
def test_the_runner_counts_the_own_cases_of_a_slice(path: Path, run: Run) -> None:
    code, lines = run(path)
    cases = path.read_bytes().count(b"\n")
    assert (code, lines[-1]) == (0, f"{cases} cases: {cases} ok, 0 failed")
    assert len(lines) == cases + 1


def test_every_case_that_fails_is_named_and_the_run_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(line for line, _ in FAILING), encoding="utf-8")
    runner = Path(__file__).with_name("conformance.py")
    done = subprocess.run(
        [sys.executable, runner, path], capture_output=True, text=True, check=False
    )
    *failed, total = done.stdout.splitlines()
    assert (done.returncode, done.stderr, total) == (1, "", "4 cases: 0 ok, 4 failed")
    for line, (_, message) in zip(failed, FAILING, strict=True):
        assert line.startswith(message)


def test_a_missing_file_and_an_empty_one_are_failures(tmp_path: Path, run: Run) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert run(tmp_path / "none.jsonl") == (1, [])
    assert run(tmp_path / "empty.jsonl") == (1, ["0 cases: 0 ok, 0 failed"])
