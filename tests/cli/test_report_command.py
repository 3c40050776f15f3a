"""What the report command publishes and prints, whatever the logs hold."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from builders import gap, steady, weekly, write_corpus
from builders.command import vocabgap

FILES = [
    "report.md", "report.html", "capabilities.parquet", "gaps.parquet", "rejects.parquet",
    "lineage.parquet", "groups.parquet", "combinations.parquet", "history.parquet", "events.parquet",
    "effects.parquet", "run.json",
]  # fmt: skip


def test_files_are_published_and_named(photos: Path, tmp_path: Path) -> None:
    result = vocabgap("report", photos, "--out", "fresh")
    assert result.code == 0
    assert sorted(entry.name for entry in (tmp_path / "fresh").iterdir()) == sorted(FILES)
    assert result.out.endswith("\nOpen fresh/report.html in a browser.\n")


def test_ranking_is_a_table_with_an_account_below(photos: Path) -> None:
    result = vocabgap("report", photos)
    lines = result.out.splitlines()
    assert lines[0].split() == [
        "#", "capability", "mentions", "likely", "images", "sessions", "last", "seen", "failed", "category",
    ]  # fmt: skip
    assert lines[2].split() == [
        "1",
        "┐",
        "sky",
        "mask",
        "2",
        "2–3",
        "2",
        "2",
        "2026-05-02",
        "1/1",
        "local",
    ]
    assert "2 of 2 capabilities, 3 mentions." in result.out
    assert "4 lines in 2 logs = 3 records + 0 duplicates + 0 superseded + 1 reject\n" in result.out
    assert result.err == ""


def test_what_is_not_in_the_list_is_accounted_for(photos: Path, tmp_path: Path) -> None:
    alps = [gap("lens flare"), gap("moon glow"), gap("red tint")]
    write_corpus(tmp_path, {"alps": alps, "dune": [gap("lens flare")]}, "photos/more")
    listed = tmp_path / "words.json"
    listed.write_text('{"entries": [{"name": "lens_flare"}]}')
    given = ("report", photos, "--now", "2026-05-03", "--vocabulary", listed)
    vocabgap(*given)
    vocabgap("decide", "dismiss", "film grain", "--why", "no", "--actor", "ana")
    vocabgap("decide", "pin", "moon glow", "--actor", "ana")

    message = vocabgap(*given, "--min-images", "2").out

    assert "3 of 5 capabilities, 7 mentions.\n" in message
    assert "Not in this list: 1 decided, 1 on fewer than 2 images.\n" in message
    assert [line.split()[:4] for line in message.splitlines()[2:4]] == [
        ["1", "moon", "glow", "(pinned"],
        ["2", "┐", "sky", "mask"],
    ]


def test_what_was_authored_and_came_back_is_marked_and_counts_from_the_decision_on(
    tmp_path: Path,
) -> None:
    asked = [*weekly("sky mask", *[5] * 8, 0, 0, 0, 6, 6), *steady(13)]
    root = write_corpus(tmp_path, {"one": asked})
    vocabgap("report", root, "--now", "2026-06-01")
    vocabgap(
        "decide", "author", "sky mask", "--entry", "sky", "--now", "2026-04-27", "--actor", "ana"
    )

    message = vocabgap("report", root, "--now", "2026-06-01").out

    row = message.splitlines()[7].split()
    assert row[:9] == ["6", "sky", "mask", "(asked", "for", "again", "on", "2026-05-25)", "12"]


def test_ranks_that_are_too_close_to_call_are_bracketed_and_told_in_a_line(demo: Path) -> None:
    message = vocabgap(
        "report", demo, "--embedder", "none", "--now", "2026-07-01", "--top", "4"
    ).out
    ranks = [line[:6].strip() for line in message.splitlines() if line[:2].strip().isdigit()]
    assert ranks[:4] == ["1 ┐", "2 │", "3 ┘", "4 ┐"]
    assert "\nRanks 1 to 3 and 4 to 9 are level.\n" in message


def test_a_pin_is_told_as_a_pin_wherever_its_rank_is(reported: Path, tmp_path: Path) -> None:
    vocabgap("decide", "pin", "film grain", "--actor", "ana")

    message = " ".join(vocabgap("report", reported).out.split())
    listed = [json.loads(line) for line in vocabgap("--json", "report", reported).out.splitlines()]

    assert "film grain (pinned" in message
    assert "by ana)" in message
    first = next(each["capability"] for each in listed if each["event"] == "capability")
    assert (first["rank"], first["pinned_by"]) == (1, "ana")
    assert (first["rank_low"], first["rank_high"]) == (1, 2)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert " Pinned by ana; by mentions rank 1–2." in text
    assert "| 1 (pinned) | film grain |" in text
    shown = vocabgap("show", "film grain", reported).out
    assert "rank: 1, pinned by ana; by mentions rank 1–2" in shown


def test_csv_is_nothing_but_the_table(photos: Path) -> None:
    result = vocabgap("report", photos, "--format", "csv")
    heading, *rows = csv.reader(io.StringIO(result.out))
    assert heading == [
        "rank", "capability_id", "label", "mentions", "images", "sessions", "first_seen", "last_seen",
        "unsatisfied", "neutral", "satisfied", "unrated", "intent_category", "status", "rank_low",
        "rank_high", "trend", "priority", "covered_by", "mentions_low", "mentions_high", "mixed", "pinned_by",
        "largest_session", "repeats", "seen",
    ]  # fmt: skip
    assert [(row[2], row[3], row[7], row[8], row[12]) for row in rows] == [
        ("sky mask", "2", "2026-05-02T00:00:00Z", "1", "local"),
        ("film grain", "1", "2026-05-01T00:00:00Z", "0", "uncategorized"),
    ]


def test_csv_names_the_entries_that_cover_a_part_of_what_is_listed(tmp_path: Path) -> None:
    asked = [gap("sky mask"), gap("mask of a dog", notes="1"), gap("mask of a dog", notes="2")]
    listed = tmp_path / "words.json"
    listed.write_text('{"entries": [{"name": "sky_mask"}, {"name": "fog_density"}]}')

    root = write_corpus(tmp_path, {"one": asked})
    result = vocabgap(
        "report", root, "--format", "csv", "--vocabulary", listed, "--threshold", "0.99"
    )

    (row,) = csv.DictReader(io.StringIO(result.out))
    assert (row["mentions"], row["covered_by"]) == ("3", "sky_mask")


def test_json_has_one_event_a_capability_and_ends_in_the_result(
    photos: Path, tmp_path: Path
) -> None:
    outcome = vocabgap("--json", "report", photos, "--format", "csv")  # JSON wins
    events = [json.loads(line) for line in outcome.out.splitlines()]
    assert [event["stage"] for event in events if event["event"] == "stage"] == [
        "ingest", "cluster", "rank", "report",
    ]  # fmt: skip
    labels = [event["capability"]["label"] for event in events if event["event"] == "capability"]
    assert labels == ["sky mask", "film grain"]
    result = events[-1]
    assert (result["event"], result["capabilities"], result["mentions"]) == ("result", 2, 3)
    assert (result["out"], result["files"]) == (str(tmp_path / "out"), FILES)
    assert (result["account"]["lines"], result["account"]["rejects"]) == (4, 1)


def test_json_has_an_event_a_set_of_operations_that_exceeds_chance(tmp_path: Path) -> None:
    lists = [["crop", "blur"]] * 5 + [["grain"]] * 20
    images = {
        f"image-{number}": [gap("sky mask", operations_involved=names, session_id=str(number))]
        for number, names in enumerate(lists)
    }
    result = vocabgap("--json", "report", write_corpus(tmp_path, images, "of-sets"))
    events = [json.loads(line) for line in result.out.splitlines()]
    (event,) = (event["combination"] for event in events if event["event"] == "combination")
    low, needs = event.pop("lift_low"), event.pop("needs")
    assert event == {
        "operations": ["blur", "crop"],
        "records": 5,
        "images": 5,
        "expected": 1.0,
        "lift": 5.0,
    }
    assert (1 < low < 5, needs) == (True, ["sky mask"])


def test_what_is_probably_covered_is_told_beside_the_ranking(photos: Path, tmp_path: Path) -> None:
    entries = tmp_path / "entries.json"
    entries.write_text(json.dumps([{"name": "sky_mask", "description": "A mask of the sky."}]))

    message = vocabgap("report", photos, "--vocabulary", entries).out
    events = [
        json.loads(line)
        for line in vocabgap("--json", "report", photos, "--vocabulary", entries).out.splitlines()
    ]

    assert "(probably exists as " in " ".join(message.split())
    ranked = [
        (each["event"], each["capability"]["rank"]) for each in events if "capability" in each
    ]
    assert ranked == [("capability", 1), ("capability", 2), ("capability", 3)][: len(ranked)]


def test_the_last_line_of_the_list_says_that_no_need_is_left(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]})
    entries = tmp_path / "entries.json"
    entries.write_text(json.dumps([{"name": "sky_mask", "description": "A mask of the sky."}]))

    covered, free = (
        vocabgap("report", root, *options).out for options in (("--vocabulary", entries), ())
    )

    none = "No need is left to author: each is claimed, or probably has an entry."
    assert none in covered.splitlines()
    assert none not in free


def test_quiet_prints_nothing_and_publishes(photos: Path, tmp_path: Path) -> None:
    result = vocabgap("report", photos, "--quiet", "--format", "table")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert (tmp_path / "out" / "report.md").is_file()


@pytest.mark.parametrize("images", [{}, {"one": ["  ", "[1]"]}])
def test_a_report_of_nothing_is_not_published_unless_meant(
    tmp_path: Path, images: dict[str, list[str]]
) -> None:
    root = write_corpus(tmp_path, images)
    result = vocabgap("report", root)

    assert (result.code, result.out) == (4, "")
    assert "nothing was published\n" in result.err
    assert "--allow-empty" in result.err
    assert not (tmp_path / "out").exists()

    result = vocabgap("report", root, "--allow-empty")

    assert result.code == 0
    assert ("No record in these logs counts" if images else "No log was found") in result.out


@pytest.mark.parametrize(
    ("line", "command", "shown"),
    [
        ("[1]", "check", "one/vocabulary_gaps.jsonl:1: not_an_object"),
        (gap("timed out", notes="not a gap"), "list", "timed out"),
    ],
)
def test_what_a_report_of_nothing_names_lists_the_lines(
    tmp_path: Path, line: str | dict[str, object], command: str, shown: str
) -> None:
    root = write_corpus(tmp_path, {"one": [line]})

    hint = vocabgap("report", root).err.splitlines()[1]

    named = [verb for verb in ("check", "list") if f"`vocabgap {verb}`" in hint]
    assert named == [command]
    assert shown in vocabgap(command, root).out


def test_a_report_whose_logs_are_gone_leaves_the_one_before(photos: Path, tmp_path: Path) -> None:
    vocabgap("report", photos)
    before = (tmp_path / "out" / "run.json").read_bytes()
    shutil.rmtree(photos)
    photos.mkdir()  # where a disk was mounted

    result = vocabgap("--json", "report", photos)

    last = json.loads(result.out.splitlines()[-1])
    assert (result.code, last["event"], last["code"]) == (4, "error", 4)
    assert f"the report in '{tmp_path / 'out'}' was not changed" in last["message"]
    assert (tmp_path / "out" / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "why", "hint"),
    [
        (
            ("--image", "heron", "--image", "her"),
            "no record has image 'her'",
            "did you mean 'heron'?",
        ),
        (("--operation", "graim"), "no record has operation 'graim'", "did you mean 'grain'?"),
        (("--category", "locale"), "no record has category 'locale'", "did you mean 'local'?"),
        (
            ("--category", "xyz"),
            "no record has category 'xyz'",
            "there are 2, such as local, uncategorized",
        ),
        (("--session", "s-7"), "no record has session 's-7'", "did you mean 's-2' or 's-1'?"),
        (("--tenant", "locl"), "no record has tenant 'locl'", "did you mean 'local'?"),
    ],
)
def test_a_name_that_no_record_has_is_invalid_and_the_nearest_are_named(
    photos: Path, tmp_path: Path, options: tuple[str, ...], why: str, hint: str
) -> None:
    result = vocabgap("report", photos, *options, "--quiet")

    assert (result.code, result.out, result.err) == (2, "", f"vocabgap: {why}\n  {hint}\n")
    assert not (tmp_path / "out").exists()


def test_a_span_that_leaves_nothing_tells_how_new_the_records_are(photos: Path) -> None:
    result = vocabgap("report", photos, "--since", "3m", "--now", "2026-05-03")

    assert result.code == 4
    assert (
        "no record since 2026-05-02T23:57:00Z: the oldest record has the time 2026-04-01T10:00:00Z, the"
        in result.err
    )
    assert "30m means minutes, 2026-05 a month" in result.err


def many(tmp_path: Path, name: str = "photos", logs: int = 10) -> Path:
    """A workspace of so many images with a log each."""
    images = {f"{name}-{number}": [gap(f"need {number}")] for number in range(logs)}
    return write_corpus(tmp_path, images, name)


def lose(root: Path, number: int) -> None:
    for image in sorted(root.iterdir())[:number]:
        shutil.rmtree(image)


def test_a_run_that_has_lost_more_than_half_of_its_logs_is_refused(tmp_path: Path) -> None:
    root = many(tmp_path)
    vocabgap("report", root)
    before = (tmp_path / "out" / "run.json").read_bytes()
    lose(root, 6)

    result = vocabgap("report", root)

    assert (result.code, result.out) == (4, "")
    assert (
        "the earlier report had 10 logs, but now there are 4 (6 of 'photos' are missing)"
        in result.err
    )
    assert "--allow-shrink" in result.err
    assert (tmp_path / "out" / "run.json").read_bytes() == before
    assert vocabgap("report", root, "--allow-shrink", "--quiet").code == 0
    assert (
        vocabgap("report", root, "--quiet").code == 0
    )  # what is compared with is the smaller one now


def test_a_run_that_has_lost_more_than_half_of_its_lines_is_refused(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap(f"need {n}") for n in range(5)], "two": [gap("sky mask")]}
    )
    vocabgap("report", root)
    log = root / "one" / "vocabulary_gaps.jsonl"
    log.write_text(log.read_text().splitlines(keepends=True)[0])  # a copy from before is put back

    result = vocabgap("report", root)

    assert result.code == 4
    assert (
        "the earlier report had 6 lines, but now there are 2"
        " (4 of 'photos/one/vocabulary_gaps.jsonl' are missing)" in result.err
    )
    assert vocabgap("report", root, "--allow-shrink", "--quiet").code == 0


def test_a_report_of_other_roots_has_lost_nothing(tmp_path: Path) -> None:
    photos, scans = many(tmp_path), many(tmp_path, "scans", 3)
    elsewhere = write_corpus(tmp_path, {"fjord": [gap("sky mask")]}, within=tmp_path / "elsewhere")
    vocabgap("report", photos, scans)

    assert vocabgap("report", scans).code == 0
    assert vocabgap("report", photos).code == 0
    assert vocabgap("report", elsewhere).code == 0  # of the same name, and with no log of the other


def test_what_a_date_leaves_out_for_want_of_one_is_counted(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("sky mask"), gap("film grain", timestamp="some day")]}
    )

    result = vocabgap("report", root, "--since", "2026-01-01")

    assert "; 1 record filtered out (1 of them without a readable timestamp)\n" in result.out


def test_a_log_that_is_not_read_is_named_once_on_stderr(photos: Path) -> None:
    (photos / "hidden" / "vocabulary_gaps.jsonl").mkdir(parents=True)

    result = vocabgap("report", photos)

    assert result.code == 0
    assert result.err.count("not read: hidden/vocabulary_gaps.jsonl: ") == 1


def test_a_folder_that_is_spelt_wrongly_is_answered_with_one_that_is_there(photos: Path) -> None:
    result = vocabgap("report", photos.parent / "fotos")

    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines()[1] == f"  did you mean '{photos}'?"


def test_a_root_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    odd = write_corpus(tmp_path, {"one": [gap("sky mask")]}).rename(tmp_path / "caf\udce9")
    result = vocabgap("report", odd)
    assert result.code == 0, result.err
    (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "label",
    [
        "[/x]", "[bold]x[/bold]", "[red on blue]x",
    ],
)  # fmt: skip
def test_what_looks_like_markup_is_printed_as_it_was_written(tmp_path: Path, label: str) -> None:
    result = vocabgap(
        "report", write_corpus(tmp_path, {"one": [gap(label, intent_category=label)]})
    )
    assert result.code == 0, result.err
    assert result.out.count(label) == 2


def test_any_width_will_do(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    result = vocabgap("report", photos)
    assert result.code == 0, result.err
