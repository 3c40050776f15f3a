"""Builders of tiny models: a table of word vectors as an ONNX graph, and the tokenizer of its words."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

DIMS: Final = 4

_WIDE: Final = 32  # numbers in a word vector of the int8 model

WORDS: Final = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "sky", "mask", "warm", "skin", "tone", "a", "##s",
)  # fmt: skip

ECHO: Final = "echo"  # an output that is what was fed

TOKENS: Final = "tokens"  # an output with a vector for each token

Table = npt.NDArray[np.float32]

VECTORS: Final = np.random.default_rng(7).normal(size=(len(WORDS), DIMS)).astype(np.float32)


def write_model(
    path: Path,
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    outputs: Mapping[str, str] | None = None,
    words: Table = VECTORS,
    lengths: Sequence[str | int] = ("batch", "sequence"),
    integer: int = TensorProto.INT64,
    weights: str = "",
) -> Path:
    """Writes an ONNX graph that looks words up in a table."""
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["looked_up"])]
    shown = []
    for name, kind in (outputs or {"last_hidden_state": TOKENS}).items():
        if kind == ECHO:
            nodes.append(helper.make_node("Identity", ["input_ids"], [name]))
            shown.append(helper.make_tensor_value_info(name, integer, list(lengths)))
            continue
        if kind == TOKENS:
            nodes.append(helper.make_node("Identity", ["looked_up"], [name]))
            shape: list[str | int] = [*lengths, words.shape[1]]
        else:
            nodes.append(
                helper.make_node("Gather", ["looked_up", "first"], [f"{name}_one"], axis=1)
            )
            nodes.append(helper.make_node("Add", [f"{name}_one", f"{name}_one"], [name]))
            shape = [lengths[0], words.shape[1]]
        shown.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    graph = helper.make_graph(
        nodes,
        "looked up",
        [helper.make_tensor_value_info(name, integer, list(lengths)) for name in inputs],
        shown,
        [
            numpy_helper.from_array(words, "words"),
            numpy_helper.from_array(np.array(0, dtype=np.int64), "first"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save_model(
        model, path, save_as_external_data=bool(weights), location=weights or None, size_threshold=0
    )
    return path


def write_int8_model(path: Path) -> Path:
    """Writes an ONNX graph whose arithmetic is that of int8 exports.

    Word vectors are rounded to 256 steps between the least and the greatest number of everything that is
    fed at once, and then multiplied by whole numbers: who else is in a batch decides how each is rounded.
    """
    random = np.random.default_rng(7)
    words = random.normal(size=(len(WORDS), _WIDE)).astype(np.float32)
    weights = random.integers(-127, 128, size=(_WIDE, DIMS)).astype(np.int8)
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["words", "input_ids"], ["looked_up"]),
            helper.make_node("DynamicQuantizeLinear", ["looked_up"], ["steps", "step", "zero"]),
            helper.make_node("MatMulInteger", ["steps", "weights", "zero"], ["products"]),
            helper.make_node("Cast", ["products"], ["sums"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["sums", "step"], ["last_hidden_state"]),
        ],
        "int8",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", DIMS]
            )
        ],
        [numpy_helper.from_array(words, "words"), numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save_model(model, path)
    return path


def write_tokenizer(folder: Path, words: Sequence[str] = WORDS, *, marks: bool = True) -> Path:
    """Writes a tokenizer as they are published: one that would pad, and cut off early, if it were let."""
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    if marks:
        ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
        tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.enable_padding(length=32)
    tokenizer.enable_truncation(5)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def write_json(path: Path, content: object) -> None:
    """Writes a file of settings."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def unit(*words: str) -> npt.NDArray[np.float64]:
    """Gives what the mean of some words' vectors is, at unit length."""
    rows = VECTORS[[WORDS.index(word) for word in words]].astype(np.float64)
    direction = rows.mean(axis=0)
    return np.asarray(direction / np.linalg.norm(direction))
