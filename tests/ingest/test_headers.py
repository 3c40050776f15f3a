"""A header may repeat a name or leave one out, as long as nobody reads one value of such a column."""

import json
from pathlib import Path

import pytest

from builders.command import vocabgap

JIRA = "Summary,Labels,Labels,Comment,Comment,\nturn a layer,ui,,first,second,x\nfog,map,3d,,,\n"


def listed(file: Path, *options: str) -> list[dict[str, object]]:
    *gaps, _ = map(json.loads, vocabgap("--json", "list", file, *options).out.splitlines())
    return gaps


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "board.csv"
    file.write_text(JIRA, encoding="utf-8")
    return file


def test_columns_that_no_map_uses_cost_nothing(export: Path) -> None:
    gaps = listed(export, "--map", "missing_capability=Summary")

    assert {gap["missing_capability"] for gap in gaps} == {"turn a layer", "fog"}


def test_a_field_with_a_list_takes_all_values_of_a_name(export: Path) -> None:
    gaps = listed(
        export, "--map", "missing_capability=Summary", "--map", "operations_involved=Labels"
    )

    assert {str(gap["missing_capability"]): gap["operations_involved"] for gap in gaps} == {
        "turn a layer": ["ui"],
        "fog": ["map", "3d"],
    }


@pytest.mark.parametrize(
    "options", [("description=Comment",), ("missing_capability=Summary", "notes=Labels")]
)
def test_a_field_with_one_value_refuses_a_repeated_name(
    options: tuple[str, ...], export: Path
) -> None:
    answer = vocabgap("check", export, *(word for option in options for word in ("--map", option)))

    name = options[-1].partition("=")[2]
    assert (answer.code, answer.out) == (2, "")
    assert f"board.csv': the header has the name '{name}' 2 times\n" in answer.err
    assert "another name" in answer.err


def test_the_index_of_a_data_frame_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "wishes.csv"
    file.write_text(",need,date\n0,dark mode,2026-06-02\n1,undo,2026-06-03\n", encoding="utf-8")

    message = vocabgap("check", file).err
    gaps = listed(file, "--map", "missing_capability=need", "--map", "timestamp=date")

    assert "the keys of its 2 objects are need (2" in message
    assert [str(gap["timestamp"])[:10] for gap in gaps] == ["2026-06-03", "2026-06-02"]
