import os
from pathlib import Path

import pytest

from glossary.steps import LIFT, STAIN, TWO_LIFTS, answering, logged, runtime_in, step, write_scope
from vocabgap.errors import InvalidInputError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import GlossaryClarificationRequested, GlossarySenseUpdated
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import (
    Answer,
    Defer,
    Define,
    Question,
    Select,
    checked,
    parse_answer,
)
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import ConflictType, SenseRef, SenseStatus, Strictness

CANDIDATES = (SenseRef("lift", "team_domain", LIFT), SenseRef("lift", "team_domain", STAIN))
ANSWERS = {
    "1": Select(0),
    " 2 ": Select(1),
    "C": Define(""),
    "custom": Define(""),
    "d": Defer(),
    "": Defer(),
    **dict.fromkeys(["0", "3", "-1", "²", "9" * 5000, "maybe"]),
}


@pytest.mark.parametrize(("typed", "answer"), ANSWERS.items(), ids=range(len(ANSWERS)))
def test_typed_text_is_an_answer_or_none(typed: str, answer: Answer | None) -> None:
    assert parse_answer(typed, CANDIDATES) == answer


def test_after_a_definition_of_ones_own_nobody_is_asked_again(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    first = runtime_in(tmp_path).run(step(), ask=answering(Define("Brighten the eyes"))[0])

    ask, asked = answering()
    again = runtime_in(tmp_path).run(step(), strictness=Strictness.MAX, ask=ask)

    assert (first.conflicts, again.conflicts, asked) == ([], [], [])
    assert again.meanings == {"lift": "Brighten the eyes"}


DENIED = {"output": "Here a lift is not a burn."}


@pytest.mark.parametrize("answer", [Select(0), Define("Brighten the eyes")])
def test_use_against_the_definition_is_asked_about_once(answer: Answer, tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])
    ask, questions = answering(answer)
    first = runtime_in(tmp_path).run(step(step_output=DENIED), strictness=Strictness.MAX, ask=ask)

    again = runtime_in(tmp_path).run(step(step_output=DENIED), strictness=Strictness.MAX)

    assert [(each.conflict.conflict_type, each.conflict.context) for each in questions] == [
        (ConflictType.INCONSISTENT, "Here a lift is not a burn.")
    ]
    assert (first.conflicts, again.conflicts) == ([], [])


def test_another_use_against_the_definition_is_another_question(tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])
    ask, questions = answering(Select(0), Select(0))
    first, second = (
        "A lift is not a burn, nor any other thing that comes to mind here.",
        "Unlike a lift, it ends.",
    )
    runtime_in(tmp_path).run(
        step(step_output={"output": first}), strictness=Strictness.MAX, ask=ask
    )

    made = {"output": f"{first} {second}"}
    after = runtime_in(tmp_path).run(step(step_output=made), strictness=Strictness.MAX, ask=ask)

    assert len({each.conflict_id for each in questions}) == 2
    assert [each.conflict.context for each in questions] == [first, second]
    assert after.conflicts == []


def test_at_most_three_questions_are_asked_the_worst_first(tmp_path: Path) -> None:
    names = ["ashen", "balmy", "crisp", "dusky"]
    write_scope(tmp_path, [(name, meaning) for name in names for meaning in (LIFT, STAIN)])
    context = step(
        '"ashen balmy" crisp, ashen, dusky, balmy'
    )  # the phrase is unknown: low severity
    ask, questions = answering(*[Select(0)] * 3)
    runtime = runtime_in(tmp_path)

    with pytest.raises(BlockedByConflictError):
        runtime.run(context, strictness=Strictness.MAX, ask=ask)

    assert [each.term for each in questions] == ["ashen", "balmy", "crisp"]
    assert [each.term for each in context.questions] == ["dusky", "ashen balmy"]
    requested = [e.event for e in read_events(runtime.logs).events]
    ids = [
        each.conflict_id for each in requested if isinstance(each, GlossaryClarificationRequested)
    ]
    assert len(set(ids)) == 5


def test_terminal_that_fails_defers(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    context = step()

    def ask(_: Question) -> Answer:
        raise OSError("no terminal")

    with pytest.raises(BlockedByConflictError):
        runtime_in(tmp_path).run(context, ask=ask)

    assert any("no terminal" in note for note in context.notes)


def test_what_is_hardly_a_term_becomes_a_draft_once(tmp_path: Path) -> None:
    write_scope(tmp_path, [])
    text = "We met at the Silver Lake with Ansel."
    runtime = runtime_in(tmp_path)
    first = runtime.run(step(text, critical=False))
    weak = [each.surface.surface_text for each in first.drafts]

    runtime.run(step(text, critical=False))

    drafts = [
        e.event
        for e in read_events(runtime.logs).events
        if isinstance(e.event, GlossarySenseUpdated)
    ]
    assert weak
    assert sorted(each.term_surface for each in drafts) == sorted(weak)
    assert {each.sense.status for each in drafts} == {SenseStatus.DRAFT}
    assert first.questions == []
    assert not runtime.load().glossary.resolve(weak[0])


def test_deferred_questions_share_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = runtime_in(tmp_path)
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)

    with pytest.raises(BlockedByConflictError):
        runtime.run(step('A "burn"'), strictness=Strictness.MAX)
    for_one, waits[:] = len(waits), []
    many = step('A "dodge", a "vignette", a "gobo" and a "flag"')
    with pytest.raises(BlockedByConflictError):
        runtime.run(many, strictness=Strictness.MAX)

    assert len(many.questions) == 4
    assert len(waits) <= for_one


def test_question_is_logged_before_it_is_asked(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    last: list[str] = []

    def ask(_: Question) -> Answer:
        last.extend(logged(runtime)[-1:])
        return Defer()

    with pytest.raises(BlockedByConflictError):
        runtime.run(step(), ask=ask)

    assert last == ["GlossaryClarificationRequested"]


def test_of_two_who_define_a_term_at_once_the_later_one_counts(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)

    def while_another_answers(_: Question) -> Answer:
        runtime_in(tmp_path).run(step(), ask=answering(Define("First"))[0])
        return Define("Second")

    runtime.run(step(), ask=while_another_answers)

    assert [each.definition for each in runtime.load().glossary.resolve("lift")] == ["Second"]


def test_nothing_passes_if_the_newest_glossary_cannot_be_read(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)

    def while_a_file_is_damaged(_: Question) -> Answer:
        (tmp_path / "team_domain.yaml").write_text("terms: {", encoding="utf-8")
        return Define("Mine")

    context = step()
    with pytest.raises(InvalidInputError, match=r"team_domain\.yaml"):
        runtime.run(context, ask=while_a_file_is_damaged)
    write_scope(tmp_path, TWO_LIFTS)

    assert [note.split(":")[0] for note in context.notes] == ["not accepted"]
    assert runtime.files.answers("lift") == []
    with pytest.raises(BlockedByConflictError):
        runtime.run(step())


def requested(runtime: GlossaryRuntime) -> list[str]:
    events = [each.event for each in read_events(runtime.logs).events]
    return [each.term for each in events if isinstance(each, GlossaryClarificationRequested)]


def test_where_nobody_is_asked_low_conflicts_and_drafts_are_no_questions(tmp_path: Path) -> None:
    write_scope(tmp_path, [*TWO_LIFTS, ("mask", "A region")])
    runtime = runtime_in(tmp_path)
    text = 'Lift the "gobo", then meet Ansel at the flag, a flag, this flag.'

    context = runtime.run(
        step(text, critical=False, step_output={"output": "A mask is not a region."})
    )

    assert {each.term.surface_text: each.severity.value for each in context.conflicts} == {
        "lift": "medium", "flag": "medium", "gobo": "low", "mask": "low",
    }  # fmt: skip
    assert requested(runtime) == [each.term for each in context.questions] == ["lift"]


def test_context_of_a_question_is_the_sentence_in_which_its_term_stands(tmp_path: Path) -> None:
    write_scope(tmp_path, [*TWO_LIFTS, ("sky lift", "A lift of the sky")])
    text = "We met e.g. at noon. The sky lift is done.\n\n- Then we use\n  two lifts, ok? Not more."
    context = step(text, metadata={"glossary_watch_terms": ["gobo"]})

    with pytest.raises(BlockedByConflictError):
        runtime_in(tmp_path).run(context)

    assert {each.term.surface_text: each.context for each in context.conflicts} == {
        "lift": "Then we use two lifts, ok?",
        "gobo": "metadata: glossary_watch_terms",
    }


@pytest.mark.parametrize(
    "definition", [".", "--", "Not a term.", "not a  term", "No definition yet, but soon"]
)
def test_definition_that_defines_nothing_is_refused(definition: str) -> None:
    with pytest.raises(InvalidInputError, match=r"expected a definition|a letter or a digit"):
        checked(Define(definition), CANDIDATES)


def test_definition_that_begins_like_no_term_counts(tmp_path: Path) -> None:
    meaning = "Not a term. of office: a job without an end"
    write_scope(tmp_path, TWO_LIFTS)
    context = runtime_in(tmp_path).run(step(), ask=answering(Define(meaning))[0])
    assert context.meanings == {"lift": meaning}
    assert not any(it.is_placeholder for it in runtime_in(tmp_path).load().glossary)


def test_acronym_keeps_its_name_when_it_is_defined(tmp_path: Path) -> None:
    write_scope(tmp_path, [])
    ask, _ = answering(Define("Sharing between origins"))
    context = step("Set CORS.")
    runtime_in(tmp_path).run(context, strictness=Strictness.MAX, ask=ask)
    assert context.meanings == {"cors": "Sharing between origins"}
    assert [str(it.surface) for it in runtime_in(tmp_path).load().glossary] == ["cors"]
