"""Readable lines with their text: what is handed on of a log."""

from pathlib import Path

import pytest

from builders.ingest import write_log
from vocabgap.corpus.chunks import read_lines


def test_batches_keep_texts_and_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vocabgap.ingest.lines.BATCH", 3)
    lines = [b'{"description":"need %d"}\n' % number for number in range(10)]
    write_log(tmp_path, "a", *lines[:4])
    write_log(tmp_path, "b", *lines[4:])

    found = read_lines(tmp_path).lines

    assert [f'{{"description":"{need}"}}' for need in found["description"]] == found[
        "text"
    ].to_list()
