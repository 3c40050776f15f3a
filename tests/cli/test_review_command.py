"""`vocabgap review`: questions in a terminal, or line by line; what was answered is kept."""

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


def answering(monkeypatch: pytest.MonkeyPatch, *lines: str, options: tuple[str, ...] = ()) -> Told:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return vocabgap("--json", "review", "photos", *options)


def events(told: Told, name: str) -> list[dict[str, Any]]:
    return [each for each in map(json.loads, told.out.splitlines()) if each["event"] == name]


def kept(folder: Path) -> list[dict[str, Any]]:
    file = folder / "decisions.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_questions_and_answers_are_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = answering(monkeypatch, '{"answer": "same"}', '{"answer": "different"}', '{"answer": "skip"}')

    first, *_ = events(told, "question")
    (result,) = events(told, "result")
    assert {"question_id", "left", "right", "left_mentions", "right_mentions", "are_one", "why"} <= {
        *first["question"]
    }
    assert [each["decision"]["action"] for each in events(told, "decision")] == ["merge", "split"]
    assert (result["asked"], result["answered"], result["is_done"]) == (3, 2, False)
    assert [each["action"] for each in kept(tmp_path)] == ["merge", "split"]


def test_the_next_call_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = events(answering(monkeypatch, '{"answer": "same"}', '{"answer": "quit"}'), "question")
    later = events(answering(monkeypatch), "question")

    assert first[1]["question"] == later[0]["question"]
    assert first[0]["question"] != later[0]["question"]


def test_only_so_many_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    told = answering(monkeypatch, '{"answer": "skip"}', '{"answer": "skip"}', options=("--questions", "1"))

    assert len(events(told, "question")) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("same", "expected a JSON object"),
        ('{"answer": "yes"}', "answer"),
        ('{"answer": "same", "question_id": "ask-0"}', "question 'ask-0' was not asked"),
    ],
)
def test_what_is_no_answer_is_refused_and_what_came_before_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, problem: str
) -> None:
    told = answering(monkeypatch, '{"answer": "same"}', line)

    (error,) = events(told, "error")
    assert (told.code, len(kept(tmp_path))) == (2, 1)
    assert problem in error["message"]


def test_without_a_terminal_it_says_what_to_do() -> None:
    told = vocabgap("review", "photos")

    assert (told.code, told.out) == (2, "")
    assert "a review asks questions, but standard input is not a terminal" in told.err
    assert "--json" in told.err


@pytest.mark.parametrize("line", ["\udcff", "[" * 100_000, "maybe", '{"answer": "yes"}'])
def test_a_line_that_is_no_answer_is_told(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    told = answering(monkeypatch, line)

    assert told.code == 2
    assert json.loads(told.out.splitlines()[-1])["message"].startswith("answer")


def test_without_any_input_nothing_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    assert vocabgap("--json", "review", "photos").code == 0
    assert vocabgap("review", "photos").code == 2


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, *keys: str) -> Told:
    monkeypatch.setattr(sys, "stdin", Typed("".join(f"{key}\n" for key in keys)))
    return vocabgap("review", "photos")


def test_a_person_answers_by_keys_and_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = at_a_terminal(monkeypatch, "1", "what", "n", "2", "s", "q")

    assert told.code == 0
    assert "Question 1 of 20: one need or two?" in told.out
    assert "4 questions, 2 answered" not in told.out
    assert "3 questions, 2 answered" in told.out
    assert told.out.count("decide undo dec-") == 2
    assert [each["action"] for each in kept(tmp_path)] == ["merge", "split"]


def test_a_key_that_means_nothing_is_answered_with_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    told = at_a_terminal(monkeypatch, "y", "q")

    assert told.out.count("expected 1, 2, s or q\n") == 1
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


def test_the_report_and_the_groups_follow_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    told = answering(monkeypatch, *['{"answer": "same"}'] * 20)
    (result,) = events(told, "result")
    report = vocabgap("--json", "report", "photos")
    listed = vocabgap("decisions", "list")

    assert result["is_done"]
    mentions = {each["capability"]["mentions"] for each in events(report, "capability")}
    assert mentions == {2 * len([*MASKS, *GRAINS])}
    assert "one need, when asked" in listed.out
