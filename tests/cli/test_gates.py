"""What makes a job fail: gates of a report, changes between two runs, and bad lines that nobody has seen."""

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from builders import gap, steady, weekly, write_corpus
from builders.command import CommandResult, vocabgap
from builders.manual import blocks
from vocabgap.errors import ExitCode

NOW = ("--now", "2026-07-01")


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two needs, and a line that is none."""
    monkeypatch.chdir(tmp_path)
    return write_corpus(
        tmp_path, {"one": [gap("sky mask"), gap("film grain"), "[1]", gap("sky mask", notes="b")]}
    )


def add(photos: Path, *lines: str, image: str = "one") -> None:
    log = photos / image / "vocabulary_gaps.jsonl"
    log.parent.mkdir(exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def report(photos: Path, *options: str) -> CommandResult:
    return vocabgap("report", photos, *NOW, "-q", *options)


def check(photos: Path, *options: str | Path) -> CommandResult:
    return vocabgap("check", photos, *options)


def test_bad_line_fails_the_job_and_the_report_is_published_all_the_same(photos: Path) -> None:
    message = report(photos, "--fail-on", "regressed,rejects")

    assert message == (
        ExitCode.GATE,
        "",
        (
            "vocabgap: 1 gate failed: rejects: one/vocabulary_gaps.jsonl:3 not_an_object\n"
            "  answer with `vocabgap check … --write-baseline`; the report is published in 'out'\n"
        ),
    )
    assert (Path("out") / "report.md").is_file()


def test_known_bad_line_does_not_fail_the_job_and_a_new_one_does(photos: Path) -> None:
    assert check(photos, "--baseline", "known.jsonl", "--write-baseline").code == ExitCode.DONE
    passed = report(photos, "--fail-on", "rejects", "--baseline", "known.jsonl")
    add(photos, "[2]")

    failed = report(photos, "--fail-on", "rejects", "--baseline", "known.jsonl")

    assert (passed.code, failed.code) == (ExitCode.DONE, ExitCode.GATE)
    assert "rejects: one/vocabulary_gaps.jsonl:5 not_an_object\n" in failed.err


def test_need_that_came_back_is_named_once_and_again_after_it_was_authored_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    needs = [*weekly("sky mask", *[5] * 8), *steady(20)]
    root = write_corpus(tmp_path, {"one": needs})
    author = "decide", "author", "sky mask", "--entry", "mask", "--actor", "ana", "--now"
    gate = "-q", "--fail-on", "regressed", "--now"

    def returned(begin: str, *days: str) -> list[CommandResult]:
        add(root, *map(json.dumps, weekly("sky mask", 6, 6, begin=begin)))
        return [vocabgap("report", root, *gate, day) for day in days]

    codes = [vocabgap("report", root, *gate, "2026-04-27").code]
    vocabgap(*author, "2026-04-27")
    codes += [vocabgap("report", root, *gate, day).code for day in ("2026-05-04", "2026-05-18")]
    first = returned("2026-05-18", "2026-06-01", "2026-06-01", "2026-06-08")
    vocabgap(*author, "2026-06-08")
    second = returned("2026-06-29", "2026-07-13", "2026-07-20")

    assert codes == [ExitCode.DONE] * 3
    assert [each.code for each in first] == [ExitCode.GATE, ExitCode.DONE, ExitCode.DONE]
    assert [each.code for each in second] == [ExitCode.GATE, ExitCode.DONE]
    assert re.match(
        r"vocabgap: 1 gate failed: regressed: 'sky mask' \((cap-.*)\) came back on 2026-05-25, authored as"
        r" 'mask'\n  answer with `vocabgap decide reopen \1` \(or `decide author`, if the entry is better"
        r" now\); the report is published in 'out'\n",
        first[0].err,
    )
    assert "came back on 2026-07-06" in second[0].err


def test_a_return_is_no_news_though_a_filter_hid_it_or_its_records_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    back = weekly("sky mask", 6, 6, begin="2026-05-18")
    root = write_corpus(tmp_path, {"one": [*weekly("sky mask", *[5] * 8), *back, *steady(18)]})
    gate = "-q", "--fail-on", "regressed", "--now"
    vocabgap("report", root, *gate, "2026-04-27")
    vocabgap(
        "decide", "author", "sky mask", "--entry", "mask", "--actor", "ana", "--now", "2026-04-27"
    )

    codes = [vocabgap("report", root, *gate, "2026-06-01", "--since", "7d").code]
    codes += [vocabgap("report", root, *gate, "2026-06-15", "--since", "7d").code]
    add(root, json.dumps(gap("sky mask", timestamp="2026-06-16T00:00:00Z")))
    codes += [vocabgap("report", root, *gate, "2026-06-22", "--since", "7d").code]
    log = root / "one" / "vocabulary_gaps.jsonl"
    lines = log.read_text().splitlines()
    kept = [line for line in lines if "sky mask" not in line or "2026-05" not in line]
    log.write_text("\n".join(kept))
    codes += [vocabgap("report", root, *gate, "2026-06-22").code]

    assert codes == [ExitCode.GATE, ExitCode.DONE, ExitCode.DONE, ExitCode.DONE]
    events = pl.read_parquet("out/events.parquet").filter(label="sky mask")
    assert events["kind"].to_list() == ["opened", "authored", "came back"]


def test_new_need_among_the_first_is_named_and_one_further_down_is_not(photos: Path) -> None:
    assert (
        report(photos, "--fail-on", "new-top").code == ExitCode.DONE
    )  # nothing is new in a first run
    add(photos, json.dumps(gap("lens flare")))

    further_down = vocabgap(
        "report", photos, "-q", "--now", "2026-07-02", "--top", "1", "--fail-on", "new-top", "--out", "top",
        "--previous", "out",
    )  # fmt: skip
    result = vocabgap("report", photos, "-q", "--now", "2026-07-02", "--fail-on", "new-top")

    assert further_down.code == ExitCode.DONE
    assert result.code == ExitCode.GATE
    assert "new-top: 'lens flare' (cap-" in result.err


def test_several_gates_are_told_together_each_with_what_it_met(photos: Path) -> None:
    report(photos)
    add(photos, json.dumps(gap("lens flare")), *map(str, range(5)))

    result = vocabgap(
        "--json",
        "report",
        photos,
        "--now",
        "2026-07-02",
        "--fail-on",
        "new-top",
        "--fail-on",
        "rejects",
    )

    events = [json.loads(line) for line in result.out.splitlines()]
    gates = [event["failure"] for event in events if event["event"] == "gate"]
    assert [gate["gate"] for gate in gates] == ["rejects"] * 5 + ["new-top"]
    assert (gates[0]["source_path"], gates[0]["line"]) == ("one/vocabulary_gaps.jsonl", 6)
    assert gates[0]["told"].endswith("jsonl:6 not_an_object new since 2026-07-01")
    name = gates[-1]["capability_id"]
    assert gates[-1]["told"] == f"'lens flare' ({name}, rank 3) first asked for on 2026-04-01"
    assert gates[-1]["answer"] == f"vocabgap decide claim {name}"
    assert (events[-1]["event"], events[-1]["code"]) == ("error", 5)
    assert "2 gates failed: rejects: " in events[-1]["message"]
    assert " and 2 more; new-top: " in events[-1]["message"]
    assert events[-1]["hint"].startswith(
        f"answer with `vocabgap check … --write-baseline`, `vocabgap decide claim {name}`; the report"
    )


def test_mixed_need_that_is_shown_is_named(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = vocabgap(
        "--json", "report", demo, *NOW, "--embedder", "none", "--fail-on", "mixed", "--top", "0"
    )
    events = [json.loads(line) for line in result.out.splitlines()]
    mixed = [
        each["capability"]["capability_id"]
        for each in events
        if each.get("capability", {}).get("mixed")
    ]
    assert [each["failure"]["capability_id"] for each in events if each["event"] == "gate"] == mixed
    assert result.code == (ExitCode.GATE if mixed else ExitCode.DONE)


def test_mixed_need_is_named_once_with_the_command_that_splits_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_corpus(tmp_path, {"one": [gap("sky mask"), gap("sky noise"), gap("film grain")]})
    gate = "--threshold", "0.9", "--fail-on", "mixed"

    failed, passed = report(root, *gate), report(root, *gate)
    elsewhere = report(root, *gate, "--previous", "none")

    assert [each.code for each in (failed, passed, elsewhere)] == [5, 0, 5]
    name = re.findall(r"\((cap-\w+), rank 1\)", failed.err)[0]
    assert f"answer with `vocabgap decide split {name} --wording …`; the report" in failed.err


def test_gate_that_is_none_is_refused_before_the_work(photos: Path) -> None:
    result = report(photos, "--fail-on", "rejects,beauty")

    assert result.code == ExitCode.INVALID_INPUT
    assert "--fail-on" in result.err
    assert "new-top" in result.err
    assert not Path("out").exists()


def test_diff_exits_with_five_where_anything_changed_and_only_where_asked(photos: Path) -> None:
    report(photos)
    report(photos, "--out", "same")
    add(photos, json.dumps(gap("lens flare")))
    report(photos, "--out", "later")

    codes = [
        vocabgap("diff", "out", "same", "--exit-code").code,
        vocabgap("diff", "out", "later").code,
        vocabgap("diff", "out", "later", "--exit-code").code,
    ]

    assert codes == [ExitCode.DONE, ExitCode.DONE, ExitCode.GATE]
    assert "lens flare" in vocabgap("diff", "out", "later", "--exit-code").out


def test_known_bad_lines_are_counted_and_not_listed(photos: Path) -> None:
    written = check(photos, "--baseline", "known.jsonl", "--write-baseline")
    passed = check(photos, "--baseline", "known.jsonl")
    add(photos, '{"description": 3}')
    failed = check(photos, "--baseline", "known.jsonl")

    assert (written.code, passed.code, failed.code) == (0, 0, 2)
    assert written.out.endswith("wrote 1 bad line to 'known.jsonl'\n")
    assert passed.out.splitlines()[-1] == "not counted: 1 bad line of 'known.jsonl'"
    assert "one/vocabulary_gaps.jsonl:3" not in passed.out
    assert failed.out.startswith("one/vocabulary_gaps.jsonl:5: wrong_type")


def test_line_is_known_wherever_it_moves_and_not_by_its_number(photos: Path) -> None:
    check(photos, "--baseline", "known.jsonl", "--write-baseline")
    log = photos / "one" / "vocabulary_gaps.jsonl"
    first, *rest = log.read_text().splitlines()
    log.write_text("\n".join([first, "", "", *rest, ""]))
    moved = check(photos, "--baseline", "known.jsonl").code
    log.write_text("\n".join([first, rest[0], "[2]", ""]))

    assert (moved, check(photos, "--baseline", "known.jsonl").code) == (0, 2)


def test_torn_line_stays_known_once_another_follows_it(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]})
    log = root / "one" / "vocabulary_gaps.jsonl"
    with log.open("a") as file:
        file.write('{"description": "cut o')
    assert "torn" in check(root, "--baseline", tmp_path / "known.jsonl", "--write-baseline").out
    with log.open("a") as file:
        file.write("\n" + json.dumps(gap("film grain")) + "\n")

    result = check(root, "--baseline", tmp_path / "known.jsonl")

    assert result.code == 0


@pytest.mark.parametrize("content", ['{"description": "my log"}\n', "\xff"])
def test_file_that_is_no_baseline_is_neither_read_nor_overwritten(
    photos: Path, content: str
) -> None:
    Path("mine.jsonl").write_text(content, encoding="latin-1")

    read = check(photos, "--baseline", "mine.jsonl")
    written = check(photos, "--baseline", "mine.jsonl", "--write-baseline")

    assert (read.code, written.code) == (2, 2)
    assert "mine.jsonl:1: expected a line of a baseline" in read.err
    assert Path("mine.jsonl").read_text(encoding="latin-1") == content


def test_logs_that_are_gone_are_not_sound_and_their_baseline_stays(photos: Path) -> None:
    check(photos, "--baseline", "known.jsonl", "--write-baseline")
    before = Path("known.jsonl").read_bytes()
    Path("empty").mkdir()

    result = check(Path("empty"), "--baseline", "known.jsonl")
    written = check(Path("empty"), "--baseline", "known.jsonl", "--write-baseline")

    assert result.code == written.code == ExitCode.STATE
    assert Path("known.jsonl").read_bytes() == before
    assert result.err.startswith(
        "vocabgap: no log was found in 'empty': looked for vocabulary_gaps.jsonl"
    )
    assert "--write-baseline" not in result.err


def test_baseline_without_a_file_lists_nothing_and_the_note_says_how_to_write_it(
    photos: Path,
) -> None:
    checked = check(photos, "--baseline", "known.jsonl")
    reported = vocabgap("report", photos, *NOW, "--baseline", "known.jsonl")

    assert (checked.code, reported.code) == (ExitCode.INVALID_INPUT, ExitCode.DONE)
    note = "there is no baseline 'known.jsonl' yet; `vocabgap check … --write-baseline` writes it\n"
    assert (checked.err, reported.err) == (note, note)
    assert "one/vocabulary_gaps.jsonl:3: not_an_object" in checked.out
    assert not Path("known.jsonl").exists()


def test_writing_a_baseline_needs_its_name(photos: Path) -> None:
    nameless = check(photos, "--write-baseline")

    assert nameless.code == ExitCode.INVALID_INPUT
    assert "--baseline FILE" in nameless.err


def test_settings_of_the_manual_work_from_the_first_day_on(photos: Path) -> None:
    Path("vocabgap.toml").write_text(blocks("toml", "weekly-job")[0], encoding="utf-8")
    day = "--now", "2026-07-01", "-q"

    first, again = vocabgap("report", *day), vocabgap("report", *day)
    add(photos, "[2]")
    later = [vocabgap("report", "--now", f"2026-07-0{number}", "-q") for number in (2, 3)]

    assert [each.code for each in (first, again, *later)] == [5, 0, 5, 0]
    assert "rejects: one/vocabulary_gaps.jsonl:3 not_an_object\n" in first.err
    assert (
        "rejects: one/vocabulary_gaps.jsonl:5 not_an_object new since 2026-07-01\n" in later[0].err
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [((), 0), (("--previous", "none"), 5), (("--previous", "old"), 5), (("--out", "other"), 5)],
)
def test_bad_line_is_known_if_the_run_that_is_compared_with_has_it(
    photos: Path, options: tuple[str, ...], code: int
) -> None:
    log = photos / "one" / "vocabulary_gaps.jsonl"
    whole = log.read_text()
    log.write_text(whole.replace("[1]\n", ""))
    report(photos, "--out", "old")
    log.write_text(whole)
    report(photos)

    assert report(photos, "--fail-on", "rejects", *options).code == code


def test_of_equal_bad_lines_each_is_told_once(photos: Path) -> None:
    gate = "--fail-on", "rejects", "--baseline", "known.jsonl"
    check(photos, "--baseline", "known.jsonl", "--write-baseline")
    report(photos, *gate)
    add(photos, "[1]")

    results = [report(photos, *gate) for _ in range(2)]

    assert [each.code for each in results] == [ExitCode.GATE, ExitCode.DONE]
    assert "rejects: one/vocabulary_gaps.jsonl:5 not_an_object" in results[0].err


def test_need_is_new_in_one_report_though_the_moment_is_the_same(photos: Path) -> None:
    vocabgap("report", photos, "--now", "2026-06-30", "-q")
    report(photos)
    add(photos, json.dumps(gap("lens flare")))

    results = [report(photos, "--fail-on", "new-top") for _ in range(2)]

    assert [each.code for each in results] == [ExitCode.GATE, ExitCode.DONE]


def test_answer_names_the_run_the_settings_and_the_decisions(photos: Path) -> None:
    Path("my.toml").write_text('[decisions]\nfile = "team decisions.jsonl"\n', encoding="utf-8")
    options = "--config", "my.toml", "--out", "a week", "--fail-on", "new-top"
    vocabgap("report", photos, *options, "--now", "2026-06-30", "-q")
    add(photos, json.dumps(gap("lens flare")))
    hint = report(photos, *options).err.splitlines()[1]

    _, *words = shlex.split(re.findall("`(.*)`", hint)[0])

    assert vocabgap(*words, "--actor", "ana").code == ExitCode.DONE
    assert len(Path("team decisions.jsonl").read_text().splitlines()) == 1


def test_log_that_cannot_be_read_may_be_known(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]})
    (root / "one" / "vocabulary_gaps.jsonl.gz").write_bytes(b"no archive")

    written = check(root, "--baseline", tmp_path / "known.jsonl", "--write-baseline")

    assert (written.code, check(root, "--baseline", tmp_path / "known.jsonl").code) == (0, 0)
