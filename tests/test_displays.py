"""How results show themselves in a notebook: short, escaped, and without loading anything."""

import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

import vocabgap as vg
from builders.ingest import write_log
from vocabgap.displays import html_table

HOSTILE = "<script>alert(1)</script> & <img src=//evil.example onerror=x> \u202e\u200b"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
PLAIN = msgspec.convert({"cluster": {"embedder": "none"}}, vg.Settings)


def read(html: str) -> LexborHTMLParser:
    """The display, checked for what it must not hold."""
    tree = LexborHTMLParser(html)
    assert {node.tag for node in tree.css("body *")} <= {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert not tree.css("[src], [href]")
    return tree


def account(scan: vg.Scan) -> dict[str, str]:
    return {row[0]: row[1] for row in cells(scan._repr_html_())}


def cells(html: str) -> list[list[str]]:
    return [[cell.text() for cell in row.css("td")] for row in read(html).css("tbody tr")]


@pytest.fixture
def made(tmp_path: Path) -> vg.Run:
    needs = ({"description": "it was missing", "missing_capability": need} for need in (HOSTILE, "grain"))
    write_log(tmp_path / "logs", "pier", *needs)
    return vg.run(tmp_path / "logs", out=tmp_path / "out", now=NOW, settings=PLAIN)


def test_a_scan_shows_its_account(made: vg.Run) -> None:
    told = account(made.scan)
    assert (told["lines"], told["records"], told["rejects"]) == ("2", "2", "0")


def test_a_reason_is_among_the_account(tmp_path: Path) -> None:
    write_log(tmp_path, "pier", b"{")
    scan = vg.scan(tmp_path)
    told = account(scan)
    assert told["rejects"] == told[scan.rejects["reason"].item()] == "1"


@pytest.mark.parametrize("part", ["clusters", "run"])
def test_groups_and_ranking_show_text_as_text(made: vg.Run, part: str) -> None:
    shown = made._repr_html_() if part == "run" else made.clusters._repr_html_()
    assert any("<script>" in cell for row in cells(shown) for cell in row)
    assert not re.search("[\u202e\u200b]", shown)


def test_a_run_tells_the_whole_folder_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120) / "<b>out"
    write_log(tmp_path / "logs", "pier", {"description": "it was missing", "missing_capability": "grain"})
    made = vg.run(tmp_path / "logs", out=folder, now=NOW, settings=PLAIN)
    line = read(made._repr_html_()).css_first("p")
    assert line is not None
    assert str(folder) in line.text()


def test_nothing_is_shown_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    made = vg.run(tmp_path / "logs", out=tmp_path / "out", now=NOW, settings=PLAIN, allow_empty=True)
    assert account(made.scan)["lines"] == "0"
    assert cells(made.clusters._repr_html_()) == cells(made._repr_html_()) == []


def test_cells_are_told_by_what_they_are() -> None:
    assert cells(html_table("", ("a", "b", "c", "d"), [(1234, 0.5, None, "x" * 500)])) == [
        ["1,234", "0.50", "", "x" * 120 + "… (500 characters)"]
    ]
