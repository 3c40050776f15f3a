"""Checkpoints: what is kept of a stopped step, and whether its inputs are still the same."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.events import Cursor, StepCheckpointed, encoded, event_of
from vocabgap.glossary.senses import InvalidTermError, ScopeRef, Strictness
from vocabgap.glossary.session import hash_inputs, input_diff, verify_inputs

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
    assert (found.strictness, found.scope_refs) == (Strictness.MEDIUM, (ScopeRef("team_domain", "v3"),))
    assert checkpoint_of(msgspec.to_builtins(found)) == found
    assert len({"timestamp", *StepCheckpointed.__struct_fields__} - {"event_id"}) == 9


def test_a_checkpoint_is_small() -> None:
    refs = [{"scope": "audience_domain", "version_id": "0123456789abcdef"}] * 4
    assert len(encoded(checkpoint_of({**PAYLOAD, "scope_refs": refs}))) < 1_024


@pytest.mark.parametrize("cursor", Cursor)
def test_where_a_step_may_go_on(cursor: Cursor) -> None:
    assert checkpoint_of({**PAYLOAD, "cursor": cursor.value}).cursor == cursor


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("mission_id", "", "mission_id must not be empty"),
        ("run_id", "  ", "run_id must not be empty"),
        ("step_id", "", "step_id must not be empty"),
        ("strictness", "severe", "Invalid checkpoint event payload"),
        ("input_hash", "0F" * 32, "Invalid input_hash format"),
        ("input_hash", "0f" * 31, "Invalid input_hash format"),
        ("input_hash", "0f" * 32 + "\n", "Invalid input_hash format"),
        ("cursor", "somewhere", "Unknown cursor value"),
        ("retry_token", "short", "Invalid retry_token format"),
        ("retry_token", "z" * 36, "Invalid retry_token format"),
        ("retry_token", "{7b1c2e0a000040008000000000000000}  ", "Invalid retry_token format"),
        ("timestamp", "lately", "Invalid checkpoint event payload"),
        ("scope_refs", None, "Invalid checkpoint event payload"),
    ],
)
def test_what_is_no_checkpoint_is_refused(field: str, value: object, told: str) -> None:
    with pytest.raises(InvalidTermError, match=told):
        checkpoint_of({**PAYLOAD, field: value})
    with pytest.raises(InvalidTermError, match="Invalid checkpoint event payload"):
        checkpoint_of({key: kept for key, kept in PAYLOAD.items() if key != field})


def test_a_moment_without_an_offset_is_in_utc() -> None:
    found = checkpoint_of({**PAYLOAD, "timestamp": "2026-04-01T10:00:00"})
    assert found == checkpoint_of(PAYLOAD)


GOLDEN = [
    ({}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    ({"b": 2, "a": 1}, "d8497d9d82770a70729261095aa98f7ef5154d7af499f8037b6ca250296785a6"),
    ({"name": "Größe"}, "a6d7d9f5982cc5a32fc215e17a86873b050a60fe6d61603b94491b1455b65866"),
]


@pytest.mark.parametrize(("inputs", "expected"), GOLDEN)
def test_the_hash_of_inputs(inputs: dict[str, Any], expected: str) -> None:
    assert hash_inputs(inputs) == expected


def test_a_whole_number_and_a_fraction_are_not_the_same_input() -> None:
    assert hash_inputs({"a": 5}) != hash_inputs({"a": 5.0})
    assert input_diff({"a": 5}, {"a": 5.0}) == {"a": (5, 5.0)}
    assert input_diff({"a": 1}, {"a": True}) == {"a": (1, True)}


def test_inputs_that_are_no_json_have_a_form_of_their_own() -> None:
    moment = datetime(2026, 4, 1, 10, tzinfo=UTC)
    inputs = {
        "when": moment,
        "day": date(2026, 4, 1),
        "where": PurePosixPath("photos/a.raw"),
        "tags": {"b", "a", "c"},
        "raw": b"\x00\xff",
        "mode": Cursor.POST_GATE,
        "half": "\ud800",
    }
    plain = {
        "when": "2026-04-01T10:00:00+00:00",
        "day": "2026-04-01",
        "where": "photos/a.raw",
        "tags": ["a", "b", "c"],
        "raw": "00ff",
        "mode": "post_gate",
        "half": "\ud800",
    }
    assert hash_inputs(inputs) == hash_inputs(plain)
    assert hash_inputs({"when": moment + timedelta(1)}) != hash_inputs({"when": moment})


def circle() -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    inputs["self"] = inputs
    return inputs


@pytest.mark.parametrize("inputs", [{"a": object()}, {"a": Decimal(1)}, {1: 1, "a": 2}, {(1,): 2}, circle()])
def test_inputs_that_have_no_form_are_refused_in_words(inputs: dict[Any, Any]) -> None:
    with pytest.raises(InvalidInputError, match="inputs cannot be hashed"):
        hash_inputs(inputs)


def test_whether_inputs_are_still_the_same() -> None:
    kept = hash_inputs({"description": "one", "needs": ["a", "b"]})
    shown = kept[:16]
    assert verify_inputs(kept, {"needs": ["a", "b"], "description": "one"}) == (True, shown, shown)
    matches, old, new = verify_inputs(kept, {"needs": ["b", "a"], "description": "one"})
    assert (matches, old, len(new)) == (False, shown, 16)


def test_what_changed_in_the_inputs() -> None:
    assert input_diff({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 99, "d": 4}) == {
        "b": (2, 99),
        "c": (3, None),
        "d": (None, 4),
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(st.text(), JSON, max_size=4))
def test_inputs_differ_where_their_hashes_do(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert (hash_inputs(first) == hash_inputs(second)) == (input_diff(first, second) == {})
    assert hash_inputs(dict(reversed(first.items()))) == hash_inputs(first)
