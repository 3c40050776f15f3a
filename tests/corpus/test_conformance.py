"""The cases of the ingestion contracts that lie beside the project, and cases that fail."""

import json
from pathlib import Path

import pytest

from builders import outside
from conforming.running import Run, run

__all__ = ["run"]  # a fixture
GOOD = {
    "id": "good",
    "input": {"op": "natural_key_equal", "a": {"name": "x"}, "b": {"name": "x"}},
    "expected": True,
}
FAILING = [
    (
        '{"id": "bad", "input": {"op": "storage_id"}, "expected": "x"}',
        "FAIL bad: the case cannot be run",
    ),
    (
        json.dumps({**GOOD, "id": "bad", "expected": False}),
        "FAIL bad: false is expected, true observed",
    ),
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


def test_the_shared_cases_pass(pytestconfig: pytest.Config, run: Run) -> None:
    code, lines = run(outside(pytestconfig, "../cases/contracts.jsonl"))
    # The schema allows a null document, as restore does; this case refuses it.
    assert [line[:12] for line in lines if line.startswith("FAIL")] == ["FAIL BX-11: "]
    assert (code, lines[-1]) == (1, "112 cases: 111 ok, 1 failed")


def test_every_difference_from_a_case_is_named(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join([json.dumps(GOOD), *(line for line, _ in FAILING)]), encoding="utf-8")
    code, (first, *failed, total) = run(path)
    assert code == 1
    assert first == "ok   good"
    assert total == f"{len(FAILING) + 1} cases: 1 ok, {len(FAILING)} failed"
    for line, (_, message) in zip(failed, FAILING, strict=True):
        assert line.startswith(message)


def test_an_unknown_key_of_a_push_case_is_noted(tmp_path: Path, run: Run) -> None:
    case = {"op": "ingest", "env": {"weather": "rain"}, "payload": {"files": []}}
    path = tmp_path / "cases.jsonl"
    path.write_text(
        json.dumps({"id": "x", "input": case, "expected": {"ingested": 0}}), encoding="utf-8"
    )
    assert (
        run(path)[1][0]
        == "ok   x (env has 'weather', which is not known here and was not followed)"
    )
