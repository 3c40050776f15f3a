"""Vectors of many texts: in order, each computed once, the same whatever else is asked for."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vocabgap as vg
from builders.embedding import write_int8_model, write_tokenizer
from vocabgap.clustering.embedding import Embedder, EmbeddingUse
from vocabgap.clustering.embedding.encoder import Grid
from vocabgap.errors import InvalidInputError

TEXTS = [f"{'sky mask ' * (place % 7)}warm {'skin tone a'[: place % 12]}" for place in range(500)]


class Interrupted:
    """An encoder that takes its time; while it is asked for the third text, Ctrl-C is pressed."""

    seconds: Final = 0.1

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: list[str]) -> Iterator[tuple[list[int], Grid]]:
        for place, _ in enumerate(texts):
            self.asked += 1
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
    return Embedder.load(int8, threads=3)


def test_it_is_public(folder: Path) -> None:
    assert vg.Embedder.load(str(folder)).name == "tiny"


def test_rows_are_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed(["sky", "mask", "sky"])

    assert vectors.shape == (3, 4)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors[0], vectors[2])
    assert np.array_equal(vectors[1], embedder.embed(["mask"])[0])


def test_no_text_gives_no_row(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, 4)


def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert embedder.name == "tiny"
    assert embedder.runtime.startswith("onnxruntime 1.")
    assert (len(embedder.digest), embedder.dims) == (64, 4)


def test_every_text_is_computed_once(embedder: Embedder) -> None:
    embedder.embed(["sky", "mask", "sky"])
    assert embedder.use == EmbeddingUse(found=0, computed=2)


def test_a_batch_would_change_bits(int8: Path) -> None:
    """Why texts are run one by one, and that the examples below would see it if they were not."""
    session = onnxruntime.InferenceSession(int8 / "model.onnx", providers=["CPUExecutionProvider"])
    text, longer = [2, 4, 3], [2, 5, 6, 7, 8, 9, 3]  # places of words, [PAD] is 0

    (alone,) = session.run(None, {"input_ids": [text]})
    (padded,) = session.run(None, {"input_ids": [text + [0] * 4]})
    (batch,) = session.run(None, {"input_ids": [text + [0] * 4, longer]})

    assert not np.array_equal(padded[0, :3], alone[0])
    assert not np.array_equal(batch[0, :3], alone[0])


def test_threads_and_order_change_no_bit(int8: Path) -> None:
    expected = Embedder.load(int8, threads=1).embed(TEXTS)
    for threads in (2, 5):
        backwards = Embedder.load(int8, threads=threads).embed(TEXTS[::-1])
        assert np.array_equal(backwards[::-1], expected)


def test_the_runtime_uses_one_thread_for_a_text(embedder: Embedder) -> None:
    """Which sums come out otherwise in several is up to its version and the CPU; no small graph shows it."""
    options = embedder._encoder._graph._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


@given(texts=st.lists(st.text(max_size=40), max_size=8))
def test_a_vector_depends_on_its_text_alone(loaded: Embedder, texts: list[str]) -> None:
    together = loaded.embed(texts)

    assert np.allclose(np.linalg.norm(together.astype(np.float64), axis=1), 1, atol=1e-6)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(loaded.embed([text])[0], row)


@pytest.mark.parametrize("threads", [0, -1, 2.5, "3", True])
def test_a_number_of_threads_that_is_none_is_refused_at_the_door(tmp_path: Path, threads: object) -> None:
    with pytest.raises(
        InvalidInputError, match="threads: expected a whole number from 1 on, found"
    ) as raised:
        Embedder.load(tmp_path / "none", threads=threads)  # type: ignore[arg-type]
    assert raised.value.hint


def test_a_whole_number_of_another_library_is_one(folder: Path) -> None:
    threads: Any = np.int64(2)
    assert Embedder.load(folder, threads=threads).embed(["sky"]).shape == (1, 4)


@pytest.mark.parametrize("text", [None, 3, b"sky"])
def test_what_is_no_text_is_refused(embedder: Embedder, text: object) -> None:
    with pytest.raises(InvalidInputError, match="texts: expected text, found"):
        embedder.embed(["sky", text])  # type: ignore[list-item]


def test_a_lone_surrogate_is_refused(embedder: Embedder) -> None:
    with pytest.raises(InvalidInputError, match=r"'sky \\ud800' is no Unicode text"):
        embedder.embed(["sky \ud800"])


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
    embedder = Embedder.load(folder, threads=2)
    slow = Interrupted()
    monkeypatch.setattr(embedder, "_encoder", slow)
    texts = [str(number) for number in range(300)]  # 15 s of them

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
    told = subprocess.run(
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
    assert (told.stdout, told.stderr) == ("[] False\n", "")
    assert not (tmp_path / "cache").exists()  # where the runtime would keep a mark of the user
