"""The manual's page on the glossary: its session is what the commands print."""

from pathlib import Path

import pytest

from builders.manual import blocks, session, there
from glossary.steps import TWO_LIFTS, logged, runtime_in, write_scope

__all__ = ["there"]  # a fixture


def test_page_shows_what_commands_print(there: Path) -> None:
    for name, kind in (
        (".vocabgap/glossary/team_domain.yaml", "yaml"),
        ("docs/plan.md", "markdown"),
    ):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(blocks(kind, "glossary")[0], encoding="utf-8")

    assert session("glossary", there) == 7


def test_program_of_the_page_stops_and_resumes(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = blocks("python", "glossary")
    write_scope(there / "ours", [*TWO_LIFTS])

    exec(program, {})  # noqa: S102 - as a reader runs it

    assert capsys.readouterr().out == f"{{'lift': '{TWO_LIFTS[0][1]}'}}\n"
    assert "GenerationBlockedBySemanticConflict" in logged(runtime_in(there / "ours"))
