"""The manual's page on the glossary: its session is what the commands print."""

from pathlib import Path

from builders.manual import blocks, session, there

__all__ = ["there"]  # a fixture


def test_page_shows_what_commands_print(there: Path) -> None:
    for name, kind in (
        (".vocabgap/glossary/team_domain.yaml", "yaml"),
        ("docs/plan.md", "markdown"),
    ):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(blocks(kind, "glossary")[0], encoding="utf-8")

    assert session("glossary", there) == 8
