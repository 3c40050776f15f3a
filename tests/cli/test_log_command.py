"""`vocabgap log`: what is typed is what is logged."""

import json
from pathlib import Path
from typing import Any

import pytest

import vocabgap as vg
from builders.command import vocabgap
from vocabgap.model.record import LOG_NAME


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("VOCABGAP_SESSION", "VOCABGAP_SNAPSHOT"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "heron"
    folder.mkdir()
    return folder


def line(image: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((image / LOG_NAME).read_bytes())
    return found


def test_every_field_can_be_said(image: Path) -> None:
    result = vocabgap(
        "--json", "log", image, "--description", "wanted calm water",
        "--missing-capability", "blur along a path",
        "--intent", "calm the waves", "--intent-category", "local", "--workaround", "a mask",
        "--operation", "blurs", "--operation", "masks", "--used", "soft", "--satisfaction", "-1",
        "--notes", "as always", "--session", "s-1", "--snapshot", "ab" * 32, "--image-id", "grey heron",
        "--timestamp", "2026-04-01T10:00:00+02:00",
    )  # fmt: skip

    (event,) = map(json.loads, result.out.splitlines())
    assert (result.code, event["event"], event["success"]) == (0, "result", True)
    assert event["record"] == line(image)
    assert event["gap_id"] == vg.scan(image).records["record_id"].item()
    assert list(line(image).values()) == [
        "2026-04-01T08:00:00+00:00", "grey heron", "s-1", "ab" * 32, "wanted calm water", "a mask",
        "calm the waves", "local", "blur along a path", ["blurs", "masks"], ["soft"], -1, "as always",
    ]  # fmt: skip


def test_a_person_is_told_what_was_logged(image: Path) -> None:
    result = vocabgap("log", image, "-d", "crop to a circle", "--satisfaction", "mediocre")
    identifier = vg.scan(image).records["record_id"].item()
    assert (
        result.out
        == f"logged {identifier[:12]} in {image / LOG_NAME}, category composition (a guess)\n"
    )
    assert line(image)["satisfaction"] == -1
    assert "  mediocre  " in vocabgap("list", image, "--satisfaction", "mediocre").out
    assert vocabgap("list", image, "--satisfaction", "bad").out.startswith("None of 1 record")
    vocabgap("log", image, "--corrects", identifier, "--satisfaction", "bad")
    assert "  unsatisfied  " in vocabgap("list", image, "--satisfaction", "bad").out
    (image / LOG_NAME).write_text('{"description": "x", "satisfaction": 1, "mediocre": true}\n')
    assert "  satisfied\n" in vocabgap("list", image).out
    assert vocabgap("list", image, "--satisfaction", "mediocre").out.startswith("None of 1 record")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "description: expected text that is not blank"),
        (("-d", "x", "--satisfaction", "fine"), 2, "satisfaction: expected -1, 0, 1"),
        (("-d", "x", "--corrects", "abcd"), 3, "no record of this log begins with 'abcd'"),
        (("-d", "x", "--mood", "good"), 2, "No such option: --mood"),
        (("mask the sky",), 2, 'FOLDER --need "WHAT WAS MISSING"`'),
    ],
)
def test_what_cannot_be_logged_is_told(
    image: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = vocabgap("log", image, *arguments)
    assert result.code == code
    assert message in result.err
    assert not (image / LOG_NAME).exists()


def test_a_text_in_place_of_the_folder_is_told_its_option() -> None:
    result = vocabgap("log", "mask the sky")
    assert (result.code, "there is no folder 'mask the sky'" in result.err) == (3, True)
    assert 'write `vocabgap log FOLDER --need "WHAT WAS MISSING"`' in result.err


def test_a_correction_takes_the_place_of_the_record(image: Path) -> None:
    vocabgap("log", image, "-d", "calm water", "--snapshot", "ab" * 32)
    (first,) = vg.scan(image).records["record_id"]
    assert vocabgap("log", image, "--corrects", first[:8], "--satisfaction", "1").code == 0
    gaps = vg.scan(image).gaps
    assert gaps.filter("counted")["satisfaction"].to_list() == [1]
    assert gaps.filter(record_id=first)["why_not"].to_list() == ["superseded"]


def test_a_category_that_is_not_known_is_noted_with_the_nearest(image: Path) -> None:
    result = vocabgap("log", image, "-d", "x", "--category", "lokal")
    assert (result.code, line(image)["intent_category"]) == (0, "lokal")
    assert (
        "category 'lokal' is not known; similar categories: local; to add it, use `known` under [categories]"
        in result.err
    )


@pytest.mark.parametrize(
    "category",
    [
        "tone", "uncategorized", "White_Balance", "portrait",
    ],
)  # fmt: skip
def test_a_category_that_is_known_is_logged_in_silence(image: Path, category: str) -> None:
    Path("vocabgap.toml").write_text('[categories]\nknown = ["portrait"]\n', encoding="utf-8")
    result = vocabgap("log", image, "-d", "x", "--category", category)
    assert (result.code, result.err) == (0, "")
    assert (
        json.loads(vocabgap("--json", "log", image, "-d", "y", "--category", category).out)["note"]
        is None
    )


def test_a_category_that_the_run_has_is_known(image: Path) -> None:
    assert vocabgap("log", image, "-d", "x", "--category", "portrait").err
    vocabgap("report", image, "--out", "out")
    assert vocabgap("log", image, "-d", "y", "--category", "portrait").err == ""
    assert "known categories" in vocabgap("log", image, "-d", "z", "--category", "portraits").err


def test_settings_that_cannot_be_read_cost_no_gap(image: Path) -> None:
    Path("vocabgap.toml").write_text("[categories", encoding="utf-8")
    result = vocabgap("log", image, "-d", "x", "--category", "lokal")
    assert (result.code, result.err) == (0, "")


def test_an_unset_variable_says_nothing_of_session_and_snapshot(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOCABGAP_SESSION", "s-1")
    vocabgap("log", image, "-d", "x", "--session", "", "--snapshot", "")
    assert (line(image)["session_id"], line(image)["snapshot_hash"]) == ("s-1", None)


@pytest.mark.parametrize(
    ("place", "message"), [("", "image: expected"), ("~nobody-here/x", "home folder")]
)
def test_an_image_that_cannot_be_meant_is_refused(place: str, message: str) -> None:
    result = vocabgap("log", place, "-d", "x")
    assert (result.code, message in result.err) == (2, True)
    assert not Path(LOG_NAME).exists()


def test_after_init_one_call_logs_a_gap_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "orchard"
    (project / "src").mkdir(parents=True)
    monkeypatch.chdir(project)
    assert vocabgap("init").code == 0
    result = vocabgap("log", "--need", "graft a branch")
    assert result.out.endswith("in vocabulary_gaps.jsonl, category uncategorized\n")
    assert line(project)["image_id"] == "orchard"
    text = vocabgap("report", "--embedder", "none")
    assert "projects" in text.out.splitlines()[0]
    written = (project / "out" / "report.md").read_text(encoding="utf-8")
    assert "1 mention on 1 project; " in written
    assert "image" not in written
    assert "1 record on 1 project" in vocabgap("list").out


@pytest.mark.parametrize(
    ("roots", "log"),
    [
        ('["notes"]', "notes"),
        ('["notes", "src"]', "."),  # of several, none is meant
        ('["notes/old.jsonl"]', "."),
    ],
)
def test_without_a_folder_the_root_of_the_settings_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roots: str, log: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "vocabgap.toml").write_text(f"[ingest]\nroots = {roots}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert vocabgap("log", "--need", "graft a branch").code == 0
    assert (tmp_path / log / LOG_NAME).exists()


def test_settings_that_nobody_named_lead_no_log_out_of_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cloned", "private"):
        (tmp_path / name).mkdir()
    (tmp_path / "cloned" / "vocabgap.toml").write_text(
        '[ingest]\nroots = ["../private"]\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path / "cloned")
    result = vocabgap("log", "--need", "graft a branch")
    assert (result.code, "leads out of this folder" in result.err) == (2, True)
    assert vocabgap("log", "--need", "graft a branch", "--trust").code == 0
    assert (tmp_path / "private" / LOG_NAME).exists()
