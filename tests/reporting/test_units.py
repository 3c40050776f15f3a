"""What a report counts beside mentions: images, or what the settings or the sources name."""

import json
from pathlib import Path

import pytest

from builders import gap, write_config, write_corpus
from builders.command import vocabgap
from builders.page import read
from builders.reporting import publish, text_of
from vocabgap.errors import InvalidInputError
from vocabgap.model.settings import RankBy, RankSettings, ReportSettings, Settings, overridden
from vocabgap.model.sources import Source

LINES = [gap("graft a branch"), gap("prune a hedge")]


@pytest.mark.parametrize(
    ("read_sources", "unit"),
    [
        ((), "image"),
        (("chemigram",), "image"),
        (("gh-aw", "gh-aw-run"), "workflow"),
        (("otlp", "kernel"), "source"),
        (("otlp", "chemigram"), "image"),
        (("mine",), "image"),
        (("yours",), "grove"),
        (("",), "source"),  # a file that no source knows
    ],
)
def test_sources_of_one_unit_name_it(read_sources: tuple[str, ...], unit: str) -> None:
    own = {
        "mine": Source(glob="m.jsonl", fields={"notes": "n"}),
        "yours": Source(glob="y.jsonl", unit="grove"),
    }
    assert Settings(source=own).unit(read_sources) == unit
    assert (
        Settings(source=own, report=ReportSettings(unit="orchard")).unit(read_sources) == "orchard"
    )


@pytest.mark.parametrize("unit", ["-s", "a/b/c", "run/", "run\n", "<b>", "x" * 41, "7"])
def test_a_unit_is_a_word_or_two(unit: str) -> None:
    with pytest.raises(InvalidInputError, match="unit"):
        overridden(ReportSettings(), unit=unit)


def test_every_text_says_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    root = write_corpus(tmp_path, dict.fromkeys(("elm", "oak", "yew"), LINES))
    settings = Settings(
        report=ReportSettings(unit="copse/copses"), rank=RankSettings(by=RankBy.IMAGES)
    )
    made = publish(tmp_path, root, settings=settings, share=2)
    page = (made.published.folder / "report.html").read_text(encoding="utf-8")
    shared = (made.published.folder / "share.html").read_text(encoding="utf-8")
    assert "on 3 copses" in text_of(made)
    assert "| Copses |" in text_of(made)
    assert "by copses\n" in text_of(made)
    for text in (text_of(made), read(page).text, read(shared).text):
        assert "copses" in text
        assert not {"image", "images", "Image", "Images"} & set(text.replace("/", " ").split())
    assert '"unit":["copse","copses"]' in page
    config = write_config(tmp_path, "[report]\nunit = 'copse/copses'\n")
    given = ("--run", made.published.folder, "--config", config)
    assert "copses" in vocabgap("history", "graft a branch", "--run", made.published.folder).out
    assert "on 3 copses" in vocabgap("show", "graft a branch", root, *given).out
    listed = vocabgap("list", root, *given).out
    assert listed.splitlines()[0].split()[2] == "copse"
    assert "on 3 copses" in listed
    assert "no record has copse 'ash'" in vocabgap("list", root, "--image", "ash", *given).err
    assert (
        "no copse, session, capability or record is"
        in vocabgap("show", "ash tree", root, *given).err
    )


def test_known_sources_name_their_unit(tmp_path: Path) -> None:
    item = {"type": "missing_tool", "tool": "dot", "reason": "no graph", "workflow_name": "Nightly"}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "agent_output.json").write_text(
        json.dumps({"items": [item]}), encoding="utf-8"
    )
    assert "on 1 workflow" in text_of(publish(tmp_path, tmp_path / "run"))
