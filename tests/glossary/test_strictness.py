"""Strictness: which one applies, what it stops, and what a step says of itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.glossary.conflicts import effective_strictness, should_block, strictness_of
from vocabgap.glossary.senses import Strictness
from vocabgap.glossary.session import ExecutionContext, is_enabled, mission_strictness

AGAIN = "7b1c2e0a-0000-4000-8000-000000000000"
MODES = [None, *Strictness]


@given(*[st.sampled_from(MODES)] * 4)
def test_the_nearest_strictness_counts(
    runtime: Strictness | None,
    step: Strictness | None,
    mission: Strictness | None,
    configured: Strictness | None,
) -> None:
    given_ones = [each for each in (runtime, step, mission, configured) if each is not None]
    expected = given_ones[0] if given_ones else Strictness.MEDIUM
    assert effective_strictness(runtime, step, mission, configured) is expected


@pytest.mark.parametrize("value", ["OFF", "Max", "", "strict", False, None, 1])
def test_only_the_names_in_lower_case_are_strictness(value: object) -> None:
    assert strictness_of(value) is None
    step = ExecutionContext("s", "m", "r", metadata={"glossary_check_strictness": value})
    assert step.step_strictness is None
    assert mission_strictness({"glossary": {"strictness": value}}) is None


@pytest.mark.parametrize("section", [None, [1], {}, "max"])
def test_a_mission_without_a_strictness_says_none(section: object) -> None:
    assert mission_strictness({"glossary": section}) is mission_strictness({}) is None
    assert mission_strictness({"glossary": {"strictness": "off"}}) is Strictness.OFF


@pytest.mark.parametrize(
    ("strictness", "severities", "expected"),
    [
        ("off", ["high"], False),
        ("medium", [], False),
        ("medium", ["low", "medium"], False),
        ("medium", ["low", "high"], True),
        ("medium", ["unheard of"], True),
        ("max", [], False),
        ("max", ["low"], True),
    ],
)
def test_what_the_gate_stops(strictness: str, severities: list[str], expected: bool) -> None:
    assert should_block(Strictness(strictness), severities) is expected


@pytest.mark.parametrize(
    ("asked", "configured", "expected"),
    [
        (None, {}, True),
        (None, {"glossary": {"enabled": False}}, False),
        (None, {"glossary": {"enabled": True}}, True),
        (None, {"glossary": None}, True),
        (False, {}, False),
        ("false", {}, False),
        ("FALSE", {}, False),
        ("Disabled", {}, False),
        ("enabled", {"glossary": {"enabled": False}}, True),
        (True, {"glossary": {"enabled": False}}, True),
    ],
)
def test_whether_a_step_is_checked(asked: object, configured: dict[str, object], expected: bool) -> None:
    context = ExecutionContext(
        "step", "mission", "run", metadata={"glossary_check": asked}, config=configured
    )
    assert is_enabled({"glossary_check": asked}, configured) is expected
    assert context.is_checked is expected


def test_a_context_scans_a_copy_of_its_inputs() -> None:
    inputs = {"description": "lift"}
    context = ExecutionContext("step", "mission", "run", inputs=inputs)
    assert context.step_input == inputs
    assert context.step_input is not inputs


def test_what_a_context_says_of_its_step() -> None:
    context = ExecutionContext(
        "step",
        "mission",
        "run",
        metadata={"critical_step": 1, "glossary_check_strictness": "max"},
        config={"glossary": {"strictness": "off"}},
    )
    assert (context.is_critical, context.step_strictness, context.mission_strictness) == (
        True,
        Strictness.MAX,
        Strictness.OFF,
    )
