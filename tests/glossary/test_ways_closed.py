"""The gate against callers and files: what changes while somebody is asked, and what cannot be read."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glossary.steps import LIFT, STAIN, TWO_LIFTS, logged, runtime_in, step, write_scope
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import StepCheckpointed
from vocabgap.glossary.loading import append_events, load_checkpoint, read_events
from vocabgap.glossary.questions import Defer, Define, Question, Select
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import ScopeStack, Strictness
from vocabgap.glossary.session import ExecutionContext

PLAIN = "Nothing to do here."


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    write_scope(tmp_path / "words", TWO_LIFTS)
    return runtime_in(tmp_path / "words")


def stopped(
    runtime: GlossaryRuntime,
    context: ExecutionContext,
    **options: Any,  # noqa: ANN401
) -> BlockedByConflictError:
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(context, **options)
    return error.value


def loosen(context: ExecutionContext) -> None:
    """Change everything about a step that could let it pass."""
    context.conflicts.clear()
    context.extracted_terms.clear()
    context.is_stopped = False
    context.effective_strictness = Strictness.OFF
    context.inputs["description"] = PLAIN
    vars(context).update(
        metadata={"glossary_check": False}, config={"glossary": {"enabled": False}}, step_output={}
    )
    context.mission_id, context.retry_token = "elsewhere", "another"


def test_caller_that_changes_the_step_while_it_is_asked_lets_nothing_pass(
    runtime: GlossaryRuntime,
) -> None:
    context = step(step_output={"output": "A lift."})

    def ask(_: Question) -> Defer:
        loosen(context)
        return Defer()

    error = stopped(runtime, context, ask=ask)

    assert [each.term.surface_text for each in context.conflicts] == ["lift"]
    assert context.is_stopped
    assert error.retry_token
    assert context.retry_token == error.retry_token


def test_caller_that_changes_the_step_while_it_confirms_lets_nothing_pass(
    runtime: GlossaryRuntime,
) -> None:
    token = stopped(runtime, step()).retry_token
    again = step("Now lift it.", retry_token=token)

    def confirm(_: object) -> bool:
        loosen(again)
        return True

    stopped(runtime, again, confirm=confirm)


def damage_seed(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, [*TWO_LIFTS, ("WP", "upper case")])


def damage_pack(runtime: GlossaryRuntime) -> None:
    (runtime.folder / "ours.glossary-pack.yaml").write_text("terms: [", encoding="utf-8")


def misname(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, [("lift", LIFT)], "team-domain")


def damage_log(runtime: GlossaryRuntime) -> None:
    runtime.logs.mkdir(exist_ok=True)
    (runtime.logs / "a.events.jsonl").write_text('{"event_type": "GlossaryS\n', encoding="utf-8")


DAMAGES = [damage_seed, damage_pack, misname, damage_log]


@pytest.mark.parametrize("damage", DAMAGES)
def test_step_is_not_checked_with_a_part_of_the_glossary(
    damage: Callable[[GlossaryRuntime], None], runtime: GlossaryRuntime
) -> None:
    damage(runtime)

    with pytest.raises(InvalidInputError, match=r"\.(yaml|jsonl)"):
        runtime.run(step(PLAIN))
    assert not runtime.run(step(), strictness=Strictness.OFF).is_stopped


@pytest.mark.parametrize("damage", DAMAGES)
def test_step_does_not_pass_if_the_glossary_is_damaged_while_somebody_is_asked(
    damage: Callable[[GlossaryRuntime], None], runtime: GlossaryRuntime
) -> None:
    def ask(_: Question) -> Select:
        damage(runtime)
        return Select(0)

    with pytest.raises(InvalidInputError, match=r"\.(yaml|jsonl)"):
        runtime.run(step(), ask=ask)


def test_scopes_without_the_files_that_are_there_are_refused(runtime: GlossaryRuntime) -> None:
    with pytest.raises(InvalidInputError, match="'team_domain' is not a scope"):
        replace(runtime, scopes=ScopeStack(("house",))).run(step())


def test_damaged_line_is_named_and_an_unfinished_one_is_only_a_note(
    runtime: GlossaryRuntime,
) -> None:
    runtime.run(step(PLAIN))
    log = runtime.logs / "retouch.events.jsonl"
    whole = log.read_bytes()

    log.write_bytes(whole + b'{"torn')
    assert runtime.run(step(PLAIN)).notes == ["skipped in the event logs: 1 unreadable line"]
    assert read_events(runtime.logs).skipped == 0  # the next writer has removed it

    log.write_bytes(b'{"torn\n' + whole)
    with pytest.raises(
        InvalidInputError, match=r"retouch\.events\.jsonl:1: no event.*restore a line"
    ):
        runtime.run(step(PLAIN))


def test_event_that_only_lacks_its_newline_is_kept(runtime: GlossaryRuntime) -> None:
    runtime.run(step(), ask=lambda _: Select(0))
    log = runtime.logs / "retouch.events.jsonl"
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))
    before = logged(runtime)

    append_events(runtime.logs, "retouch", [read_events(runtime.logs).events[-1].event])

    assert logged(runtime) == [*before, before[-1]]


def test_missing_folder_is_refused_and_not_created(tmp_path: Path) -> None:
    runtime = runtime_in(tmp_path / "none" / "words")

    with pytest.raises(NotFoundError, match="not initialized"):
        runtime.run(step(PLAIN))

    assert list(tmp_path.iterdir()) == []


def test_folder_that_disappears_while_somebody_is_asked_lets_nothing_pass(
    runtime: GlossaryRuntime,
) -> None:
    def ask(_: Question) -> Define:
        runtime.folder.rename(runtime.folder.with_name("moved"))
        return Define("Brighten the eyes")

    with pytest.raises(NotFoundError, match="not initialized"):
        runtime.run(step(), ask=ask)

    assert not runtime.folder.exists()


@pytest.mark.parametrize(
    "value",
    [["Please", "lift it."], ("lift",), {"steps": [{"text": "Please lift it."}]}, {"lift": 1}],
    ids=repr,
)
@pytest.mark.parametrize("place", ["inputs", "step_output"])
def test_nested_texts_are_scanned(value: object, place: str, runtime: GlossaryRuntime) -> None:
    parts: dict[str, Any] = {place: {"description": value, "size": 3}}
    stopped(runtime, ExecutionContext("s", "m", "r", metadata={"critical_step": True}, **parts))


@pytest.mark.parametrize("value", [b"lift", [b"lift"], {"a": bytearray(b"lift")}, object(), {1, 2}])
def test_field_that_may_hide_text_is_refused(value: object, runtime: GlossaryRuntime) -> None:
    with pytest.raises(InvalidInputError, match="step input: description field: expected text"):
        runtime.run(ExecutionContext("s", "m", "r", {"description": value}))


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"glossary_fields": ["descripton"]}, "unknown 'descripton' .did you mean 'description'"),
        ({"glossary_signs": ["acronyms"]}, "unknown 'acronyms' .did you mean 'acronym'"),
        ({"glossary_signs": [["acronym"]]}, "unknown"),
        ({"glossary_critical": True}, "unknown 'glossary_critical'"),
    ],
)
def test_unknown_name_in_the_metadata_is_refused(
    metadata: dict[str, Any], message: str, runtime: GlossaryRuntime
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        runtime.run(step(metadata=metadata))


@pytest.mark.parametrize(
    "metadata",
    [
        {"glossary_fields": []},
        {"glossary_signs": []},
        {"glossary_exclude_terms": ["Lifts"]},
        {"glossary_aliases": {"lift": "hoist"}},
    ],
    ids=repr,
)
def test_what_the_metadata_leaves_out_is_not_looked_for(
    metadata: dict[str, Any], runtime: GlossaryRuntime
) -> None:
    assert not runtime.run(step(metadata=metadata)).is_stopped


@pytest.mark.parametrize("step_input", [None, {}])
def test_step_without_texts_of_its_own_is_scanned_by_its_inputs(
    step_input: dict[str, Any] | None, runtime: GlossaryRuntime
) -> None:
    stopped(runtime, step(step_input=step_input))


def test_new_inputs_of_a_used_step_are_checked(runtime: GlossaryRuntime) -> None:
    context = runtime.run(step(PLAIN))
    context.inputs = {"description": "Please lift it."}

    stopped(runtime, context)


def test_strictness_of_a_checkpoint_that_stopped_nothing_is_ignored(
    runtime: GlossaryRuntime,
) -> None:
    token = stopped(runtime, step()).retry_token
    log = runtime.logs / "retouch.events.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"strictness":"medium"', b'"strictness":"off"'))
    checkpoint = load_checkpoint(runtime.logs, retry_token=token)
    assert isinstance(checkpoint, StepCheckpointed)
    assert checkpoint.strictness is Strictness.OFF

    with pytest.raises(BlockedByConflictError):
        runtime.resume(token)


def test_answer_of_an_unlogged_run_holds_for_this_run_only(runtime: GlossaryRuntime) -> None:
    unlogged = replace(runtime, is_logged=False)

    after = unlogged.run(step(), ask=lambda _: Select(0))

    assert after.meanings == {"lift": LIFT}
    stopped(unlogged, step())


def test_meaning_that_came_while_somebody_was_asked_stops_the_step(
    runtime: GlossaryRuntime,
) -> None:
    def ask(_: Question) -> Select:
        write_scope(runtime.folder, [*TWO_LIFTS, ("stain", STAIN), ("stain", LIFT)])
        return Select(0)

    context = step("Lift the stain.")
    stopped(runtime, context, ask=ask)

    assert [each.term for each in context.questions] == ["stain"]
    assert [each.term.surface_text for each in context.resolved_conflicts] == ["lift"]
    assert logged(runtime)[-4:] == [
        "TermCandidateObserved", "SemanticCheckEvaluated", "GlossaryClarificationRequested",
        "GenerationBlockedBySemanticConflict",
    ]  # fmt: skip


def test_answer_that_a_new_meaning_contests_settles_nothing(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, [*TWO_LIFTS, ("stain", STAIN), ("stain", LIFT)])

    def ask(question: Question) -> Select:
        if question.term == "stain":
            write_scope(runtime.folder, [("lift", "Carry people")], "audience_domain")
        return Select(0)

    context = step("Lift the stain.")
    stopped(runtime, context, ask=ask)

    assert [each.term.surface_text for each in context.resolved_conflicts] == ["stain"]
    assert [each.term for each in context.questions] == ["lift"]


@pytest.mark.parametrize("of", [lambda it: it, lambda it: it.conflict_id, lambda it: it.term])
def test_question_of_a_step_is_answered_later(
    of: Callable[[Question], Any], runtime: GlossaryRuntime
) -> None:
    context = step()
    stopped(runtime, context)

    runtime.answer(of(context.questions[0]), Select(1))

    assert runtime.run(step()).meanings == {"lift": STAIN}
    with pytest.raises(InvalidInputError, match="question: expected a question, or its identifier"):
        runtime.answer(7, Select(1))  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        runtime.answer("0" * 8, Select(1))


def test_hint_names_the_folder_and_no_question_that_is_not_logged(runtime: GlossaryRuntime) -> None:
    error = stopped(runtime, step())
    folder = f"--glossary {runtime.folder}"
    assert error.hint.count(folder) == error.hint.count("`vocabgap ") == 2
    assert folder not in stopped(replace(runtime, is_configured=True), step()).hint

    runtime.logs.rename(runtime.logs.with_name("moved"))
    runtime.logs.write_text("in the way", encoding="utf-8")
    context = step()
    assert "resolve" not in stopped(runtime, context).hint
    assert context.questions == []


@pytest.mark.parametrize("token", [[1], 1, b"x"])
def test_token_of_another_kind_is_refused(token: Any, runtime: GlossaryRuntime) -> None:  # noqa: ANN401
    context = step()
    context.retry_token = token

    with pytest.raises(InvalidInputError, match="retry_token: expected text"):
        runtime.run(context)
    with pytest.raises(InvalidInputError, match="retry_token: expected text"):
        step(retry_token=token)
