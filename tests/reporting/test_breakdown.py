"""Mentions of each capability by the values of a column that the user has."""

import json
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.reporting import evidence_of, publish, text_of
from vocabgap.model.selection import Selection
from vocabgap.model.settings import ReportSettings, Settings
from vocabgap.reporting.summary import Summary

BY_PLAN = Settings(report=ReportSettings(by="customer.plan"))
PLANS: dict[str, list[str | None]] = {
    "sky mask": ["pro", "pro", "free"],
    "film grain": ["team", "free", None],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    gaps = {}
    for need, plans in PLANS.items():
        for number, plan in enumerate(plans):
            own = {} if plan is None else {"customer": {"plan": plan}}
            gaps[f"{need}-{number}"] = [gap(need, count=1 + number, **own)]
    return write_corpus(tmp_path, gaps)


def rows_of(summary: Summary) -> dict[str, tuple[int, ...]]:
    assert summary.breakdown is not None
    return {label: numbers for _, label, numbers in summary.breakdown.rows}


def test_mentions_are_counted_by_value_with_those_without_one(root: Path, tmp_path: Path) -> None:
    made = publish(tmp_path, root, settings=BY_PLAN)
    summary = made.published.summary

    assert summary.breakdown is not None
    assert summary.breakdown.values == ("free", "pro", "team", "(none)")
    assert rows_of(summary) == {"sky mask": (3, 3, 0, 0), "film grain": (2, 0, 1, 3)}
    assert [sum(numbers) for numbers in rows_of(summary).values()] == [
        item.mentions for item in summary.capabilities
    ]
    text = evidence_of(made)
    assert "## Mentions by `customer.plan`\n\n| Need | free | pro | team | (none) |\n" in text
    assert "sky mask | 3 | 3 | 0 | 0 |\n" in text


def test_rare_values_count_together_and_several_values_count_for_each(tmp_path: Path) -> None:
    gaps = [
        gap("sky mask", tags=[f"t{number % 7}", "all"], session_id=str(number))
        for number in range(20)
    ]
    settings = Settings(report=ReportSettings(by="tags"))

    summary = publish(
        tmp_path, write_corpus(tmp_path, {"one": gaps}), settings=settings
    ).published.summary

    assert summary.breakdown is not None
    assert summary.breakdown.values == ("all", "t0", "t1", "t2", "t3", "(other)")
    assert rows_of(summary) == {"sky mask": (20, 3, 3, 3, 3, 8)}


def test_only_selected_records_are_counted(root: Path, tmp_path: Path) -> None:
    chosen = Selection(where=("customer.plan=pro",))

    made = publish(tmp_path, root, settings=BY_PLAN, selection=chosen)

    assert rows_of(made.published.summary) == {"sky mask": (3,)}
    assert "Narrowed to column `customer.plan=pro`." in text_of(made)


def test_columns_never_reach_the_shareable_page(tmp_path: Path) -> None:
    gaps = {
        f"image-{number}": [gap("sky mask", mood="tango", image_id=f"image-{number}")]
        for number in range(4)
    }
    made = publish(
        tmp_path,
        write_corpus(tmp_path, gaps),
        settings=Settings(report=ReportSettings(by="mood")),
        selection=Selection(where=("mood=tango",)),
        share=3,
    )
    folder = made.published.folder

    assert "tango" in (folder / "report.html").read_text(encoding="utf-8")
    shared = (folder / "share.html").read_text(encoding="utf-8")
    assert "sky mask" in shared
    assert "tango" not in shared


def test_the_command_prints_and_repeats_the_breakdown(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"
    first = vocabgap(
        "report", root, "--out", out, "--by", "customer.plan", "--where", "customer.plan=pro"
    )
    again = vocabgap("--json", "report", "--from", out / "run.json", "--out", tmp_path / "again")

    assert "Mentions by customer.plan:\n\n#   capability   pro\n" in first.out
    answer = json.loads(again.out.splitlines()[-1])
    assert answer["breakdown"] == {
        "path": "customer.plan",
        "values": ["pro"],
        "rows": [[1, "sky mask", [3]]],
    }
    published = [pl.read_parquet(folder / "gaps.parquet") for folder in (out, tmp_path / "again")]
    assert published[0]["other"].to_list() == published[1]["other"].to_list()


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("customer.plam", "the nearest: customer.plan"),
        ("", "there "),
        ("image_id", "it is a field of each record; use --image"),
    ],
)
def test_a_path_that_no_record_has_is_named_with_the_nearest(
    path: str, told: str, root: Path, tmp_path: Path
) -> None:
    result = vocabgap("report", root, "--out", tmp_path / "made", "--by", path)

    assert result.code == 0
    assert f"no record has column '{path}'; {told}" in result.err


def test_values_are_shown_as_data_and_cut(tmp_path: Path) -> None:
    values = ["\x1b[31mred", "<b>bold</b>", "a|b\n# c", "y" * 3_000]
    gaps = [gap("sky mask", mood=value, session_id=value[:3]) for value in values]
    root, out = write_corpus(tmp_path, {"one": gaps}), tmp_path / "made"

    result = vocabgap("report", root, "--out", out, "--by", "mood", "--evidence")

    page, text = (
        (out / name).read_text(encoding="utf-8") for name in ("report.html", "evidence.md")
    )
    assert r"\u001b[31mred" in result.out
    assert ("\x1b" in result.out, "y" * 30 in result.out) == (False, False)
    assert ("<b>bold" in page, "y" * 50 in page) == (False, False)
    assert r"| a\|b \# c |" in text
