"""The settings of rules and categories, and what the commands print of them."""

import json
from pathlib import Path

import pytest

from builders import gap, write_config, write_corpus
from builders.command import vocabgap


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    warmth = gap("sky warmth", operations_involved=["thermal"])
    return write_corpus(
        tmp_path, {"one": [warmth, gap("the render timed out"), gap("see the other ticket")]}
    )


def test_report_says_what_is_no_gap(photos: Path) -> None:
    assert "; 1 not a gap (1 transient)" in vocabgap("report", photos).out


def test_rules_come_from_the_settings_file(photos: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path, "[not_a_gap]\ntransient = []\nticket = ['the other ticket']\n")
    message = vocabgap("--json", "report", photos, "--config", config).out.splitlines()[-1]
    assert json.loads(message)["account"]["rules"] == {"ticket": 1}


def test_operations_come_from_the_settings_file(photos: Path, tmp_path: Path) -> None:
    config = write_config(
        tmp_path,
        "[categories]\nreclassify = true\n[categories.operations]\nThermal = 'white balance'\n",
    )
    message = [
        json.loads(line)
        for line in vocabgap("--json", "report", photos, "--config", config).out.splitlines()
    ]
    assert message[-1]["reclassified"] == {"by_operations": 1, "by_classifier": 0, "left": 1}
    assert "wb" in {
        line["capability"]["intent_category"] for line in message[:-1] if "capability" in line
    }


def test_reclassify_is_a_flag(photos: Path) -> None:
    message = vocabgap("report", photos, "--reclassify").out
    assert "0 got one from their operations and 0 from the classifier; 2 still have none" in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[not_a_gap]\nmine = 3\n", "[not_a_gap] mine: expected text or a list"),
        ("[not_a_gap]\nmine = ['re:(']\n", "is not a regular expression"),
        ("[categories.operations]\nkiln = 3\n", "[categories.operations] kiln: expected text"),
        ("[categories]\nreclassify = 'perhaps'\n", "[categories] reclassify: "),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    photos: Path, tmp_path: Path, text: str, problem: str
) -> None:
    result = vocabgap("report", photos, "--config", write_config(tmp_path, text))
    assert result.code == 2
    assert problem in result.err
