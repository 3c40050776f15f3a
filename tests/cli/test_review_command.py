"""`vocabgap review`: screens in a terminal; what was answered is kept."""

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


def test_a_person_ticks_and_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = at_a_terminal(monkeypatch, "1", "what", "-a", "q")

    assert told.code == 0
    assert told.out.count("saved") == 2
    assert {"merge", "split"} <= {each["action"] for each in kept(tmp_path)}
    assert "the same need" in vocabgap("decisions", "list").out


def test_interrupted_it_keeps_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter(["1"])

    def pressed(_: str) -> str:
        for key in keys:
            return key
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", pressed)
    monkeypatch.setattr(sys, "stdin", Typed())
    told = vocabgap("review", "photos")

    assert told.code == 130
    assert kept(tmp_path)
