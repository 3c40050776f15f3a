"""Wordings in another language than most: which ones count, and where a report says so."""

import json
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.reporting.languages import in_other_languages

ENGLISH = [
    "plant the bulbs in rows",
    "no way to graft a pear",
    "water the ferns at dawn",
    "compost",
]
GERMAN = [
    "die Hecke im Herbst schneiden",
    "Beete mit dem Schlauch gießen",
    "Blätter von der Wiese harken",
]


@pytest.mark.parametrize(
    ("wordings", "others"),
    [
        ([*ENGLISH, "plantar bulbos con abono"], 1),
        ([*ENGLISH, "arroser les fougères", "посадить луковицы рядами"], 2),
        ([*ENGLISH, "球根を列に植える", "żółty słonecznik"], 2),
        ([*ENGLISH, "crème brûlée torch for the kitchen", "DER and PEM keys", "São Paulo"], 0),
        ([*ENGLISH, "de-thatch lawns", "block all but garden.com"], 0),
        ([*GERMAN, "plant the bulbs in rows of the bed"], 1),
        ([*GERMAN, "Rosen in Reihen"], 0),  # `in` is English, too
        ([*GERMAN, "tondre avec soin"], 0),  # one word may be borrowed
        (["compost", "mulch", "plantar con abono"], 0),  # nothing tells the main language
        ([], 0),
    ],
)
def test_small_words_and_scripts_tell_other_languages(wordings: list[str], others: int) -> None:
    assert in_other_languages(wordings) == others
    assert in_other_languages(reversed(wordings)) == others


def test_every_form_of_a_report_says_how_many(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"oak": [*map(gap, ENGLISH), gap("plantar bulbos con abono")]})
    note = "1 wording is in another language than most, and groups rarely join translations."

    out = tmp_path / "out"
    printed = vocabgap("report", root, "--out", out).out
    totals = json.loads(vocabgap("--json", "report", root, "--out", out).out.splitlines()[-1])

    assert note in printed
    assert totals["in_other_languages"] == 1
    for name in ("report.md", "report.html"):
        assert note in (out / name).read_text(encoding="utf-8")
