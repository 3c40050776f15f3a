"""The ways through the gate: each row of the table passes, and without one of its conditions it does not.

The table is in `vocabgap.glossary.middlewares`. `benchmarks/ways.py` walks them at random.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glossary.benchmarks.ways import NO_ANSWERS, walked
from glossary.steps import LIFT, STAIN, TWO_LIFTS, answering, logged, runtime_in, step, write_scope
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import GenerationBlockedBySemanticConflict
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import (
    Define,
    NoTerm,
    Question,
    Select,
    as_they_stand,
    questions_of,
)
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import Strictness
from vocabgap.glossary.session import AbortResumeError, ExecutionContext, state_path

SAME, OTHER, PLAIN = "Please lift it.", "Now lift it.", "Nothing to do here."


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    write_scope(tmp_path, TWO_LIFTS)
    return runtime_in(tmp_path)


def token_of(runtime: GlossaryRuntime, context: ExecutionContext) -> str:
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(context, strictness=Strictness.MAX)
    return error.value.retry_token


def blocked(runtime: GlossaryRuntime) -> GenerationBlockedBySemanticConflict:
    event = read_events(runtime.logs).events[-1].event
    assert isinstance(event, GenerationBlockedBySemanticConflict)
    return event


WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "1 the step says that it is not checked": ({"metadata": {"glossary_check": False}}, {}),
    "1 its mission says so": ({"config": {"glossary": {"enabled": False}}}, {}),
    "2 the run is off": ({}, {"strictness": Strictness.OFF}),
    "2 the step is off": ({"metadata": {"glossary_check_strictness": "off"}}, {}),
    "2 in another spelling": ({"metadata": {"glossary_check_strictness": " OFF "}}, {}),
    "2 the mission is off": ({"config": {"glossary": {"strictness": "off"}}}, {}),
    "3 no conflict": ({"description": PLAIN}, {"strictness": Strictness.MAX}),
    "3 no conflict that stops": ({"critical": False}, {"strictness": Strictness.MEDIUM}),
    "4 a candidate": ({}, {"ask": lambda _: Select(1)}),
    "4 a definition": ({}, {"ask": lambda _: Define("Brighten the eyes")}),
    "4 no term": ({}, {"ask": lambda _: NoTerm()}),
}
COMPLEMENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "1 a text that says nothing": ({"metadata": {"glossary_check": "maybe"}}, {}),
    "1 zero is not false": ({"metadata": {"glossary_check": 0}}, {}),
    "1 nor is it for a mission": ({"config": {"glossary": {"enabled": 0}}}, {}),
    "2 a nearer strictness": (
        {"metadata": {"glossary_check_strictness": "off"}}, {"strictness": Strictness.MEDIUM},
    ),
    "2 only the mission is off": (
        {"metadata": {"glossary_check_strictness": "max"}, "config": {"glossary": {"strictness": "off"}}}, {},
    ),
    "3 a conflict of any severity": ({"critical": False}, {"strictness": Strictness.MAX}),
    "3 a severe conflict": ({}, {"strictness": Strictness.MEDIUM}),
}  # fmt: skip


@pytest.mark.parametrize(("given", "options"), WAYS.values(), ids=WAYS)
def test_step_passes_by_each_way(
    given: dict[str, Any], options: dict[str, Any], runtime: GlossaryRuntime
) -> None:
    assert not runtime.run(step(**given), **options).is_stopped


@pytest.mark.parametrize(("given", "options"), COMPLEMENT.values(), ids=COMPLEMENT)
def test_step_is_stopped_if_a_condition_is_missing(
    given: dict[str, Any], options: dict[str, Any], runtime: GlossaryRuntime
) -> None:
    with pytest.raises(BlockedByConflictError):
        runtime.run(step(**given), **options)


@pytest.mark.parametrize(
    "answer", [it for it in NO_ANSWERS if not isinstance(it, BaseException)], ids=repr
)
def test_what_is_no_answer_is_refused_at_each_door(answer: Any, runtime: GlossaryRuntime) -> None:  # noqa: ANN401
    context = step()

    with pytest.raises(BlockedByConflictError):
        runtime.run(context, ask=lambda _: answer)

    is_put_off = type(answer).__name__ == "Defer"
    assert len(blocked(runtime).refused) == (not is_put_off)
    assert context.resolved_conflicts == []
    (question,) = questions_of(each.event for each in read_events(runtime.logs).events)
    if not is_put_off:
        with pytest.raises(InvalidInputError, match=r"expected|empty|must be"):
            runtime.answer(question, answer)
    assert question.is_open
    assert runtime.files.answers("lift") == []


@pytest.mark.parametrize("answer", [Select(0), Define("Brighten the eyes"), NoTerm()])
def test_answer_that_cannot_be_stored_leaves_the_step_stopped(
    answer: Any,  # noqa: ANN401
    runtime: GlossaryRuntime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise StateError("the disk is full")

    context = step()
    monkeypatch.setattr(runtime.files, "append_changes", full)

    with pytest.raises(BlockedByConflictError):
        runtime.run(context, ask=lambda _: answer)

    assert context.resolved_conflicts == []
    assert "not logged: the disk is full" in context.notes
    with pytest.raises(BlockedByConflictError):
        runtime_in(runtime.folder).run(step())


@pytest.mark.parametrize("word", ["of", "", False, 0, b"off", "maximum", ["off"]], ids=repr)
def test_unknown_strictness_is_refused_wherever_it_is_given(
    word: Any,  # noqa: ANN401
    runtime: GlossaryRuntime,
) -> None:
    expected = "expected one of off, medium, max"
    with pytest.raises(InvalidInputError, match=f"strictness: {expected}"):
        GlossaryRuntime(folder=runtime.folder, strictness=word)
    with pytest.raises(InvalidInputError, match=f"strictness: {expected}"):
        runtime.run(step(), strictness=word)
    with pytest.raises(InvalidInputError, match=f"strictness: {expected}"):
        runtime.run(step(config={"glossary": {"strictness": word}}))
    with pytest.raises(InvalidInputError, match=f"glossary_check_strictness: {expected}"):
        runtime.run(step(metadata={"glossary_check_strictness": word}))


def test_strictness_in_another_spelling_counts(runtime: GlossaryRuntime) -> None:
    spelt: Any = " Max "
    lenient = step(critical=False, metadata={"glossary_check_strictness": "off"})
    with pytest.raises(BlockedByConflictError):
        runtime.run(lenient, strictness=spelt)


Damage = Callable[[Path], object]
DAMAGES: dict[str, Damage] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "no terms": lambda path: path.write_bytes(
        path.read_bytes().replace(b'"extracted_terms": [', b'"extracted_terms": [], "x": [')
    ),
    "not critical": lambda path: path.write_bytes(
        path.read_bytes().replace(b'"critical_step": true', b'"critical_step": false')
    ),
    "off": lambda path: path.write_bytes(
        path.read_bytes().replace(b'"config": {}', b'"config": {"glossary": {"enabled": false}}')
    ),
    "another text": lambda path: path.write_bytes(path.read_bytes().replace(SAME.encode(), PLAIN.encode())),
    "only names": lambda path: path.write_bytes(
        b'{"step_id": "develop", "mission_id": "retouch", "run_id": "run-1"}'
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("inputs", [None, {}, {"description": PLAIN}])
def test_step_whose_text_is_gone_is_not_resumed_with_another(
    damage: Damage, inputs: dict[str, Any] | None, runtime: GlossaryRuntime
) -> None:
    token = token_of(runtime, step(step_output={"output": "A lift."}))
    damage(state_path(runtime.logs, token))

    with pytest.raises(AbortResumeError, match="its text is gone"):
        runtime.resume(token, inputs, confirm=lambda _: True)


def test_step_is_resumed_with_everything_that_was_checked(runtime: GlossaryRuntime) -> None:
    token = token_of(runtime, step(step_output={"output": "A lift."}))
    others = {
        "the output": step(retry_token=token),
        "the text to scan": step(
            retry_token=token, step_output={"output": "A lift."}, step_input={"description": PLAIN}
        ),
        "what makes it critical": step(
            critical=False, retry_token=token, step_output={"output": "A lift."}
        ),
        "the mission's settings": step(
            retry_token=token, step_output={"output": "A lift."}, config={"glossary": {}}
        ),
    }

    for name, other in others.items():
        with pytest.raises(AbortResumeError, match="nobody confirmed"):
            runtime.run(other)
        with pytest.raises(AbortResumeError, match="nobody confirmed"):
            replace(runtime, is_logged=False).run(other)
        assert name
    same = step(retry_token=token, step_output={"output": "A lift."})
    assert runtime.run(same, ask=lambda _: Select(0)).is_restored


@pytest.mark.parametrize("said", [False, None, "yes", "no", 1, [True]], ids=repr)
def test_changed_step_goes_on_only_with_true(said: Any, runtime: GlossaryRuntime) -> None:  # noqa: ANN401
    token = token_of(runtime, step())

    with pytest.raises(AbortResumeError):
        runtime.resume(token, {"description": PLAIN}, confirm=lambda _: said)

    assert runtime.resume(token, {"description": PLAIN}, confirm=lambda _: True).conflicts == []


def test_changed_step_is_checked_again(runtime: GlossaryRuntime) -> None:
    token = token_of(runtime, step())
    with pytest.raises(BlockedByConflictError):
        runtime.resume(token, {"description": OTHER}, confirm=lambda _: True)


def test_step_that_is_done_is_resumed_only_with_its_text(runtime: GlossaryRuntime) -> None:
    token = token_of(runtime, step())
    runtime.resume(token, ask=lambda _: Select(0))

    for inputs in (None, {"description": PLAIN}):
        with pytest.raises(AbortResumeError, match="the step is done, or its text is gone"):
            runtime.resume(token, inputs, confirm=lambda _: True)
    assert runtime.resume(token, {"description": SAME}).meanings == {"lift": LIFT}


def test_resumed_step_is_stopped_by_a_meaning_that_came_later(runtime: GlossaryRuntime) -> None:
    token = token_of(runtime, step("Lift the stain."))
    runtime.run(step(), ask=lambda _: Select(0))
    write_scope(runtime.folder, [*TWO_LIFTS, ("stain", STAIN), ("stain", LIFT)])

    with pytest.raises(BlockedByConflictError) as error:
        runtime.resume(token, confirm=lambda _: True)

    assert [each.term.surface_text for each in error.value.conflicts] == ["stain"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, MemoryError])
def test_interrupted_question_lets_nothing_pass(
    interruption: type[BaseException], runtime: GlossaryRuntime
) -> None:
    def ask(_: Question) -> Select:
        raise interruption

    with pytest.raises((interruption, BlockedByConflictError)):
        runtime.run(step(), ask=ask)

    assert "GlossaryClarificationRequested" in logged(runtime)
    with pytest.raises(BlockedByConflictError):
        runtime.run(step())


def test_no_term_lasts_in_all_missions_and_until_somebody_defines_it(
    runtime: GlossaryRuntime,
) -> None:
    ask, _ = answering(NoTerm())
    runtime.run(step('Use the "gobo".', critical=False), strictness=Strictness.MAX, ask=ask)
    again = replace(step('Use the "gobo".'), mission_id="elsewhere")
    fresh = runtime_in(runtime.folder)

    assert fresh.run(again, strictness=Strictness.MAX).extracted_terms == []
    events = [each.event for each in read_events(fresh.logs).events]
    questions = as_they_stand(questions_of(events), lambda mission: fresh.load(mission).glossary)
    assert [each.is_open for each in questions] == [False]


def test_random_ways_are_those_of_the_table() -> None:
    assert walked(300) == {}
