"""`vocabgap clusters`: the list, the sweep and one group."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_config, write_corpus
from builders.command import vocabgap

Told = Any

NEEDS = ("sky mask", "sky masks", "mask for the sky", "film grain", "film grain size", "lens flare brush")


@pytest.fixture
def needs(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, {"heron": [gap(need) for need in NEEDS]})


def events(told: Told) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.out.splitlines()]


def test_groups_are_listed_and_the_long_tail_is_counted(needs: Path) -> None:
    told = vocabgap("clusters", needs)

    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[2].split()[:4] == ["sky", "mask", "3", "2"]
    assert lines[-1] == "2 groups of several surfaces, 5 mentions; 1 singleton, 1 mention."


def test_events_list_the_singletons_too(needs: Path) -> None:
    *groups, result = events(vocabgap("--json", "clusters", needs))

    assert [group["label"] for group in groups] == ["sky mask", "film grain size", "lens flare brush"]
    assert (result["event"], result["clusters"], result["singletons"]) == ("result", 3, 1)


def test_a_sweep_shows_every_cut_and_marks_the_one_in_force(needs: Path) -> None:
    told = vocabgap("clusters", "--threshold-sweep", needs)

    assert told.code == 0
    marked = [line for line in told.out.splitlines() if line.startswith("by wording *")]
    assert len(marked) == 1
    *cuts, result = events(vocabgap("--json", "clusters", needs, "--threshold-sweep"))
    assert result["cuts"] == len(cuts) == 15
    assert [cut["threshold"] for cut in cuts[:3]] == [None, 0.3, 0.35]
    groups = [cut["groups"] for cut in cuts[1:]]
    assert groups == sorted(groups, reverse=True)


@pytest.mark.parametrize("name", ["sky mask", "mask for the sky", "SKY-MASK"])
def test_a_group_is_found_by_its_label_or_any_wording(needs: Path, name: str) -> None:
    told = vocabgap("clusters", "show", name, needs)

    assert told.code == 0
    assert told.out.startswith("sky mask: 3 mentions, 3 wordings, how alike the wordings are: 0.")
    assert "mask for the sky  1 ╶─" in told.out
    *_, result = events(vocabgap("--json", "clusters", "show", name, needs))
    assert result["cluster"]["label"] == "sky mask"


def test_a_group_that_is_not_there_is_said_with_the_nearest(needs: Path) -> None:
    told = vocabgap("clusters", "show", "sky msk", needs)

    assert (told.code, told.out) == (3, "")
    assert "no group is called 'sky msk'" in told.err
    assert "did you mean 'sky mask'?" in told.err


def test_a_capability_that_was_decided_about_is_answered_with_its_groups(needs: Path) -> None:
    vocabgap("report", needs)
    vocabgap("decide", "merge", "sky mask", "lens flare brush", "--actor", "ana")
    vocabgap("decide", "rename", "sky mask", "brush of all kinds", "--actor", "ana")
    (decided,) = [
        event["capability"]["capability_id"]
        for event in events(vocabgap("--json", "report", needs))
        if event.get("capability", {}).get("label") == "brush of all kinds"
    ]

    for name in ("brush of all kinds", decided):
        told = vocabgap("clusters", "show", name, needs)

        assert told.code == 3
        assert "in 'out', consists of 'sky mask', 'lens flare brush'" in told.err


def test_a_group_that_no_run_knows_either_is_said_to_be_looked_for_before_decisions(needs: Path) -> None:
    told = vocabgap("clusters", "show", "no such need", needs, "--run", "nowhere")

    assert "these are the groups as found, before decisions" in told.err


def test_a_label_is_found_as_it_was_shown(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, {"heron": [gap("red \x1b[31m mask")]})

    assert vocabgap("clusters", "show", "red \\u001b[31m mask", corpus).code == 0


@pytest.mark.parametrize("options", [(), ("--threshold-sweep",)])
def test_where_no_log_is_found_that_is_said_as_in_a_report(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()

    told = vocabgap("clusters", *options, tmp_path / "empty")

    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("No log was found: nothing below is called vocabulary_gaps.jsonl")
    report = vocabgap("report", tmp_path / "empty", "--allow-empty").out
    assert told.out == "".join(report.splitlines(keepends=True)[:2])


def test_no_group_can_be_shown_where_no_log_is_found(tmp_path: Path) -> None:
    told = vocabgap("clusters", "show", "sky mask", tmp_path)

    assert (told.code, told.out) == (3, "")
    assert told.err.startswith("vocabgap: No log was found")


def test_events_say_where_every_line_went(tmp_path: Path) -> None:
    (result,) = events(vocabgap("--json", "clusters", tmp_path))

    assert (result["clusters"], result["account"]["files"]) == (0, 0)


def test_a_label_may_begin_with_a_dash(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, {"heron": [gap("-2 stops brush")]})

    mistaken = vocabgap("clusters", "show", "-2 stops brush", corpus)

    assert mistaken.code == 2
    assert "what begins with a dash and is no option goes after two: `vocabgap clusters show -- …`" in (
        mistaken.err
    )
    assert vocabgap("clusters", "show", "--", "-2 stops brush", corpus).code == 0


@pytest.mark.parametrize("name", ["show", "list"])
def test_a_folder_may_be_called_as_a_command_is(tmp_path: Path, name: str) -> None:
    write_corpus(tmp_path, {"heron": [gap("sky mask")]}, name=name)

    assert vocabgap("clusters", f"./{name}").out.endswith("1 singleton, 1 mention.\n")


def test_synonyms_of_the_settings_bring_groups_together(needs: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path, '[cluster.synonyms]\n"film grain" = ["lens flare brush"]\n')

    told = vocabgap("--json", "clusters", needs, "--config", config)

    assert [event["label"] for event in events(told)[:-1]] == ["film grain", "sky mask"]
