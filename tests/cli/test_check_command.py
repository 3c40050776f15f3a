import json
import re
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap


def test_sound_logs_are_a_success(tmp_path: Path) -> None:
    result = vocabgap("check", write_corpus(tmp_path, {"one": [gap("sky mask")]}))
    assert (result.code, result.err) == (0, "")
    assert result.out == "1 line in 1 log = 1 record + 0 duplicates + 0 superseded + 0 rejects\n"


def test_where_nothing_is_found_it_is_told_what_was_looked_for_and_where(tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text('[source.mine]\nglob = "wishes-*.jsonl"\n')
    result = vocabgap(
        "check", write_corpus(tmp_path, {}, "spring"), write_corpus(tmp_path, {}, "autumn")
    )
    missing, hint = result.err.splitlines()
    assert result.code == 0
    assert re.search(r"no log was found in '.*/spring', '.*/autumn': ", missing)
    assert (
        "looked for wishes-*.jsonl, vocabulary_gaps.jsonl, affordance_gaps.jsonl, posthog*.jsonl"
        in missing
    )
    assert "`vocabgap manual gap-logs`" in hint
    assert "`vocabgap log` begins a log" in hint


def test_a_bad_line_is_named_and_is_invalid_input(tmp_path: Path) -> None:
    result = vocabgap("check", write_corpus(tmp_path, {"one": [gap("sky mask"), "[1]"]}))
    assert result.code == 2
    assert (
        "one/vocabulary_gaps.jsonl:2: not_an_object: expected an object, found a list\n"
        in result.out
    )


def test_a_log_that_cannot_be_read_is_named_without_a_line(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {})
    (root / "one" / "vocabulary_gaps.jsonl").mkdir(parents=True)
    result = vocabgap("check", root)
    assert result.code == 2
    assert "one/vocabulary_gaps.jsonl: unreadable_file: " in result.out


def test_what_was_mended_is_listed_where_that_is_asked_for(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("film grain"), gap("sky mask", satisfaction="good")]}
    )

    result = vocabgap("check", root, "--repairs")
    events = [
        json.loads(line) for line in vocabgap("--json", "check", root, "--repairs").out.splitlines()
    ]

    assert result.code == 0
    listed = "one/vocabulary_gaps.jsonl:2: satisfaction in words: 'good', read as 1\n"
    assert result.out.startswith(listed)
    assert result.out.endswith("kept, but repaired: 1 satisfaction in words\n")
    assert [event["event"] for event in events] == ["mended", "result"]
    assert (events[0]["mended"]["line"], events[0]["mended"]["repair"]) == (
        2,
        "satisfaction_in_words",
    )


def test_repairs_are_told_and_do_not_fail(tmp_path: Path) -> None:
    result = vocabgap(
        "check",
        write_corpus(tmp_path, {"one": [gap("sky mask", satisfaction="good", mood="fine")]}),
    )
    assert result.code == 0
    assert "1 satisfaction in words" in result.out
    assert result.out.endswith(" (--repairs lists them)\n")
    assert "unknown field" not in result.out
    assert "other keys, kept for --where and --by: mood (1)\n" in result.out


def test_json_has_one_event_a_reject_and_ends_in_the_result(tmp_path: Path) -> None:
    result = vocabgap(
        "--json", "check", write_corpus(tmp_path, {"one": [gap("sky mask"), "[1]", "{"]})
    )
    events = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 2
    assert [(event["event"], event.get("line")) for event in events] == [
        ("reject", 2),
        ("reject", 3),
        ("result", None),
    ]
    assert events[0]["reason"] == "not_an_object"
    assert events[-1]["looked_for"][0] == "vocabulary_gaps.jsonl"
    assert (events[-1]["summary"]["lines"], events[-1]["summary"]["rejects"]) == (3, 2)


def test_demo_has_the_faults_that_its_readme_lists(demo: Path) -> None:
    result = vocabgap("--json", "check", demo)
    rejects = [json.loads(line) for line in result.out.splitlines()[:-1]]
    assert {(reject["source_path"].split("/")[0], reject["line"]) for reject in rejects} == {
        ("fjord-ferry-0433", 6), ("kingfisher-0866", 7), ("tram-rain-0948", 12), ("bakery-morning-0622", 5),
        ("terrace-city-1310", 5), ("studio-portrait-0318", 6),
    }  # fmt: skip


def test_repository_is_named_where_several_are_read(tmp_path: Path) -> None:
    left, right = (
        write_corpus(tmp_path, {"one": ["[1]"]}, "left"),
        write_corpus(tmp_path, {"one": ["[1]"]}, "right"),
    )
    result = vocabgap("check", left, right)
    assert [line.split(":")[0] for line in result.out.splitlines()[:2]] == [
        "left/one/vocabulary_gaps.jsonl",
        "right/one/vocabulary_gaps.jsonl",
    ]


@pytest.mark.parametrize("name", ["[bold]y", "a\x1b[31mb", "\u202egpj"])
def test_a_hostile_folder_name_is_printed_and_not_obeyed(tmp_path: Path, name: str) -> None:
    root = write_corpus(tmp_path, {})
    (root / name).mkdir()
    (root / name / "vocabulary_gaps.jsonl").write_text("[1]\n")
    result = vocabgap("check", root)
    assert result.code == 2, result.err
    shown = name.replace("\x1b", "\\u001b").replace("\u202e", "\\u202e")
    assert f"{shown}/vocabulary_gaps.jsonl:1" in result.out
