"""Readable lines with their text: what is handed on of a log."""

from pathlib import Path

import pytest

from builders.ingest import write_log
from vocabgap.corpus.chunks import read_lines, text_lines
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Source

NEED = b'{"description":"soft reeds"}\n'


def test_every_readable_line_comes_with_its_own_text(tmp_path: Path) -> None:
    write_log(
        tmp_path,
        "heron-11",
        NEED,
        b"\n",
        b"no json\n",
        b' {"description": "warm b\xc3\xa9ak"}\r\n',
        NEED,
    )

    found = read_lines(tmp_path)

    assert found.lines.select("line", "text").rows() == [
        (1, '{"description":"soft reeds"}'),
        (4, ' {"description": "warm béak"}\r'),
        (5, '{"description":"soft reeds"}'),
    ]
    assert found.rejects.select("line", "reason").rows() == [(3, "invalid_json")]


def test_records_are_those_of_a_scan(demo: Path) -> None:
    scanned = scan(demo)

    found = read_lines(demo)

    assert found.lines["record_id"].to_list() == scanned.gaps["record_id"].to_list()
    assert found.lines["line"].to_list() == scanned.gaps["line"].to_list()
    assert found.rejects.equals(scanned.rejects)
    assert found.paths == tuple(sorted(scanned.files["source_path"]))


def test_texts_stay_with_their_lines_over_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.ingest.lines.BATCH", 3)
    lines = [b'{"description":"need %d"}\n' % number for number in range(10)]
    write_log(tmp_path, "a", *lines[:4])
    write_log(tmp_path, "b", *lines[4:])

    found = read_lines(tmp_path).lines

    assert [f'{{"description":"{need}"}}' for need in found["description"]] == found[
        "text"
    ].to_list()


def test_lines_that_a_source_passes_over_are_not_handed_on(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    log.write_bytes(
        b'{"kind":"gap","description":"soft reeds"}\n{"kind":"login","description":"private"}\n'
    )
    own = Source(glob="events.jsonl", where={"kind": "gap"}, fields={"description": "description"})

    found = read_lines(tmp_path, ScanSettings(sources={"own": own}))

    assert found.lines["line"].to_list() == [1]
    assert found.rejects.is_empty()


def test_text_gives_what_its_file_gives(tmp_path: Path) -> None:
    log = write_log(tmp_path, "heron-11", NEED, b"no json\n", b'{"description":"torn')
    columns = ["line", "byte_offset", "record_id", "text", "folder", "source_path"]
    read = read_lines(tmp_path)

    found = text_lines(log.read_text(), f"heron-11/{LOG_NAME}", repo_slug=tmp_path.name)

    assert found.lines.select(columns).equals(read.lines.select(columns))
    assert found.rejects.equals(read.rejects)


def test_a_log_in_the_root_has_the_repository_as_its_image() -> None:
    found = text_lines(NEED.decode(), LOG_NAME, repo_slug="north/heron-11")

    assert found.lines["image_id"].to_list() == ["heron-11"]


def test_text_with_half_a_surrogate_pair_costs_one_line() -> None:
    found = text_lines(
        '{"description":"\ud800"}\n{"description":"soft reeds"}\n', LOG_NAME, repo_slug="a"
    )

    assert found.lines["line"].to_list() == [2]
    assert found.rejects["reason"].to_list() == ["invalid_utf8"]
