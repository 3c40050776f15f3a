"""Pairs of groups that are perhaps one need, with the command that merges them."""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.reporting.listed import Choices, Doubt, doubts_of

NEEDS = (
    "sky mask", "mask the sky", "select the sky", "sky selection mask", "a mask of the sky area",
    "skin mask", "mask skin", "select the skin", "skin selection mask", "a mask of skin area",
)  # fmt: skip
ONE, OTHER = "cap-000000000001", "cap-000000000002"
MANY = [f"cap-0000000000{number}" for number in range(10, 16)]


def doubts(*choices: Choices, status: str = "open") -> tuple[Doubt, ...]:
    names = [ONE, OTHER, "named by hand", *MANY]
    ranked = pl.DataFrame(
        {"capability_id": names, "label": names, "mentions": range(len(names), 0, -1)}
    )
    has_status = pl.when(capability_id=OTHER).then(pl.lit(status)).otherwise(pl.lit("open"))
    return doubts_of(choices, ranked.with_columns(has_status.alias("status")))


def test_two_groups_that_are_likely_one_need_are_a_doubt_unless_one_is_dismissed() -> None:
    choices = Choices(ONE, ((OTHER, 0.3),))

    assert [(doubt.capability_id, doubt.other_id) for doubt in doubts(choices)] == [(ONE, OTHER)]
    assert not doubts(choices, status="dismissed")


def test_what_is_unlikely_or_cannot_be_pasted_is_no_doubt() -> None:
    assert not doubts(
        Choices(ONE, ((OTHER, 0.09), ("named by hand", 0.9), ("cap-00000000000f", 0.9)))
    )


def test_each_pair_is_one_doubt_and_there_are_few() -> None:
    pairs = doubts(Choices(ONE, ((OTHER, 0.3),)), Choices(OTHER, ((ONE, 0.3),)))

    assert [(doubt.capability_id, doubt.other_id) for doubt in pairs] == [(ONE, OTHER)]
    assert len(doubts(Choices(ONE, tuple((name, 0.5) for name in MANY)))) == 5


def test_the_report_and_the_page_name_them_and_the_commands_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_EMBEDDER", "none")
    photos = write_corpus(tmp_path, {"heron": [gap(need) for need in NEEDS]})
    assert vocabgap("report", photos, "--evidence").code == 0
    (folder,) = [path.parent for path in tmp_path.glob("*/report.md")]
    written = (folder / "evidence.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`(vocabgap decide merge [^`]+)`", written)

    assert "## Perhaps one need" in written
    assert command in (folder / "report.html").read_text(encoding="utf-8")
    program, *words = shlex.split(command)
    assert (program, vocabgap(*words).code) == ("vocabgap", 0)
    vocabgap("report", photos, "--evidence")
    assert command not in (folder / "evidence.md").read_text(encoding="utf-8")
