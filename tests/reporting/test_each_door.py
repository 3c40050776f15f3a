"""Each door tells the needs in the same order."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Final

import polars as pl
import pytest

from builders.command import vocabgap
from builders.doors import NEEDS, PRESENT, decided_and_ranked
from builders.reporting import tables, text_of
from vocabgap.pipeline import Run
from vocabgap.reporting.issues import plan
from vocabgap.reporting.page import payload_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a need of each kind."""
    return decided_and_ranked(tmp_path_factory.mktemp("doors"))


def reported(made: Run, *options: str) -> str:
    folder = made.published.folder.parent
    given = ("--out", folder / "again", "--now", PRESENT, "--min-images", "2", "--embedder", "none")
    files = ("--decisions", folder / "decisions.jsonl", "--vocabulary", folder / "vocabulary.json")
    general = [each for each in options if each == "--json"]
    own = [each for each in options if each not in general]
    return vocabgap(*general, "report", folder / "photos", *given, *files, *own).out


def of_parquet(made: Run) -> list[str]:
    table = pl.read_parquet(made.published.folder / "capabilities.parquet")
    return table.filter(pl.col("rank") <= len(NEEDS))["capability_id"].to_list()


def of_csv(made: Run) -> list[str]:
    rows = csv.DictReader(io.StringIO(reported(made, "--format", "csv")))
    return [row["capability_id"] for row in rows]


def of_json(made: Run) -> list[str]:
    events = [json.loads(line) for line in reported(made, "--json").splitlines()]
    return [each["capability"]["capability_id"] for each in events if each["event"] == "capability"]


def of_page(made: Run) -> list[str]:
    rows = payload_of(made.published.summary)["rows"]
    return [row["id"] for row in rows if row["group"] == "open"]


def labels(made: Run, *found: str) -> list[str]:
    """Gives the identifiers of the needs that a text names, in its order."""
    named = {each.label: each.capability_id for each in made.published.summary.capabilities}
    return [named[label] for label in found]


def of_markdown(made: Run) -> list[str]:
    rows = next(table for table in tables(text_of(made)) if table[0][1] == "Need")[1:]
    return labels(made, *(row[1] for row in rows))


def of_terminal(made: Run) -> list[str]:
    return labels(made, *re.findall("|".join(NEEDS), reported(made)))


def of_shortlist(made: Run) -> list[str]:
    text = reported(made, "--format", "shortlist")
    return labels(made, *re.findall(r"^\d+\. \*\*([^*]+)\*\*", text, re.MULTILINE))


def of_issues(made: Run) -> list[str]:
    steps = plan(str(made.published.folder), [], top=10)
    return labels(made, *(each.fields["title"] for each in steps))


DOORS: Final[dict[Callable[[Run], list[str]], list[int]]] = {
    of_parquet: [0, 1, 2, 3, 4, 5],
    of_csv: [0, 1, 2, 3, 4, 5],
    of_json: [0, 1, 2, 3, 4, 5],
    of_page: [0, 1, 2, 3, 4, 5],
    of_markdown: [0, 1, 2, 3, 4, 5],
    of_terminal: [0, 1, 2, 3, 4, 5],
    of_shortlist: [0, 1, 2, 3, 4],
    of_issues: [0, 2, 3, 4, 5],  # nobody has to make what probably exists
}


@pytest.mark.parametrize("door", DOORS)
def test_each_door_tells_the_needs_in_the_order_of_the_ranking(
    made: Run, door: Callable[[Run], list[str]]
) -> None:
    listed = made.published.summary.capabilities
    assert [each.label for each in listed] == list(NEEDS)
    assert [each.rank for each in listed] == [1, 2, 3, 4, 5, 6]
    assert door(made) == [listed[place].capability_id for place in DOORS[door]]
