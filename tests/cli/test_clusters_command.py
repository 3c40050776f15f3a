"""`vocabgap clusters show`: one group from inside."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from builders import gap, write_config, write_corpus
from builders.command import vocabgap
from vocabgap.doors.clusters import joined
from vocabgap.model.tables import LINKAGE

NEEDS = (
    "sky mask",
    "sky masks",
    "mask for the sky",
    "film grain",
    "film grain size",
    "lens flare brush",
)


@pytest.fixture
def needs(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, {"heron": [gap(need) for need in NEEDS]})


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("name", ["sky mask", "mask for the sky", "SKY-MASK"])
def test_a_group_is_found_by_its_label_or_any_wording(needs: Path, name: str) -> None:
    answer = vocabgap("clusters", "show", name, needs)

    assert answer.code == 0
    assert answer.out.startswith("sky mask: 3 mentions, 3 wordings, mean similarity of wordings 0.")
    *_, result = events(vocabgap("--json", "clusters", "show", name, needs).out)
    assert result["cluster"]["label"] == "sky mask"


def test_similar_surfaces_stand_together_with_the_distance_at_which_they_joined() -> None:
    surfaces = pl.DataFrame(
        {"surface": ["reed mask", "mask of reeds", "masked", "picker"], "mentions": [3, 12, 2, 1]}
    )
    merges = [(0, 1, 0.2, 15), (2, 3, 0.4, 3), (4, 5, 0.6, 18)]

    order = joined(surfaces, pl.DataFrame(merges, schema=LINKAGE.schema, orient="row"))

    assert [*order.items()] == [
        ("mask of reeds", None),
        ("reed mask", 0.2),
        ("masked", 0.6),
        ("picker", 0.4),
    ]


def test_a_group_is_shown_as_people_decided(needs: Path) -> None:
    vocabgap("report", needs)
    vocabgap("decide", "merge", "lens flare brush", "film grain", "--actor", "ana")

    answer = vocabgap("clusters", "show", "lens flare brush", needs)

    assert answer.out.startswith("film grain size: 3 mentions, 3 wordings")


def test_a_group_says_how_many_wordings_differ_only_in_numbers(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("24mm lens profile"), gap("85mm lens profile")]}, "lenses"
    )
    assert (
        "; 2 wordings differ only in numbers\n"
        in vocabgap("clusters", "show", "85mm lens profile", root).out
    )


def test_an_unknown_group_is_answered_with_the_nearest(needs: Path) -> None:
    answer = vocabgap("clusters", "show", "sky msk", needs)

    assert (answer.code, answer.out) == (3, "")
    assert "no group is called 'sky msk'" in answer.err
    assert "did you mean 'sky mask'?" in answer.err
    assert "name a wording of the group" in vocabgap("clusters", "show", "no such need", needs).err


def test_a_label_is_found_as_it_was_shown(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, {"heron": [gap("red \x1b[31m mask")]})

    assert vocabgap("clusters", "show", "red \\u001b[31m mask", corpus).code == 0


def test_without_any_log_no_group_is_shown(tmp_path: Path) -> None:
    answer = vocabgap("clusters", "show", "sky mask", tmp_path)

    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith("vocabgap: No log was found")


def test_a_label_may_begin_with_a_dash(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, {"heron": [gap("-2 stops brush")]})

    mistaken = vocabgap("clusters", "show", "-2 stops brush", corpus)

    assert mistaken.code == 2
    assert "write arguments that begin with a dash after `--`: `vocabgap clusters show -- …`" in (
        mistaken.err
    )
    assert vocabgap("clusters", "show", "--", "-2 stops brush", corpus).code == 0


def test_synonyms_of_the_settings_bring_groups_together(needs: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path, '[cluster.synonyms]\n"film grain" = ["lens flare brush"]\n')

    out = vocabgap("--json", "clusters", "show", "film grain", needs, "--config", config).out

    assert "lens flare brush" in [event.get("wording") for event in events(out)]
