"""The commands that promote and deprecate senses."""

from pathlib import Path

import pytest

from builders.command import CommandResult, vocabgap
from glossary.steps import LIFT, STAIN, runtime_in, step, write_scope
from vocabgap.glossary.runtime import GlossaryRuntime


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    """Return a glossary with an active sense, and a draft of another one."""
    (tmp_path / "team_domain.yaml").write_text(
        f"terms:\n  - surface: lift\n    definition: {LIFT}\n"
        f"  - surface: lift\n    definition: {STAIN}\n    status: draft\n",
        encoding="utf-8",
    )
    return runtime_in(tmp_path)


def active(runtime: GlossaryRuntime, term: str = "lift") -> list[str]:
    return [sense.definition for sense in runtime.load().glossary.resolve(term)]


def run(runtime: GlossaryRuntime, *arguments: str, now: str = "2026-04-01") -> CommandResult:
    return vocabgap("glossary", *arguments, "--glossary", runtime.folder, "--now", now)


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        (("Lifts", "--replace"), [STAIN], "is active"),
        (("lift", "--beside"), [LIFT, STAIN], "is active"),
        (("lift",), [LIFT], "already has another meaning in team_domain"),
        (("lift", "--definition", "R", "--beside"), [LIFT], "is active"),
        (("lift", "--scope", "audience_domain"), [LIFT], "there is no such sense"),
        (("lift", "--definition", ""), [LIFT], "'lift' has 2 senses"),
    ],
)
def test_draft_replaces_or_joins_the_other_sense(
    runtime: GlossaryRuntime, arguments: tuple[str, ...], expected: list[str], message: str
) -> None:
    result = run(runtime, "promote", *arguments)
    assert message in result.out + result.err
    assert active(runtime) == expected


def test_show_says_who_decided_and_when(runtime: GlossaryRuntime) -> None:
    run(runtime, "promote", "lift", "--replace", "--actor", "ana", now="2026-04-01T10:00:00Z")

    shown = vocabgap("glossary", "show", "lift", "--glossary", runtime.folder).out

    assert "2026-04-01 10:00 user:ana: " in shown
    assert f"[team_domain] {STAIN}" in shown


def test_draft_of_the_only_meaning_is_active_once_a_person_says_so(
    runtime: GlossaryRuntime,
) -> None:
    (runtime.folder / "audience_domain.yaml").write_text(
        f"terms: [{{surface: burn, definition: {LIFT}, status: draft}}]", encoding="utf-8"
    )
    assert active(runtime, "burn") == []
    run(runtime, "promote", "burn")
    assert active(runtime, "burn") == [LIFT]


def test_sense_of_another_scope_is_a_rival_and_is_ruled_out(runtime: GlossaryRuntime) -> None:
    write_scope(runtime.folder, [("burn", LIFT)], "spec_kitty_core")
    write_scope(runtime.folder, [("burn", STAIN)], "audience_domain")
    in_audience = ("burn", "--scope", "audience_domain")
    run(runtime, "deprecate", *in_audience)

    refused = run(runtime, "promote", *in_audience, "--definition", STAIN)
    run(runtime, "promote", *in_audience, "--definition", STAIN, "--replace")

    assert "already has another meaning in spec_kitty_core" in refused.err
    assert active(runtime, "burn") == [STAIN]


@pytest.mark.parametrize("ahead", ["2099-04-01", "9999-12-31T23:59:59.999999Z"])
def test_change_after_a_clock_that_was_ahead_counts(runtime: GlossaryRuntime, ahead: str) -> None:
    run(runtime, "promote", "lift", "--definition", STAIN, "--replace", now=ahead)

    run(runtime, "deprecate", "lift", "--definition", STAIN)

    assert active(runtime) == []


def test_draft_without_a_definition_is_not_promoted_but_defined(tmp_path: Path) -> None:
    runtime = runtime_in(tmp_path)
    runtime.run(step("We met at the Silver Lake with Ansel.", critical=False))

    refused = run(runtime, "promote", "ansel", "--replace")
    run(runtime, "promote", "ansel", "--define", "Adams, who took it")
    other = run(runtime, "promote", "ansel", "--define", "A name")

    assert (refused.code, other.code) == (4, 4)
    assert "'ansel' has no definition yet\n  define it with --define TEXT" in refused.err
    assert "another meaning in team_domain" in other.err
    assert active(runtime, "ansel") == ["Adams, who took it"]
