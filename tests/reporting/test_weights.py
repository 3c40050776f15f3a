"""A log that is counted already: a report tells records and mentions apart."""

import json
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.reporting import evidence_of, publish, tell_anew_of, text_of
from vocabgap.doors.cli.app import run as command
from vocabgap.model.tables import CAPABILITIES, EXAMPLE_FIELDS, HISTORY
from vocabgap.pipeline import Run
from vocabgap.reporting.published_run import read_table

VOTES = {
    "shop": [
        gap("sort by price", count=40, satisfaction=-1),
        gap("Sort by price", count=12, workaround="a spreadsheet"),
        gap("dark theme", count=30),
    ],
    "blog": [gap("dark theme"), gap("sort by price")],
}


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, VOTES)


@pytest.fixture
def made(votes: Path, tmp_path: Path) -> Run:
    return publish(tmp_path, votes, share=2)


def test_lines_are_counted_as_records_and_needs_by_their_mentions(made: Run) -> None:
    first, second = made.ranked.to_dicts()
    account = made.published.summary.account

    assert (first["label"], first["mentions"], first["unsatisfied"], first["unrated"]) == (
        "sort by price", 53, 40, 13
    )  # fmt: skip
    assert (second["label"], second["mentions"], second["images"]) == ("dark theme", 31, 2)
    assert account is not None
    assert (account.lines, account.records, account.counted) == (5, 5, 5)


def test_the_largest_counts_are_added_up(tmp_path: Path) -> None:
    needs = ("sky mask", "mask the sky", "dark theme")
    lines = [gap(need, count=10**9, notes=str(number)) for need in needs for number in range(5)]

    ranked = publish(tmp_path, write_corpus(tmp_path, {"shop": lines})).ranked

    assert ranked["mentions"].to_list() == [10**10, 5 * 10**9]
    low, high = (ranked[name].to_list() for name in ("mentions_low", "mentions_high"))
    assert all(0 < fewest <= most for fewest, most in zip(low, high, strict=True))


def test_report_and_pages_name_records_and_mentions(made: Run) -> None:
    text = text_of(made)
    pages = [
        (made.published.folder / name).read_text(encoding="utf-8")
        for name in ("report.html", "share.html")
    ]

    assert "In all, 5 records, 84 mentions, from 2 images ask for 2 needs" in text
    assert "| counted | 5 | the 84 mentions above |" in evidence_of(made)
    assert "(unsatisfied, ×40)" in evidence_of(made)
    assert all("the 84 mentions above" in page for page in pages)
    assert "unsatisfied, ×40" in pages[0]


def test_where_every_record_is_one_mention_the_words_say_nothing_of_it(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"shop": [gap("dark theme"), gap("dark theme", count=1, notes="again")]}
    )

    made = publish(tmp_path, root)
    text = text_of(made)

    assert "In all, 2 records from 1 image ask for" in text
    assert "| counted | 2 | the mentions above |" in evidence_of(made)
    assert "×" not in text


def test_commands_name_records_and_mentions(
    votes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert command(["report", str(votes), "--out", out]) == 0
    assert "; 5 records stand for 84 mentions" in capsys.readouterr().out
    assert command(["list", str(votes), "--run", out]) == 0
    listed = capsys.readouterr().out
    assert "5 records, 84 mentions, on 2 images" in listed
    assert "12 with a workaround, 72 without" in listed
    assert "sort by price: 53 mentions here" in listed
    assert "not rated, ×12" in listed
    assert command(["--json", "list", str(votes), "--run", out, "--image", "blog"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(each["records"], each["listed"]) for each in result["belonging"]] == [(1, 1), (1, 1)]


def test_a_run_that_was_published_without_weights_is_still_read(made: Run) -> None:
    folder = made.published.folder
    history, ranked = (
        pl.read_parquet(folder / name) for name in ("history.parquet", "capabilities.parquet")
    )
    narrow = history.cast({"mentions": pl.Int32, "unsatisfied": pl.Int32})
    narrow.write_parquet(folder / "history.parquet")
    fields = [pl.element().struct.field(name) for name in EXAMPLE_FIELDS if name != "count"]
    bare = pl.col("examples").list.eval(pl.struct(fields))
    ranked.with_columns(bare).write_parquet(folder / "capabilities.parquet")
    for name in ("history.parquet", "capabilities.parquet"):
        tell_anew_of(folder / name)

    assert read_table(folder, HISTORY).equals(history)
    examples = read_table(folder, CAPABILITIES)["examples"].explode()
    assert examples.struct["count"].null_count() == len(examples) > 0
    assert command(["render", str(folder), "--evidence"]) == 0
    assert "(unsatisfied)" in (folder / "evidence.md").read_text(encoding="utf-8")
