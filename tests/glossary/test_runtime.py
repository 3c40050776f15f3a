import re
import stat
from pathlib import Path
from typing import Any

import pytest

import vocabgap as vg
from glossary.steps import (
    LIFT,
    NOW,
    STAIN,
    TWO_LIFTS,
    logged,
    make_unwritable,
    runtime_in,
    step,
    write_scope,
)
from vocabgap.errors import ExitCode, InvalidInputError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import GlossaryScopeActivated, SemanticCheckEvaluated
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import Strictness
from vocabgap.glossary.session import ExecutionContext


def test_names_that_programs_need_are_public() -> None:
    names = "GlossaryRuntime ExecutionContext BlockedByConflictError Strictness ScopeStack"
    assert {*names.split(), "Select", "Define", "NoTerm", "Defer"} <= {*vg.__all__}


def test_two_meanings_in_a_critical_step_stop_it(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime, context = runtime_in(tmp_path), step()

    with pytest.raises(BlockedByConflictError) as stopped:
        runtime.run(context)

    assert stopped.value.message == (
        "Generation blocked: 1 high-severity semantic conflict(s) detected (out of 1 total)."
        " Resolve conflicts before proceeding."
    )
    assert stopped.value.exit_code is ExitCode.STATE
    assert stopped.value.retry_token == context.retry_token
    assert [each.definition for each in context.conflicts[0].candidate_senses] == [LIFT, STAIN]


def test_checkpoint_is_written_before_anybody_is_asked(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)

    with pytest.raises(BlockedByConflictError):
        runtime.run(step())

    assert logged(runtime) == [
        "GlossaryScopeActivated", "TermCandidateObserved", "SemanticCheckEvaluated", "StepCheckpointed",
        "GlossaryClarificationRequested", "GenerationBlockedBySemanticConflict",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "of_step", "of_mission", "of_runtime", "in_force"),
    [
        (Strictness.MAX, "off", "off", Strictness.OFF, "max"),
        (None, "max", "off", Strictness.OFF, "max"),
        (None, None, "max", Strictness.OFF, "max"),
        (None, None, None, Strictness.MAX, "max"),
        (None, " MAX ", "off", None, "max"),
    ],
)
def test_log_names_the_strictness_that_was_in_force(
    asked: Strictness | None,
    of_step: object,
    of_mission: object,
    of_runtime: Strictness | None,
    in_force: str,
    tmp_path: Path,
) -> None:
    runtime = GlossaryRuntime(folder=tmp_path, strictness=of_runtime, now=lambda: NOW)
    given = step(
        "It is so.",
        metadata={"glossary_check_strictness": of_step},
        config={"glossary": {"strictness": of_mission}},
    )

    runtime.run(given, strictness=asked)

    (check,) = [each.event for each in read_events(runtime.logs).events]
    assert isinstance(check, SemanticCheckEvaluated)
    assert (check.effective_strictness, check.blocked) == (in_force, False)


@pytest.mark.parametrize(("critical", "blocked"), [(True, True), (False, False)])
def test_log_says_blocked_where_the_step_was(critical: bool, blocked: bool, tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)

    try:
        runtime.run(step(critical=critical))
        passed = True
    except BlockedByConflictError:
        passed = False

    (check,) = [
        e.event
        for e in read_events(runtime.logs).events
        if isinstance(e.event, SemanticCheckEvaluated)
    ]
    assert (passed, check.blocked) == (not blocked, blocked)


def test_log_that_cannot_be_written_stops_the_step_all_the_same(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime, context = runtime_in(tmp_path), step()
    make_unwritable(runtime.logs / "retouch.events.jsonl")

    with pytest.raises(BlockedByConflictError) as stopped:
        runtime.run(context)

    assert stopped.value.retry_token == ""
    assert any(note.startswith("not logged:") for note in context.notes)


def test_inputs_that_cannot_be_hashed_stop_the_step_without_a_token(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    context = step()
    context.inputs["image"] = object()

    with pytest.raises(BlockedByConflictError) as stopped:
        runtime_in(tmp_path).run(context)

    assert stopped.value.retry_token == ""
    assert any("no checkpoint was written" in note for note in context.notes)


def test_kept_step_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    with pytest.raises(BlockedByConflictError):
        runtime.run(step())

    (kept,) = (runtime.logs / "steps").iterdir()

    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("scope", ["team_domain", "team-domain"])
def test_step_is_checked_only_with_a_whole_glossary(scope: str, tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT), ("WP", "upper case")], scope)
    runtime = runtime_in(tmp_path)

    with pytest.raises(InvalidInputError, match=rf"{scope}\.yaml.*(normalized|not a scope)"):
        runtime.run(step())

    after = runtime.run(step(), strictness=Strictness.OFF)
    assert any(f"{scope}.yaml" in note for note in after.notes)
    assert not (tmp_path / "events" / "steps").exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mission_id": b"m"}, "mission_id: expected text, found b'm'"),
        ({"step_id": "\udcff"}, "step_id: character 1 is half of a surrogate pair"),
        ({"inputs": "text"}, "inputs: expected a mapping of names to values, found 'text'"),
        ({"metadata": None}, "metadata: expected a mapping"),
        ({"step_output": "text"}, "step_output: expected a mapping"),
    ],
)
def test_step_of_other_kinds_is_refused(fields: dict[str, Any], message: str) -> None:
    given = {"step_id": "s", "mission_id": "m", "run_id": "r"} | fields
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        ExecutionContext(**given)


def test_scopes_with_a_seed_file_are_activated_once(tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])
    write_scope(tmp_path, [("mask", "A region")], "spec_kitty_core")
    runtime = runtime_in(tmp_path)

    for text in ("Nothing of note.", "Nothing else."):
        runtime.run(step(text))

    events = [line.event for line in read_events(runtime.logs).events]
    activated = [event for event in events if isinstance(event, GlossaryScopeActivated)]
    assert [event.scope_id for event in activated] == ["team_domain", "spec_kitty_core"]


def test_one_runtime_serves_many_steps_and_sees_a_changed_file(tmp_path: Path) -> None:
    write_scope(tmp_path, [])
    runtime = runtime_in(tmp_path)
    hints = {"glossary_watch_terms": ["lift"]}
    before = runtime.run(step(metadata=hints, critical=False))
    write_scope(tmp_path, [("lift", LIFT)])

    after = runtime.run(step())

    assert [each.conflict_type.value for each in before.conflicts] == ["unknown"]
    assert after.conflicts == []
