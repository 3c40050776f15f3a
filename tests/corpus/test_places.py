"""Where a corpus lies: it is kept as it was made, whatever the settings say of new ones."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from vocabgap.corpus.corpus import open_corpus
from vocabgap.corpus.opening import StoreKind, kind_of
from vocabgap.corpus.places import is_corpus
from vocabgap.ingest.scanning import scan
from vocabgap.settings.model import CorpusSettings, Settings

needs_delta = pytest.mark.skipif(find_spec("deltalake") is None, reason="needs the extra `delta`")
AS = {kind: Settings(corpus=CorpusSettings(store=kind.value)) for kind in StoreKind}


@needs_delta
@pytest.mark.parametrize(("made", "said"), [tuple(StoreKind), tuple(reversed(StoreKind))])
def test_corpus_is_kept_as_it_was_made(
    photos: Path, tmp_path: Path, made: StoreKind, said: StoreKind
) -> None:
    folder = tmp_path / "corpus"
    open_corpus(folder, settings=AS[made]).push(photos, tenant="north", repo="photos")

    again = open_corpus(folder, create=False, settings=AS[said])

    assert again.push(photos, tenant="south", repo="photos").added == 3
    assert kind_of(folder) is made
    assert len(scan(folder).gaps) == 6


@needs_delta
def test_delta_table_beside_a_manifest_of_something_else_is_a_corpus(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    open_corpus(folder, settings=AS[StoreKind.DELTA]).push(photos, tenant="north", repo="photos")
    (folder / "manifest.json").write_text('{"name": "a web page"}')

    assert is_corpus(folder)
    assert len(scan(folder).gaps) == 3
    assert open_corpus(folder).status().measures.rows == 3
