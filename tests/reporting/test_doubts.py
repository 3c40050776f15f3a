"""Groups that are probably one need, or two, with the commands that say so."""

import shlex
from pathlib import Path

import polars as pl
import pytest

import vocabgap as vg
from builders import gap, write_corpus
from builders.command import vocabgap
from builders.page import read
from vocabgap.clustering.screens import Part
from vocabgap.reporting.listed import MOST_DOUBTS, Doubt, doubts_of

NEEDS = (
    "sky mask", "mask the sky", "select the sky", "sky selection mask", "a mask of the sky area",
    "skin mask", "mask skin", "select the skin", "skin selection mask", "a mask of skin area",
)  # fmt: skip
ONE, OTHER = "cap-000000000001", "cap-000000000002"
OTHERS = {f"need {number}": f"cap-00000000001{number}" for number in range(MOST_DOUBTS)}


def near(wording: str, likely: float) -> vg.Neighbour:
    return vg.Neighbour(wording, 2, (wording,), likely)


def screen(*neighbours: vg.Neighbour, part: tuple[str, ...] = (), unlikely: float = 0.7) -> vg.Screen:
    parts = (Part(part, 2, unlikely),) if part else ()
    return vg.Screen("sky mask", 5, ("sky mask", *part), parts, neighbours, 1.0)


def doubts(*screens: vg.Screen, status: str = "open") -> tuple[Doubt, ...]:
    surfaces = {"sky mask": ONE, "cloud mask": OTHER, "film grain": ONE, **OTHERS}
    ranked = pl.DataFrame(
        {
            "capability_id": [*surfaces.values()],
            "status": [status if name == OTHER else "open" for name in surfaces.values()],
            "variants": [[{"wording": wording}] for wording in surfaces],
        }
    )
    return doubts_of(screens, ranked)


def test_a_group_whose_part_is_far_from_the_rest_may_be_two() -> None:
    (doubt,) = doubts(screen(part=("film grain",)))

    assert doubt.command("") == f"vocabgap decide split {ONE} --wording 'film grain'"
    assert (doubt.left_mentions, doubt.right_mentions) == (3, 2)


def test_two_groups_that_are_likely_one_need_are_a_doubt_unless_one_is_dismissed() -> None:
    shown = screen(near("cloud mask", 0.3))

    assert [doubt.command("") for doubt in doubts(shown)] == [f"vocabgap decide merge {ONE} {OTHER}"]
    assert not doubts(shown, status="dismissed")


def test_what_is_hardly_in_doubt_is_none() -> None:
    assert not doubts(screen(near("cloud mask", 0.09), part=("film grain",), unlikely=0.1))


def test_each_pair_of_groups_is_one_doubt() -> None:
    shown = screen(*(near(need, likely) for need, likely in zip(OTHERS, (0.2, 0.3), strict=False)))

    assert [doubt.likely for doubt in doubts(shown, shown)] == [0.3]


@pytest.mark.parametrize("wording", ["film\ngrain", "film grain\u202e", "-film grain", "film grain " * 9])
def test_what_cannot_be_typed_is_in_no_command(wording: str) -> None:
    assert not doubts(screen(part=(wording,)))


def test_the_report_and_the_page_name_them_and_the_commands_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_EMBEDDER", "none")
    photos = write_corpus(tmp_path, {image: [gap(need) for need in NEEDS] for image in ("heron", "crane")})
    assert vocabgap("report", photos).code == 0
    (folder,) = [path.parent for path in tmp_path.glob("*/report.md")]
    written = (folder / "report.md").read_text(encoding="utf-8")
    command = next(line.strip(" `") for line in written.splitlines() if "decide merge" in line)

    assert "## Perhaps one need" in written
    assert command in read((folder / "report.html").read_text(encoding="utf-8")).text
    program, *words = shlex.split(command)
    assert (program, vocabgap(*words).code) == ("vocabgap", 0)
    vocabgap("report", photos)
    assert command not in (folder / "report.md").read_text(encoding="utf-8")
