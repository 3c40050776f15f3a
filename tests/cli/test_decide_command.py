import fcntl
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.decisions import decided
from vocabgap.files import locking


@pytest.fixture(autouse=True)
def _somebody_who_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOCABGAP_ACTOR", "ana")
    monkeypatch.delenv("VOCABGAP_DECISIONS", raising=False)


def events(result: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - what the fixture gives
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("merge", "film grain", "sky mask"), "ana merged 'sky mask' into 'film grain'"),
        (
            ("split", "sky mask", "--wording", "mask the sky"),
            "ana split 'mask the sky' off 'sky mask'",
        ),
        (("rename", "sky mask", "a mask"), "ana renamed 'sky mask' to 'a mask'"),
        (("pin", "sky mask"), "ana pinned 'sky mask'"),
        (("dismiss", "sky mask", "--why", "not ours"), "ana dismissed 'sky mask': not ours"),
        (("author", "sky mask", "--entry", "sky_mask"), "ana authored 'sky mask' as 'sky_mask'"),
        (("claim", "sky mask", "--why", "mine"), "ana claimed 'sky mask': mine"),
    ],
)
@pytest.mark.usefixtures("reported")
def test_what_was_decided_is_said_and_kept(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = vocabgap("decide", *arguments, "--now", "2026-07-02")

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"2026-07-02 {message}")
    assert "decisions.jsonl; the next `vocabgap report` follows it" in result.out
    assert len((tmp_path / "decisions.jsonl").read_text().splitlines()) == 1


@pytest.mark.usefixtures("reported")
def test_a_trial_says_what_would_change_and_records_nothing(tmp_path: Path) -> None:
    outcome = vocabgap("decide", "merge", "film grain", "1", "--dry-run", "--now", "2026-07-02")
    *_, effect, result = events(
        vocabgap("--json", "decide", "merge", "film grain", "1", "--dry-run")
    )

    first, kept, gone, last = outcome.out.splitlines()
    assert first == "2026-07-02 ana merged 'sky mask' into 'film grain'"
    assert kept == "'sky mask': rank 2 -> 1, 1 -> 3 mentions; was 'film grain'"
    assert gone == "'sky mask': rank 1, 2 mentions; now part of 'sky mask'"
    assert last == "nothing was recorded (--dry-run)"
    assert (effect["event"], result["dry_run"]) == ("effect", True)
    assert not (tmp_path / "decisions.jsonl").exists()


@pytest.mark.usefixtures("reported")
@pytest.mark.parametrize(
    ("earlier", "later", "replaced"),
    [
        (("author", "1", "--entry", "mask"), ("reopen", "1"), "status of: 2026-07-02 ana authored"),
        (("rename", "1", "a mask"), ("rename", "1", "my mask"), "label of: 2026-07-02 ana renamed"),
    ],
)
def test_an_earlier_decision_is_replaced_in_what_it_gave(
    earlier: tuple[str, ...], later: tuple[str, ...], replaced: str
) -> None:
    vocabgap("decide", *earlier, "--now", "2026-07-02")

    assert f"\n  replaces the {replaced} '" in vocabgap("decide", *later).out


@pytest.mark.usefixtures("reported")
def test_the_last_decision_is_undone_and_named() -> None:
    vocabgap("decide", "pin", "film grain", "--now", "2026-07-02", "--actor", "bo")

    undone = vocabgap("decide", "undo", "--last")

    assert "  no longer counts: 2026-07-02 bo pinned 'film grain' (dec-" in undone.out
    assert vocabgap("decide", "undo", "--last").code == 3
    assert vocabgap("decide", "undo").code == 2


def test_what_the_page_saved_is_applied_from_a_file(reported: Path, tmp_path: Path) -> None:
    row = pl.read_parquet(tmp_path / "out" / "capabilities.parquet").row(0, named=True)
    named = {"capability_id": row["capability_id"], "label": row["label"]}
    line = {
        "run": "2020-01-01T00:00:00Z",
        "action": "rename",
        "capability": named,
        "label": "a mask",
    }
    saved = tmp_path / "saved.jsonl"
    saved.write_text(json.dumps(line))

    result = vocabgap("decide", "apply", saved)
    vocabgap("report", reported)

    assert result.code == 0
    assert "the decisions come from the report of 2020-01-01T00:00:00Z" in result.err
    assert "'a mask': rank 1, 2 mentions; was 'sky mask'" in result.out
    assert "renamed 'sky mask' to 'a mask'" in vocabgap("decisions", "list").out


@pytest.mark.usefixtures("reported")
def test_a_closed_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    result = vocabgap("decide", "apply", "-")

    assert (result.code, "standard input is closed" in result.err) == (2, True)


@pytest.mark.usefixtures("reported")
def test_that_another_writer_is_waited_for_is_said_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "SILENT_WAIT", 0.0)
    monkeypatch.setattr(locking, "LONGEST_WAIT", 0.1)
    with (tmp_path / "decisions.jsonl").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        result = vocabgap("decide", "pin", "sky mask")
        first, *_, last = events(vocabgap("--json", "decide", "pin", "sky mask"))

    assert (result.code, result.out) == (4, "")
    assert result.err.startswith(
        "waiting: another program is writing decisions.jsonl\nvocabgap: decisions"
    )
    assert (first, last["event"]) == (
        {"schema_version": 1, "event": "waiting", "file": "decisions.jsonl"}, "error",
    )  # fmt: skip


@pytest.mark.usefixtures("reported")
def test_what_was_dismissed_is_reopened_and_what_is_open_is_not() -> None:
    vocabgap("decide", "dismiss", "sky mask", "--why", "not ours")

    first, second = (
        vocabgap("decide", "reopen", "sky mask"),
        vocabgap("decide", "reopen", "sky mask"),
    )

    assert (first.code, second.code) == (0, 2)
    assert "'sky mask' is already open" in second.err


@pytest.mark.usefixtures("reported")
def test_decisions_are_listed_with_those_that_were_undone_by_whom_and_when() -> None:
    pin = events(vocabgap("--json", "decide", "pin", "sky mask", "--now", "2026-07-02"))[-1][
        "decision_id"
    ]
    vocabgap("decide", "rename", "sky mask", "a mask", "--now", "2026-07-02T12:00:00Z")
    because = ("--why", "too early", "--actor", "bo", "--now", "2026-07-03T08:00:00Z")
    undo = events(vocabgap("--json", "decide", "undo", pin, *because))[-1]["decision_id"]

    outcome = vocabgap("decisions", "list")
    *listed, result = events(vocabgap("--json", "decisions", "list"))

    assert "decisions.jsonl: 3 decisions: 1 active, 1 undone, 1 undo." in outcome.out
    assert [event["in_force"] for event in listed] == [False, True, False]
    assert [event["standing"] for event in listed] == ["undone", "in force", "undo"]
    assert [event["undone_by"] for event in listed] == [undo, None, None]
    assert (result["decisions"], result["in_force"], result["undone"], result["undos"]) == (
        3,
        1,
        1,
        1,
    )
    assert "too early" in outcome.out
    assert f"undone by bo on 2026-07-03 08:00 ({undo})" in outcome.out


def test_a_dismissal_that_was_outgrown_is_said_by_the_report_and_listed(reported: Path) -> None:
    vocabgap("decide", "dismiss", "film grain", "--why", "a matter of taste")
    log = reported / "heron" / "vocabulary_gaps.jsonl"
    more = [gap("film grain look", image_id="heron", notes=str(number)) for number in range(3)]
    log.write_text(log.read_text() + "".join(json.dumps(line) + "\n" for line in more))

    outcome = vocabgap("report", reported)
    listed, result = events(vocabgap("--json", "decisions", "list"))

    assert "this decision no longer applies, because its group has outgrown it: " in outcome.err
    assert (listed["standing"], listed["in_force"], result["outgrown"]) == ("outgrown", False, 1)
    assert "decisions.jsonl: 1 decision: 0 active, 1 outgrown." in vocabgap("decisions", "list").out


def test_a_decision_that_others_contradict_is_said_by_the_report_and_listed(
    reported: Path, tmp_path: Path
) -> None:
    lines = (
        decided("merge", ["film grain"], other=["mask the sky"]),
        decided(
            "split",
            ["sky mask", "film grain"],
            wordings=("mask the sky",),
            staying=("film grain",),
            minute=1,
            actor="bo",
        ),
    )
    (tmp_path / "decisions.jsonl").write_bytes(
        b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    )

    outcome = vocabgap("report", reported)
    *_, listed, result = events(vocabgap("--json", "decisions", "list"))

    told = (
        "this decision is not followed, because other decisions contradict it: 2026-07-01 bo split"
    )
    assert told in outcome.err
    assert (listed["standing"], listed["in_force"]) == ("not followed", False)
    assert (result["in_force"], result["unfollowed"]) == (1, 1)
    shown = vocabgap("decisions", "list").out
    assert "not followed: other decisions contradict it" in shown
    assert "decisions.jsonl: 2 decisions: 1 active, 1 not followed." in shown


@pytest.mark.usefixtures("reported")
def test_decisions_are_listed_without_a_run_but_not_without_the_run_that_is_named(
    tmp_path: Path,
) -> None:
    vocabgap("decide", "pin", "sky mask")
    (tmp_path / "out" / "capabilities.parquet").rename(tmp_path / "table")
    assert "1 decision: 1 active." in vocabgap("decisions", "list").out
    (tmp_path / "table").rename(tmp_path / "out" / "capabilities.parquet")
    (tmp_path / "out").rename(tmp_path / "away")

    assert vocabgap("decisions", "list")[::2] == (0, "")
    assert vocabgap("decisions", "list", "--run", "out").code == 3
    assert vocabgap("decisions", "list", "--run", "away").code == 0


@pytest.mark.usefixtures("reported")
def test_the_file_may_be_set_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabgap("decide", "pin", "sky mask", "--decisions", "team/mine.jsonl")
    monkeypatch.setenv("VOCABGAP_DECISIONS", "theirs.jsonl")
    vocabgap("decide", "pin", "sky mask")

    assert (tmp_path / "team" / "mine.jsonl").exists()
    assert (tmp_path / "theirs.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "photos", "--decisions", "nowhere"), "decisions file 'nowhere' does not exist"),
        (
            ("decisions", "list", "--decisions", "nowhere"),
            "decisions file 'nowhere' does not exist",
        ),
        (("report", "photos", "--previous", "nowhere"), "with --previous"),
    ],
)
@pytest.mark.usefixtures("photos")
def test_what_is_named_and_not_there_is_not_found(words: tuple[str, ...], message: str) -> None:
    result = vocabgap(*words)

    assert (result.code, message in result.err) == (3, True)


def test_a_conflict_ends_a_report_and_names_both(reported: Path, tmp_path: Path) -> None:
    arguments = [
        ("merge", "film grain", "sky mask"),
        ("split", "sky mask", "--wording", "sky mask"),
    ]
    log = tmp_path / "decisions.jsonl"
    vocabgap("decide", *arguments[0], "--now", "2026-07-02")
    merge = json.loads(log.read_text())
    split = {
        **{key: merge[key] for key in ("time", "actor", "capability")},
        "decision_id": "dec-0123456789ab",
        "action": "split",
        "wordings": merge["other"]["wordings"],
    }
    log.write_text(f"{json.dumps(merge)}\n{json.dumps(split)}\n")

    result = vocabgap("report", reported)

    assert result.code == 4
    assert merge["decision_id"] in result.err
    assert "vocabgap decide undo dec-0123456789ab" in result.err


@pytest.mark.usefixtures("reported")
def test_a_decision_about_what_is_not_in_the_logs_is_noted(tmp_path: Path) -> None:
    vocabgap("decide", "pin", "sky mask")

    result = vocabgap(
        "report", write_corpus(tmp_path, {"one": [gap("moon glow")]}, "other"), "--out", "elsewhere"
    )

    assert "this decision matches nothing in these logs: " in result.err


@pytest.mark.parametrize(
    ("now", "is_noted"), [("2026-07-01", True), ("2026-07-03", False), ("last", False)]
)
def test_a_decision_that_is_later_than_the_report_counts_and_is_noted_with_its_line(
    reported: Path, tmp_path: Path, now: str, is_noted: bool
) -> None:
    vocabgap("decide", "pin", "sky mask", "--now", "2026-06-01")
    vocabgap("decide", "dismiss", "film grain", "--why", "no", "--now", "2026-07-02")

    result = vocabgap("report", reported, "--now", now)

    start = "decisions.jsonl:2: this decision is later than the report, 2026-07-01T00:00:00Z,"
    assert (f"{start} but it counts: 2026-07-02 ana dismissed" in result.err) is is_noted
    assert result.err.count("later than the report") == is_noted
    statuses = pl.read_parquet(tmp_path / "out" / "capabilities.parquet").filter(label="film grain")
    assert statuses["status"].item() == "dismissed"


def test_a_damaged_run_before_is_told_with_the_way_round_it(reported: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "groups.parquet").write_bytes(b"no parquet")

    result = vocabgap("report", reported)

    assert (result.code, "`--previous none` ignores it" in result.err) == (4, True)
    assert vocabgap("report", reported, "--previous", "none").code == 0
