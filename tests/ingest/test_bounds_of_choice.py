"""Files that a hurried choice would read slowly, or as what they are not."""

import gzip
import io
import json
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from builders.command import vocabgap
from vocabgap.ingest.scanning import scan
from vocabgap.model.settings import ScanSettings


def test_rows_with_open_quotes_are_read_again_only_so_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.ingest.formats._AGAIN", 1 << 17)
    table = tmp_path / "table.csv"
    table.write_text('description,tool\n"two\nlines",a\n' + 'x","y\n' * 8_000 + "last,b\n")

    begun = time.process_time()
    found = scan(table)

    assert found.gaps["description"].to_list() == ["two\nlines", "last"]
    assert found.rejects.height == 8_000
    assert time.process_time() - begun < 12  # 25 s if each row reads the rest


NEED = {"description": "a lasso", "kind": "other"}
EVENT = {"event": "$mcp_missing_capability", "properties": {"$mcp_intent": "trim the sky"}}


@pytest.mark.parametrize(
    ("objects", "needs"),
    [
        ([EVENT, NEED, NEED], ["a lasso", "a lasso"]),
        ([NEED] * 40 + [NEED | {"kind": "wish"}] + [NEED] * 2_000, ["a lasso"] * 2_041),
        ([NEED, EVENT, EVENT], ["trim the sky"] * 2),
        ([NEED | {"kind": "wish"}] * 3 + [NEED], ["a lasso"] * 4),
    ],
)
@pytest.mark.parametrize("is_list", [True, False])
def test_most_objects_decide_how_a_file_is_read(
    tmp_path: Path, objects: list[dict[str, Any]], needs: list[str], *, is_list: bool
) -> None:
    text = json.dumps(objects) if is_list else "\n".join(map(json.dumps, objects))
    (tmp_path / "any.json").write_text(text)

    assert scan(tmp_path / "any.json").gaps["description"].drop_nulls().to_list() == needs


def test_a_reject_in_a_long_list_has_its_place(tmp_path: Path) -> None:
    members = [{"description": "x" * 2_000}] * 1_500 + [
        {"description": 7},
        {"description": "y" * 2_000_000},
    ]
    (tmp_path / "any.json").write_text(json.dumps([*members, *members[:2]]))

    found = scan(tmp_path / "any.json")

    places = [
        (line, detail.partition(":")[0])
        for line, detail in found.rejects["line", "detail"].iter_rows()
    ]
    assert places == [(1_501, "/1500"), (1_502, "/1501")]
    assert found.gaps["line"].to_list() == [*range(1, 1_501), 1_503, 1_504]


@pytest.mark.parametrize("usual", [True, False])
def test_a_named_path_tells_which_files_of_a_folder_are_read(
    tmp_path: Path, *, usual: bool
) -> None:
    (tmp_path / "a.jsonl").write_text('{"why": "a lasso"}\n')
    (tmp_path / "b.jsonl").write_text('{"description": "a brush"}\n')

    found = scan(tmp_path, settings=ScanSettings(map={"description": "why"}, is_usual=usual))

    assert found.gaps["description"].to_list() == ["a lasso"]
    assert [Path(path).name for path in found.unread] == ["b.jsonl"]


def test_small_faults_of_files_are_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = io.BytesIO()
    pl.DataFrame({"description": [f"need {number}" for number in range(900)]}).write_parquet(table)
    Path("cut.parquet.gz").write_bytes(gzip.compress(table.getvalue())[:-200])
    Path("wide.jsonl").write_bytes('{"description": "a"}'.encode("utf-16-le"))
    Path("space.jsonl").write_text('{"why ": "a lasso"}\n')
    Path("-").write_text('{"description": "a lasso"}\n')
    Path("dead").symlink_to("nowhere")

    assert "; 1 log, folder or link not read" in vocabgap("check", "cut.parquet.gz").out
    assert (
        "UTF-16 without a byte order mark\n  export it as CSV or"
        in vocabgap("check", "wide.jsonl").err
    )
    assert "= 1 record +" in vocabgap("check", "space.jsonl", "--map", "description=why ").out
    assert "= 1 record +" in vocabgap("check", "./-").out
    assert "did you mean" not in vocabgap("check", "dead").err


@pytest.mark.parametrize(
    ("number", "counted"), [(2, "its 2 objects"), (12_000, "its first 10,000 objects")]
)
def test_an_error_says_how_many_objects_were_surveyed(
    tmp_path: Path, number: int, counted: str
) -> None:
    (tmp_path / "any.jsonl").write_text('{"colour": "red"}\n' * number)

    assert f"the keys of {counted} are colour" in vocabgap("list", str(tmp_path / "any.jsonl")).err


def test_of_large_tables_only_those_that_a_person_named_are_read_for_their_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "any.parquet"
    pl.DataFrame({"missing_capability": ["a lasso"]}).write_parquet(table)
    assert scan(tmp_path).summary.records == 1

    monkeypatch.setattr("vocabgap.ingest.choosing.MOST_WHOLE", 1)

    assert scan(table).summary.records == 1
    assert scan(tmp_path).summary.records == 0


def test_an_error_shows_an_example_of_each_key(tmp_path: Path) -> None:
    (tmp_path / "any.jsonl").write_text('{"colour": "red", "size": 7}\n')

    shown = vocabgap("list", str(tmp_path / "any.jsonl")).err

    assert 'are colour (1, "red"), size (1, 7)' in shown
