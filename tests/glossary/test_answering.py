from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from glossary.steps import NOW, STAIN, TWO_LIFTS, logged, runtime_in, step, write_scope
from vocabgap.errors import InvalidInputError
from vocabgap.glossary.events import Actor, GlossaryClarificationResolved, ResolutionMode
from vocabgap.glossary.loading import BY_HAND, read_events
from vocabgap.glossary.questions import Defer, Define, OpenQuestion, Select, questions_of
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.senses import Strictness


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    """A glossary in which a question was put off."""
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(critical=False))
    return runtime


def listed(runtime: GlossaryRuntime) -> list[OpenQuestion]:
    return questions_of(each.event for each in read_events(runtime.logs).events)


def test_answer_that_is_given_later_settles_the_term(runtime: GlossaryRuntime) -> None:
    (question,) = listed(runtime)

    runtime.answer(question, Select(1))

    event = read_events(runtime.logs).events[-1].event

    assert isinstance(event, GlossaryClarificationResolved)
    assert (event.resolution_mode, event.actor.actor_id) == (ResolutionMode.ASYNC, "user:ana")
    assert not listed(runtime)[0].is_open
    assert runtime.run(step(), strictness=Strictness.MAX).meanings == {"lift": STAIN}


@pytest.mark.parametrize("answer", [Select(1), Define("Take the colour out")])
def test_answer_of_a_clock_that_is_behind_counts(runtime: GlossaryRuntime, answer: Select | Define) -> None:
    runtime.load()
    (question,) = listed(runtime)
    behind = replace(runtime, now=lambda: NOW - timedelta(seconds=5))

    behind.answer(question, answer)

    assert not listed(runtime)[0].is_open
    assert runtime.load().glossary.meaning("lift") is not None


def test_definition_that_is_given_later_settles_the_term(runtime: GlossaryRuntime) -> None:
    runtime.answer(listed(runtime)[0], Define("Brighten the eyes"))

    assert logged(runtime)[-2:] == ["GlossaryClarificationResolved", "GlossarySenseUpdated"]
    assert runtime.run(step(), strictness=Strictness.MAX).meanings == {"lift": "Brighten the eyes"}


def test_deferring_again_changes_nothing(runtime: GlossaryRuntime) -> None:
    before = logged(runtime)
    assert runtime.answer(listed(runtime)[0], Defer()) == ""
    assert logged(runtime) == before


def test_of_four_who_answer_at_once_each_is_told_whom_it_replaced(runtime: GlossaryRuntime) -> None:
    (question,) = listed(runtime)
    names = ("ana", "bo", "cy", "di")

    def overrides(name: str) -> str:
        own = replace(runtime, actor=Actor(name))
        return own.answer(question, Define(f"As {name} has it"))

    with ThreadPoolExecutor(len(names)) as pool:
        told = list(pool.map(overrides, names))

    order = [each.definition.split()[1] for each in runtime.files.answers("lift")]
    assert sorted(order) == sorted(names)
    replaced = {name: said.partition(" said on ")[0] for name, said in zip(names, told, strict=True)}
    assert replaced[order[0]] == ""
    for before, name in pairwise(order):
        assert replaced[name] == f"'As {before} has it', as {before}"


@pytest.mark.parametrize("place", [-1, 2])
def test_place_without_a_candidate_is_refused(place: int, runtime: GlossaryRuntime) -> None:
    with pytest.raises(InvalidInputError, match="Invalid selection"):
        runtime.answer(listed(runtime)[0], Select(place))


def test_answer_of_a_question_without_a_mission_is_in_the_log_of_what_is_done_by_hand(
    runtime: GlossaryRuntime,
) -> None:
    question = msgspec.structs.replace(listed(runtime)[0], mission_id="")
    runtime.answer(question, Select(0))
    assert [type(each.event) for each in read_events(runtime.logs, BY_HAND).events] == [
        GlossaryClarificationResolved
    ]
