"""`vocabgap review`: questions in a terminal; what was answered is kept."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import Told, vocabgap

MASKS = ("sky mask", "mask for the sky", "cloud mask", "cloud mask tool", "skin mask", "mask of skin area")
GRAINS = ("film grain", "film grain look", "grain of old film")


class Typed(io.StringIO):
    """What is typed, one line a question."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOCABGAP_ACTOR", "ana")
    monkeypatch.setenv("VOCABGAP_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    needs = [*MASKS, *GRAINS]
    return write_corpus(tmp_path, {image: [gap(need) for need in needs] for image in ("heron", "crane")})


def events(told: Told, name: str) -> list[dict[str, Any]]:
    return [each for each in map(json.loads, told.out.splitlines()) if each["event"] == name]


def kept(folder: Path) -> list[dict[str, Any]]:
    file = folder / "decisions.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, *keys: str) -> Told:
    monkeypatch.setattr(sys, "stdin", Typed("".join(f"{key}\n" for key in keys)))
    return vocabgap("review", "photos")


@pytest.mark.parametrize("words", [("review",), ("--json", "review")])
def test_without_a_terminal_it_says_what_to_do(words: tuple[str, ...]) -> None:
    answer = vocabgap(*words, "photos")

    assert answer.code == 2
    assert "a review needs a terminal" in answer.err + answer.out
    assert "vocabgap.review in Python" in answer.err + answer.out


def test_the_next_review_goes_on_and_asks_no_more_than_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_question(out: str) -> str:
        return out.partition("1 of ")[2].partition("\n")[2].partition("Question")[0]

    first = at_a_terminal(monkeypatch, "1", "q")
    monkeypatch.setattr(sys, "stdin", Typed("s\n" * 3))
    later = vocabgap("review", "photos", "--questions", "1")

    assert first_question(first.out) != first_question(later.out)
    assert "1 question, 0 answered" in later.out


def test_a_person_answers_by_keys_and_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = at_a_terminal(monkeypatch, "1", "what", "n", "2", "s", "q")

    assert told.code == 0
    assert "Question 1 of 20: the same need?" in told.out
    assert "4 questions, 2 answered" not in told.out
    assert "3 questions, 2 answered" in told.out
    assert told.out.count("decide undo dec-") == 2
    assert [each["action"] for each in kept(tmp_path)] == ["merge", "split"]


def test_a_key_that_means_nothing_is_answered_with_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    told = at_a_terminal(monkeypatch, "y", "q")

    assert told.out.count("please type 1, 2, s or q\n") == 1
    assert "0 questions, 0 answered" in told.out


def test_the_end_of_what_is_typed_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = at_a_terminal(monkeypatch, "1")

    assert (told.code, len(kept(tmp_path))) == (0, 1)


def test_interrupted_it_keeps_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter(["1"])

    def pressed(_: str) -> str:
        for key in keys:
            return key
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", pressed)
    monkeypatch.setattr(sys, "stdin", Typed())
    told = vocabgap("review", "photos")

    assert (told.code, len(kept(tmp_path))) == (130, 1)


def test_the_report_follows_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = at_a_terminal(monkeypatch, *["1"] * 20)
    report = vocabgap("--json", "report", "photos")

    assert "no questions are left" in answer.out
    mentions = {each["capability"]["mentions"] for each in events(report, "capability")}
    assert mentions == {2 * len([*MASKS, *GRAINS])}
    assert "same need, in a review" in vocabgap("decisions", "list").out
