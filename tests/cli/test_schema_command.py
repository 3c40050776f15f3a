import json

import pytest

from builders.command import vocabgap
from vocabgap.extensions import extensions
from vocabgap.model.record import RejectReason
from vocabgap.model.tables import PUBLISHED
from vocabgap.reporting.manifest import Manifest

COLUMNS = {name: table.names for name, table in PUBLISHED.items()} | {
    "run": [*Manifest.__struct_fields__]
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_is_listed_with_dtype_and_meaning(name: str) -> None:
    outcome = vocabgap("--json", "schema", name)
    *columns, result = [json.loads(line) for line in outcome.out.splitlines()]
    assert [column["name"] for column in columns] == COLUMNS[name]
    assert all(column["dtype"] and column["meaning"] for column in columns)
    assert (result["event"], result["schema"], result["columns"]) == ("result", name, len(columns))


def test_a_person_reads_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "groups"
    monkeypatch.setenv("COLUMNS", "600")
    result = vocabgap("schema", name)
    assert result.code == 0
    assert result.out.startswith(f"{name}: {PUBLISHED[name].row}\n")
    for column in PUBLISHED[name].columns:
        assert column.meaning in result.out
        assert str(column.dtype) in result.out


def test_the_reasons_of_rejects_are_listed() -> None:
    message = vocabgap("schema", "rejects").out.splitlines()[-1]
    event = json.loads(vocabgap("--json", "schema", "rejects").out.splitlines()[-1])
    assert event["reasons"] == list(RejectReason)
    assert message == f"reasons: {', '.join(RejectReason)}"


DOCUMENTS = {
    name: each.folder / file for each in extensions() for name, file in each.documents.items()
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_a_slice_is_printed_as_it_is(name: str) -> None:
    result, text = vocabgap("schema", name), DOCUMENTS[name].read_text(encoding="utf-8")
    (event,) = [json.loads(line) for line in vocabgap("--json", "schema", name).out.splitlines()]
    assert (result.code, result.out) == (0, text)
    assert (event["event"], event["schema"], event["document"]) == ("result", name, text)


@pytest.mark.parametrize("name", ["capability", "", "[/x]", "RUN"])
def test_an_unknown_name_is_invalid_input_and_the_known_ones_are_told(name: str) -> None:
    result = vocabgap("schema", name)
    assert (result.code, result.out) == (2, "")
    assert f"'{name}'" in result.err
    assert (
        "capabilities, gaps, rejects, lineage, groups, combinations, history, events, effects, run"
        in result.err
    )
