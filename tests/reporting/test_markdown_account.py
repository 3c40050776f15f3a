"""What the report says of all that it did not count, or could not read."""

import json
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.reporting import evidence_of, headings, publish, tables, text_of
from vocabgap.model.selection import Selection
from vocabgap.pipeline import Run


def test_what_was_not_counted_is_counted(demo_run: Run) -> None:
    account = demo_run.published.summary.account
    assert account is not None
    account_table = next(each for each in tables(evidence_of(demo_run)) if each[0][0] == "Lines")
    rows = {row[0]: row[1] for row in account_table[1:]}
    assert rows == {
        "counted": str(account.counted),
        "duplicates": str(account.duplicates),
        "superseded": str(account.superseded),
        "rejected": str(account.rejects),
    }


def test_a_narrowed_report_says_to_what_and_how_many_were_left_out(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("sky mask")], "two": [gap("film grain")], "three": [gap("crop")]}
    )
    selection = Selection(images=("one", "two"), operations=(), sessions=())
    made = publish(tmp_path, root, selection=selection)
    assert (
        "Narrowed to image one or two. Counts, ranks, evidence and last dates cover only these records."
        " Names, status, first dates and trends cover all records.\n"
    ) in text_of(made)
    assert "; 1 record filtered out." in text_of(made)
    assert "| filtered out | 1 |" in evidence_of(made)


def test_rejects_are_named_with_file_line_and_reason(tmp_path: Path) -> None:
    text = evidence_of(
        publish(tmp_path, write_corpus(tmp_path, {"one": ["", "[1]"]}), allow_empty=True)
    )
    assert (
        "| `one/vocabulary_gaps.jsonl:2` | not an object | expected an object, found a list |"
        in text
    )


def test_rejects_and_examples_name_the_repository_where_several_are_read(tmp_path: Path) -> None:
    left = write_corpus(tmp_path, {"one": [gap("sky mask"), "[1]"]}, "left")
    right = write_corpus(tmp_path, {"one": [gap("film grain"), "[1]"]}, "right")
    text = evidence_of(publish(tmp_path, [left, right]))
    for place in ("left/one/vocabulary_gaps.jsonl", "right/one/vocabulary_gaps.jsonl"):
        assert f"`{place}:1`" in text
        assert f"`{place}:2`" in text


def test_a_log_that_could_not_be_read_is_told_beside_the_lines(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]})
    (root / "two" / "vocabulary_gaps.jsonl").mkdir(parents=True)
    text = evidence_of(publish(tmp_path, root))
    assert "1 log, folder or link was not read: 1 unreadable file." in text
    assert "| `two/vocabulary_gaps.jsonl` | unreadable file | " in text


def test_lines_of_other_logs_that_are_no_gaps_are_told_beside_the_lines(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": []})
    wish = {"event": "$mcp_missing_capability", "properties": {"$mcp_intent": "sky mask"}}
    events = [wish, {"event": "$pageview"}, {"event": "click"}]
    (root / "one" / "posthog.jsonl").write_text(
        "".join(f"{json.dumps(event)}\n" for event in events)
    )
    text = evidence_of(publish(tmp_path, root))
    assert "; 2 lines passed over" in text
    assert "| counted | 1 |" in text


@pytest.mark.parametrize(
    "lines", [[], ["", "  "], ["[1]"]], ids=["no line", "blank lines", "rejects only"]
)
def test_a_report_without_a_record_says_so(tmp_path: Path, lines: list[str]) -> None:
    text = text_of(publish(tmp_path, write_corpus(tmp_path, {"one": lines}), allow_empty=True))
    assert "**No record in these logs counts.**" in text
    assert headings(text) == ["What to author next"]
