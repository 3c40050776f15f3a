"""The sessions of the manual are what the commands print, and what it has others run is understood."""

import re
import shlex
from pathlib import Path

import pytest

from builders.command import vocabgap
from builders.manual import WHOLE, blocks, page, session, there
from faults import soak
from vocabgap.clustering.encoder import find_minilm

__all__ = ["there"]  # a fixture
WEEKLY = "weekly-job"


@pytest.mark.parametrize(
    ("name", "after", "before", "fewest"),
    [
        ("tutorial", "# ", "", 9), ("installing", "## A new version", "", 6),
        ("gap-logs", "## Your own file", "", 5), ("logging", "# ", "## The server", 2),
        ("logging", "## Hooks", "", 5),
        (WEEKLY, "# ", "## Hand a report on", 16), ("settings", "### A model of your own", "", 7),
    ],
)  # fmt: skip
def test_session_is_what_the_commands_print(
    name: str, after: str, before: str, fewest: int, demo: Path, there: Path
) -> None:
    if (name, after) == ("logging", "# "):
        vocabgap("report", demo, "--now", "last", "--quiet")
    if (name, after) == (WEEKLY, "# "):
        Path("vocabgap.toml").write_text(blocks("toml", WEEKLY)[0], encoding="utf-8")
    if name == "settings":
        _lay_out_model(there / "models" / "mine")

    assert session(name, there, after, before) >= fewest


def _lay_out_model(folder: Path) -> None:
    files = find_minilm()
    if files is None:
        pytest.skip("the known model is not installed")
    folder.mkdir(parents=True)
    for path in (files.model, files.tokenizer):
        (folder / path.name).symlink_to(path)


def test_jobs_of_the_manual_are_commands_that_there_are() -> None:
    jobs = re.findall(r"vocabgap ((?:report|check) [^\n]*)", "\n".join(blocks("cron", WEEKLY)))

    for job in jobs:
        verb, *options = shlex.split(job)
        message = vocabgap(verb, "--help").out
        assert {option for option in options if option.startswith("--")} <= set(
            re.findall(r"--[a-z-]+", message)
        )

    assert len(jobs) == 1


@WHOLE
def test_table_of_attacks_is_one_that_the_soak_prints() -> None:
    heading, _, *rows = re.findall(
        r"^\| (.*) \|$", page("safety").split("## Attacks")[1], re.MULTILINE
    )
    message = [dict(zip(soak.HEADINGS, row.split(" | "), strict=True)) for row in rows]

    assert heading == " | ".join(soak.HEADINGS)
    assert {each["attack"] for each in message} >= {attack for attack, _ in soak.FAMILIES.values()}
    assert {each["broken"] for each in message} == {"0"}
