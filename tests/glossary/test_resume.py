from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest

from glossary.steps import LIFT, STAIN, TWO_LIFTS, answering, logged, runtime_in, step, write_scope
from vocabgap.errors import NotFoundError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import GlossaryClarificationRequested, SemanticCheckEvaluated
from vocabgap.glossary.loading import load_checkpoint, read_events
from vocabgap.glossary.questions import Select
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import ConflictType, Strictness
from vocabgap.glossary.session import (
    AbortResumeError,
    ChangedInputs,
    hash_inputs,
    state_path,
)

UNKNOWN = "5d2c3f3e-1111-4222-8333-444455556666"


def stopped(runtime: GlossaryRuntime, text: str = "Please lift it.") -> str:
    """The token of a step that was stopped."""
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(step(text))
    return error.value.retry_token


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    write_scope(tmp_path, TWO_LIFTS)
    return runtime_in(tmp_path)


def test_step_goes_on_where_somebody_has_answered_meanwhile(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime)
    runtime.run(step(), ask=answering(Select(0))[0])
    before = len(logged(runtime))

    after = runtime.resume(token)

    assert (after.conflicts, after.meanings) == ([], {"lift": LIFT})
    assert after.resumed_from_checkpoint
    assert logged(runtime)[before:] == []  # what was done is not done again


def test_resumed_step_names_versions_that_can_be_loaded(runtime: GlossaryRuntime) -> None:
    token, before = stopped(runtime), runtime.load()
    runtime.run(step(), ask=answering(Select(0))[0])

    after = runtime.resume(token)

    assert after.scope_refs == before.glossary.scope_refs != runtime.load().glossary.scope_refs
    (version,) = [each.version_id for each in after.scope_refs]
    assert (runtime.load_version(version), after.notes) == (tuple(before.glossary), [])


def test_version_before_its_seed_file_was_edited_is_told_as_lost(runtime: GlossaryRuntime) -> None:
    token, (ref,) = stopped(runtime), runtime.load().glossary.scope_refs
    write_scope(runtime.folder, [("lift", LIFT)])
    lost = f"version '{ref.version_id}' cannot be rebuilt from the seed files and event logs"

    after = runtime.resume(token)

    assert after.notes == [f"team_domain: {lost}"]
    with pytest.raises(NotFoundError, match=lost):
        runtime.load_version(ref.version_id)


def test_resuming_without_a_scope_that_is_gone_is_confirmed(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, [("crane", "A bird")], scope="audience_domain")
    token = stopped(runtime)
    (gone,) = [ref for ref in runtime.load().glossary.scope_refs if ref.scope == "audience_domain"]
    (runtime.folder / "audience_domain.yaml").unlink()

    for confirm in (None, lambda _: False):
        with pytest.raises(AbortResumeError):
            runtime.resume(token, confirm=confirm)
    changed: list[ChangedInputs] = []
    with pytest.raises(BlockedByConflictError):
        runtime.resume(token, confirm=lambda it: not changed.append(it))  # type: ignore[func-returns-value]

    assert changed[0].changes == {"glossary, audience_domain": (gone.version_id, None)}


def test_nobody_is_asked_about_inputs_that_have_not_changed(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime)

    def confirm(_: ChangedInputs) -> bool:
        raise AssertionError("nothing has changed")

    after = runtime.resume(
        token, {"description": "Please lift it."}, ask=answering(Select(0))[0], confirm=confirm
    )

    assert after.conflicts == []


def test_still_open_is_still_stopped_under_its_token(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime)

    with pytest.raises(BlockedByConflictError) as again:
        runtime.resume(token)

    assert again.value.retry_token == token
    assert [path.name for path in state_path(runtime.logs, token).parent.iterdir()] == [
        f"{token}.json"
    ]


def test_changed_inputs_are_stopped_under_another_token(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime)

    with pytest.raises(BlockedByConflictError) as again:
        runtime.resume(token, {"description": "Now lift it."}, confirm=lambda _: True)

    other = again.value.retry_token
    assert other not in {"", token}
    assert [path.name for path in state_path(runtime.logs, token).parent.iterdir()] == [
        f"{other}.json"
    ]


def test_changed_inputs_are_shown_and_go_on_only_with_a_yes(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime)
    calls: list[ChangedInputs] = []

    def confirm(changed: ChangedInputs) -> bool:
        calls.append(changed)
        return False

    with pytest.raises(AbortResumeError, match="context change"):
        runtime.resume(token, {"description": "Please raise it."}, confirm=confirm)

    (changed,) = calls
    assert changed.changes == {"description": ("Please lift it.", "Please raise it.")}
    assert (len(changed.old), len(changed.new)) == (16, 16)
    assert hash_inputs({"description": "Please lift it."}).startswith(changed.old)


def test_checkpoint_decides_the_strictness_by_default(runtime: GlossaryRuntime) -> None:
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(step(critical=False), strictness=Strictness.MAX)
    token = error.value.retry_token

    with pytest.raises(BlockedByConflictError) as again:
        runtime.resume(token)
    relaxed = runtime.resume(token, strictness=Strictness.MEDIUM)

    assert again.value.strictness is Strictness.MAX
    assert len(relaxed.conflicts) == 1


def test_step_that_was_stopped_is_not_let_go_by_settings_that_check_nothing(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    token = stopped(runtime_in(tmp_path))
    lenient = replace(runtime_in(tmp_path), strictness=Strictness.OFF)

    with pytest.raises(BlockedByConflictError):
        lenient.resume(token)

    assert lenient.resume(token, strictness=Strictness.OFF).effective_strictness is Strictness.OFF


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 4, 1, tzinfo=UTC), date(2026, 4, 1), time(12, 30, tzinfo=UTC), b"\x00\xff",
        bytearray(b"ab"), {"c", "a", "b"}, frozenset({2, 10, 1}), Strictness.MAX, float("nan"), "\ud800",
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_stored_inputs_match_the_checkpoint(runtime: GlossaryRuntime, value: object) -> None:
    given = step()
    given.inputs["given"] = value
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(given)

    after = runtime.resume(error.value.retry_token, ask=answering(Select(0))[0])

    assert after.is_restored


def test_step_that_has_gone_on_waits_no_more(runtime: GlossaryRuntime) -> None:
    first, second = stopped(runtime), stopped(runtime, "The lift is stuck.")

    runtime.resume(second, ask=answering(Select(0))[0])

    assert [path.stem for path in runtime.logs.glob("steps/*")] == [first]


def test_resumed_step_asks_the_questions_of_the_new_glossary(runtime: GlossaryRuntime) -> None:
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(step(), strictness=Strictness.MAX)
    write_scope(runtime.folder, [("stain", STAIN)])

    with pytest.raises(BlockedByConflictError) as again:
        runtime.resume(error.value.retry_token, strictness=Strictness.MAX, confirm=lambda _: True)

    happened = [each.event for each in read_events(runtime.logs).events]
    check = [each for each in happened if isinstance(each, SemanticCheckEvaluated)][-1]
    asked = [each for each in happened if isinstance(each, GlossaryClarificationRequested)][-1]
    checkpoint = load_checkpoint(runtime.logs, retry_token=again.value.retry_token)
    assert [each.conflict_type for each in check.findings] == [ConflictType.UNKNOWN]
    assert asked.semantic_check_event_id == check.event_id
    assert checkpoint is not None
    assert checkpoint.scope_refs == runtime.load("retouch").glossary.scope_refs


def test_checkpoint_without_state_is_enough_for_a_given_step(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime)
    state_path(runtime.logs, token).unlink()

    after = runtime.run(step(retry_token=token), ask=answering(Select(0))[0])

    assert after.resumed_from_checkpoint
    assert after.meanings == {"lift": LIFT}


@pytest.mark.parametrize("left", [None, b"", b'{"step_id": "x"'])
def test_step_without_its_state_stays_stopped(runtime: GlossaryRuntime, left: bytes | None) -> None:
    token = stopped(runtime)
    state_path(runtime.logs, token).unlink()
    if left is not None:
        state_path(runtime.logs, token).write_bytes(left)

    with pytest.raises(BlockedByConflictError):
        runtime.resume(token, {"description": "Please lift it."})
    for inputs in (None, {}, {"description": "Please raise it."}):
        with pytest.raises(AbortResumeError, match="its text is gone"):
            runtime.resume(token, inputs, confirm=lambda _: True)


def test_step_interrupted_behind_its_checkpoint_is_resumed(
    runtime: GlossaryRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("vocabgap.glossary.middlewares.question_of", interrupt)
        with pytest.raises(KeyboardInterrupt):
            runtime.run(step())
    checkpoint = load_checkpoint(runtime.logs)
    assert checkpoint is not None
    assert logged(runtime)[-1] == "StepCheckpointed"

    after = runtime.resume(checkpoint.retry_token, ask=answering(Select(0))[0])

    assert (after.conflicts, after.meanings) == ([], {"lift": LIFT})


@pytest.mark.parametrize("token", ["", "x", "../outside", "/outside", UNKNOWN + "/../../outside"])
def test_what_is_no_token_leads_to_no_file(token: str, runtime: GlossaryRuntime) -> None:
    stopped(runtime)
    (runtime.folder / "outside.json").write_bytes(
        next(runtime.logs.glob("steps/*.json")).read_bytes()
    )

    with pytest.raises(NotFoundError, match="there is no checkpoint"):
        runtime.stopped(token)
