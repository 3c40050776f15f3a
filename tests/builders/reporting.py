"""Runs over small workspaces, for tests about what a report says, and readers of what it says."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

import polars as pl
from markdown_it import MarkdownIt
from msgspec.structs import replace

from vocabgap.doors.views import rendered
from vocabgap.files.parts import Parts
from vocabgap.pipeline import Run, run
from vocabgap.reporting.comparison import Comparison, Kind
from vocabgap.reporting.manifest import (
    Rendering,
    describe_output,
    encode_manifest,
    new_manifest,
    read_manifest,
)
from vocabgap.reporting.sections import render_evidence
from vocabgap.reporting.summary import Summary, Tables, summarise

NOW = datetime(2026, 7, 1, tzinfo=UTC)

GITHUB: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def publish(tmp_path: Path, root: Path | list[Path], **arguments: object) -> Run:
    """Runs the pipeline over a workspace as of a fixed moment."""
    given = {"out": tmp_path / "out", "now": NOW, **arguments}
    return run(root, **given)  # type: ignore[arg-type]


def tell_anew_of(file: Path) -> None:
    """Has the manifest of a run tell of a file as it is now."""
    manifest = read_manifest(file.parent)
    assert manifest is not None
    outputs = [
        describe_output(file) if each.name == file.name else each for each in manifest.outputs
    ]
    (file.parent / "run.json").write_bytes(
        encode_manifest(replace(manifest, outputs=tuple(outputs)))
    )


def summary_of(
    ranked: pl.DataFrame, *, top: int, gaps: pl.DataFrame | Parts | None = None
) -> Summary:
    """The summary of a ranking that nobody has published."""
    manifest = new_manifest(NOW, ranked.height, Rendering(top, "mentions", ""))
    return summarise(Tables(ranked, None if gaps is None else Parts.of(gaps)), manifest)


def compared_in_words(comparison: Comparison, *, top: int) -> str:
    """Return the text of `diff`, with `top` changes of each kind; 0 shows all."""
    return rendered("diff.txt.j2", {"comparison": comparison, "kinds": Kind, "top": top})


def text_of(made: Run) -> str:
    """Gives the report of a run."""
    return (made.published.folder / "report.md").read_text(encoding="utf-8")


def evidence_of(made: Run) -> str:
    """Gives the long form of a report: the evidence of each need, and all overviews."""
    return render_evidence(made.published.summary)


def headings(text: str) -> list[str]:
    """Gives the headings of a report, of whatever level."""
    tokens = GITHUB.parse(text)
    return [
        following.content for token, following in pairwise(tokens) if token.type == "heading_open"
    ]


def tables(text: str) -> Iterator[list[list[str]]]:
    """Gives the tables of a report, each as its rows of cells."""
    rows: list[list[str]] = []
    for token in GITHUB.parse(text):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level > 3:
            rows[-1].append("".join(child.content for child in token.children or ()))
        elif token.type == "table_close":
            yield rows
            rows = []
