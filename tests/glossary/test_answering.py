from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from glossary.steps import NOW, STAIN, TWO_LIFTS, runtime_in, step, write_scope
from vocabgap.glossary.events import Actor, GlossaryClarificationResolved, ResolutionMode
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import Define, OpenQuestion, Select, questions_of
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
def test_answer_of_a_clock_that_is_behind_counts(
    runtime: GlossaryRuntime, answer: Select | Define
) -> None:
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
