"""What a graph is fed, and what becomes of its outputs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from numpy.testing import assert_allclose
from onnx import TensorProto, helper

from builders.embedding import unit, write_json, write_model, write_tokenizer
from vocabgap.clustering.embedding import Embedder
from vocabgap.errors import InvalidInputError

Table = npt.NDArray[np.float32]

CLOSE = 1e-3  # a vector is rounded to a grid


def test_a_vector_is_the_mean_of_its_tokens_at_unit_length(embedder: Embedder) -> None:
    (vector,) = embedder.embed(["Sky masks"])

    assert_allclose(vector, unit("[CLS]", "sky", "mask", "##s", "[SEP]"), atol=CLOSE)
    assert_allclose(np.linalg.norm(vector.astype(np.float64)), 1.0, atol=1e-7)


@pytest.mark.parametrize(
    "settings",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
        {"pooling_mode": "cls", "embedding_dimension": 4},
    ],
    ids=["flags", "mode"],
)
def test_the_first_token_stands_for_the_text_where_the_settings_say_so(
    folder: Path, settings: Mapping[str, object]
) -> None:
    write_json(folder / "1_Pooling" / "config.json", settings)
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]"), atol=CLOSE)


@pytest.mark.parametrize(
    "settings",
    [{"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, {"pooling_mode": "mean"}, {}],
    ids=["flags", "mode", "nothing"],
)
def test_the_mean_is_taken_where_the_settings_say_so_or_nothing(
    folder: Path, settings: Mapping[str, object]
) -> None:
    write_json(folder / "1_Pooling" / "config.json", settings)
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]", "sky", "[SEP]"), atol=CLOSE)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"pooling_mode_max_tokens": True}, "max_tokens"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "cls_token and mean_tokens"),
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
    ],
)
def test_other_ways_to_pool_are_refused(folder: Path, settings: Mapping[str, object], told: str) -> None:
    write_json(folder / "1_Pooling" / "config.json", settings)
    with pytest.raises(InvalidInputError, match=rf"config\.json' asks for pooling by {told}") as raised:
        Embedder.load(folder)
    assert raised.value.hint


@pytest.mark.parametrize(
    "inputs",
    [("input_ids",), ("attention_mask", "input_ids"), ("input_ids", "token_type_ids", "attention_mask")],
)
@pytest.mark.parametrize("integer", [TensorProto.INT64, TensorProto.INT32])
def test_only_the_inputs_that_a_graph_has_are_fed(
    folder: Path, inputs: tuple[str, ...], integer: int
) -> None:
    write_model(folder / "model.onnx", inputs=inputs, integer=integer)
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]", "sky", "[SEP]"), atol=CLOSE)


@pytest.mark.parametrize(
    "outputs",
    [
        {"last_hidden_state": "tokens", "sentence_embedding": "sentence"},
        {"pooled": "sentence", "of_tokens": "tokens"},
    ],
    ids=["by name", "the first, if it is one vector"],
)
def test_a_sentence_embedding_is_taken_as_it_is(folder: Path, outputs: Mapping[str, str]) -> None:
    write_model(folder / "model.onnx", outputs=outputs)
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]"), atol=CLOSE)


@pytest.mark.parametrize("name", ["last_hidden_state", "token_embeddings"])
def test_token_embeddings_are_known_by_their_name(folder: Path, name: str) -> None:
    write_model(folder / "model.onnx", outputs={"pooler_output": "sentence", name: "tokens"})
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]", "sky", "[SEP]"), atol=CLOSE)


def test_token_embeddings_of_another_name_are_pooled(folder: Path) -> None:
    write_model(folder / "model.onnx", outputs={"output_0": "tokens", "output_1": "sentence"})
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]", "sky", "[SEP]"), atol=CLOSE)


def test_outputs_that_give_the_input_back_are_passed_over(folder: Path) -> None:
    write_model(folder / "model.onnx", outputs={"output": "echo", "of_tokens": "tokens"})
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]", "sky", "[SEP]"), atol=CLOSE)


def test_a_model_without_a_vector_is_refused(folder: Path) -> None:
    write_model(folder / "model.onnx", outputs={"output": "echo"})
    with pytest.raises(InvalidInputError, match="none of its outputs holds real numbers"):
        Embedder.load(folder)


def test_a_model_whose_vectors_are_as_long_as_their_texts_is_refused(folder: Path) -> None:
    write_model(folder / "model.onnx")
    model = onnx.load(folder / "model.onnx")
    del model.graph.output[:], model.graph.node[:]
    model.graph.node.append(onnx.helper.make_node("Cast", ["input_ids"], ["score"], to=TensorProto.FLOAT))
    model.graph.output.append(onnx.helper.make_tensor_value_info("score", TensorProto.FLOAT, ["b", "s"]))
    onnx.save_model(model, folder / "model.onnx")

    with pytest.raises(InvalidInputError, match="output 'score' has another length for another text"):
        Embedder.load(folder)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 4}),
        ("tokenizer_config.json", {"model_max_length": 4}),
    ],
)
def test_longer_texts_are_cut_off(folder: Path, name: str, settings: Mapping[str, int]) -> None:
    write_json(folder / name, settings)
    (vector,) = Embedder.load(folder).embed(["sky mask warm skin"])
    assert_allclose(vector, unit("[CLS]", "sky", "mask", "[SEP]"), atol=CLOSE)


@pytest.mark.parametrize("length", [10**30, 0, True, "long", None])
def test_a_length_that_means_nothing_is_as_none(folder: Path, length: object) -> None:
    write_json(folder / "tokenizer_config.json", {"model_max_length": length})
    (vector,) = Embedder.load(folder).embed(["a " * 300])
    assert_allclose(vector, unit("[CLS]", *["a"] * 254, "[SEP]"), atol=CLOSE)


@pytest.mark.parametrize("length", [0, -3, 2.5, "all", True])
def test_a_length_that_is_none_is_refused(folder: Path, length: object) -> None:
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": length})
    with pytest.raises(InvalidInputError, match="max_seq_length: expected a whole number"):
        Embedder.load(folder)


def test_a_length_without_room_for_a_word_is_refused(folder: Path) -> None:
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 2})
    with pytest.raises(InvalidInputError, match="no room for a word beside its 2 marks"):
        Embedder.load(folder)


def test_an_unknown_input_is_refused(folder: Path) -> None:
    write_model(folder / "model.onnx", inputs=("input_ids", "bbox"))
    with pytest.raises(InvalidInputError, match="asks for the input 'bbox'"):
        Embedder.load(folder)


def test_an_input_of_another_type_is_refused(folder: Path) -> None:
    write_model(folder / "model.onnx", inputs=("input_ids", "attention_mask"))
    model = onnx.load(folder / "model.onnx")
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.FLOAT
    onnx.save_model(model, folder / "model.onnx")

    with pytest.raises(InvalidInputError, match=r"'attention_mask' \(tensor\(float\)\)"):
        Embedder.load(folder)


@pytest.mark.parametrize(
    ("lengths", "told"),
    [(("batch", 128), "the shape .*128.; expected .batch, sequence."), ((8, "sequence"), "the shape .8, ")],
)
def test_fixed_lengths_are_refused(folder: Path, lengths: tuple[str | int, ...], told: str) -> None:
    write_model(folder / "model.onnx", lengths=lengths)
    with pytest.raises(InvalidInputError, match=told):
        Embedder.load(folder)


def test_a_model_that_gives_one_number_is_refused(folder: Path) -> None:
    words = np.ones((11, 1), dtype=np.float32)
    write_model(folder / "model.onnx", outputs={"score": "sentence"}, words=words)
    with pytest.raises(InvalidInputError, match="gives one number"):
        Embedder.load(folder)


def test_a_model_that_gives_a_number_without_a_shape_is_refused(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    model.graph.node.append(helper.make_node("ReduceSum", ["looked_up"], ["sentence_embedding"], keepdims=0))
    model.graph.output.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, []))
    onnx.save_model(model, folder / "model.onnx")

    with pytest.raises(InvalidInputError, match=r"'sentence_embedding' has the shape \(1,\)"):
        Embedder.load(folder)


@pytest.mark.parametrize(
    "outputs",
    [{"logits": "sentence"}, {"logits": "tokens"}, {"logits": "sentence", "hidden_states": "tokens"}],
    ids=["of a text", "of tokens", "before others"],
)
def test_a_model_that_gives_scores_is_refused(folder: Path, outputs: Mapping[str, str]) -> None:
    write_model(folder / "model.onnx", outputs=outputs)
    with pytest.raises(InvalidInputError, match="output 'logits' holds scores, not an embedding") as raised:
        Embedder.load(folder)
    assert raised.value.hint == "name a model that embeds texts"


def test_scores_beside_an_embedding_are_passed_over(folder: Path) -> None:
    write_model(folder / "model.onnx", outputs={"logits": "sentence", "last_hidden_state": "tokens"})
    assert_allclose(Embedder.load(folder).embed(["sky"])[0], unit("[CLS]", "sky", "[SEP]"), atol=CLOSE)


def test_a_tokenizer_with_more_words_than_the_model_is_refused(folder: Path, table: Table) -> None:
    write_model(folder / "model.onnx", words=table[:-1])
    with pytest.raises(InvalidInputError, match=r"has 11 tokens; .* knows another number"):
        Embedder.load(folder)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_vector_without_direction_is_told_with_its_text(folder: Path, table: Table, value: float) -> None:
    words = table.copy()
    words[4] = value
    write_model(folder / "model.onnx", words=words)
    write_tokenizer(folder, marks=False)
    embedder = Embedder.load(folder)

    with pytest.raises(InvalidInputError, match="'sky' a vector without a direction") as raised:
        embedder.embed(["mask", "sky"])
    assert "model.onnx" in raised.value.message


def test_a_text_without_tokens_is_told(folder: Path) -> None:
    write_tokenizer(folder, marks=False)
    with pytest.raises(InvalidInputError, match=r"tokenizer\.json' finds no token in ''"):
        Embedder.load(folder).embed([""])


def test_long_texts_are_shortened_in_errors(folder: Path) -> None:
    write_tokenizer(folder, marks=False)
    embedder = Embedder.load(folder)
    with pytest.raises(InvalidInputError) as raised:
        embedder.embed(["\x1b" * 5000])
    assert "\x1b" not in raised.value.message
    assert len(raised.value.message) < 1000


@pytest.mark.parametrize("kind", ["Dense", "LayerNorm"])
def test_a_model_with_more_after_the_pooling_is_refused(folder: Path, kind: str) -> None:
    modules = ["Transformer", "Pooling", kind]
    write_json(
        folder / "modules.json", [{"type": f"sentence_transformers.models.{each}"} for each in modules]
    )
    with pytest.raises(InvalidInputError, match=f"the module '{kind}'"):
        Embedder.load(folder)

    write_model(folder / "model.onnx", outputs={"sentence_embedding": "sentence"})
    assert Embedder.load(folder).dims == 4
