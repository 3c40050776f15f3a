"""Each need of the demo has the same numbers, whichever way a person reads them."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Page

from builders.command import vocabgap
from builders.page import read
from builders.reporting import GITHUB

NEEDS = 33
NOW = "2026-07-01"
Numbers = list[
    tuple[str, ...]
]  # of each need: rank, label, mentions, likely mentions, images, failed
CELLS = """rows => rows.map((row) => ['.rank', '.label', '.mentions b', '.failed'].map(
    (name) => row.querySelector(name).innerText.trim()))"""


@pytest.fixture(scope="module")
def printed(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The demo in each printed format; `folder` has its files."""
    out = tmp_path_factory.mktemp("same") / "out"
    arguments = ("report", demo, "--now", NOW, "--top", "0", "--out", out)
    table = vocabgap(*arguments).out
    return {
        "folder": str(out), "terminal": table, "csv": vocabgap(*arguments, "--format", "csv").out,
        "json": vocabgap("--json", *arguments).out,
    }  # fmt: skip


def failed(row: dict[str, Any]) -> str:
    """The share of failed workarounds as every format writes it."""
    unsatisfied = int(row["unsatisfied"])
    rated = unsatisfied + int(row["neutral"]) + int(row["satisfied"])
    return f"{unsatisfied}/{rated}"


def counted(rows: list[dict[str, Any]]) -> Numbers:
    names = ("rank", "label", "mentions", "mentions_low", "mentions_high", "images")
    return [(*(str(row[name]) for name in names), failed(row)) for row in rows[:NEEDS]]


@pytest.fixture(scope="module")
def expected(printed: dict[str, str]) -> Numbers:
    """The numbers of the Parquet file."""
    table = pl.read_parquet(Path(printed["folder"]) / "capabilities.parquet")
    return counted(table.to_dicts())


def test_csv_and_json_have_the_numbers_of_parquet(
    printed: dict[str, str], expected: Numbers
) -> None:
    assert len(expected) == NEEDS
    assert counted([*csv.DictReader(io.StringIO(printed["csv"]))]) == expected
    events = map(json.loads, printed["json"].splitlines())
    assert (
        counted([each["capability"] for each in events if each["event"] == "capability"])
        == expected
    )


def test_page_has_the_numbers_of_parquet_in_its_data_and_its_cells(
    printed: dict[str, str], expected: Numbers, visit: Callable[..., Page]
) -> None:
    file = Path(printed["folder"]) / "report.html"
    data = read(file.read_text(encoding="utf-8")).data
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"][:NEEDS]]
    names = ("rank", "label", "mentions", "low", "high", "images")
    assert [(*(str(row[name]) for name in names), row["share"]) for row in rows] == [
        (*others, share(part)) for *others, part in expected
    ]
    page = visit(file)
    page.locator("#more").click()
    cells = page.locator("#needs tr[data-id]").evaluate_all(CELLS)[:NEEDS]
    assert cells == [
        [rank, label, mentions, share(part)] for rank, label, mentions, *_, part in expected
    ]


def share(part: str) -> str:
    """The failed workarounds as people read them."""
    return "–" if part == "0/0" else part


def test_markdown_and_terminal_have_the_numbers_of_parquet(
    printed: dict[str, str], expected: Numbers
) -> None:
    text = (Path(printed["folder"]) / "report.md").read_text(encoding="utf-8")
    tokens = [each for each in GITHUB.parse(text) if each.type == "inline"]
    shown = ["".join(child.content for child in each.children or ()) for each in tokens]
    for rank, label, mentions, low, high, images, part in expected:
        place = next(
            at
            for at, text in enumerate(shown)
            if text == label and shown[at - 1].split()[0] == rank
        )
        likely = f"{low}–{high}" if low != high else low
        assert shown[place + 1 : place + 4] == [f"{mentions} ({likely})", images, share(part)]
        (line,) = (
            row for row in printed["terminal"].splitlines() if re.match(rf"\s*{rank}\s", row)
        )
        found = re.split(r"\s{2,}", line.strip())
        assert {mentions, images, part if part != "0/0" else mentions} <= {*found}
