import json
import re
from pathlib import Path

import pytest

import vocabgap as package
from builders.command import vocabgap
from vocabgap.doors.about import pages

FILES = sorted(Path(package.__file__).parent.glob("**/manual/*.md"), key=lambda path: path.stem)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_page_is_printed_as_it_is(path: Path) -> None:
    result = vocabgap("manual", path.stem)
    (event,) = [
        json.loads(line) for line in vocabgap("--json", "manual", path.stem).out.splitlines()
    ]

    assert (result.code, result.out) == (0, path.read_text(encoding="utf-8"))
    assert (event["event"], event["page"], event["text"]) == ("result", path.stem, result.out)


def test_without_a_name_the_pages_are_listed_with_their_titles() -> None:
    (event,) = [json.loads(line) for line in vocabgap("--json", "manual").out.splitlines()]

    assert sorted(event["pages"]) == [path.stem for path in FILES]
    assert event["pages"]["tutorial"] == "Tutorial"
    assert all(title in vocabgap("manual").out for title in event["pages"].values())


def test_pages_are_listed_by_what_they_are_for() -> None:
    message = vocabgap("manual").out

    assert list(pages()) == ["tutorial", "how to", "reference", "explanation"]
    places = [
        re.search(rf"\b{name} {{2,}}", message) for names in pages().values() for name in names
    ]
    assert all(places)
    assert sorted(places, key=lambda place: place.start() if place else 0) == places


@pytest.mark.parametrize(
    ("name", "message"), [("tutoral", "did you mean 'tutorial'?"), ("../text", "there are")]
)
def test_a_page_that_is_not_there_is_told_with_what_there_is(name: str, message: str) -> None:
    result = vocabgap("manual", name)

    assert (result.code, result.out) == (3, "")
    assert message in result.err
