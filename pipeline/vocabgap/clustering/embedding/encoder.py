"""Texts to vectors: the tokenizer, the graph, the pooling of what it gives, and rounding it to a grid.

A text is run by itself, without padding and in one thread of the runtime: what int8 arithmetic gives depends
on what else is in a batch, and sums may depend on how they are shared out among threads. Only of a model
that is known to compute in float32 are texts of as many tokens run together.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.embedding.model_files import (
    DAMAGED_HINT,
    ModelFiles,
    Pooling,
    read_bytes,
    require_no_further_modules,
)
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.model.settings import INSTALLING
from vocabgap.text import excerpt

Grid = npt.NDArray[np.int16]  # whole steps of `STEPS` to 1, shape (n, dims)

# Kinds of processors differ in the seventh digit of a number; most of that is gone once it is rounded. The
# angle between a vector and the rounded one is a third of a degree at 384 dimensions.
STEPS: Final = 1024

# What a graph may call an input, and what the tokenizer calls the same.
_INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_INTEGERS: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS: Final = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
_SENTENCE_RANK: Final = 2  # text, dimension
_TOKEN_RANK: Final = 3  # text, token, dimension
_READY: Final = "sentence_embedding"
_SCORES: Final = "logits"  # of classes, or of the words of the vocabulary
_OF_TOKENS: Final = ("last_hidden_state", "token_embeddings")
_NO_TELEMETRY: Final = "ORT_DISABLE_TELEMETRY"  # the runtime opens connections as soon as it is imported
_SILENT: Final = 4  # what the runtime would log comes as an exception too
_EXTERNAL_FOLDER: Final = "session.model_external_initializers_file_folder_path"
_TOKENS_AT_ONCE: Final = 1024  # of a batch: memory grows with them
_PROBES: Final = ("a", "a b c d e f g")  # of different lengths

_OTHER_MODEL_HINT: Final = "name a model that embeds texts"
_ONE_FILE_HINT: Final = "export the model with its weights in the one file"
_ONE_EXPORT_HINT: Final = "put model and tokenizer of one export into a folder, and name it"


def libraries() -> tuple[str, str]:
    """The libraries that run the graph and split texts, with their versions, without importing them."""
    return f"onnxruntime {_version('onnxruntime')}", f"tokenizers {_version('tokenizers')}"


def load_encoder(files: ModelFiles) -> "Encoder":
    """Load a model and its tokenizer."""
    tokenizers = _library("tokenizers")
    _library("onnxruntime")  # what is missing is told before files of any size are read
    model = read_bytes(files.model)
    digest = files.digest(model)  # and what the system refuses in its own words
    tokenizer = _load_tokenizer(tokenizers, files)
    graph = _load_graph(files.model, model)
    if not graph.pooled:
        require_no_further_modules(files.home)
    return Encoder(files, digest, graph, tokenizer)


@dataclass(frozen=True, slots=True)
class Encoder:
    """What makes vectors of texts. May be used by several threads at once."""

    files: ModelFiles
    digest: str  # SHA-256 (hex) of everything that decides its vectors, the libraries apart
    _graph: "_Graph"
    _tokenizer: Any

    def encode(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Grid]]:
        """The vectors of some texts, rounded to the grid, a few at a time: their places, and a row each."""
        split = [self._split(text) for text in texts]
        by_length: dict[int, list[int]] = {}
        for place, tokens in enumerate(split):
            by_length.setdefault(len(tokens.ids), []).append(place)
        for length, places in by_length.items():
            size = max(1, min(self.files.batch, _TOKENS_AT_ONCE // length))
            for start in range(0, len(places), size):
                some = places[start : start + size]
                yield some, self._rounded([texts[place] for place in some], [split[place] for place in some])

    def probe(self) -> int:
        """How many dimensions its vectors have, once it was found to work."""
        dims, *others = (len(grid[0]) for text in _PROBES for _, grid in self.encode([text]))
        if others != [dims]:
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._graph.output}' has another length for another text",
                hint=_OTHER_MODEL_HINT,
            )
        if dims < 2:  # noqa: PLR2004 - a single number has no direction
            raise InvalidInputError(
                f"'{self.files.model}' gives one number for a text, not a vector", hint=_OTHER_MODEL_HINT
            )
        size = self._tokenizer.get_vocab_size()
        if not self._knows(size - 1):
            raise InvalidInputError(
                f"'{self.files.tokenizer}' has {size:,} tokens; '{self.files.model}' knows another number",
                hint=_ONE_EXPORT_HINT,
            )
        return dims

    def _split(self, text: str) -> Any:  # noqa: ANN401 - of an optional library
        try:
            split = self._tokenizer.encode(text)
        except BaseException as error:
            raise _or_reraised(error, f"'{self.files.tokenizer}' cannot split '{excerpt(text)}'") from error
        if not split.ids:
            raise InvalidInputError(
                f"'{self.files.tokenizer}' finds no token in '{excerpt(text)}'",
                hint="leave it out, or use another model",
            )
        return split

    def _rounded(self, texts: Sequence[str], split: Sequence[Any]) -> Grid:
        """The vectors of texts of as many tokens."""
        inputs = {name: [getattr(each, _INPUTS[name]) for each in split] for name in self._graph.inputs}
        try:
            output = self._graph.run(inputs)
        except Exception as error:
            raise InvalidInputError(
                f"'{self.files.model}' cannot be run on '{excerpt(texts[0])}': {_one_line(error)}",
                hint=_ONE_EXPORT_HINT,
            ) from error
        masks = np.asarray([each.attention_mask for each in split], dtype=bool)
        vectors = np.stack([self._pooled(output[n : n + 1], mask) for n, mask in enumerate(masks)])
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        for text, length in zip(texts, lengths[:, 0], strict=True):
            if not (np.isfinite(length) and length > 0):
                raise InvalidInputError(
                    f"'{self.files.model}' gives '{excerpt(text)}' a vector without a direction",
                    hint=DAMAGED_HINT,
                )
        return np.asarray(np.rint(vectors / lengths * STEPS), dtype=np.int16)

    def _knows(self, token: int) -> bool:
        only = {"input_ids": [[token]], "attention_mask": [[1]], "token_type_ids": [[0]]}
        try:
            self._graph.run({name: only[name] for name in self._graph.inputs})
        except Exception:  # the runtime's errors have no base of their own
            return False
        return True

    def _pooled(self, output: npt.NDArray[Any], mask: npt.NDArray[np.bool]) -> npt.NDArray[np.float64]:
        """The vector of one text, of double precision."""
        if output.ndim == _SENTENCE_RANK and len(output) == 1:
            return np.asarray(output[0], dtype=np.float64)
        if output.ndim != _TOKEN_RANK or output.shape[:2] != (1, len(mask)):
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._graph.output}' has the shape {output.shape};"
                f" expected one vector, or one for each of the {len(mask)} tokens",
                hint=_OTHER_MODEL_HINT,
            )
        if self.files.pooling is Pooling.CLS:
            return np.asarray(output[0, 0], dtype=np.float64)
        return np.asarray(output[0][mask].mean(axis=0, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class _Graph:
    """A graph that is ready to run. May be used by several threads at once."""

    inputs: Mapping[str, Any]  # name and type
    output: str
    pooled: bool  # whether that is, as far as the graph says, one vector for a text, not one for each token
    _session: Any

    def run(self, inputs: Mapping[str, Sequence[Sequence[int]]]) -> npt.NDArray[Any]:
        """The output for some texts; each input has one value for each token of each text."""
        feed = {name: np.asarray(values, dtype=self.inputs[name]) for name, values in inputs.items()}
        (output,) = self._session.run([self.output], feed)
        return np.atleast_1d(output)


def _load_graph(path: Path, model: bytes) -> _Graph:
    onnxruntime = _library("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    # Weights in a file beside the model would count for its vectors, and not for its digest.
    options.add_session_config_entry(_EXTERNAL_FOLDER, f"{path}/none")
    try:
        session = onnxruntime.InferenceSession(
            model,
            sess_options=options,
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # it would print on standard output, and try the same again
        )
        inputs = {port.name: (port.type, port.shape) for port in session.get_inputs()}
        # Some exports give their inputs back as well, which are whole numbers.
        ranks = {port.name: len(port.shape) for port in session.get_outputs() if port.type in _FLOATS}
    except Exception as error:
        hint = _ONE_FILE_HINT if "external data" in str(error).casefold() else DAMAGED_HINT
        raise InvalidInputError(f"'{path}' cannot be loaded: {_one_line(error)}", hint=hint) from error
    problem = _problem_with(inputs)
    if problem:
        raise InvalidInputError(f"'{path}' {problem}", hint=_OTHER_MODEL_HINT)
    output = _output_of(path, ranks)
    pooled = output == _READY or (output not in _OF_TOKENS and ranks[output] == _SENTENCE_RANK)
    types = {name: _INTEGERS[kind] for name, (kind, _) in inputs.items()}
    return _Graph(types, output, pooled, session)


def _problem_with(inputs: Mapping[str, tuple[str, Sequence[int | str | None]]]) -> str:
    """Why a graph cannot be fed, of the type and the shape of each of its inputs; empty where it can."""
    if "input_ids" not in inputs:
        return "has no input 'input_ids'"
    for name, (kind, shape) in inputs.items():
        if name not in _INPUTS or kind not in _INTEGERS:
            return f"asks for the input '{name}' ({kind}); known are {', '.join(_INPUTS)}"
        match shape:
            case [1 | str() | None, str() | None]:
                continue
        return f"input '{name}' has the shape {shape}; expected [batch, sequence], both of open length"
    return ""


def _output_of(path: Path, ranks: Mapping[str, int]) -> str:
    """The output that the vector is in, of those that hold real numbers, with the rank of each."""
    for name in (_READY, *_OF_TOKENS):
        if name in ranks:
            return name
    if not ranks:
        raise InvalidInputError(
            f"'{path}' gives no vector: none of its outputs holds real numbers", hint=_OTHER_MODEL_HINT
        )
    first = next(iter(ranks))
    of_tokens = (name for name, rank in ranks.items() if rank == _TOKEN_RANK)
    output = first if ranks[first] == _SENTENCE_RANK else next(of_tokens, first)
    if output == _SCORES:
        raise InvalidInputError(
            f"'{path}' output '{_SCORES}' holds scores, not an embedding: the model classifies",
            hint=_OTHER_MODEL_HINT,
        )
    return output


def _load_tokenizer(tokenizers: Any, files: ModelFiles) -> Any:  # noqa: ANN401 - an optional library
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        marks = tokenizer.num_special_tokens_to_add(is_pair=False)
        tokenizer.no_padding()
        if marks < files.max_tokens:
            tokenizer.enable_truncation(files.max_tokens)
    except BaseException as error:
        raise _or_reraised(error, f"'{files.tokenizer}' is no tokenizer") from error
    if marks >= files.max_tokens:
        raise InvalidInputError(
            f"a model that reads {files.max_tokens} tokens has no room for a word beside its {marks} marks",
            hint=f"correct max_seq_length in '{files.home / 'sentence_bert_config.json'}'",
        )
    return tokenizer


def _library(name: str) -> Any:  # noqa: ANN401 - modules that need not be installed, taken as they are
    os.environ[_NO_TELEMETRY] = "1"
    try:
        return import_module(name)
    except ImportError as error:
        raise StateError(f"embedding texts needs {name}: {_one_line(error)}", hint=INSTALLING) from error


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # another build of it, such as that for GPUs
        return str(_library(name).__version__)


def _or_reraised(error: BaseException, message: str) -> InvalidInputError:
    """An error of the tokenizer as one that names the file; what is none, such as Ctrl-C, is let through."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return InvalidInputError(f"{message}: {_one_line(error)}", hint=DAMAGED_HINT)


def _one_line(error: BaseException) -> str:
    return excerpt(str(error)) or type(error).__name__
