"""Payloads: what another program writes for a push."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from corpus.builders import NORTH
from vocabgap.corpus.corpus import Corpus
from vocabgap.corpus.push import read_payload
from vocabgap.errors import InvalidInputError


def test_payload_comes_through_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"files": [{}, {}]}')))

    assert len(read_payload("-")["files"]) == 2


def test_a_piped_payload_that_is_too_large_is_refused_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = b'{"files": [{}, {}]}'
    monkeypatch.setattr("vocabgap.corpus.push.MOST_LISTED", len(content) - 1)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    with pytest.raises(InvalidInputError, match="standard input cannot be read: larger than 0 MiB"):
        read_payload("-")


def test_a_closed_standard_input_has_no_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(InvalidInputError, match="standard input is closed"):
        read_payload("-")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"files": [\n  oops]}', "p.json: expected JSON: Expecting value: line 2 column 3"),
        (b"\xff", "p.json: expected JSON: 'utf-8' codec"),
        (b"[]", "p.json: expected an object"),
        (b'{"files": [], "n": NaN}', "JSON has no NaN"),
        (b'{"a":' * 5000, "p.json"),
        (b"", "p.json: expected JSON"),
    ],
)
def test_bad_payload_is_refused_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "p.json").write_bytes(content)

    with pytest.raises(InvalidInputError) as refused:
        read_payload(tmp_path / "p.json")
    assert message in str(refused.value)


def test_signals_of_a_folder_are_none_of_a_payload(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"files":[]}')

    with pytest.raises(InvalidInputError, match="a payload itself names what it withdraws"):
        corpus.push(tmp_path / "p.json", **NORTH, snapshot=True)
    for signal in {"deleted": ("a",)}, {"snapshot": True}, {"base": "HEAD"}:
        with pytest.raises(InvalidInputError, match="the source is not a folder, and a payload"):
            corpus.push({"files": []}, **NORTH, **signal)


def test_a_field_that_no_push_reads_is_named(corpus: Corpus) -> None:
    payload: Any = {"files": [], "delted": ["a"], 7: None}

    (warning,) = corpus.push(payload, **NORTH).warnings

    assert warning.startswith("2 unknown fields, such as '7', 'delted'; expected files, tenantId, ")


@pytest.mark.parametrize(
    ("tenant", "repo"),
    [
        ("", "demo"),
        ("north", ""),
        ("North", "demo"),
        ("a b", "demo"),
        ("north", "a b"),
        ("north", "../x"),
    ],
)
def test_unusable_owner_is_refused(corpus: Corpus, photos: Path, tenant: str, repo: str) -> None:
    with pytest.raises(InvalidInputError, match=r"expected (parts of letters|1 to 64)"):
        corpus.push(photos, tenant=tenant, repo=repo)
