"""What `vocabgap diff` says of two published runs, and what it does not claim."""

import json
from pathlib import Path

import pytest

from builders.command import vocabgap


@pytest.fixture
def runs(photos: Path) -> tuple[str, str]:
    """The folders of a run of everything, and of a later one of one image."""
    assert vocabgap("report", photos, "--out", "whole", "--now", "2026-07-01").code == 0
    narrowed = ("--image", "fjord", "--out", "narrow", "--previous", "whole", "--now", "2026-07-02")
    assert vocabgap("report", photos, *narrowed).code == 0
    return "whole", "narrow"


@pytest.mark.parametrize("turned", [False, True])
def test_what_one_run_was_narrowed_to_is_neither_gone_nor_new(
    runs: tuple[str, str], turned: bool
) -> None:
    result = vocabgap("diff", *(reversed(runs) if turned else runs))

    values = "fjord before, all now" if turned else "all before, fjord now"
    assert result.out.splitlines()[0].endswith(": 2 capabilities in both")
    assert f"narrowed or ranked differently (image: {values})" in result.out.splitlines()[1]
    assert len(result.out.splitlines()) == 2


def test_programs_are_told_what_differs(runs: tuple[str, str]) -> None:
    lines = vocabgap("--json", "diff", *runs).out.splitlines()

    result = json.loads(lines[-1])
    assert len(lines) == 1
    assert result["differences"] == [{"filter": "image", "earlier": "all", "later": "fjord"}]
    assert (result["resolved"], result["new"], result["unchanged"]) == (0, 0, 2)


def test_runs_that_are_narrowed_alike_differ_in_nothing(runs: tuple[str, str]) -> None:
    whole, _ = runs

    assert vocabgap("diff", whole, whole).out.splitlines()[0].endswith(": 2 capabilities as before")
    assert json.loads(vocabgap("--json", "diff", whole, whole).out)["differences"] == []
