from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replace_fields

from builders.command import CommandResult, vocabgap
from glossary.steps import LIFT, NOW, STAIN, TWO_LIFTS, runtime_in, step, write_scope
from vocabgap.glossary.conflicts import BlockedByConflictError, check
from vocabgap.glossary.events import Actor, GlossaryClarificationResolved, ResolutionMode
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import (
    Define,
    OpenQuestion,
    Select,
    as_they_stand,
    question_of,
    questions_of,
    require_questions,
)
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import ExtractedTerm, Strictness, TermSurface
from vocabgap.glossary.session import ExecutionContext


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    """A glossary in which a question was put off."""
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(critical=False))
    return runtime


def stopped(runtime: GlossaryRuntime, context: ExecutionContext) -> None:
    """Run a step that is stopped by whatever is open."""
    with pytest.raises(BlockedByConflictError):
        runtime.run(context, strictness=Strictness.MAX)


def in_mission(mission: str, **fields: Any) -> ExecutionContext:  # noqa: ANN401
    """A step of some mission that asks a question and is not stopped."""
    return replace(step(critical=False, **fields), mission_id=mission)


def listed(runtime: GlossaryRuntime) -> list[OpenQuestion]:
    return questions_of(each.event for each in read_events(runtime.logs).events)


def test_deferred_question_is_open_with_what_the_check_found(runtime: GlossaryRuntime) -> None:
    (question,) = listed(runtime)

    assert (question.term, question.type, question.severity) == ("lift", "ambiguous", "medium")
    assert question.is_open
    assert question.effective_strictness == "medium"
    assert question.mission_id == "retouch"
    assert [each.definition for each in question.candidates(runtime.load().glossary)] == [
        LIFT,
        STAIN,
    ]


def open_terms(runtime: GlossaryRuntime) -> list[str]:
    """The terms of the questions that wait for an answer."""
    return [
        each.term
        for each in as_they_stand(listed(runtime), lambda it: runtime.load(it).glossary)
        if each.is_open
    ]


def test_answer_in_one_mission_settles_the_question_of_another(runtime: GlossaryRuntime) -> None:
    runtime.run(in_mission("elsewhere"))
    assert open_terms(runtime) == ["lift", "lift"]

    runtime.answer(listed(runtime)[0], Select(0))

    assert open_terms(runtime) == []


def test_question_about_an_unknown_term_is_settled_by_a_promoted_draft(tmp_path: Path) -> None:
    (tmp_path / "team_domain.yaml").write_text(
        "terms: [{surface: burnish, definition: Polish it, status: draft}]", encoding="utf-8"
    )
    runtime = runtime_in(tmp_path)
    stopped(runtime, step('A "burnish" tool'))
    assert open_terms(runtime) == ["burnish"]

    vocabgap("glossary", "promote", "burnish", "--glossary", tmp_path)

    assert open_terms(runtime) == []


def test_question_about_a_use_is_settled_by_an_answer_about_that_use(tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])
    runtime = runtime_in(tmp_path)
    output = {"output": "Here a lift is not a burn."}
    for mission in ("retouch", "elsewhere"):
        stopped(runtime, in_mission(mission, step_output=output))
    assert open_terms(runtime) == ["lift", "lift"]

    runtime.answer(listed(runtime)[1], Select(0))

    assert open_terms(runtime) == []
    assert runtime.run(step(step_output=output), strictness=Strictness.MAX).conflicts == []


def test_question_is_found_by_the_beginning_of_its_identifier(runtime: GlossaryRuntime) -> None:
    questions = listed(runtime)
    assert require_questions(questions, questions[0].conflict_id[:8]) == questions[:1]


def test_answer_that_is_given_later_settles_the_term(runtime: GlossaryRuntime) -> None:
    (question,) = listed(runtime)

    runtime.answer(question, Select(1))

    event = read_events(runtime.logs).events[-1].event

    assert isinstance(event, GlossaryClarificationResolved)
    assert (event.resolution_mode, event.actor.actor_id) == (ResolutionMode.ASYNC, "user:ana")
    assert not listed(runtime)[0].is_open
    assert runtime.run(step(), strictness=Strictness.MAX).meanings == {"lift": STAIN}


@pytest.mark.parametrize("answer", [Select(1), Define("Take the colour out")])
def test_answer_of_a_slow_clock_counts(runtime: GlossaryRuntime, answer: Select | Define) -> None:
    runtime.load()
    (question,) = listed(runtime)
    behind = replace(runtime, now=lambda: NOW - timedelta(seconds=5))

    behind.answer(question, answer)

    assert not listed(runtime)[0].is_open
    assert runtime.load().glossary.meaning("lift") is not None


def test_of_four_who_answer_at_once_each_replaces_the_one_before(runtime: GlossaryRuntime) -> None:
    (question,) = listed(runtime)
    names = ("ana", "bo", "cy", "di")

    def answer(name: str) -> None:
        replace(runtime, actor=Actor(name)).answer(question, Define(f"As {name} has it"))

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(answer, names))

    answers = runtime.files.answers("lift")
    assert sorted(each.actor.actor_id for each in answers) == sorted(names)
    for before, later in pairwise(answers):
        assert [each.definition for each in later.overruled or ()] == [before.sense.definition]


def test_two_hundred_unknown_terms_are_a_few_lines_and_one_answer(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    names = [f"{first}{second}X" for first in "ABCDEFGHIJ" for second in "ABCDEFGHIJKLMNOPQRST"]
    text = f'Lift it, then the "gobo" and the "flag": {", ".join(names)}.'
    words: list[str | Path] = ["--glossary", tmp_path, "--strictness", "max", "--no-ask"]
    asked: list[str | Path] = ["glossary", "check", "--text", text, "--critical", *words]

    shown = vocabgap(*asked).out.split("\n\n")[1:]
    resolve = [
        vocabgap("glossary", "resolve", sign, "--no-term", "--glossary", tmp_path)
        for sign in ("acronym", "quoted_phrase")
    ]
    again = vocabgap(*asked)

    assert "What does 'lift' mean" in shown[0]
    assert shown[1].startswith("200 unknown terms (acronym): aax, ")
    assert shown[2].startswith("2 unknown terms (quoted_phrase): flag, gobo")
    assert len(shown) == 4
    assert [it.code for it in resolve] == [0, 0]
    assert "unknown term" not in again.out
    assert "What does 'lift' mean" in again.out
    assert open_terms(runtime_in(tmp_path)) == ["lift"]


def asking(runtime: GlossaryRuntime, text: str, mission: str = "retouch") -> None:
    stopped(runtime, in_mission(mission, description=text))


def refused(runtime: GlossaryRuntime, sign: str, *options: str) -> CommandResult:
    return vocabgap(
        "glossary", "resolve", sign, "--no-term", "--glossary", runtime.folder, *options
    )


def test_sign_means_the_unknown_terms_of_the_last_check(tmp_path: Path) -> None:
    write_scope(tmp_path, [])
    runtime = runtime_in(tmp_path)
    asking(runtime, "Set HDR and DPI.")
    asking(runtime, "Set DPI and FOV.")

    assert refused(runtime, "acronym").code == 0
    assert open_terms(runtime) == ["hdr"]
    assert refused(runtime, "acronym").code == 0
    assert open_terms(runtime) == []


def test_sign_that_several_missions_ask_about_needs_a_mission(tmp_path: Path) -> None:
    write_scope(tmp_path, [])
    runtime = runtime_in(tmp_path)
    asking(runtime, "Set HDR.")
    asking(runtime, "Set DPI.", "elsewhere")

    several = refused(runtime, "acronym")

    assert several.code == 2
    assert "several missions ask about 'acronym': elsewhere, retouch" in several.err
    assert sorted(open_terms(runtime)) == ["dpi", "hdr"]
    assert refused(runtime, "acronym", "--mission", "retouch").code == 0
    assert open_terms(runtime) == ["dpi"]


def test_term_that_is_named_like_a_sign_comes_first(tmp_path: Path) -> None:
    write_scope(tmp_path, [])
    runtime = runtime_in(tmp_path)
    asking(runtime, 'An "acronym", such as HDR.')

    assert refused(runtime, "acronym").code == 0
    assert open_terms(runtime) == ["hdr"]
    assert refused(runtime, "acronym").code == 0
    assert open_terms(runtime) == []


def test_other_order_of_candidates_is_another_question(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    glossary = runtime_in(tmp_path).load().glossary
    (conflict,) = check([ExtractedTerm(TermSurface("lift"), "known_term", 0.8)], glossary)
    other = replace_fields(conflict, candidate_senses=conflict.candidate_senses[::-1])

    first, again, reversed_one = (
        question_of(it, "retouch", glossary).conflict_id for it in (conflict, conflict, other)
    )

    assert first == again != reversed_one
