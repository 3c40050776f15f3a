"""Events as the published package `spec-kitty-events` has them: a run logs all of its eight types."""

import json
from typing import Any, get_args

import pytest

from glossary.steps import TWO_LIFTS, answering, runtime_in, step, write_scope
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import GlossaryEvent, encoded, event_of
from vocabgap.glossary.questions import Define, Select
from vocabgap.glossary.runtime import GlossaryRuntime

KINDS = [kind.__name__ for kind in get_args(GlossaryEvent)]
MISSING = "spec-kitty-events is not installed: pip install 'vocabgap[dev]'"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> GlossaryRuntime:
    """The runtime of a step that was stopped, resumed in vain and then answered, and of another step."""
    folder = tmp_path_factory.mktemp("words")
    write_scope(folder, [*TWO_LIFTS, ("mask", "Where an edit shows"), ("mask", "A face cover")])
    runtime = runtime_in(folder)
    with pytest.raises(BlockedByConflictError) as stopped:
        runtime.run(step("Please lift it."))
    with pytest.raises(BlockedByConflictError):
        runtime.resume(stopped.value.retry_token)
    runtime.resume(stopped.value.retry_token, ask=answering(Select(0))[0])
    runtime.run(step("Use a mask."), ask=answering(Define("What hides"))[0])
    return runtime


def lines(runtime: GlossaryRuntime, kind: str = "") -> list[dict[str, Any]]:
    (log,) = runtime.logs.glob("*.jsonl")
    logged = map(json.loads, log.read_bytes().splitlines())
    found = [line for line in logged if kind in {"", line["event_type"]}]
    assert found
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_logged_events_validate(runtime: GlossaryRuntime, kind: str) -> None:
    conformance = pytest.importorskip("spec_kitty_events.conformance", reason=MISSING)
    message = [conformance.validate_event(line, kind, strict=True) for line in lines(runtime, kind)]
    assert [each for each in message if not each.valid or each.schema_check_skipped] == []


@pytest.mark.parametrize("kind", KINDS)
def test_events_are_read_with_or_without_a_payload(runtime: GlossaryRuntime, kind: str) -> None:
    """Terms are texts or objects."""
    for line in lines(runtime, kind):
        event = event_of(line)
        assert (json.loads(encoded(event)), len(event.event_id)) == (line, 36)
        flat = {**line.pop("payload"), **line.pop("vocabgap", {}), **line}
        other = flat | ({"term": {"surface_text": flat["term"]}} if "term" in flat else {})
        for name in {"findings", "conflicts"} & flat.keys():
            other[name] = [it | {"term": it["term"]["surface_text"]} for it in flat[name]]
        assert event == event_of(flat) == event_of(other)


def test_additions_are_beside_the_payload(runtime: GlossaryRuntime) -> None:
    beside = {line["event_type"]: sorted(line.get("vocabgap", {})) for line in lines(runtime)}
    assert {kind: names for kind, names in beside.items() if names} == {
        "GlossaryClarificationResolved": ["mission_id", "overruled", "usage"],
        "GlossarySenseUpdated": ["conflict_id", "mission_id", "overruled", "usage"],
        "GenerationBlockedBySemanticConflict": ["refused"],
        "StepCheckpointed": ["state_digest", "step_digest"],
    }


def test_identifier_of_a_check_survives_a_resume(runtime: GlossaryRuntime) -> None:
    first, later = [line["event_id"] for line in lines(runtime) if line["event_type"] == KINDS[2]]
    asked = [line["payload"] for line in lines(runtime) if line["event_type"] == KINDS[4]]
    assert [each["semantic_check_event_id"] for each in asked] == [first, first, first, later]
