"""The cases of the glossary's contract that lie beside the project."""

import pytest

from builders import outside
from conforming.running import Run, run

__all__ = ["run"]  # a fixture
# The cases that are met in another way than they are written, each with the reason that the runner tells.
OTHERWISE = {
    "exit code 2 here, where codes say why": "G07 G08 G18 G21",
    "exit code 3 here, where codes say why": "G06 G19",
    "the checkpoint is written before anybody is asked here": "L06 L07 L09 L10 L11",
    "with strictness off, a weak conflict asks nothing here": "L15",
}


def test_the_shared_cases_of_the_glossary_pass(pytestconfig: pytest.Config, run: Run) -> None:
    code, lines = run(outside(pytestconfig, "../cases/glossary.jsonl"))
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert (code, lines[-1]) == (0, "153 cases: 153 ok, 0 failed")
    message = dict(
        line.removeprefix("ok").strip().split(" (", 1) for line in lines if line.endswith(")")
    )
    assert {case: reason.removesuffix(")") for case, reason in message.items()} == {
        case: reason for reason, cases in OTHERWISE.items() for case in cases.split()
    }
