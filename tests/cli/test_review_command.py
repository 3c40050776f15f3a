"""`vocabgap review`: screens in a terminal; what was answered is kept."""

import io
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vocabgap as vg
from builders import gap, write_corpus
from builders.command import CommandResult, vocabgap
from builders.hostile import hostile_texts, unseen
from vocabgap.decisions.reviewing import Review

MASKS = (
    "sky mask",
    "mask for the sky",
    "cloud mask",
    "cloud mask tool",
    "skin mask",
    "mask of skin area",
)
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
    needs = [gap(need, workaround=f"a brush, not a {need}") for need in (*MASKS, *GRAINS)]
    return write_corpus(tmp_path, dict.fromkeys(("heron", "crane"), needs))


def events(result: CommandResult, name: str) -> list[dict[str, Any]]:
    return [each for each in map(json.loads, result.out.splitlines()) if each["event"] == name]


def kept(folder: Path) -> list[dict[str, Any]]:
    file = folder / "decisions.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, *keys: str, root: str = "photos", options: Sequence[str] = ()
) -> CommandResult:
    monkeypatch.setattr(sys, "stdin", Typed("".join(f"{key}\n" for key in keys)))
    return vocabgap("review", root, *options)


def actions(folder: Path) -> list[str]:
    return [each["action"] for each in kept(folder)]


def labels_of_screens(result: CommandResult) -> list[str]:
    return re.findall(r"^Screen \d+: ([^;\n]+)", result.out, re.MULTILINE)


@pytest.mark.parametrize("words", [("review",), ("--json", "review")])
def test_without_a_terminal_it_says_what_to_do(words: tuple[str, ...]) -> None:
    result = vocabgap(*words, "photos")

    assert result.code == 2
    assert "a review needs a terminal" in result.err + result.out
    assert "vocabgap.review in Python" in result.err + result.out


@pytest.mark.parametrize("ticks", ["1,-a", "1-1 1 -Aa"])
def test_ticks_are_decisions_that_the_next_report_follows(
    ticks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = at_a_terminal(monkeypatch, ticks, "q")

    assert result.code == 0
    assert {"merge", "split"} <= {*actions(tmp_path)}
    assert "merged 2 groups and split off 1 part: rank 2" in result.out
    assert "next: `vocabgap report photos`" in result.out
    merge, split = (
        next(each for each in kept(tmp_path) if each["action"] == name)
        for name in ("merge", "split")
    )
    assert vocabgap("report", "photos", "--now", "2026-07-01").code == 0
    ranked = pl.read_parquet(tmp_path / "out" / "capabilities.parquet")
    of = {
        row["wording"]: name
        for name, rows in ranked.select("capability_id", "variants").iter_rows()
        for row in rows
    }
    anchor = of[merge["capability"]["wordings"][0]]
    assert of[merge["other"]["wordings"][0]] == anchor
    assert of[split["wordings"][0]] != of[split["capability"]["wordings"][0]]


@pytest.mark.parametrize("ticks", ["1-2", "2,2-1"])
def test_a_range_ticks_all_neighbours_in_it(
    ticks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = at_a_terminal(monkeypatch, ticks, "q")

    assert "merged 3 groups" in result.out
    assert actions(tmp_path).count("merge") == 2


def test_the_next_command_has_the_options_of_the_review(monkeypatch: pytest.MonkeyPatch) -> None:
    result = at_a_terminal(
        monkeypatch, "", "q", options=("--hidden", "--threshold", "0.5", "--tenant", "local")
    )

    words = "vocabgap report photos --tenant local --hidden --threshold 0.5"
    assert f"next: `{words}`" in result.out
    assert vocabgap(*words.split()[1:]).code == 0


def test_enter_confirms_a_group_and_it_is_not_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = at_a_terminal(monkeypatch, "", "q")
    second = at_a_terminal(monkeypatch, "q")

    assert actions(tmp_path) == ["confirm"]
    assert "left as it is: rank 2" in first.out
    assert labels_of_screens(first)[1:] == labels_of_screens(second)[:1]


def test_a_skipped_screen_is_shown_by_the_next_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = at_a_terminal(monkeypatch, "s", "q")
    second = at_a_terminal(monkeypatch, "q")

    assert not kept(tmp_path)
    assert (
        labels_of_screens(first)[0] == labels_of_screens(second)[0] != labels_of_screens(first)[1]
    )
    assert "1 screen, 0 decisions" in first.out


def test_going_back_undoes_the_answer_and_shows_its_screen_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = at_a_terminal(monkeypatch, "u", "1 -a", "u", "", "q")

    first, again, second, third, _ = labels_of_screens(result)
    assert first == again == third != second
    assert "this is the first screen" in result.out
    assert actions(tmp_path).count("undo") == 3  # of the merge, the split and the confirmation
    assert "1 screen, 1 decision in decisions.jsonl" in result.out


def test_records_of_a_group_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    result = at_a_terminal(monkeypatch, "e", "e 1", "e 0", "e 99", "q")

    label, *_ = labels_of_screens(result)
    assert f"\n{label}:\n  2026-" in result.out.replace("?: ", "?: \n")
    assert "image heron: " in result.out
    assert "workaround: a brush, not a" in result.out
    assert "this screen has no group 0" in result.out
    assert "this screen has no group 99" in result.out


def test_other_keys_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ("what", "0", "0-1", "1-99", "99", "-z", "-", ",", "1 e", "1_0", "²")

    result = at_a_terminal(monkeypatch, *keys, "?", "q")

    message = "type numbers and letters of this screen, such as 1 3 -b"
    assert result.out.count(message) == len(keys)
    assert result.out.count("skips the screen") == 1
    assert not kept(tmp_path)


def test_the_end_of_the_input_quits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = at_a_terminal(monkeypatch, "1")

    assert result.code == 0
    assert "1 screen, 2 decisions in decisions.jsonl" in result.out
    assert "merged 2 groups" in result.out
    assert "merge" in actions(tmp_path)


def test_it_ends_when_there_is_no_further_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    result = at_a_terminal(monkeypatch, *[""] * 30)

    assert result.code == 0
    assert "done: every other tick is below 10 %; --top 20 asks about more groups" in result.out


def separating(under_review: Review, wording: str) -> vg.Screen:
    """A screen that was shown before somebody else answered: it offers to split off one wording."""
    screens = replace(under_review.clusters, constraints=()).screens(0)
    screen = next(each for each in screens if wording in each.wordings)
    return replace(screen, parts=(vg.Part((wording,), 2, 0.5),))


def test_another_persons_decision_is_named_and_nothing_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, "1", "q")
    united = next(each for each in kept(tmp_path) if each["action"] == "merge")
    stranger = united["other"]["wordings"][0]
    written = (tmp_path / "decisions.jsonl").read_bytes()
    monkeypatch.setattr(Review, "next_screen", lambda review, _: separating(review, stranger))

    result = at_a_terminal(monkeypatch, "-a", "q", options=("--actor", "ben"))

    assert "two decisions contradict each other" in result.out
    assert "by ana)" in result.out
    assert "nothing was saved; answer without this tick" in result.out
    assert (tmp_path / "decisions.jsonl").read_bytes() == written


@pytest.mark.parametrize("columns", [80, 110])
def test_a_screen_fits_into_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = "mask " + "with a very long description of the sky " * 20
    needs = [gap(f"{need} {long}") for need in MASKS]
    write_corpus(tmp_path, {"heron": needs, "crane": needs}, "long")
    monkeypatch.setenv("COLUMNS", str(columns))
    result = at_a_terminal(monkeypatch, "q", root="long")

    table = result.out.partition("wordings\n")[2]
    assert max(map(len, table.split("\n"))) <= columns


@pytest.mark.parametrize("kind", ["own", "published"])
def test_texts_of_logs_are_shown_and_never_obeyed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = [gap(f"sky mask {text}", workaround=text) for text in hostile_texts(kind)]
    write_corpus(tmp_path, {"heron": needs, "crane": needs}, "hostile")

    keys = ("e", "e 1", "1 -a", *["e", "", "1"] * 5, "q")
    result = at_a_terminal(monkeypatch, *keys, root="hostile")

    assert result.code == 0
    assert len(labels_of_screens(result)) > 5
    assert not unseen(result.out)


def test_confirmed_groups_are_counted_and_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch, "1", "", "u", "", "q")

    listed = vocabgap("decisions", "list").out
    assert "left '" not in listed
    assert "merged '" in listed
    assert "3 confirmations are not listed" in listed


def test_the_last_change_is_undone_and_not_a_confirmation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, "1", "", "q")
    merge = next(each for each in kept(tmp_path) if each["action"] == "merge")

    assert vocabgap("decide", "undo", "--last").code == 0

    assert kept(tmp_path)[-1]["undoes"] == merge["decision_id"]
