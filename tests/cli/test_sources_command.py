import json
from pathlib import Path

import pytest

from builders.command import vocabgap

OWN = """\
[source.helpdesk]
glob = ["wishes-*.jsonl", "wishes.jsonl"]

[source.helpdesk.fields]
missing_capability = "wish.title"

[source.helpdesk.constants]
intent_category = "helpdesk"

[source.posthog]
enabled = false
"""


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vocabgap.toml").write_text(OWN, encoding="utf-8")


def test_sources_in_force_are_listed_with_their_files_and_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    told = vocabgap("sources")

    rows = [line.split("   ") for line in told.out.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == ["helpdesk", "chemigram", "hermes"]
    assert [cell.strip() for cell in rows[0] if cell] == [
        "helpdesk",
        "wishes-*.jsonl, wishes.jsonl",
        "missing_capability, intent_category",
    ]
    assert rows[1][-1].strip() == "a record as it is"


def test_each_source_is_an_event() -> None:
    *events, result = map(json.loads, vocabgap("--json", "sources").out.splitlines())

    assert [(event["name"], event["built_in"]) for event in events] == [
        ("helpdesk", False),
        ("chemigram", True),
        ("hermes", True),
    ]
    assert events[0]["source"]["constants"] == {"intent_category": "helpdesk"}
    assert (result["event"], result["sources"]) == ("result", 3)
