"""What `vocabgap list` prints, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap

NEWEST_FIRST = ["mask the sky", "film grain", "sky mask"]


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_table_is_newest_first_with_the_numbers_below(photos: Path) -> None:
    result = vocabgap("list", photos)

    assert result.code == 0
    assert sorted(NEWEST_FIRST, key=result.out.index) == NEWEST_FIRST
    assert (
        "3 records on 2 images in 2 sessions, 2026-04-01 10:00 to 2026-05-02 00:00 UTC"
        in result.out
    )
    assert "1 unsatisfied, 2 not rated; 0 with a workaround, 3 without" in result.out


def test_what_was_said_stands_below_the_record_and_whole(tmp_path: Path) -> None:
    need, instead = "keep the horizon level " * 9, "turned it by hand"
    rated = gap(need, workaround=instead, session_id="s-1", satisfaction=-1, intent_category="tone")
    root = write_corpus(tmp_path, {"one": [rated]})

    heading, _, record, *said = vocabgap("list", root).out.splitlines()[:5]

    assert heading.split() == ["record", "when", "image", "rated", "category", "session"]
    assert record.split()[1:4] == ["2026-04-01", "10:00", "one"]
    assert said == [f"    {need.strip()}", f"    workaround: {instead}"]


def test_a_list_has_only_columns_with_values(tmp_path: Path) -> None:
    (tmp_path / "requests.csv").write_text(
        "description,timestamp\nred eye fix,2026-05-01\nmoon filter,2026-05-03\n", encoding="utf-8"
    )

    listed = vocabgap("list", "requests.csv").out
    report = vocabgap("report", "requests.csv", "--now", "2026-05-08").out

    assert listed.splitlines()[0].split() == ["record", "when", "source"]
    assert "uncategorized" not in listed + report
    assert report.splitlines()[0].split()[-3:] == ["sources", "last", "seen"]
    assert not {"sessions", "failed", "category"} & {*report.splitlines()[0].split()}


def test_a_description_that_says_more_than_the_need_is_listed(tmp_path: Path) -> None:
    wish = "the guests wanted to see the fjord from above"
    more, same = gap(wish, missing_capability="drone view"), gap("Fog", missing_capability=" fog")
    out = vocabgap("list", write_corpus(tmp_path, {"one": [more, same]})).out
    assert f"    drone view\n    description: {wish}\n" in out
    assert out.count("description: ") == 1


def test_programs_get_an_event_a_record_and_a_result(photos: Path) -> None:
    *gaps, result = events(vocabgap("--json", "list", photos).out)

    assert [each["description"] for each in gaps] == NEWEST_FIRST
    assert {each["event"] for each in gaps} == {"gap"}
    assert gaps[2]["category"] == "local"
    assert (result["event"], result["listed"], result["totals"]["records"]) == ("result", 3, 3)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--image", "fjord"], ["mask the sky"]),
        (["--since", "62d", "--now", "2026-07-01"], ["mask the sky", "film grain"]),
        (["--until", "2026-05"], ["sky mask"]),
        (["--operation", "grain"], ["film grain"]),
        (["--match", "SKY"], ["mask the sky", "sky mask"]),
        (["--category", "mask"], ["sky mask"]),
        (["--session", "s-1"], ["sky mask"]),
        (["--session", "last"], ["mask the sky"]),
        (["--satisfaction", "-1"], ["sky mask"]),
        (["--satisfaction=mediocre"], []),
        (["--satisfaction", "none", "--satisfaction", "-1"], NEWEST_FIRST),
        (["--repo", "photos", "--tenant", "local"], NEWEST_FIRST),
        (["--limit", "1"], ["mask the sky"]),
    ],
    ids=" ".join,
)
def test_options_narrow_the_list(photos: Path, options: list[str], found: list[str]) -> None:
    listed = events(vocabgap("--json", "list", photos, *options).out)[:-1]

    assert [each["description"] for each in listed] == found


def test_the_last_session_is_reviewed_with_what_is_known_of_it(reported: Path) -> None:
    result = vocabgap("list", reported, "--session", "last")

    assert result.out.startswith("session s-2\n")
    assert "1 record on 1 image in 1 session, 2026-05-02 00:00 UTC" in result.out
    assert (
        "1 of 1 record belongs to 1 capability of the run in out, as of 2026-07-01T00:00:00Z:"
        in result.out
    )
    assert "sky mask: 1 mention here, 2 in the run, " in result.out


@pytest.mark.usefixtures("reported")
def test_what_no_known_capability_has_is_told(tmp_path: Path) -> None:
    result = vocabgap("list", write_corpus(tmp_path, {"one": [gap("lens flare brush")]}, "later"))

    assert "none of 1 record belongs to a capability of the run in out" in result.out


def test_nothing_that_fits_is_said_and_done(photos: Path) -> None:
    result = vocabgap("list", photos, "--image", "heronn")

    assert result.code == 0
    assert "None of 3 records matches the filters." in result.out
    assert "no record has image 'heronn'; the nearest: heron\n" in result.err


def test_without_a_session_there_is_no_last_one(tmp_path: Path) -> None:
    result = vocabgap(
        "list", write_corpus(tmp_path, {"one": [gap("sky mask")]}), "--session", "last"
    )

    assert (result.code, "no record has a session" in result.err) == (0, True)


def test_records_without_a_time_that_a_date_leaves_out_are_told(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask"), gap("grain", timestamp="yesterday")]})

    assert (
        "1 record without a readable timestamp" in vocabgap("list", root, "--since", "2026-01").err
    )


def test_lines_that_could_not_be_read_are_told_with_where_to_look(tmp_path: Path) -> None:
    result = vocabgap(
        "list", write_corpus(tmp_path, {"one": [gap("sky mask"), '{"description": "half']})
    )

    assert "sky mask" in result.out
    assert (
        "1 line could not be read; `vocabgap check` for the same folders lists them" in result.err
    )


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--since", "soon"], 2, "--since: 'soon' is not a moment"),
        (["--satisfaction", "awful"], 2, "satisfaction: expected one of"),
        (
            ["--limit", "-1"],
            2,
            "Invalid value for '--limit': Input should be greater than or equal to 0",
        ),
        (["--since", "2026-05", "--until", "2026-04"], 2, "is not before until"),
        (["--run", "nowhere"], 3, "has no run of vocabgap"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(
    photos: Path, options: list[str], code: int, message: str
) -> None:
    result = vocabgap("list", photos, *options)

    assert (result.code, result.out) == (code, "")
    assert message in result.err
