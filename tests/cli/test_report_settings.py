"""What flags, environment and files ask of a report, and what is refused."""

import json
from pathlib import Path

import polars as pl
import pytest

from builders.command import vocabgap


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        (("--since", "2026-05-01"), 2),
        (("--until", "2026-05-01"), 1),
        (("--image", "heron"), 2),
        (("--category", "mask"), 1),
        (("--operation", "grain"), 1),
        (("--image", "heron", "--session", "s-2", "--allow-empty"), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_options_narrow_the_report(photos: Path, arguments: tuple[str, ...], counted: int) -> None:
    result = vocabgap("--json", "report", photos, *arguments)
    account = json.loads(result.out.splitlines()[-1])["account"]
    assert (account["counted"], account["filtered"]) == (counted, 3 - counted)


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--until", "2026-13-01", "2026-05-01"), ("--now", "tomorrow", "2026-05-01"),
        ("--since", "", "2026-05-01"), ("--since", "7y", "2026-05-01"), ("--threshold", "1.5", "threshold"),
        ("--threshold", "-0.1", "threshold"), ("--threshold", "nan", "threshold"), ("--top", "-1", "top"),
        ("--min-images", "-1", "whole number"), ("--rank-by", "beauty", "mentions"),
        ("--format", "html", "shortlist"),
    ],
)  # fmt: skip
def test_a_bad_value_is_invalid_input_and_the_message_says_what_would_do(
    photos: Path, option: str, value: str, hint: str
) -> None:
    result = vocabgap("report", photos, option, value)
    assert (result.code, result.out) == (2, "")
    assert option in result.err
    assert hint in result.err
    assert not Path("out").exists()


def test_a_missing_settings_file_is_not_found_and_named(photos: Path) -> None:
    result = vocabgap("report", photos, "--config", "team.toml")
    assert result.code == 3
    assert "team.toml" in result.err


def test_a_folder_of_other_files_is_a_state_error_and_left_alone(
    photos: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("precious")
    result = vocabgap("report", photos, "--out", mine)
    assert (result.code, result.out) == (4, "")
    assert "has files, but no run" in result.err
    assert [entry.name for entry in mine.iterdir()] == ["thesis.txt"]


def test_the_workspace_itself_is_never_taken_for_a_run(photos: Path) -> None:
    assert vocabgap("report", photos, "--out", photos).code == 4
    assert (photos / "heron" / "vocabulary_gaps.jsonl").is_file()


@pytest.mark.parametrize(
    ("setting", "check"),
    [
        (("VOCABGAP_TOP", "1"), "1 of 2 capabilities"),
        (("VOCABGAP_THRESHOLD", "0"), "3 of 3 capabilities"),
        (("VOCABGAP_OUT", "elsewhere"), "Open elsewhere/report.html"),
    ],
)
def test_environment_sets_what_no_flag_says(
    photos: Path, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str], check: str
) -> None:
    monkeypatch.setenv(*setting)
    assert check in vocabgap("report", photos).out


def test_a_flag_wins_over_the_environment_and_that_over_the_file(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vocabgap.toml").write_text('[report]\ntop = 1\nout = "from-file"\n')
    assert "Open from-file/report.html" in vocabgap("report", photos).out
    monkeypatch.setenv("VOCABGAP_OUT", "from-environment")
    result = vocabgap("report", photos)
    assert "1 of 2 capabilities" in result.out
    assert "Open from-environment/report.html" in result.out
    assert "Open from-flag/report.html" in vocabgap("report", photos, "--out", "from-flag").out


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--min-images", "2"), "1 of 2 capabilities"),
        (("--min-sessions", "2"), "1 of 2 capabilities"),
        (("--min-images", "3"), "Nothing is left to author: of 2 needs, 2 left out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_what_too_few_ask_for_is_left_out(
    photos: Path, arguments: tuple[str, ...], shown: str
) -> None:
    assert shown in vocabgap("report", photos, *arguments).out


def test_vocabularies_may_be_several_and_their_places_are_not_published(
    photos: Path, tmp_path: Path
) -> None:
    for name in ("grain", "sky"):
        (tmp_path / f"{name}.json").write_text(f'[{{"name": "{name}_mask"}}]')

    result = vocabgap(
        "report", photos, "--vocabulary", tmp_path / "grain.json", "--vocabulary", "sky.json"
    )

    assert result.code == 0
    best = (
        pl.read_parquet("out/capabilities.parquet")["covered_by"].list.first().struct.field("entry")
    )
    assert sorted(best) == ["grain_mask", "sky_mask"]
    published = Path("out/run.json").read_text(encoding="utf-8")
    assert json.loads(published)["parameters"]["settings"]["vocabulary"]["paths"] == [
        "grain.json",
        "sky.json",
    ]
    assert str(tmp_path) not in published
