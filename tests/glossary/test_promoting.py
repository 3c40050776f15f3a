from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from glossary.steps import LIFT, NOW, STAIN, runtime_in, step, write_scope
from vocabgap.errors import StateError
from vocabgap.glossary.commands import deprecate_sense, promote_sense
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
    promote_sense(runtime, "Lifts", None, None, is_replacing=True)
    assert active(runtime) == [STAIN]


def test_draft_stands_beside_the_other_sense(runtime: GlossaryRuntime) -> None:
    promote_sense(runtime, "lift", None, None, is_replacing=False)
    assert active(runtime) == [LIFT, STAIN]


def test_second_sense_is_not_promoted_unasked(runtime: GlossaryRuntime) -> None:
    with pytest.raises(StateError, match="already has another meaning in team_domain"):
        promote_sense(runtime, "lift", None, None)
    assert active(runtime) == [LIFT]


def test_sense_of_another_scope_is_a_rival_and_is_ruled_out(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, [("burn", LIFT)], "spec_kitty_core")
    write_scope(runtime.folder, [("burn", STAIN)], "audience_domain")
    deprecate_sense(runtime, "burn", "audience_domain", None)

    with pytest.raises(StateError, match="already has another meaning in spec_kitty_core"):
        promote_sense(runtime, "burn", "audience_domain", STAIN)
    promote_sense(runtime, "burn", "audience_domain", STAIN, is_replacing=True)

    assert [each.definition for each in runtime.load().glossary.resolve("burn")] == [STAIN]


def test_what_is_said_after_a_clock_that_was_ahead_counts(runtime: GlossaryRuntime) -> None:
    ahead = replace(runtime, now=lambda: NOW.replace(year=2099))
    promote_sense(ahead, "lift", None, STAIN, is_replacing=True)

    deprecate_sense(runtime, "lift", None, STAIN)
    promote_sense(runtime, "lift", None, LIFT, is_replacing=True)

    assert active(runtime) == [LIFT]


def test_the_last_moment_there_is_can_be_followed(runtime: GlossaryRuntime) -> None:
    last = replace(runtime, now=lambda: datetime.max.replace(tzinfo=UTC))
    promote_sense(last, "lift", None, STAIN, is_replacing=True)
    deprecate_sense(runtime, "lift", None, STAIN)
    assert active(runtime) == []


def test_draft_that_says_nothing_is_not_promoted_but_defined(tmp_path: Path) -> None:
    runtime = runtime_in(tmp_path)
    runtime.run(step("We met at the Silver Lake with Ansel.", critical=False))
    with pytest.raises(StateError, match="'ansel' has no definition yet") as refused:
        promote_sense(runtime, "ansel", None, None, is_replacing=True)

    promote_sense(runtime, "ansel", None, None, define="Adams, who took it")

    assert "--define TEXT" in refused.value.hint
    assert [
        (each.definition, each.status.value) for each in runtime.load().glossary.history("ansel")
    ] == [("Adams, who took it", "active")]
    with pytest.raises(StateError, match="another meaning in team_domain"):
        promote_sense(runtime, "ansel", None, None, define="A name")
