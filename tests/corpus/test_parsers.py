"""Parsers that are handed in: they give pieces, and the push completes them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from corpus.builders import NORTH
from vocabgap.corpus.contracts import PARSED_CHUNK, Code, faults
from vocabgap.corpus.corpus import open_corpus
from vocabgap.corpus.identity import content_hash
from vocabgap.corpus.incoming import HASH_INPUTS, RawFile


def headings(file: RawFile) -> Iterator[dict[str, Any]]:
    """Yield a piece for each heading of a text."""
    lines = file.content.splitlines()
    for number, line in enumerate(lines, start=1):
        if line.startswith("# "):
            yield {"content": line, "kind": "heading", "name": line[2:], "line_start": number}


def payload(**entry: str) -> dict[str, Any]:
    return {
        "files": [
            {"content": "# One\ntext\n# Two", "sourcePath": "a.md", "parserId": "headings"} | entry
        ]
    }


def stored(folder: Path) -> list[dict[str, Any]]:
    rows = open_corpus(folder).store.version().rows().sort("line", "id")
    return [
        msgspec.json.decode(metadata) | {"content": content, "id": identity}
        for metadata, content, identity in rows.select("metadata", "content", "id").iter_rows()
    ]


def test_pieces_of_a_parser_become_chunks_of_the_contract(tmp_path: Path) -> None:
    corpus = open_corpus(tmp_path / "corpus", parsers={"headings": headings})

    result = corpus.push(payload(), **NORTH)

    first, second = stored(tmp_path / "corpus")
    assert (result.ingested, result.errors) == (2, ())
    assert first["name"] == "One"
    assert first["kind"] == "heading"
    assert first["line_start"] == 1
    assert first["sourcePath"] == "a.md"
    assert (first["tenantId"], first["repoSlug"], first["parserId"]) == (
        "north",
        "photos",
        "headings",
    )
    assert (first["parserVersion"], first["hashInputs"]) == ("1.0.0", [*HASH_INPUTS])
    assert (second["name"], second["line_start"]) == ("Two", 3)
    stamp = {"hash", "id", "source", "type", "visibility", "tenantConfigVersion", "ingestedAt"}
    chunk = {field: value for field, value in first.items() if field not in stamp}
    assert faults(PARSED_CHUNK, chunk) == ()
    assert len(content_hash(chunk, "north", "docs")) == 64


def test_piece_has_its_own_path_and_the_version_of_its_parser(tmp_path: Path) -> None:
    class Parts:
        version = "2.1.0"

        def __call__(self, file: RawFile) -> list[dict[str, Any]]:
            return [
                {
                    "content": file.content,
                    "type": "part",
                    "source": "parts/one.md",
                    "customMeta": {"n": 1},
                }
            ]

    corpus = open_corpus(tmp_path / "corpus", parsers={"headings": Parts()})

    assert corpus.push(payload(), **NORTH).errors == ()
    (chunk,) = stored(tmp_path / "corpus")
    assert chunk["sourcePath"] == "parts/one.md"
    assert chunk["name"] == "parts/one.md"
    assert chunk["kind"] == "part"
    assert (chunk["parserVersion"], chunk["customMeta"]) == ("2.1.0", {"n": 1})


def test_a_parser_that_raises_is_an_error_of_its_file_alone(tmp_path: Path) -> None:
    def broken(_: RawFile) -> Iterator[dict[str, Any]]:
        yield {"content": "a first piece"}
        raise ValueError("oops")

    corpus = open_corpus(tmp_path / "corpus", parsers={"headings": headings, "broken": broken})
    files = [
        *payload(parserId="broken")["files"],
        *payload(parserId="nobody")["files"],
        *payload()["files"],
    ]

    result = corpus.push({"files": files}, **NORTH)

    assert [error.code for error in result.errors] == [Code.PARSE_FAILED, Code.NO_PARSER]
    assert result.errors[0].message == "a.md: parser 'broken' failed: ValueError: oops"
    assert (
        "there is no parser 'nobody'; expected one of broken, headings" in result.errors[1].message
    )
    assert (result.ingested, len(stored(tmp_path / "corpus"))) == (2, 2)


@pytest.mark.parametrize(
    ("piece", "code"),
    [
        ({"text": "content is missing"}, Code.CHUNK_INVALID),
        ({"content": "x", "source": "../x"}, Code.CHUNK_INVALID),
        ({"content": "x", "line_start": "one"}, Code.CHUNK_INVALID),
        ({"content": "x", "embedding": [0.1]}, Code.EMBEDDING_REJECTED),
        ("no piece", Code.CHUNK_INVALID),
    ],
)
def test_unusable_piece_costs_no_other(tmp_path: Path, piece: object, code: Code) -> None:
    def parse(_: RawFile) -> list[Any]:
        return [{"content": "a sound one"}, piece]

    result = open_corpus(tmp_path / "corpus", parsers={"headings": parse}).push(payload(), **NORTH)

    assert [error.code for error in result.errors] == [code]
    assert result.errors[0].details["chunkIndex"] == result.ingested == 1


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("1.0.1", Code.VERSION_DRIFT), ("1.4.0", Code.VERSION_DRIFT), ("0.9.0", Code.CHUNK_INVALID),
        ("2.0.0", Code.CHUNK_INVALID), (1, Code.CHUNK_INVALID),
    ],
)  # fmt: skip
def test_a_version_near_ours_has_a_code_of_its_own_and_a_warning(
    tmp_path: Path, chunk: dict[str, Any], version: object, code: Code
) -> None:
    corpus = open_corpus(tmp_path / "corpus")
    strange = {**chunk, "schemaVersion": version}

    result = corpus.push(
        {"files": [{"chunks": [strange, strange, chunk]}]}, tenant="ada", repo="lab"
    )

    assert (result.ingested, [error.code for error in result.errors]) == (1, [code] * 2)
    assert result.errors[0].details["errors"][0]["pointer"] == "/schemaVersion"
    assert len(result.warnings) == (code is Code.VERSION_DRIFT)
    assert all(
        item.startswith(f"deprecated: 2 chunks of version {version} of parsed-chunk-v1")
        for item in result.warnings
    )
