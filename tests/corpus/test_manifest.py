from pathlib import Path

import msgspec
import pytest

from vocabgap.corpus.store import write_manifest
from vocabgap.corpus.version import FORMAT, MANIFEST, FileEntry, Manifest, PartEntry, read_manifest
from vocabgap.errors import StateError

DIGEST = "0" * 64
WHOLE = Manifest(
    version=7,
    next_number=5,
    parts=(PartEntry(1, 10, 1000, DIGEST), PartEntry(3, 4, 500, DIGEST, dimension=3)),
    deleted=FileEntry(4, 2, 100, DIGEST),
    config_versions={"ada": 2},
)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None

    write_manifest(tmp_path, WHOLE)

    assert read_manifest(tmp_path) == WHOLE
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]
    assert set(WHOLE.files) == {
        "chunks-000001.parquet",
        "chunks-000003.parquet",
        "deleted-000004.parquet",
    }


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"format": "vocabgap-corpus"}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content)

    with pytest.raises(
        StateError, match=r"manifest\.json' is damaged, or is not the manifest of a corpus"
    ):
        read_manifest(tmp_path)


def test_the_manifest_of_another_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"format": "webpack", "format_version": 1}')

    with pytest.raises(StateError, match="is the manifest of something else: format 'webpack'"):
        read_manifest(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    content = {"format": FORMAT, "format_version": 2, "corpus": "elsewhere"}
    (tmp_path / MANIFEST).write_bytes(msgspec.json.encode(content))

    with pytest.raises(
        StateError, match=r"newer vocabgap: format version 2, this one reads 1 \(upgrade"
    ):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "field", ['"rows": -1', '"number": 0', '"bytes": 1.5', '"file": "../../secret"']
)
def test_an_impossible_entry_is_refused(tmp_path: Path, field: str) -> None:
    part = '{"number": 1, "rows": 1, "bytes": 1, ' + field + "}"
    content = f'{{"format": "{FORMAT}", "format_version": 1, "corpus": {{"parts": [{part}]}}}}'
    (tmp_path / MANIFEST).write_text(content)

    with pytest.raises(StateError, match="is damaged"):
        read_manifest(tmp_path)
