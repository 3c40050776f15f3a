"""Models of all kinds: the vector of a text, and the error for a model that cannot be used."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose
from onnx import TensorProto, helper

from builders.embedding import Table, unit, write_json, write_model, write_tokenizer
from vocabgap.clustering.embedder import Embedder
from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError
from vocabgap.files import whole

CLOSE = 1e-3  # a vector is rounded to a grid
MEAN = unit("[CLS]", "sky", "[SEP]").astype(np.float32)
CLS = unit("[CLS]").astype(np.float32)
ORDERED = [
    f"{folder}{name}.onnx"
    for folder in ("", "onnx/")
    for name in ("model", "model_quantized", "model_int8")
]


@pytest.mark.parametrize("place", range(len(ORDERED)))
def test_the_model_of_a_folder_is_the_first_of_these_names(
    folder: Path, table: Table, place: int
) -> None:
    (folder / "model.onnx").rename(folder / "kept")
    (folder / "onnx").mkdir()
    (folder / "kept").rename(folder / ORDERED[place])
    expected = Embedder.load(folder).embed(["sky"])
    for name in ORDERED[place + 1 :]:
        write_model(folder / name, words=-table)

    assert np.array_equal(Embedder.load(folder).embed(["sky"]), expected)


def test_the_name_of_a_model_is_that_of_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder.parent))

    assert {Embedder.load(place).name for place in (folder, ".", "~/tiny")} == {"tiny"}


def test_the_digest_depends_on_what_decides_the_vectors(folder: Path, table: Table) -> None:
    digests = [Embedder.load(folder).digest]
    write_json(folder / "config.json", {"model_type": "bert"})
    assert Embedder.load(folder.rename(folder.with_name("elsewhere"))).digest == digests[0]
    folder.with_name("elsewhere").rename(folder)
    write_model(folder / "model.onnx", words=table + 1)
    digests.append(Embedder.load(folder).digest)
    write_tokenizer(folder, marks=False)
    digests.append(Embedder.load(folder).digest)

    assert len(set(digests)) == 3
    assert {len(digest) for digest in digests} == {64}


def test_a_vector_is_the_mean_of_its_tokens_at_unit_length(embedder: Embedder) -> None:
    (vector,) = embedder.embed(["Sky masks"])

    assert_allclose(vector, unit("[CLS]", "sky", "mask", "##s", "[SEP]"), atol=CLOSE)
    assert_allclose(np.linalg.norm(vector.astype(np.float64)), 1.0, atol=1e-7)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"inputs": ("input_ids",)}, MEAN),
        ({"inputs": ("input_ids", "token_type_ids", "attention_mask")}, MEAN),
        ({"outputs": {"last_hidden_state": "tokens", "sentence_embedding": "sentence"}}, CLS),
        ({"outputs": {"pooled": "sentence", "of_tokens": "tokens"}}, CLS),
        ({"outputs": {"pooler_output": "sentence", "token_embeddings": "tokens"}}, MEAN),
        ({"outputs": {"output_0": "tokens", "output_1": "sentence"}}, MEAN),
        ({"outputs": {"output": "echo", "of_tokens": "tokens"}}, MEAN),
        ({"outputs": {"logits": "sentence", "last_hidden_state": "tokens"}}, MEAN),
    ],
)
def test_a_graph_gets_its_inputs_and_gives_the_known_output_or_the_first(
    folder: Path, written: Mapping[str, Any], expected: Table
) -> None:
    write_model(folder / "model.onnx", **written)
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], expected, atol=CLOSE)


def test_longer_texts_are_cut_off(folder: Path) -> None:
    (vector,) = Embedder.load(folder).embed(["a " * 300])
    assert_allclose(vector, unit("[CLS]", *["a"] * 254, "[SEP]"), atol=CLOSE)


Harm = Callable[[Path], object]


def _model(**written: Any) -> Harm:  # noqa: ANN401 - see `write_model`
    return lambda folder: write_model(folder / "model.onnx", **written)


def _file(name: str, content: bytes) -> Harm:
    return lambda folder: (folder / name).write_bytes(content)


def _json(name: str, content: object) -> Harm:
    return lambda folder: write_json(folder / name, content)


def _without(name: str) -> Harm:
    return lambda folder: (folder / name).unlink()


def _panicking(folder: Path) -> None:
    path = folder / "tokenizer.json"
    content = json.loads(path.read_bytes())
    content["post_processor"][
        "special_tokens"
    ] = {}  # the library ends in a panic, which is no Exception
    path.write_text(json.dumps(content), encoding="utf-8")


def _as_long_as_its_text(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    del model.graph.output[:], model.graph.node[:]
    model.graph.node.append(
        helper.make_node("Cast", ["input_ids"], ["score"], to=TensorProto.FLOAT)
    )
    model.graph.output.append(helper.make_tensor_value_info("score", TensorProto.FLOAT, ["b", "s"]))
    onnx.save_model(model, folder / "model.onnx")


def _pipe(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")


ONE_NUMBER = {"outputs": {"score": "sentence"}, "words": np.ones((11, 1), np.float32)}
POOLING = "1_Pooling/config.json"
DENSE = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Dense")]


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_without("model.onnx"), r"there is no model\.onnx in '.*tiny'"),
        (_without("tokenizer.json"), r"there is no tokenizer\.json in '.*tiny'"),
        (_pipe, r"tokenizer\.json' is a pipe; expected a file"),
        (_file("model.onnx", b"\x08\x08"), r"model\.onnx' cannot be loaded"),
        (_file("model.onnx", b""), r"model\.onnx' cannot be loaded"),
        (_model(weights="model.data"), "in the one file"),
        (_file("tokenizer.json", b"{}"), r"tokenizer\.json' is not a tokenizer"),
        (_panicking, r"tokenizer\.json' cannot split 'a'"),
        (_model(words=np.ones((2, 4), np.float32)), r"model\.onnx' cannot be run on 'a'"),
        (_as_long_as_its_text, "output 'score': rows differ in length"),
        (_model(**ONE_NUMBER), "output 'score': rows differ in length"),
        (_model(outputs={"o": "echo"}), "no output that embeds"),
        (_model(outputs={"logits": "tokens"}), "no output that embeds"),
        (_model(inputs=("input_ids", "bbox")), "the input 'bbox'"),
        (_model(lengths=("batch", 128)), "cannot be run on 'a'"),
        (_json("modules.json", DENSE), "more than the mean of its tokens"),
        (_json(POOLING, {"pooling_mode": "lasttoken"}), "more than the mean of its tokens"),
        (_json(POOLING, {"pooling_mode_mean_tokens": False}), "more than the mean of its tokens"),
        (_file("modules.json", b"7"), r"modules\.json' is not JSON as expected"),
        (_file("modules.json", b"[" * 100_000), r"modules\.json' is not JSON as expected"),
    ],
)
def test_a_model_that_cannot_be_used_is_an_error(
    folder: Path, harm: Harm, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    harm(folder)

    with pytest.raises((InvalidInputError, NotFoundError)) as raised:
        Embedder.load(folder)

    assert re.search(message, f"{raised.value.message} {raised.value.hint}")
    assert raised.value.hint
    assert capfd.readouterr().out == ""


def test_a_place_without_a_model_is_an_error(folder: Path) -> None:
    for place in ("nowhere", "model.onnx"):
        with pytest.raises(NotFoundError, match=rf"there is no model.onnx in '.*{place}'"):
            Embedder.load(folder / place)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_the_system_refuses_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(path: Path, most: int) -> bytes:
        if path.name == name:
            raise PermissionError(13, "Permission denied", str(path))
        return whole(path, most)

    monkeypatch.setattr("vocabgap.files.refusals.whole", refuse)
    with pytest.raises(AccessDeniedError, match=rf"{name}' cannot be read: Permission denied"):
        Embedder.load(folder)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(StateError, match=library) as raised:
        Embedder.load(folder)
    assert raised.value.hint == "pip install 'vocabgap[embed]'"


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_text_without_a_direction_is_an_error(folder: Path, table: Table, value: float) -> None:
    words = table.copy()
    words[4] = value
    write_model(folder / "model.onnx", words=words)
    write_tokenizer(folder, marks=False)
    embedder = Embedder.load(folder)

    with pytest.raises(InvalidInputError, match="returned zeros, NaN or infinity for 'sky'"):
        embedder.embed(["mask", "sky"])
    with pytest.raises(InvalidInputError, match=r"tokenizer\.json' finds no token in ''"):
        embedder.embed([""])
    with pytest.raises(InvalidInputError) as raised:
        embedder.embed(["\x1b" * 5000])
    assert "\x1b" not in raised.value.message
    assert len(raised.value.message) < 1000
