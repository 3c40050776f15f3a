"""What the report says of records that are no gap, and of those that were given a category."""

import json
from pathlib import Path

import polars as pl

from builders import gap, write_corpus
from builders.reporting import evidence_of, publish, tables, text_of
from vocabgap.model.record import NOT_GRANTED_NOTE
from vocabgap.model.selection import Selection
from vocabgap.model.settings import CategorySettings, Settings

RECLASSIFY = Settings(categories=CategorySettings(reclassify=True))


def photos(tmp_path: Path) -> Path:
    return write_corpus(
        tmp_path,
        {
            "one": [gap("sky mask"), gap("the render timed out"), gap("the preview timed out")],
            "two": [gap("film grain"), gap("permission denied on export")],
        },
    )


def test_every_record_is_counted_filtered_or_no_gap(tmp_path: Path) -> None:
    made = publish(tmp_path, photos(tmp_path), selection=Selection(images=("one",)))
    account = made.published.summary.account
    assert account is not None
    assert (account.counted, account.filtered, account.not_a_gap, account.not_granted) == (
        1,
        2,
        2,
        0,
    )
    assert account.rules == {"transient": 2}


def test_the_account_names_rules_and_counts(tmp_path: Path) -> None:
    text = evidence_of(publish(tmp_path, photos(tmp_path)))
    account = next(each for each in tables(text) if each[0][0] == "Lines")
    rows = {row[0]: row[1:] for row in account[1:]}
    assert rows["not a gap"] == ["2", "2 transient; gaps.parquet shows which"]
    assert rows["not granted"] == ["1", "1 permission; gaps.parquet shows which"]


def test_marked_records_are_ranked_nowhere_and_published_all_the_same(tmp_path: Path) -> None:
    made = publish(tmp_path, photos(tmp_path))
    assert sorted(made.ranked["label"]) == ["film grain", "sky mask"]
    gaps = pl.read_parquet(made.published.folder / "gaps.parquet").filter(
        pl.col("why_not").is_not_null()
    )
    marked = gaps.select("why_not", "rule").sort("rule").rows()
    assert marked == [("not_granted", "permission"), *[("not_a_gap", "transient")] * 2]
    assert not gaps["counted"].any()


def test_what_is_not_granted_is_listed_by_tool(tmp_path: Path) -> None:
    note = f"call toolu_1 {NOT_GRANTED_NOTE}"
    lines = [
        gap("the tool weave was called", missing_capability="weave", notes=note),
        gap("The push to 'main' was denied", operations_involved=["weave"]),
        gap("Permission to use Loom|<b> has been denied"),
        gap("Permission denied on export", missing_capability="Permission denied on export"),
        gap("sky mask"),
    ]
    made = publish(
        tmp_path,
        write_corpus(tmp_path, {f"image-{place}": [each] for place, each in enumerate(lines)}),
    )
    section = evidence_of(made).split("## Not granted")[1].split("## What was")[0]
    assert [*next(iter(tables(section)))][1:] == [
        ["weave", "2", "not_enabled, permission"],
        ["Loom", "1", "permission"],
        ["no tool is named", "1", "permission"],
    ]
    assert "These records ask for something that exists" in section
    shown = json.loads((made.published.folder / "run.json").read_bytes())["account"]
    assert shown["ungranted"][1] == {"tool": "Loom", "records": 1, "rules": ["permission"]}
    assert "granted" not in text_of(
        publish(tmp_path, write_corpus(tmp_path, {"one": [gap("glow")]}, "other"))
    )


def test_a_report_of_nothing_but_failures_says_so(tmp_path: Path) -> None:
    text = text_of(
        publish(
            tmp_path,
            write_corpus(tmp_path, {"one": [gap("the render timed out")]}),
            allow_empty=True,
        )
    )
    assert "**Nothing is left of 1 record: 1 not a gap.**" in text


def test_given_categories_are_ranked_by_and_told(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("sky warmth", operations_involved=["temperature"]), gap("glow")]}
    )
    made = publish(tmp_path, root, settings=RECLASSIFY)
    given = made.published.summary.reclassified
    assert given is not None
    assert (given.by_operations, given.by_classifier, given.left) == (1, 0, 1)
    assert made.ranked.filter(label="sky warmth")["intent_category"].to_list() == ["wb"]
    message = "2 records had no category. 1 got one from their operations, and 0 from their words"
    assert message in evidence_of(made)
