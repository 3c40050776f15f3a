"""The gate against callers and files: what changes while somebody is asked, and what cannot be read."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

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
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import StepCheckpointed
from vocabgap.glossary.glossary import added
from vocabgap.glossary.loading import append_events, load_checkpoint, read_events
from vocabgap.glossary.questions import Defer, Define, Question, Select
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import ScopeStack, Strictness
from vocabgap.glossary.session import SERVICE, ExecutionContext

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

    make_unwritable(runtime.logs / "retouch.events.jsonl")
    context = step()
    hint = "mend what the notes say, as nothing could be logged, then "
    assert stopped(runtime, context).hint == f"{hint}try again"
    assert context.questions == []
    again = step(retry_token=error.retry_token)
    assert stopped(runtime, again).hint.startswith(f"{hint}`vocabgap glossary resume")
    assert "--step" in stopped(replace(runtime, is_logged=False), context).hint


@pytest.mark.parametrize("token", [[1], 1, b"x"])
def test_token_of_another_kind_is_refused(token: Any, runtime: GlossaryRuntime) -> None:  # noqa: ANN401
    context = step()
    context.retry_token = token

    with pytest.raises(InvalidInputError, match="retry_token: expected text"):
        runtime.run(context)
    with pytest.raises(InvalidInputError, match="retry_token: expected text"):
        step(retry_token=token)


def log_of_two(runtime: GlossaryRuntime) -> Path:
    """Give a term its second meaning in a log, and return that log."""
    write_scope(runtime.folder, TWO_LIFTS[:1])
    event = added(
        runtime.load().glossary, "lift", STAIN, actor=SERVICE, now=NOW, scope="audience_domain"
    )
    append_events(runtime.logs, "retouch", [event])
    stopped(runtime, step())
    return runtime.logs / "retouch.events.jsonl"


def put_file(path: Path) -> None:
    path.write_text("../moved", encoding="utf-8")


@pytest.mark.parametrize(
    "put",
    [put_file, lambda path: path.symlink_to("gone"), lambda path: path.symlink_to("/dev/null")],
)
def test_logs_that_are_no_folder_are_refused(
    put: Callable[[Path], None], runtime: GlossaryRuntime
) -> None:
    log_of_two(runtime).parent.rename(runtime.folder / "moved")
    put(runtime.logs)

    with pytest.raises(VocabgapError, match=r"events' cannot be read.*check that it is a folder"):
        runtime.run(step())


@pytest.mark.parametrize(
    "put",
    [
        Path.mkdir,
        os.mkfifo,
        lambda path: path.symlink_to("gone"),
        lambda path: path.symlink_to("/dev/null"),
    ],
)
def test_log_that_is_no_file_is_refused(
    put: Callable[[Path], None], runtime: GlossaryRuntime
) -> None:
    path = log_of_two(runtime)
    path.unlink()
    put(path)

    with pytest.raises(VocabgapError, match=r"event log '.*retouch.events.jsonl'"):
        runtime.run(step())


def test_files_with_other_endings_are_read_or_named(runtime: GlossaryRuntime) -> None:
    log = log_of_two(runtime)
    log.rename(log.with_name("RETOUCH.EVENTS.JSONL"))
    stopped(runtime, step())

    (runtime.folder / "team_domain.yaml").rename(runtime.folder / "team_domain.YAML")
    with pytest.raises(InvalidInputError, match=r"YAML: rename it to team_domain\.yaml"):
        runtime.run(step())


@pytest.mark.parametrize("name", [".#team_domain.yaml", "._team_domain.yaml", ".x.events.jsonl"])
def test_hidden_files_of_editors_and_systems_are_ignored(
    name: str, runtime: GlossaryRuntime
) -> None:
    runtime.logs.mkdir()
    for folder in (runtime.folder, runtime.logs):
        (folder / name).symlink_to("ana@host.123")

    assert runtime.run(step(PLAIN)).notes == []


def test_step_that_is_stopped_while_another_is_confirmed_keeps_the_text_of_the_other(
    runtime: GlossaryRuntime,
) -> None:
    token = stopped(runtime, step()).retry_token

    def confirm(_: object) -> bool:
        runtime.run(step("Now lift it."))
        return True

    with pytest.raises(BlockedByConflictError):
        runtime.resume(token, {"description": "Lift it again."}, confirm=confirm)

    assert runtime.resume(token, ask=lambda _: Select(0)).is_restored


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("audience_domain", "Team_domain", "senses of 'Team_domain', which is not a scope"),
        (STAIN, "...", "retouch.events.jsonl:1: no event: Definition must have a letter"),
        ('"term_surface":"lift"', '"term_surface":" "', "retouch.events.jsonl:1: no event: ' '"),
    ],
)
def test_logged_meaning_that_would_not_count_is_refused(
    old: str, new: str, message: str, runtime: GlossaryRuntime
) -> None:
    log = log_of_two(runtime)
    log.write_text(log.read_text("utf-8").replace(old, new), "utf-8")

    with pytest.raises(InvalidInputError, match=re.escape(message)):
        runtime.run(step())


def test_logged_meaning_of_a_scope_that_is_left_out_is_refused(runtime: GlossaryRuntime) -> None:
    log_of_two(runtime)

    with pytest.raises(InvalidInputError, match="'audience_domain', which is not a scope"):
        replace(runtime, scopes=ScopeStack(("team_domain",))).run(step())


@pytest.mark.parametrize("inputs", [{"task": "lift it"}, {"Description": ["lift it"]}])
def test_critical_step_without_a_scanned_field_is_refused(
    inputs: dict[str, Any], runtime: GlossaryRuntime
) -> None:
    critical = {"critical_step": True}
    with pytest.raises(InvalidInputError, match=r"no field .* is scanned.*glossary_fields"):
        runtime.run(ExecutionContext("s", "m", "r", inputs, critical))

    runtime.run(ExecutionContext("s", "m", "r", inputs))
    runtime.run(ExecutionContext("s", "m", "r", {"size": 1}, critical))
    named = {"glossary_fields": frozenset(inputs)}
    stopped(runtime, ExecutionContext("s", "m", "r", inputs, critical | named))


def cyclic() -> list[Any]:
    parts: list[Any] = []
    parts.append(parts)
    return parts


def deep() -> list[Any]:
    parts: list[Any] = []
    for _ in range(3000):
        parts = [parts]
    return parts


@pytest.mark.parametrize("value", [cyclic, deep, Lock, lambda: iter("lift")])
def test_inputs_that_cannot_be_copied_or_scanned_are_refused(
    value: Callable[[], object], runtime: GlossaryRuntime
) -> None:
    with pytest.raises(InvalidInputError, match=r"cannot be copied|expected text"):
        runtime.run(step(value()))  # type: ignore[arg-type]


def test_step_that_is_no_longer_checked_has_no_earlier_results(runtime: GlossaryRuntime) -> None:
    context = step()
    token = stopped(runtime, context).retry_token
    context.config = {"glossary": {"enabled": False}}
    context.inputs["lock"] = Lock()

    assert runtime.run(context) is context
    assert (context.is_stopped, context.conflicts, context.questions) == (False, [], [])
    assert context.retry_token == token


@pytest.mark.parametrize("text", ["Please lift \ud800 it.", "Please \udcff lift it."])
def test_text_with_half_of_a_surrogate_pair_is_checked_and_logged(
    text: str, runtime: GlossaryRuntime
) -> None:
    context = step(text)
    stopped(runtime, context)

    assert context.notes == []
    assert "GenerationBlockedBySemanticConflict" in logged(runtime)
    stopped(runtime, step("Fine.", step_output={"output": f'The "gobo". {text}'}))


def test_texts_of_another_kind_are_refused_by_their_name() -> None:
    with pytest.raises(InvalidInputError, match="step_input: expected a mapping"):
        step(step_input=["lift it"])


def test_events_of_a_mission_with_a_long_name_are_logged(runtime: GlossaryRuntime) -> None:
    context = replace(step(), mission_id="m" * 300)
    token = stopped(runtime, context).retry_token

    assert context.notes == []
    assert runtime.resume(token, ask=lambda _: Select(0)).meanings == {"lift": LIFT}


def test_runtime_without_a_person_or_a_clock_is_refused(runtime: GlossaryRuntime) -> None:
    with pytest.raises(InvalidInputError, match="actor: expected an Actor"):
        replace(runtime, actor="ana")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="timestamp: expected a moment"):
        replace(runtime, now=lambda: 1).run(step())  # type: ignore[arg-type, return-value]


def test_pack_without_scopes_is_not_told_to_be_renamed(runtime: GlossaryRuntime) -> None:
    (runtime.folder / "a.glossary-pack.yaml").write_text("terms: []", encoding="utf-8")

    with pytest.raises(InvalidInputError, match=r"'a\.glossary-pack' is not a scope; .* are none"):
        replace(runtime, scopes=ScopeStack(())).run(step())


def test_later_answer_tells_which_one_it_replaces(runtime: GlossaryRuntime) -> None:
    context = step()
    stopped(runtime, context)
    (question,) = context.questions

    assert runtime.answer(question, Select(1)) is None
    assert runtime.answer(question, Define("Brighten the eyes")) == STAIN
    assert runtime.answer(question, Defer()) is None


@pytest.mark.parametrize(
    "text", ["We _lift_ it.", "We __lift__ it.", "(_lifts_)", "A lift_ is.", "We *lift* it."]
)
def test_emphasised_term_is_found(text: str, runtime: GlossaryRuntime) -> None:
    stopped(runtime, step(text))


def test_glossary_that_changes_while_somebody_confirms_counts(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime, step()).retry_token
    changed = {"description": "Now remove the stain."}

    def confirm(_: object) -> bool:
        write_scope(runtime.folder, [*TWO_LIFTS, ("stain", STAIN), ("stain", LIFT)])
        return True

    with pytest.raises(BlockedByConflictError) as error:
        runtime.resume(token, changed, confirm=confirm)
    token = error.value.retry_token
    with pytest.raises(NotFoundError, match="not initialized"):
        runtime.resume(
            token, {}, confirm=lambda _: bool(runtime.folder.rename(f"{runtime.folder}2"))
        )
    assert not runtime.folder.exists()


def test_chosen_meaning_of_a_scope_that_is_left_out_still_counts(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, TWO_LIFTS[:1])
    write_scope(runtime.folder, TWO_LIFTS[1:], "audience_domain")
    context = step()
    stopped(runtime, context)
    (runtime.folder / "audience_domain.yaml").unlink()
    team = replace(runtime, scopes=ScopeStack(("team_domain",)))

    team.answer(context.questions[0].conflict_id, Select(1))

    assert team.run(step()).meanings == {"lift": STAIN}


def test_candidate_of_a_question_without_any_and_inputs_of_another_kind_are_refused(
    runtime: GlossaryRuntime,
) -> None:
    context = step('Use the "gobo".')
    with pytest.raises(BlockedByConflictError):
        runtime.run(context, strictness=Strictness.MAX)

    with pytest.raises(InvalidInputError, match="define the term"):
        runtime.answer(context.questions[0], Select(0))
    with pytest.raises(InvalidInputError, match="inputs: expected a mapping"):
        runtime.resume(str(context.retry_token), "lift")  # type: ignore[arg-type]
