"""Groups that are probably one need, or two, with the commands that say so."""

import shlex
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.page import read
from vocabgap.clustering.questions import Question
from vocabgap.reporting.listed import MOST_DOUBTS, Doubt, doubts_of

NEEDS = (
    "sky mask", "sky mask tool", "cloud mask", "cloud mask tool",
    "film grain", "film grain look", "grain of old film", "old film look",
)  # fmt: skip
ONE, OTHER = "cap-000000000001", "cap-000000000002"
OTHERS = {f"need {number}": f"cap-00000000001{number}" for number in range(MOST_DOUBTS)}


def question(left: str, *right: str, are_one: bool, likely: float) -> Question:
    return Question("ask-1", (left,), right, 3, 2, are_one, likely, "")


def doubts(asked: Iterable[Question], status: str = "open") -> tuple[Doubt, ...]:
    surfaces = {"sky mask": ONE, "cloud mask": OTHER, "film grain": ONE, "reboot": ONE, **OTHERS}
    groups = pl.DataFrame(
        {"run": "present", "surface": [*surfaces], "capability_id": [*surfaces.values()]},
    )
    ranked = pl.DataFrame(
        {"capability_id": [ONE, *OTHERS.values(), OTHER], "status": [*["open"] * 6, status]}
    )
    return doubts_of(asked, groups, ranked)


def test_a_group_whose_sides_are_far_apart_may_be_two() -> None:
    (doubt,) = doubts([question("sky mask", "film grain", are_one=True, likely=0.3)])

    assert doubt.command("") == f"vocabgap decide split {ONE} --wording 'film grain'"


@pytest.mark.parametrize(("are_one", "likely"), [(False, 0.09), (True, 0.9)])
def test_what_is_hardly_in_doubt_is_none(are_one: bool, likely: float) -> None:
    other = "film grain" if are_one else "cloud mask"

    assert not doubts([question("sky mask", other, are_one=are_one, likely=likely)])


def test_pairs_that_are_hardly_one_need_are_left_out() -> None:
    asked = [
        question("sky mask", need, are_one=False, likely=likely)
        for need, likely in zip(OTHERS, (0.2, 0.3), strict=False)
    ]

    assert [doubt.likely for doubt in doubts(asked)] == [0.3]


def test_of_one_group_there_is_one_doubt() -> None:
    asked = question("sky mask", "film grain", are_one=True, likely=0.3)

    assert len(doubts([asked, asked])) == 1


@pytest.mark.parametrize("wording", ["film\ngrain", "film grain\u202e", "-film grain", "film grain " * 9])
def test_what_cannot_be_typed_is_in_no_command(wording: str) -> None:
    assert not doubts([question("film grain", wording, are_one=True, likely=0.3)])


def test_the_report_and_the_page_name_them_and_the_commands_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_EMBEDDER", "none")
    photos = write_corpus(tmp_path, {image: [gap(need) for need in NEEDS] for image in ("heron", "crane")})
    assert vocabgap("report", photos).code == 0
    (folder,) = [path.parent for path in tmp_path.glob("*/report.md")]
    written = (folder / "report.md").read_text(encoding="utf-8")
    (command,) = [line.strip(" `") for line in written.splitlines() if "decide split" in line]

    assert "## Probably two needs" in written
    assert command in read((folder / "report.html").read_text(encoding="utf-8")).text
    program, *words = shlex.split(command)
    assert (program, vocabgap(*words).code) == ("vocabgap", 0)
    vocabgap("report", photos)
    assert "Probably two needs" not in (folder / "report.md").read_text(encoding="utf-8")
