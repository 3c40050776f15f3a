"""The conformance runner, over the project's own cases and over those that lie beside it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import outside
from conformance import main

RUNNER = Path(__file__).parent / "conformance.py"
OWN = [Path(__file__).parent / "data" / f"{name}.jsonl" for name in ("contracts", "glossary")]
GOOD = {
    "id": "good",
    "input": {"op": "natural_key_equal", "a": {"name": "x"}, "b": {"name": "x"}},
    "expected": True,
}

Run = Callable[[Path], tuple[int, list[str]]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the cases of a file in this process; gives the exit code and the lines."""

    def make(path: Path) -> tuple[int, list[str]]:
        code = main([str(path)])
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        return code, told.out.splitlines()

    return make


def run_alone(path: Path) -> tuple[int, list[str]]:
    """Runs the cases of a file as a person would; gives the exit code and the lines."""
    told = subprocess.run([sys.executable, RUNNER, path], capture_output=True, text=True, check=False)
    assert "Traceback" not in told.stderr
    return told.returncode, told.stdout.splitlines()


@pytest.mark.parametrize("path", OWN, ids=["contracts", "glossary"])
def test_the_projects_own_cases_pass(path: Path, run: Run) -> None:
    code, lines = run(path)
    cases = path.read_bytes().count(b"\n")
    assert (code, lines[-1]) == (0, f"{cases} cases: {cases} ok, 0 failed")
    assert len(lines) == cases + 1


def test_the_shared_cases_pass(pytestconfig: pytest.Config, run: Run) -> None:
    code, lines = run(outside(pytestconfig, "../cases/contracts.jsonl"))
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert (code, lines[-1]) == (0, "112 cases: 112 ok, 0 failed")


def test_the_shared_cases_of_the_glossary_pass(pytestconfig: pytest.Config, run: Run) -> None:
    code, lines = run(outside(pytestconfig, "../cases/glossary.jsonl"))
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert (code, lines[-1]) == (0, "153 cases: 153 ok, 0 failed")
    told = dict(line.removeprefix("ok").strip().split(" (", 1) for line in lines if line.endswith(")"))
    assert {case: reason.removesuffix(")") for case, reason in told.items()} == {
        case: reason for reason, cases in OTHERWISE.items() for case in cases.split()
    }


# The cases that are met in another way than they are written, each with the reason that the runner tells.
OTHERWISE = {
    "found beyond the signs that the case knows: workspace (known_term)": "D01",
    "exit code 2 here, where codes say why": "G07 G08 G18 G21",
    "exit code 3 here, where codes say why": "G06 G19",
    "the checkpoint is written before anybody is asked here": "L06 L07 L09 L10 L11",
    "strictness off checks nothing and logs nothing here": "L14 L15",
}
FAILING = [
    ('{"id": "bad", "input": {"op": "levitate"}, "expected": 1}', "FAIL bad: there is no op 'levitate'"),
    ("not json", "FAIL line 3: expected one JSON object"),
    ("[]", "FAIL line 4: expected one JSON object"),
    ('{"id": "bad", "expected": 1}', "FAIL bad: expected an `input`"),
    ('{"id": "bad", "input": {"op": "storage_id"}, "expected": "x"}', "FAIL bad: the case cannot be run"),
    (json.dumps({**GOOD, "id": "bad", "expected": False}), "FAIL bad: false is expected, true observed"),
    (json.dumps({**GOOD, "id": "bad", "expected": 1}), "FAIL bad: 1 is expected, true observed"),
    (
        '{"id": "bad", "input": {"op": "repush_identical"}, "expected": {"upserts": 2, "mood": "good"}}',
        'FAIL bad: upserts: 2 is expected, 1 observed; mood: "good" is expected, but nothing is known of it',
    ),
    (
        '{"id": "bad", "input": {"op": "same_hash", "a": "x", "b": "y"}, "expected": true}',
        "FAIL bad: the case cannot be run: LookupError: neither case x nor case y is in this file",
    ),
]


def test_every_case_that_fails_is_named_and_the_run_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join([json.dumps(GOOD), *(line for line, _ in FAILING)]), encoding="utf-8")
    code, (first, *failed, total) = run_alone(path)
    assert (code, first, total) == (1, "ok   good", f"{len(FAILING) + 1} cases: 1 ok, {len(FAILING)} failed")
    for line, (_, told) in zip(failed, FAILING, strict=True):
        assert line.startswith(told)


def test_a_missing_file_and_an_empty_one_are_failures(tmp_path: Path, run: Run) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert run(tmp_path / "none.jsonl") == (1, [])
    assert run(tmp_path / "empty.jsonl") == (1, ["0 cases: 0 ok, 0 failed"])


def test_an_unknown_key_of_a_push_case_is_noted(tmp_path: Path, run: Run) -> None:
    case = {"op": "ingest", "env": {"weather": "rain"}, "payload": {"files": []}}
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"id": "x", "input": case, "expected": {"ingested": 0}}), encoding="utf-8")
    assert run(path)[1][0] == "ok   x (env has 'weather', which is not known here and was not followed)"
