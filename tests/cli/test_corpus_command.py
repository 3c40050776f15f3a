"""`vocabgap corpus`: what is told, with which exit code, and what is refused."""

import json
import os
import pty
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders import write_config
from builders.command import vocabgap
from vocabgap.model.record import LOG_NAME

NORTH = ("--tenant", "north", "--repo", "photos")


@pytest.fixture(autouse=True)
def _no_corpus_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOCABGAP_CORPUS", raising=False)


@pytest.fixture
def sound(photos: Path) -> Path:
    """The same logs without the line that is no record."""
    log = photos / "fjord" / LOG_NAME
    log.write_text(log.read_text().replace("no json\n", ""))
    return photos


def result_of(told: Any) -> dict[str, Any]:  # noqa: ANN401
    """The last event of a command with --json."""
    last: dict[str, Any] = json.loads(told.out.splitlines()[-1])
    return last


def test_push_says_what_came_of_it(sound: Path) -> None:
    told = vocabgap("corpus", "push", sound, *NORTH)

    assert told == (0, "3 records pushed, 3 of them new; 0 withdrawn; 0 errors\n", "")


def test_push_with_a_bad_line_ends_with_2_and_names_it(photos: Path) -> None:
    told = vocabgap("corpus", "push", photos, *NORTH)

    assert told.code == 2
    assert told.out == "3 records pushed, 3 of them new; 0 withdrawn; 1 error\n"
    assert told.err.startswith(f"KB_FILE_PARSE_FAILED: fjord/{LOG_NAME}:2: invalid_json")


def test_push_in_json_is_the_contract_s_object(photos: Path) -> None:
    told = vocabgap("--json", "corpus", "push", photos, *NORTH)

    found = result_of(told)
    assert (told.code, found["event"]) == (2, "result")
    assert (found["ingested"], found["deleted"], found["tenantId"]) == (3, 0, "north")
    assert [error["code"] for error in found["errors"]] == ["KB_FILE_PARSE_FAILED"]
    assert found["durationMs"] >= 0


def test_payload_of_another_tenant_is_refused(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH, "--corpus", "elsewhere")
    vocabgap("corpus", "admin", "export-chunks", *NORTH, "--corpus", "elsewhere", "-o", "p.json")

    told = vocabgap("--json", "corpus", "push", "p.json", "--tenant", "south", "--repo", "photos")

    assert told.code == 2
    assert [error["code"] for error in result_of(told)["errors"]] == ["KB_INGEST_TENANT_MISMATCH"]
    assert not Path("corpus").exists()


@pytest.mark.parametrize(("spoof", "code", "pushed"), [("overwrite", 0, 3), ("reject", 2, 0)])
def test_setting_says_what_is_done_about_a_false_claim(
    sound: Path, tmp_path: Path, spoof: str, code: int, pushed: int
) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    vocabgap("corpus", "admin", "export-chunks", *NORTH, "-o", "p.json")
    payload = json.loads(Path("p.json").read_text())
    payload = {"files": payload["files"]}
    for file in payload["files"]:
        for chunk in file["parsedChunks"]:
            chunk["tenantId"] = "elsewhere"
    Path("p.json").write_text(json.dumps(payload))
    config = write_config(tmp_path, f'[corpus]\ntenant_spoof = "{spoof}"\n')

    told = vocabgap("--json", "corpus", "push", "p.json", *NORTH, "--config", config)

    assert (told.code, result_of(told)["ingested"]) == (code, pushed)
    assert bool(result_of(told)["warnings"]) == (spoof == "overwrite")


def test_corpus_lies_where_the_environment_says(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOCABGAP_CORPUS", "shared")

    vocabgap("corpus", "push", sound, *NORTH)

    assert Path("shared", "manifest.json").is_file()
    assert 'folder = "shared"  # from VOCABGAP_CORPUS' in vocabgap("status").out


@pytest.mark.parametrize(
    "verb",
    [
        ("status",),
        ("compact",),
        ("admin", "remove-orphans", "--tenant", "north"),
        ("export", "b.jsonl"),
        ("forget", "--tenant", "north", "--yes"),
        ("admin", "export-chunks", *NORTH, "-o", "p.json"),
    ],
)
def test_corpus_that_is_not_there_ends_with_3(verb: tuple[str, ...]) -> None:
    told = vocabgap("corpus", *verb)

    assert told.code == 3
    assert "holds no shared corpus" in told.err
    assert list(Path.cwd().iterdir()) == []


def test_folder_of_other_things_is_refused(sound: Path) -> None:
    told = vocabgap("corpus", "push", sound, *NORTH, "--corpus", sound)

    assert told.code == 4
    assert "KB_INGEST_FAILED" in told.err
    assert sorted(path.name for path in sound.iterdir()) == ["fjord", "heron"]


def test_what_is_forgotten_stays_away_until_it_is_taken_back(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    vocabgap("corpus", "export", "b.jsonl")

    forgotten = vocabgap("corpus", "forget", "--tenant", "north", "--image", "heron", "--compact", "--yes")
    pushed = vocabgap("corpus", "push", sound, *NORTH)
    restored = vocabgap("corpus", "restore", "b.jsonl")
    status = vocabgap("corpus", "status")
    lifted = vocabgap("corpus", "forget", "--tenant", "north", "--lift")
    again = vocabgap("corpus", "push", sound, *NORTH)

    left_out = "2 left out, forgotten earlier (forget --lift)"
    assert forgotten == (0, "2 records forgotten, 1 path with nothing left\n", "")
    assert pushed.out == f"1 record pushed, 0 of them new; 0 withdrawn; {left_out}; 0 errors\n"
    assert restored.out == f"1 record restored, 0 of them new; {left_out}\n"
    assert "2 records forgotten; a push or a restore leaves them out" in status.out
    assert lifted == (0, "2 records may come again\n", "")
    assert again.out == "3 records pushed, 2 of them new; 0 withdrawn; 0 errors\n"


@pytest.mark.parametrize("beside", [("--image", "heron"), ("--compact",)])
def test_only_what_hashes_tell_can_be_taken_back(sound: Path, beside: tuple[str, ...]) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    told = vocabgap("corpus", "forget", "--tenant", "north", "--lift", *beside)

    assert (told.code, "--lift goes with --tenant, --repo and --record alone" in told.err) == (2, True)


def test_report_over_a_corpus_accounts_for_every_line(photos: Path) -> None:
    vocabgap("corpus", "push", photos, "--tenant", "local", "--repo", "photos")

    accounts = [
        line
        for root in (photos, "corpus")
        for line in vocabgap("report", root, "--out", "out", "--now", "last").out.splitlines()
        if " lines in " in line
    ]

    assert accounts == ["4 lines in 2 logs = 3 records + 0 duplicates + 0 superseded + 1 reject"] * 2


def test_snapshot_withdraws_what_vanished(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    shutil.rmtree(sound / "heron")

    assert vocabgap("corpus", "push", sound, *NORTH, "--snapshot").out == (
        "1 record pushed, 0 of them new; 2 withdrawn; 0 errors\n"
    )


def test_snapshot_of_another_folder_withdraws_nothing_unasked(sound: Path, tmp_path: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    other = tmp_path / "other"
    shutil.copytree(sound / "heron", other / "elsewhere")

    told = vocabgap("corpus", "push", other, *NORTH, "--snapshot")

    assert told.code == 2
    assert "has none of the 2 logs of north/photos: all would be withdrawn; nothing was changed" in told.err
    assert "3 records" in vocabgap("corpus", "status").out
    assert vocabgap("corpus", "push", other, *NORTH, "--snapshot", "--yes").code == 0


def test_path_that_is_there_is_not_withdrawn(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    told = vocabgap("corpus", "push", sound, *NORTH, "--delete", f"heron/{LOG_NAME}")

    assert (told.code, told.out) == (2, "")
    assert f"'heron/{LOG_NAME}' is to be withdrawn, but it is in '{sound}'" in told.err


def test_record_is_forgotten_by_the_beginning_of_its_identifier(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    listed = [json.loads(line) for line in vocabgap("--json", "list", "corpus").out.splitlines()]
    identity = next(each["record_id"] for each in listed if each.get("record_id"))

    told = vocabgap("corpus", "forget", "--tenant", "north", "--record", identity[:12], "--yes")

    assert told.out.startswith("1 record forgotten, ")
    assert vocabgap("corpus", "forget", "--tenant", "north", "--record", identity[:7]).code == 3


def test_hints_name_the_corpus_that_was_named(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH, "--corpus", "our corpus")

    told = vocabgap("corpus", "forget", "--tenant", "north", "--yes", "--corpus", "our corpus")

    assert told.err == "their bytes go with `vocabgap corpus compact --corpus 'our corpus'`\n"


def test_path_that_is_named_is_withdrawn(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    shutil.rmtree(sound / "heron")

    told = vocabgap("corpus", "push", sound, *NORTH, "--delete", f"heron/{LOG_NAME}")

    assert "2 withdrawn" in told.out


def test_git_says_what_was_deleted(sound: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
        subprocess.run(["/usr/bin/env", "git", *who, *words], cwd=sound, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    vocabgap("corpus", "push", sound, *NORTH)
    shutil.rmtree(sound / "heron")
    git("commit", "-qam", "less")

    told = vocabgap("corpus", "push", sound, *NORTH, "--base", "HEAD~1")
    unknown = vocabgap("corpus", "push", sound, *NORTH, "--base", "no-such")
    outside = vocabgap("corpus", "push", sound, *NORTH, "--base", "HEAD~1", "--git", sound.parent)

    assert (told.code, told.out) == (0, "1 record pushed, 0 of them new; 2 withdrawn; 0 errors\n")
    assert (unknown.code, "KB_REVISION_BOUNDARY_RESOLVER_FAILED" in unknown.err) == (2, True)
    assert (outside.code, "KB_REVISION_BOUNDARY_UNAVAILABLE" in outside.err) == (2, True)


def test_empty_snapshot_needs_a_yes_without_a_terminal(sound: Path, tmp_path: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    empty = tmp_path / "empty"
    empty.mkdir()

    refused = vocabgap("corpus", "push", empty, *NORTH, "--snapshot")
    done = vocabgap("corpus", "push", empty, *NORTH, "--snapshot", "--yes")

    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert (done.code, done.out) == (0, "0 records pushed, 0 of them new; 3 withdrawn; 0 errors\n")


def answered(command: Sequence[str | Path], question: bytes, answer: bytes) -> int:
    """What a command ends with that asks a question on a terminal, and is answered."""
    ours, theirs = pty.openpty()
    asked = subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL, close_fds=True)
    os.close(theirs)
    shown = b""
    while b"?" not in shown:
        shown += os.read(ours, 1024)
    os.write(ours, answer)
    code = asked.wait(timeout=60)
    os.close(ours)
    assert question in shown
    return code


@pytest.mark.parametrize(("answer", "code", "left"), [(b"n\n", 2, 3), (b"y\n", 0, 0)])
def test_empty_snapshot_asks_on_a_terminal(
    installed: Path, sound: Path, tmp_path: Path, answer: bytes, code: int, left: int
) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    empty = tmp_path / "empty"
    empty.mkdir()
    command: list[str | Path] = [installed, "corpus", "push", empty, *NORTH, "--snapshot"]

    assert answered(command, b"Withdraw everything of north/photos?", answer) == code
    found = result_of(vocabgap("--json", "corpus", "status"))
    assert found["measures"]["rows"] == left


def test_backup_goes_around(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    made = vocabgap("corpus", "export", "b.jsonl.zst")
    back = vocabgap("corpus", "restore", "b.jsonl.zst", "--corpus", "other")
    vocabgap("corpus", "export", "again.jsonl.zst", "--corpus", "other")

    assert made.out == "3 records of 256 dimensions in b.jsonl.zst; 3 vectors made for it\n"
    assert back.out == "3 records restored, 3 of them new\n"
    assert Path("again.jsonl.zst").read_bytes() == Path("b.jsonl.zst").read_bytes()


def test_damage_is_named_and_what_is_whole_is_exported(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    vocabgap("corpus", "export", "before.jsonl")
    vocabgap("corpus", "push", sound, "--tenant", "south", "--repo", "photos")
    part = max(Path("corpus").glob("chunks-*.parquet"))
    part.write_bytes(part.read_bytes()[:-9] + bytes(9))

    told = vocabgap("corpus", "status", "--verify")
    assert told.code == 4
    assert told.err.startswith(f"vocabgap: {part.name}, with 3 rows, is damaged\n")
    assert vocabgap("corpus", "export", "all.jsonl").code == 4
    assert not Path("all.jsonl").exists()

    salvaged = vocabgap("corpus", "export", "whole.jsonl", "--salvage")
    assert (salvaged.code, salvaged.err) == (0, f"left out: {part.name}, with 3 rows, is damaged\n")
    assert lines_of("whole.jsonl") == lines_of("before.jsonl") == 3
    assert vocabgap("corpus", "restore", "whole.jsonl", "--corpus", "mended").code == 0


def lines_of(name: str) -> int:
    return len(Path(name).read_bytes().splitlines())


def test_restore_of_a_bad_line_names_it_and_ends_with_2() -> None:
    Path("b.jsonl").write_text('{"id":"x"}\n')

    told = vocabgap("corpus", "restore", "b.jsonl")

    assert told.code == 2
    assert "b.jsonl:1: " in told.err
    assert "embedding" in told.err


def test_status_tells_who_has_how_much(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    told = vocabgap("corpus", "status")
    found = result_of(vocabgap("--json", "corpus", "status"))

    assert told.out.splitlines()[2].split() == [
        *("north", "photos", "image-repo"),
        *("3", "3", "0", "2", "0", "0", "0"),
    ]
    assert "version 1, 3 records" in told.out
    assert found["identities"][0]["tenant_id"] == "north"
    assert [rule.partition(":")[0] for rule in found["rules"]] == ["missing", "outdated", "stale"]


def test_forgotten_image_is_gone_from_the_report(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    told = vocabgap("corpus", "forget", "--tenant", "north", "--image", "heron", "--yes")
    vocabgap("corpus", "compact")
    report = vocabgap("report", "corpus")

    assert told.out == "2 records forgotten, 1 path with nothing left\n"
    assert "film grain" not in report.out
    assert "mask the sky" in report.out


def test_report_and_its_like_take_a_corpus(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    vocabgap("corpus", "push", sound, "--tenant", "south", "--repo", "photos")

    report = vocabgap("report", "corpus", "--tenant", "north")
    check = vocabgap("check", "corpus", "--tenant", "north", "--repairs")
    groups = vocabgap("clusters", "corpus", "--repo", "photos")

    account = "3 lines in 2 logs = 3 records + 0 duplicates + 0 superseded + 0 rejects"
    assert (report.code, account in report.out) == (0, True)
    assert (check.code, check.out.splitlines()[0]) == (0, account)
    assert (groups.code, "sky mask" in groups.out) == (0, True)
    assert "narrowed to tenant north" in vocabgap("status").out


@pytest.mark.parametrize("verb", ["report", "check", "list", "clusters"])
def test_tenant_that_nobody_is_is_told(sound: Path, verb: str) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    told = vocabgap(verb, "corpus", "--tenant", "nroth")

    assert (told.code, told.out) == (2, "")
    assert "no record has tenant 'nroth'\n  check the spelling; no other tenant was read" in told.err


def test_another_tenant_of_the_same_corpus_is_no_loss(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    assert vocabgap("report", "corpus", "--quiet").code == 0
    assert vocabgap("report", "corpus", "--tenant", "north", "--quiet").code == 0
    assert vocabgap("report", "corpus", "--tenant", "north", "--repo", "foto", "--quiet").code == 2


def test_command_of_a_report_makes_it_again(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    vocabgap("report", "corpus", "--tenant", "north", "--repo", "photos", "--now", "2026-07-01")
    command = json.loads(Path("out", "run.json").read_text())["command"]
    first = Path("out", "report.md").read_bytes()

    again = vocabgap(*command.split()[1:])

    assert (
        command
        == "vocabgap report corpus --tenant north --repo photos --embedder none --now 2026-07-01T00:00:00Z"
    )
    assert (again.code, Path("out", "report.md").read_bytes()) == (0, first)


def test_corpus_whose_writer_is_at_work_is_told(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vocabgap.corpus.corpus import open_corpus  # noqa: PLC0415
    from vocabgap.files import locking  # noqa: PLC0415

    vocabgap("corpus", "push", sound, *NORTH)
    monkeypatch.setattr(locking, "LONGEST_WAIT", 0.1)

    with open_corpus("corpus").store.changing("a very long restore"):
        told = vocabgap("corpus", "push", sound, "--tenant", "south", "--repo", "photos")
        forgot = vocabgap("corpus", "forget", "--tenant", "north", "--yes")

    assert (told.code, "a very long restore" in told.err) == (4, True)
    assert (forgot.code, "a very long restore" in forgot.err) == (4, True)


def test_chunk_that_is_none_is_named_by_its_place_in_the_payload() -> None:
    Path("p.json").write_text('{"files":[{"parsedChunks":[{"schemaVersion":"1.0.0"}]},{"what":1}]}')

    told = vocabgap("corpus", "push", "p.json", *NORTH)

    assert told.code == 2
    assert "KB_PARSED_CHUNK_INVALID: /files/0, chunk 0: " in told.err
    assert "KB_FILE_PAYLOAD_INVALID: /files/1: " in told.err


def test_payload_that_is_no_json_is_named_with_its_line() -> None:
    Path("p.json").write_text('{\n"files": oops}')

    told = vocabgap("corpus", "push", "p.json", *NORTH)

    assert (told.code, "p.json:2: expected JSON" in told.err) == (2, True)


def test_push_of_nobody_ends_with_2(sound: Path) -> None:
    told = vocabgap("corpus", "push", sound, "--tenant", "", "--repo", "photos")

    assert told.code == 2
    assert told.err.startswith("vocabgap: tenant: expected 1 to 64 lower-case letters")
    assert not Path("corpus").exists()


def test_what_is_not_pushed_again_after_two_configurations_may_go(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    vocabgap("corpus", "push", sound, "--tenant", "south", "--repo", "photos")

    told = [vocabgap("corpus", "admin", "configure", "--tenant", "north") for _ in range(2)]
    (sound / "fjord" / LOG_NAME).unlink()
    vocabgap("corpus", "push", sound, *NORTH)

    assert told[1] == (0, "configuration 2 of north; records of earlier ones are stale\n", "")
    removed = vocabgap("corpus", "admin", "remove-orphans", "--tenant", "north", "--yes")
    assert removed.out == "1 record removed\n"


def test_tenant_that_is_none_is_not_configured(sound: Path) -> None:
    vocabgap("corpus", "push", sound, *NORTH)

    told = vocabgap("corpus", "admin", "configure", "--tenant", "No One")

    assert told.code == 2
    assert "tenant: expected 1 to 64" in told.err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            ("push", "photos", *NORTH, "--delete", f"herron/{LOG_NAME}"),
            f"there is no path 'herron/{LOG_NAME}' of north/photos in the corpus\n",
        ),
        (("forget", "--tenant", "nroth", "--yes"), "there is no tenant 'nroth'"),
        (("forget", *NORTH[:3], "photo", "--yes"), "there is no repository 'photo' of tenant 'north'"),
        (("forget", "--tenant", "north", "--image", "herron", "--dry-run"), "there is no image 'herron'"),
        (("admin", "remove-orphans", "--tenant", "nroth", "--yes"), "there is no tenant 'nroth'"),
        (("admin", "configure", "--tenant", "nroth"), "there is no tenant 'nroth'"),
        (("admin", "export-chunks", "--tenant", "nroth", "--repo", "x", "-o", "p.json"), "no tenant 'nroth'"),
    ],
)
def test_what_is_not_there_ends_with_3_and_names_the_nearest(
    sound: Path, command: tuple[str, ...], told: str
) -> None:
    vocabgap("corpus", "push", sound, *NORTH)
    before = Path("corpus", "manifest.json").read_bytes()

    refused = vocabgap("corpus", *command)

    assert (refused.code, refused.out) == (3, "")
    assert told in refused.err
    assert "\n  did you mean '" in refused.err
    assert (Path("corpus", "manifest.json").read_bytes(), Path("p.json").exists()) == (before, False)


REMOVALS = [("forget", "--tenant", "north"), ("admin", "remove-orphans", "--tenant", "north")]


@pytest.fixture
def outdated(sound: Path) -> Path:
    """Two tenants of the same records, each configured twice since they were pushed."""
    for tenant in ("north", "south"):
        vocabgap("corpus", "push", sound, "--tenant", tenant, "--repo", "photos")
        for _ in range(2):
            vocabgap("corpus", "admin", "configure", "--tenant", tenant)
    return sound


@pytest.mark.usefixtures("outdated")
@pytest.mark.parametrize("removal", REMOVALS)
def test_what_removes_records_shows_them_and_needs_a_yes_without_a_terminal(removal: tuple[str, ...]) -> None:
    before = Path("corpus", "manifest.json").read_bytes()

    shown = vocabgap("corpus", *removal, "--dry-run")
    refused = vocabgap("corpus", *removal)
    between = Path("corpus", "manifest.json").read_bytes()
    done = vocabgap("corpus", *removal, "--yes")
    left = result_of(vocabgap("--json", "corpus", "status"))["identities"]

    assert (shown.code, shown.out.startswith("3 records"), " would be " in shown.out) == (0, True, True)
    assert (refused.code, refused.out) == (2, "")
    assert "3 records of north? Nothing was changed\n  confirm it with --yes; --dry-run shows" in refused.err
    assert between == before
    assert (done.code, done.out.startswith("3 records")) == (0, True)
    assert [(each["tenant_id"], each["records"]) for each in left] == [("south", 3)]


@pytest.mark.usefixtures("outdated")
@pytest.mark.parametrize(("answer", "code", "left"), [(b"n\n", 2, 6), (b"y\n", 0, 3)])
@pytest.mark.parametrize("removal", REMOVALS)
def test_what_removes_records_asks_on_a_terminal(
    installed: Path, removal: tuple[str, ...], answer: bytes, code: int, left: int
) -> None:
    assert answered([installed, "corpus", *removal], b"3 records of north?", answer) == code
    assert result_of(vocabgap("--json", "corpus", "status"))["measures"]["rows"] == left
