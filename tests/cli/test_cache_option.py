import json
import os
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.ingest import caching
from vocabgap.ingest.caching import INDEX_NAME

NOW = ("--now", "2026-06-01T00:00:00Z")
FIRST = "cache: 0 logs unchanged, 0 compared and read on, 2 read whole\n"
AGAIN = "cache: 2 logs unchanged, 0 compared and read on, 0 read whole\n"


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two logs with one bad line, which are old enough for their times to be trusted."""
    monkeypatch.setattr(caching, "_is_settled", lambda *_: True)
    return write_corpus(
        tmp_path,
        {
            "heron": [gap("sky mask", satisfaction="good", session_id="s-1"), gap("film grain")],
            "fjord": [gap("mask the sky", timestamp="2026-05-02T00:00:00Z"), "no json"],
        },
    )


def last_event(out: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(out.splitlines()[-1])
    return event


def append(root: Path, content: str) -> None:
    with (root / "heron" / "vocabulary_gaps.jsonl").open("a", encoding="utf-8") as log:
        log.write(content)


def test_check_tells_what_the_cache_was_good_for(photos: Path) -> None:
    assert vocabgap("check", photos, "--cache", "kept").err == FIRST
    assert vocabgap("check", photos, "--cache", "kept").err == AGAIN


def test_check_prints_the_same_with_a_cache(photos: Path) -> None:
    plain = vocabgap("check", photos)
    for _ in range(2):
        told = vocabgap("check", photos, "--cache", "kept")

        assert (told.code, told.out) == (plain.code, plain.out) == (2, plain.out)
    assert "1 satisfaction in words" in plain.out


def test_check_prints_the_same_with_a_cache_once_the_logs_have_changed(photos: Path) -> None:
    vocabgap("check", photos, "--cache", "kept")
    append(photos, '{"description":"warm be')

    told = vocabgap("check", photos, "--cache", "kept")

    assert told.err == "cache: 1 log unchanged, 1 compared and read on, 0 read whole\n"
    assert told.out == vocabgap("check", photos).out
    assert "heron/vocabulary_gaps.jsonl:3: torn: " in told.out


def test_json_has_the_cache_as_an_object(photos: Path) -> None:
    vocabgap("check", photos, "--cache", "kept")

    told = vocabgap("--json", "check", photos, "--cache", "kept")

    assert told.err == ""
    assert last_event(told.out)["cache"] == {"unchanged": 2, "resumed": 0, "read": 0, "note": ""}


def test_json_has_no_object_where_there_is_no_cache(photos: Path) -> None:
    assert last_event(vocabgap("--json", "check", photos).out)["cache"] is None


def test_json_of_a_report_has_the_cache_as_an_object(photos: Path) -> None:
    told = vocabgap("--json", "report", photos, "--cache", "kept")

    assert last_event(told.out)["cache"] == {"unchanged": 0, "resumed": 0, "read": 2, "note": ""}


def test_report_prints_and_publishes_the_same_with_a_cache(photos: Path, tmp_path: Path) -> None:
    plain = vocabgap("report", photos, "--out", "plain", *NOW)
    for _ in range(2):
        told = vocabgap("report", photos, "--out", "cached", "--cache", "kept", *NOW)

        assert told.out == plain.out.replace("plain: ", "cached: ")
        for name in ("report.md", "capabilities.parquet", "gaps.parquet", "rejects.parquet"):
            assert (tmp_path / "cached" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()


def test_report_tells_what_the_cache_was_good_for(photos: Path) -> None:
    assert vocabgap("report", photos, "--cache", "kept").err == FIRST
    assert vocabgap("report", photos, "--cache", "kept").err == AGAIN


def test_a_quiet_report_says_nothing_of_the_cache(photos: Path) -> None:
    told = vocabgap("report", photos, "--cache", "kept", "--quiet")

    assert (told.code, told.out, told.err) == (0, "", "")


def test_check_and_report_share_a_cache(photos: Path) -> None:
    vocabgap("check", photos, "--cache", "kept")

    assert vocabgap("report", photos, "--cache", "kept").err == AGAIN


@pytest.mark.parametrize("verb", ["check", "report"])
def test_verify_hash_opens_every_log(photos: Path, verb: str) -> None:
    vocabgap(verb, photos, "--cache", "kept")

    told = vocabgap(verb, photos, "--cache", "kept", "--verify-hash")

    assert told.err == "cache: 0 logs unchanged, 2 compared and read on, 0 read whole\n"


def test_verify_hash_finds_what_the_times_do_not_tell(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "stamp", lambda status: (0, 0, status.st_size, 0, 0))
    vocabgap("check", photos, "--cache", "kept")
    log = photos / "heron" / "vocabulary_gaps.jsonl"
    log.write_bytes(log.read_bytes().replace(b"{", b"["))

    told = vocabgap("check", photos, "--cache", "kept", "--verify-hash")

    assert told.out == vocabgap("check", photos).out
    assert "heron/vocabulary_gaps.jsonl:1: invalid_json" in told.out


def test_a_cache_that_was_built_again_is_told(photos: Path, tmp_path: Path) -> None:
    vocabgap("check", photos, "--cache", "kept")
    os.truncate(tmp_path / "kept" / INDEX_NAME, 40)

    told = vocabgap("check", photos, "--cache", "kept")

    assert told.err == "cache: the cache was built again: its index is damaged\n"
    assert told.out == vocabgap("check", photos).out


def test_a_cache_that_is_in_use_is_told(photos: Path, tmp_path: Path) -> None:
    with caching.open_cache(tmp_path / "kept"):
        told = vocabgap("check", photos, "--cache", "kept")

    assert told.err == "cache: the cache is in use by another run\n"
    assert told.out == vocabgap("check", photos).out


def test_a_folder_with_other_files_is_refused(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")

    told = vocabgap("check", photos, "--cache", tmp_path)

    assert (told.code, told.out) == (4, "")
    assert "holds other files, such as 'photos'" in told.err
    assert "name an empty folder, or one that does not exist yet" in told.err


def test_a_file_is_refused(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"")

    told = vocabgap("--json", "check", photos, "--cache", "kept")

    assert told.code == 2
    assert last_event(told.out)["message"] == "cache 'kept' is no folder"


def test_a_home_folder_of_nobody_is_no_bug(photos: Path) -> None:
    told = vocabgap("check", photos, "--cache", "~no-such-person-here/kept")

    assert told.code != 1
    assert "this is a bug" not in told.err


@pytest.mark.parametrize(
    ("out", "cache"), [("one", "one"), ("one", "one/kept"), ("one/published", "one")], ids="{}".format
)
def test_a_cache_and_a_report_cannot_lie_in_each_other(
    photos: Path, tmp_path: Path, out: str, cache: str
) -> None:
    told = vocabgap("report", photos, "--out", out, "--cache", cache)

    assert told.code == 2
    assert "lie in each other" in told.err
    assert not (tmp_path / "one").exists()
