"""`corpus list`: chunks of all kinds, by owner, repository, path, kind, name, id and text."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import CommandResult, vocabgap
from vocabgap.corpus.corpus import Corpus
from vocabgap.model.record import LOG_NAME, SHARED_TENANT

NEED = "a caf\u00e9 tone"
PUSHED: list[tuple[str, str, bool, dict[str, Any]]] = [
    (
        "north",
        "docs",
        False,
        {"sourcePath": "guides/masks.md", "content": "# Masks\n\tof the \x1b[31msky"},
    ),
    (
        "north",
        "docs",
        False,
        {"sourcePath": "guides/grain.md", "content": "# Grain in CAFE\u0301S"},
    ),
    ("north", "diary", True, {"sourcePath": "today.md", "content": "secret"}),
    (SHARED_TENANT, "neo", False, {"sourcePath": "guides/masks.md", "content": "# More masks"}),
    (
        "south",
        "photos",
        False,
        {"sourcePath": f"heron/{LOG_NAME}", "content": json.dumps(gap(NEED))},
    ),
]


@pytest.fixture
def full(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Fill a corpus, and work in the folder above it."""
    for day, (tenant, repo, private, file) in enumerate(PUSHED, start=1):
        now = datetime(2026, 7, day, tzinfo=UTC)
        source: Any = {"files": [file]}
        if tenant == "south":  # a log; it writes \\u00e9
            source = write_corpus(tmp_path, {"heron": [file["content"]]})
        corpus.push(source, tenant=tenant, repo=repo, private=private, now=now)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return corpus


@pytest.mark.parametrize(
    ("filters", "places"),
    [
        ({}, ["4", "3", "1", "0"]),
        ({"tenants": "north"}, ["3", "2", "1", "0"]),
        ({"tenants": "north", "shared": False}, ["2", "1", "0"]),
        ({"repositories": ("docs", "neo")}, ["3", "1", "0"]),
        ({"paths": "guides"}, ["3", "1", "0"]),
        ({"paths": ("guides/grain.md", f"heron/{LOG_NAME}")}, ["4", "1"]),
        ({"kinds": "gap-record"}, ["4"]),
        ({"names": "guides/masks.md"}, ["3", "0"]),
        ({"match": "mASKS"}, ["3", "0"]),
        ({"match": "caf\u00e9"}, ["4", "1"]),
        ({"match": "secret"}, []),
    ],
)
def test_filters_find_chunks(full: Corpus, filters: dict[str, Any], places: list[str]) -> None:
    found = full.list_chunks(**filters).chunks

    texts = [str(file["content"]) for *_, file in PUSHED]
    assert [str(texts.index(text)) for text in found["content"]] == places


@pytest.mark.parametrize(("visibility", "ids"), [("team", ["x"]), ("private", [])])
def test_a_chunk_is_found_though_statistics_cut_its_metadata(
    corpus: Corpus, tmp_path: Path, visibility: str, ids: list[str]
) -> None:
    metadata = {
        "name": "private \x07",
        "text": "x" * 5_000,
        "visibility": visibility,
        "kind": "gap-record",
    }
    content = f'{{"deep": {"[" * 5_000}, "\\u00e9"'
    backup = tmp_path / "backup.jsonl"
    backup.write_text(
        json.dumps({"id": "x", "embedding": [1.0], "metadata": metadata, "document": content})
    )
    corpus.restore(backup)

    assert corpus.list_chunks(match="deep").chunks["id"].to_list() == ids


def corpus(*words: str) -> CommandResult:
    return vocabgap("corpus", *words)


@pytest.mark.usefixtures("full")
def test_list_shows_records_and_escapes_what_a_terminal_would_obey() -> None:
    listed, limited = corpus("list", "--limit", str(1 << 70)), corpus("list", "--limit", "1")
    gap_line, gap_text, *_, masks_line, masks_text = listed.out.splitlines()[2:10]

    assert gap_text.strip() == NEED
    assert masks_text.strip() == r"# Masks of the \u001b[31msky"
    assert limited.out.endswith("4 records\nand 3 more records; --limit 0 lists all\n")
    for digits, line in ((masks_line.split()[0], masks_line), (gap_line.split()[-1], gap_line)):
        only = corpus("list", "--name", digits).out.splitlines()
        assert (only[2].split(), only[-1]) == (line.split(), "1 record")
    rows = vocabgap("--json", "corpus", "list", "--name", gap_line.split()[-1]).out.splitlines()
    event = json.loads(rows[0])
    assert event["name"] == event["metadata"]["name"]
    assert json.loads(event["content"]) == gap(NEED)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("list", "--kind", "gap-recrod"),
            "there is no kind 'gap-recrod' in the corpus\n  did you mean 'gap-re",
        ),
        (("list", "--path", "guide/masks.md"), "did you mean 'guides/masks.md'"),
        (("list", "--repo", "diary"), "there is no repository 'diary'"),
        (
            ("list", "--tenant", "nort", "--no-shared"),
            "there is no tenant 'nort' in the corpus\n  did you mean 'nor",
        ),
        (("list", "--name", "today.md"), "there is no name 'today.md' in the corpus"),
    ],
)
@pytest.mark.usefixtures("full")
def test_what_no_reader_can_see_is_not_found(words: tuple[str, ...], message: str) -> None:
    output = corpus(*words)

    assert (output.code, output.out) == (3, "")
    assert message in output.err
