"""Readable lines with their text: what is handed on of a log."""

from pathlib import Path

import pytest

from builders.ingest import write_log
from vocabgap.corpus.chunks import read_lines, text_lines
from vocabgap.model.record import LOG_NAME

NEED = b'{"description":"soft reeds"}\n'


def test_batches_keep_texts_and_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vocabgap.ingest.lines.BATCH", 3)
    lines = [b'{"description":"need %d"}\n' % number for number in range(10)]
    write_log(tmp_path, "a", *lines[:4])
    write_log(tmp_path, "b", *lines[4:])

    found = read_lines(tmp_path).lines

    assert [f'{{"description":"{need}"}}' for need in found["description"]] == found[
        "text"
    ].to_list()


def test_a_log_in_the_root_has_the_repository_as_its_image() -> None:
    found = text_lines(NEED.decode(), LOG_NAME, repo_slug="north/heron-11")

    assert found.lines["image_id"].to_list() == ["heron-11"]


def test_text_with_half_a_surrogate_pair_costs_one_line() -> None:
    log = text_lines(
        '{"description":"\ud800"}\n{"description":"soft reeds"}\n', LOG_NAME, repo_slug="a"
    )

    assert log.lines["line"].to_list() == [2]
    assert log.rejects["reason"].to_list() == ["invalid_utf8"]
