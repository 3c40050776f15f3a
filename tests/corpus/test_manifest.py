from pathlib import Path

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


OF_OURS = (
    f'{{"format": "{FORMAT}", "format_version": 1, "corpus": {{"parts": [{{"number": 1, %s}}]}}}}'
)
DAMAGED = "manifest.json' is damaged, or is not the manifest of a corpus"
REFUSED = {
    **dict.fromkeys(["", "{", "[]", "\xff", f'{{"format": "{FORMAT}"}}'], DAMAGED),
    **{OF_OURS % field: DAMAGED for field in ('"rows": -1', '"number": 0', '"bytes": 1.5')},
    OF_OURS % '"rows": 1, "bytes": 1, "file": "../../secret"': DAMAGED,
    '{"format": "webpack"}': "is the manifest of something else: format 'webpack'",
    f'{{"format": "{FORMAT}", "format_version": 2}}': "newer vocabgap: format version 2, this one reads 1",
}


@pytest.mark.parametrize(("content", "message"), REFUSED.items())
def test_unusable_manifest_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / MANIFEST).write_text(content, encoding="latin-1")

    with pytest.raises(StateError) as refused:
        read_manifest(tmp_path)
    assert message in refused.value.message
