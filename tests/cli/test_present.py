"""`--now last`: the newest record as the present, and what is told where there is none of late."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap

LAST = "2026-05-02T00:00:00Z"
FACES = ("report.md", "report.html")


def bytes_of(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FACES]


def test_the_newest_record_is_the_present(photos: Path, tmp_path: Path) -> None:
    assert vocabgap("report", photos, "--now", "last", "--quiet").code == 0
    assert vocabgap("report", photos, "--now", LAST, "--quiet", "--out", "other").code == 0

    assert json.loads((tmp_path / "out" / "run.json").read_text())["now"] == LAST
    named = [face.replace(b"--run other", b"") for face in bytes_of(tmp_path / "other")]
    assert bytes_of(tmp_path / "out") == named


def test_a_record_of_the_future_does_not_move_it(photos: Path, tmp_path: Path) -> None:
    log = photos / "typo" / "vocabulary_gaps.jsonl"
    log.parent.mkdir()
    log.write_text(json.dumps(gap("sky mask", timestamp="2926-05-02T00:00:00Z")) + "\n")

    result = vocabgap("report", photos, "--now", "last")
    listed = vocabgap("list", photos, "--now", "last", "--since", "1d")

    assert json.loads((tmp_path / "out" / "run.json").read_text())["now"] == LAST
    message = "1 record has a date in the future; `--now last` ignores such dates\n"
    assert (result.err.count(message), listed.err.count(message)) == (1, 1)


def test_spans_count_back_from_it(photos: Path) -> None:
    result = vocabgap("report", photos, "--now", "last", "--since", "2d")

    assert "2 capabilities, 2 mentions." in result.out
    assert "1 record filtered out" in result.out


def test_a_span_is_refused_before_the_logs_are_read(photos: Path) -> None:
    assert vocabgap("report", "nowhere", "--now", "last", "--since", "soon").code == 2
    assert vocabgap("report", photos, "--now", "last", "--since", "1d", "--until", "2d").code == 2


def test_a_review_goes_by_it(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("vocabgap.pipeline.known_present", asked.append)
    monkeypatch.setattr("sys.stdin", Mock())

    vocabgap("review", photos, "--now", "last")

    assert asked == ["last"]


@pytest.mark.usefixtures("reported")
def test_last_is_no_moment_of_a_decision() -> None:
    assert vocabgap("decide", "pin", "sky mask", "--now", "last").code == 2


def test_silence_is_told_once_and_not_as_fading(tmp_path: Path) -> None:
    years = [gap(f"need {number}", timestamp="2025-03-01T00:00:00Z") for number in range(3)]
    lately = [gap(f"need {number}", timestamp="2026-03-02T00:00:00Z") for number in range(3)]
    root = write_corpus(tmp_path, {"one": years, "two": lately})

    result = vocabgap("report", root, "--now", "2026-05-21", "--share", "--min-images", "2")
    markdown, page, shared = (
        (tmp_path / "out" / name).read_text(encoding="utf-8") for name in (*FACES, "share.html")
    )

    message = "The newest record is 80 days old"
    for text in (result.out, markdown, page.partition("<script")[0]):
        assert text.count(message) == 1
        assert "--now last" in text
        assert "fading</td>" not in text
        assert "fading:" not in text
        assert "| fading" not in text
    assert message in shared
    assert "\u2581" not in markdown  # no empty bars

    result = vocabgap("report", root, "--now", "last")
    assert "days old" not in result.out + (tmp_path / "out" / "report.md").read_text(
        encoding="utf-8"
    )


def test_a_loop_of_one_session_is_marked_beside_its_rank(tmp_path: Path) -> None:
    loop = [gap("open the vault", session_id="s-1", notes=f"turn {turn}") for turn in range(12)]
    calm = [gap("film grain", session_id=f"s-{turn}", notes=f"turn {turn}") for turn in range(8)]
    root = write_corpus(tmp_path, {"one": [*loop, *calm]})

    result = vocabgap("report", root, "--now", "last", "--format", "table")
    rows = vocabgap("--json", "report", root, "--now", "last")
    faces = [(tmp_path / "out" / name).read_text(encoding="utf-8") for name in FACES]

    for text in (result.out, *faces):
        assert "12 of 12 from one session" in " ".join(text.split())
        assert "of 8 from one session" not in text
    capabilities = [
        line for line in map(json.loads, rows.out.splitlines()) if line["event"] == "capability"
    ]
    assert [line["capability"]["largest_session"] for line in capabilities] == [12, 1]
