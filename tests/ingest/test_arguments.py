from pathlib import Path
from typing import Any

import pytest

from builders import gap
from builders.ingest import write_log
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.scanning import scan
from vocabgap.model.settings import IngestSettings, Settings
from vocabgap.model.sources import Source


def test_arguments_go_before_settings(workspace: Path) -> None:
    write_log(workspace, ".heron-11", gap("soft reeds"))
    settings = Settings(ingest=IngestSettings(tenant="acme", hidden=True)).scan

    assert scan(workspace, settings=settings).gaps["tenant_id"].to_list() == ["acme"]
    assert scan(workspace, settings=settings, tenant_id="own").gaps["tenant_id"].to_list() == [
        "own"
    ]
    assert scan(workspace, settings=settings, hidden=False).summary.files == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tenant_id", 1), ("tenant_id", ""), ("hidden", "no"), ("max_expanded_mib", 0),
        ("max_expanded_mib", 0.5), ("max_expanded_mib", "9"), ("max_expanded_mib", 2**40),
    ],
)  # fmt: skip
def test_an_error_names_the_bad_argument_and_its_value(
    workspace: Path,
    name: str,
    value: Any,  # noqa: ANN401 - none of them is what it should be
) -> None:
    with pytest.raises(
        InvalidInputError, match=rf"^{name}: expected .*, found {value!r}"
    ) as caught:
        scan(workspace, **{name: value})

    assert caught.value.hint


def test_a_source_may_be_a_table_of_its_keys(workspace: Path) -> None:
    write_log(workspace, "heron-11", gap("soft reeds")).rename(workspace / "wishes-1.jsonl")
    sources = {"mine": {"glob": "wishes-*.jsonl", "constants": {"intent_category": "helpdesk"}}}

    gaps = scan(workspace, sources=sources).gaps

    assert gaps["intent_category"].to_list() == ["helpdesk"]


@pytest.mark.parametrize(
    ("sources", "named"),
    [
        ({"mine": {"globs": "wishes-*.jsonl"}}, r"\[source.mine\] .*'globs'"),
        ({"mine": {}}, r"\[source.mine\] glob"),
        ({"mine": Source()}, r"\[source.mine\] glob"),
        ({"mine": Source(glob="/exports/gaps.jsonl")}, r"\[source.mine\] glob"),
        ({"mine": "wishes-*.jsonl"}, r"\[source.mine\]: expected a table"),
        (["wishes-*.jsonl"], r"^\[source\]: expected a table"),
    ],
)
def test_a_source_that_cannot_work_is_named_with_what_to_do(
    sources: Any,  # noqa: ANN401 - none of them is what it should be
    named: str,
    workspace: Path,
) -> None:
    with pytest.raises(InvalidInputError, match=named) as caught:
        scan(workspace, sources=sources)

    assert caught.value.hint
