"""Checkpoints: what is kept of a stopped step, and whether its inputs are still the same."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.events import StepCheckpointed, event_of
from vocabgap.glossary.senses import ScopeRef, Strictness
from vocabgap.glossary.session import hash_inputs, input_diff

PAYLOAD: dict[str, Any] = {
    "mission_id": "mission",
    "run_id": "run",
    "step_id": "step",
    "strictness": "medium",
    "scope_refs": [{"scope": "team_domain", "version_id": "v3"}],
    "input_hash": "0f" * 32,
    "cursor": "pre_generation_gate",
    "retry_token": "7b1c2e0a-0000-4000-8000-000000000000",
    "timestamp": "2026-04-01T10:00:00Z",
}


def checkpoint_of(payload: dict[str, Any]) -> StepCheckpointed:
    event = event_of({"event_type": "StepCheckpointed", **payload})
    assert isinstance(event, StepCheckpointed)
    return event


def test_a_checkpoint_is_the_same_after_a_way_through_json() -> None:
    found = checkpoint_of({**PAYLOAD, "something_else": 1})
    assert found.strictness == Strictness.MEDIUM
    assert found.scope_refs == (ScopeRef("team_domain", "v3"),)
    assert checkpoint_of(msgspec.to_builtins(found)) == found
    fields = {"timestamp", *StepCheckpointed.__struct_fields__}
    assert len(fields - {"event_id"} - StepCheckpointed.ours) == 9


def test_a_moment_without_an_offset_is_in_utc() -> None:
    found = checkpoint_of({**PAYLOAD, "timestamp": "2026-04-01T10:00:00"})
    assert found == checkpoint_of(PAYLOAD)


def test_inputs_that_are_no_json_have_a_form_of_their_own() -> None:
    moment = datetime(2026, 4, 1, 10, tzinfo=UTC)
    inputs = {
        "when": moment,
        "day": date(2026, 4, 1),
        "tags": {"b", "a", "c"},
        "raw": b"\x00\xff",
        "mode": Strictness.MAX,
        "half": "\ud800",
    }
    plain = {
        "when": "2026-04-01T10:00:00Z", "day": "2026-04-01", "tags": ["a", "b", "c"], "raw": "AP8=",
        "mode": "max", "half": "\ud800",
    }  # fmt: skip
    assert hash_inputs(inputs) == hash_inputs(plain)
    assert hash_inputs({"when": moment + timedelta(1)}) != hash_inputs({"when": moment})


def circle() -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    inputs["self"] = inputs
    return inputs


@pytest.mark.parametrize("inputs", [{"a": object()}, {1: 1, "a": 2}, {(1,): 2}, circle()])
def test_inputs_that_have_no_form_are_refused_in_words(inputs: dict[Any, Any]) -> None:
    with pytest.raises(InvalidInputError, match="inputs cannot be hashed"):
        hash_inputs(inputs)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(st.text(), JSON, max_size=4))
def test_inputs_differ_where_their_hashes_do(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert (hash_inputs(first) == hash_inputs(second)) == (input_diff(first, second) == {})
    assert hash_inputs(dict(reversed(first.items()))) == hash_inputs(first)
