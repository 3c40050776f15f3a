"""`vocabgap history`: ranks and mentions over the runs of a folder."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.reporting import publish
from vocabgap.errors import ExitCode
from vocabgap.listing.deciding import Decisions
from vocabgap.model.selection import Selection
from vocabgap.model.settings import DecisionSettings, Settings

MONTHS = [datetime(2026, month, 1, tzinfo=UTC) for month in (5, 6, 7)]


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of a growing workspace: of two needs the second is asked for more and more."""
    folder = tmp_path_factory.mktemp("three-runs")
    photos = write_corpus(
        folder, {"one": [gap("sky mask"), gap("film grain"), gap("sky mask", notes="b")]}
    )
    for number, moment in enumerate(MONTHS):
        publish(folder, photos, now=moment)
        log = photos / f"more-{number}" / "vocabulary_gaps.jsonl"
        log.parent.mkdir()
        lines = (json.dumps(gap("film grain", notes=f"{number}-{turn}")) for turn in range(3))
        log.write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def folder(three_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    shutil.copytree(three_runs, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_list_has_the_status_and_the_rank_in_each_run() -> None:
    result = vocabgap("history", "--top", "9" * 30)

    assert (result.code, result.out.splitlines()) == (ExitCode.DONE, [
        "capability   mentions   status   05-01   06-01   07-01",
        "──────────────────────────────────────────────────────",
        "film grain          7   open         2       1       1",
        "sky mask            2   open         1       2       2",
        "",
        "3 runs, 2026-05-01 to 2026-07-01.",
    ])  # fmt: skip


def test_one_capability_has_a_line_for_each_run_the_newest_first() -> None:
    message = vocabgap("history", "film_grain", "--top", "2").out.splitlines()

    assert message[0].startswith("film grain (cap-")
    assert message[0].endswith("): 3 runs, 2026-05-01 to 2026-07-01")
    assert [line.split()[:4] for line in message[4:6]] == [
        ["2026-07-01", "00:00", "1", "7"],
        ["2026-06-01", "00:00", "1", "4"],
    ]
    assert message[-1] == "and 1 earlier run; `--top 0` shows all"


def test_parts_that_were_merged_stand_there_as_they_were_called(folder: Path) -> None:
    settings = Settings(decisions=DecisionSettings(file=str(folder / "decisions.jsonl")))
    Decisions(folder / "out", folder / "decisions.jsonl", actor="ana", now=MONTHS[-1]).merge(
        "film grain", "sky mask"
    )
    publish(folder, folder / "photos", now=datetime(2026, 8, 1, tzinfo=UTC), settings=settings)

    message = vocabgap("history", "film grain", "--top", "2").out

    rows = [line.split() for line in message.splitlines()[4:7]]
    assert [(row[0], row[3], " ".join(row[-2:])) for row in rows] == [
        ("2026-08-01", "12", "film grain"),
        ("2026-07-01", "7", "film grain"),
        ("2026-07-01", "2", "sky mask"),
    ]


def test_events_are_the_rows_and_then_their_number() -> None:
    *rows, result = map(json.loads, vocabgap("--json", "history", "sky mask").out.splitlines())

    assert [(row["event"], row["moment"], row["rank"], row["mentions"]) for row in rows] == [
        ("history", "2026-05-01T00:00:00Z", 1, 2),
        ("history", "2026-06-01T00:00:00Z", 2, 2),
        ("history", "2026-07-01T00:00:00Z", 2, 2),
    ]
    assert (result["event"], result["runs"], result["other_runs"]) == ("result", 3, 0)


def test_runs_that_are_narrowed_differently_are_told_of_and_not_mixed(folder: Path) -> None:
    chosen = Selection(categories=("uncategorized",))
    publish(folder, folder / "photos", now=datetime(2026, 8, 1, tzinfo=UTC), selection=chosen)

    result = vocabgap("history")

    assert "1 run, 2026-08-01, narrowed to category uncategorized." in result.out
    assert result.out.splitlines()[0].split()[-2:] == ["status", "08-01"]
    assert (
        "\nhistory.parquet also has 3 runs that are later, or narrowed or ranked differently"
        in result.out
    )


def test_what_is_not_there_is_an_error_with_the_nearest() -> None:
    result, nowhere = vocabgap("history", "film gran"), vocabgap("history", "--run", "nowhere")
    assert (result.code, nowhere.code) == (ExitCode.NOT_FOUND, ExitCode.NOT_FOUND)
    assert "nearest needs: 'film grain' (" in result.err
    assert "has no run" in nowhere.err


def test_pin_is_told_as_a_pin(folder: Path) -> None:
    settings = Settings(decisions=DecisionSettings(file=str(folder / "decisions.jsonl")))
    Decisions(folder / "out", folder / "decisions.jsonl", actor="ana", now=MONTHS[-1]).pin(
        "sky mask"
    )
    publish(folder, folder / "photos", now=datetime(2026, 8, 1, tzinfo=UTC), settings=settings)

    asked = (("history",), ("history", "sky mask", "--top", "2"), ("--json", "history", "sky mask"))

    message = "".join(vocabgap(*each).out for each in asked).replace("   –", "").splitlines()

    assert message[2].split() == ["sky", "mask", "2", "open", "1", "2", "2", "1*"]
    assert [line.split()[:3:2] for line in message[11:13]] == [
        ["2026-08-01", "1*"],
        ["2026-07-01", "2"],
    ]
    assert sum(line.startswith("* pinned in that run") for line in message) == 2
    assert [
        (json.loads(line)["rank"], json.loads(line)["unpinned_rank"]) for line in message[-3:-1]
    ] == [
        (2, None),
        (1, 2),
    ]


@pytest.mark.parametrize(("width", "shown"), [(60, 5), (80, 6), (200, 12)])
def test_as_many_runs_are_shown_as_fit_and_the_newest_always(
    folder: Path, monkeypatch: pytest.MonkeyPatch, width: int, shown: int
) -> None:
    for day in range(2, 11):
        publish(folder, folder / "photos", now=datetime(2026, 7, day, tzinfo=UTC))
    monkeypatch.setenv("COLUMNS", str(width))

    first, *_, last = vocabgap("history").out.splitlines()

    days = first.split()[first.split().index("status") + 1 :]
    assert (days[-1], last, len(days)) == ("07-10", "12 runs, 2026-05-01 to 2026-07-10.", shown)


def test_twelve_runs_with_statuses_and_their_dates_fit_into_80_columns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "decisions.jsonl"
    settings = Settings(decisions=DecisionSettings(file=str(file)))
    book = Decisions(folder / "out", file, actor="ana", now=MONTHS[-1])
    book.rename("film grain", "film grain that follows the luminance of the frame")
    book.author("film grain", entry="grain_by_luminance")
    book.dismiss("sky mask", "exists elsewhere")
    for day in range(2, 11):
        now = datetime(2026, 7, day, tzinfo=UTC)
        publish(folder, folder / "photos", now=now, settings=settings)
    monkeypatch.setenv("COLUMNS", "80")

    message = vocabgap("history").out.splitlines()

    assert max(map(len, message)) <= 80
    assert message[0].split() == [
        "capability", "mentions", "status", "since", "07-08", "07-09", "07-10",
    ]  # fmt: skip
    rows = {row[-5]: row[-4] for row in map(str.split, message[2:]) if "2026-07-01" in row}
    assert rows == {"authored": "2026-07-01", "dismissed": "2026-07-01"}


def test_history_of_a_need_that_left_names_its_last_run(folder: Path) -> None:
    shutil.rmtree(folder / "photos" / "one")
    publish(folder, folder / "photos", now=datetime(2026, 8, 1, tzinfo=UTC))

    message = vocabgap("history", "sky mask").out
    identifier = message.split("(")[1].partition(")")[0]

    assert message.startswith(f"sky mask ({identifier}): 3 runs, 2026-05-01 to 2026-07-01\n")
    assert message.endswith("\n\nleft after the run of 2026-07-01\n")
    assert vocabgap("history", identifier).out == message


def test_history_of_a_need_that_was_merged_names_the_whole(folder: Path) -> None:
    settings = Settings(decisions=DecisionSettings(file=str(folder / "decisions.jsonl")))
    identifier = vocabgap("history", "sky mask").out.split("(")[1].partition(")")[0]
    Decisions(folder / "out", folder / "decisions.jsonl", actor="ana", now=MONTHS[-1]).merge(
        "film grain", "sky mask"
    )
    publish(folder, folder / "photos", now=datetime(2026, 8, 1, tzinfo=UTC), settings=settings)

    assert vocabgap("history", identifier).out.endswith("\n\npart of film grain now\n")
