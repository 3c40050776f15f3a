from pathlib import Path

import pytest

from glossary.steps import LIFT, STAIN, runtime_in
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.glossary.promoting import deprecate_sense, promote_sense
from vocabgap.glossary.runtime import GlossaryRuntime


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    """A glossary with an active sense, and a draft of another one."""
    (tmp_path / "team_domain.yaml").write_text(
        f"terms:\n  - surface: lift\n    definition: {LIFT}\n"
        f"  - surface: lift\n    definition: {STAIN}\n    status: draft\n",
        encoding="utf-8",
    )
    return runtime_in(tmp_path)


def active(runtime: GlossaryRuntime) -> list[str]:
    return [each.definition for each in runtime.load().glossary.resolve("lift")]


def test_draft_takes_the_place_of_the_other_sense(runtime: GlossaryRuntime) -> None:
    promote_sense(runtime, "Lifts", None, None, lambda _: True)
    assert active(runtime) == [STAIN]


def test_draft_stands_beside_the_other_sense(runtime: GlossaryRuntime) -> None:
    promote_sense(runtime, "lift", None, None, lambda _: False)
    assert active(runtime) == [LIFT, STAIN]


def test_second_sense_is_not_promoted_unasked(runtime: GlossaryRuntime) -> None:
    with pytest.raises(StateError, match="means something else in team_domain already"):
        promote_sense(runtime, "lift", None, None, lambda _: None)
    assert active(runtime) == [LIFT]


def test_deprecated_sense_does_not_answer_and_can_be_promoted_again(runtime: GlossaryRuntime) -> None:
    deprecate_sense(runtime, "lift", None, None)
    without = active(runtime)
    promote_sense(runtime, "lift", None, LIFT[:5], lambda _: None)
    assert (without, active(runtime)) == ([], [LIFT])


def test_several_and_none_are_told(runtime: GlossaryRuntime) -> None:
    promote_sense(runtime, "lift", None, None, lambda _: False)
    with pytest.raises(InvalidInputError, match="2 senses"):
        deprecate_sense(runtime, "lift", None, None)
    with pytest.raises(NotFoundError, match="no such sense of 'mask'"):
        promote_sense(runtime, "mask", None, None, lambda _: None)
