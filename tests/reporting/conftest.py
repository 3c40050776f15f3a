"""Runs over small workspaces, for tests about what a report says, and readers of what it says."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from vocabgap.pipeline import Run, run

NOW = datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., Run]:
    """Runs the pipeline over a workspace as of a fixed moment."""

    def make(root: Path | list[Path], **arguments: object) -> Run:
        given = {"out": tmp_path / "out", "now": NOW, **arguments}
        return run(root, **given)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def demo_run(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run over the demo workspace, to be read and not changed."""
    return run(demo, tmp_path_factory.mktemp("demo") / "out", now=NOW)


@pytest.fixture(scope="session")
def text_of() -> Callable[[Run], str]:
    """Gives the report of a run."""

    def read(made: Run) -> str:
        return (made.published.folder / "report.md").read_text(encoding="utf-8")

    return read


@pytest.fixture(scope="session")
def github() -> MarkdownIt:
    """A reader of Markdown as GitHub writes it."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="session")
def headings(github: MarkdownIt) -> Callable[[str], list[str]]:
    """Gives the headings of a report, of whatever level."""

    def find(text: str) -> list[str]:
        tokens = github.parse(text)
        return [following.content for token, following in pairwise(tokens) if token.type == "heading_open"]

    return find


@pytest.fixture(scope="session")
def tables(github: MarkdownIt) -> Callable[[str], Iterator[list[list[str]]]]:
    """Gives the tables of a report, each as its rows of cells."""

    def find(text: str) -> Iterator[list[list[str]]]:
        rows: list[list[str]] = []
        for token in github.parse(text):
            if token.type == "table_open":
                rows = []
            elif token.type == "tr_open":
                rows.append([])
            elif token.type == "inline" and token.level > 3:
                rows[-1].append("".join(child.content for child in token.children or ()))
            elif token.type == "table_close":
                yield rows

    return find
