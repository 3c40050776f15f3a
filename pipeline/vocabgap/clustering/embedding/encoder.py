"""One text to one vector: the tokenizer, the graph, the pooling of what it gives, and unit length.

A text is run by itself, without padding and in one thread of the runtime: what int8 weights give depends on
what else is in a batch, and sums may depend on how they are shared out among threads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

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
from vocabgap.text import shortened, visible


def library(name: str) -> Any:  # noqa: ANN401 - modules that need not be installed, taken as they are
    """A library by the name that it is imported by."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        problem = (
            f"needs {name}, which is not installed" if missing else f"cannot load {name}: {one_line(error)}"
        )
        raise StateError(f"embedding texts {problem}", hint="pip install 'vocabgap[embed]'") from error


def one_line(error: BaseException) -> str:
    """What an error says, as one line that is safe to print."""
    return shortened(visible(str(error))) or type(error).__name__


# What a graph may call an input, and what the tokenizer calls the same.
INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
SENTENCE_RANK: Final = 2  # text, dimension
TOKEN_RANK: Final = 3  # text, token, dimension

_READY: Final = "sentence_embedding"
_SCORES: Final = "logits"  # of classes, or of the words of the vocabulary
_OF_TOKENS: Final = ("last_hidden_state", "token_embeddings")
_INTEGERS: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS: Final = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
_SILENT: Final = 4  # what the runtime would log comes as an exception too
_OTHER_MODEL_HINT: Final = "name a model that embeds texts"
_ONE_FILE_HINT: Final = "export the model with its weights in the one file"
_EXTERNAL_FOLDER: Final = "session.model_external_initializers_file_folder_path"
_LENGTHS_HINT: Final = "export the model with open lengths"


class _Port(NamedTuple):
    """An input or an output: its type as the runtime writes it, and its sizes, names where they are open."""

    name: str
    type: str
    shape: tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph that is ready to run. May be used by several threads at once.

    Attributes:
        runtime: The library that runs it, with its version.
        inputs: Name and type of what it takes.
        output: Name of what is asked of it.
        pooled: Whether that is, as far as the graph says, one vector for a text, not one for each token.
    """

    runtime: str
    inputs: Mapping[str, Any]
    output: str
    pooled: bool
    _session: Any

    def run(self, fed: Mapping[str, Sequence[int]]) -> npt.NDArray[Any]:
        """The output for one text.

        Args:
            fed: Name of each input to its values, one for each token.
        """
        feed = {name: np.asarray([values], dtype=self.inputs[name]) for name, values in fed.items()}
        (found,) = self._session.run([self.output], feed)
        return np.asarray(found)


def load_graph(path: Path, model: bytes) -> Graph:
    """Load the graph of a model."""
    onnxruntime = library("onnxruntime")
    onnxruntime.disable_telemetry_events()
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
        inputs, outputs = map(_ports, (session.get_inputs(), session.get_outputs()))
    except Exception as error:
        hint = _ONE_FILE_HINT if "external data" in str(error).casefold() else DAMAGED_HINT
        raise InvalidInputError(f"'{path}' cannot be loaded: {one_line(error)}", hint=hint) from error
    output, pooled = _choose_output(path, outputs)
    for each in inputs:
        _require_known(path, each)
    types = {each.name: _INTEGERS[each.type] for each in inputs}
    if "input_ids" not in types:
        raise InvalidInputError(f"'{path}' has no input 'input_ids'", hint=_OTHER_MODEL_HINT)
    return Graph(f"onnxruntime {onnxruntime.__version__}", types, output, pooled, session)


def _ports(nodes: Sequence[Any]) -> list[_Port]:
    return [_Port(each.name, each.type, tuple(each.shape)) for each in nodes]


def _require_known(path: Path, each: _Port) -> None:
    if each.name not in INPUTS or each.type not in _INTEGERS:
        raise InvalidInputError(
            f"'{path}' asks for the input '{each.name}' ({each.type}); known are {', '.join(INPUTS)}",
            hint=_OTHER_MODEL_HINT,
        )
    match each.shape:
        case (1 | str() | None, str() | None):
            return
        case (1 | str() | None, int() as tokens):
            problem = f"always takes {tokens} tokens; texts have any number"
        case _:
            problem = f"has the shape {list(each.shape)}; expected [batch, sequence]"
    raise InvalidInputError(f"'{path}' input '{each.name}' {problem}", hint=_LENGTHS_HINT)


def _choose_output(path: Path, outputs: Sequence[_Port]) -> tuple[str, bool]:
    """The output that the vector is in, and whether it is pooled already."""
    # Some exports give their inputs back as well, which are whole numbers.
    ranks = {each.name: len(each.shape) for each in outputs if each.type in _FLOATS}
    for name in (_READY, *_OF_TOKENS):
        if name in ranks:
            return name, name == _READY
    if not ranks:
        raise InvalidInputError(
            f"'{path}' gives no vector: none of its outputs holds real numbers", hint=_OTHER_MODEL_HINT
        )
    first = next(iter(ranks))
    pooled = ranks[first] == SENTENCE_RANK
    of_tokens = (name for name, rank in ranks.items() if rank == TOKEN_RANK)
    chosen = first if pooled else next(of_tokens, first)
    if chosen == _SCORES:
        raise InvalidInputError(
            f"'{path}' output '{_SCORES}' holds scores, not an embedding: the model classifies",
            hint=_OTHER_MODEL_HINT,
        )
    return chosen, pooled


Vector = npt.NDArray[np.float32]

_PROBES: Final = ("a", "a b c d e f g")  # of different lengths
_ONE_EXPORT_HINT: Final = "put model and tokenizer of one export into a folder, and name it"


@dataclass(frozen=True, slots=True)
class Encoder:
    """What makes vectors of texts. May be used by several threads at once.

    Attributes:
        files: Where the model was read from.
        digest: SHA-256 (hex) of everything that decides its vectors, the libraries apart.
        runtime: The library that runs the graph, with its version.
        tokens_by: The library that splits texts, with its version.
    """

    files: ModelFiles
    digest: str
    runtime: str
    tokens_by: str
    _graph: Graph
    _tokenizer: Any

    def encode(self, text: str) -> Vector:
        """The vector of a text, of unit length."""
        try:
            split = self._tokenizer.encode(text)
        except BaseException as error:
            raise _or_reraised(error, f"'{self.files.tokenizer}' cannot split '{_named(text)}'") from error
        if not split.ids:
            raise InvalidInputError(
                f"'{self.files.tokenizer}' finds no token in '{_named(text)}'",
                hint="leave it out, or use another model",
            )
        try:
            found = self._graph.run({name: getattr(split, INPUTS[name]) for name in self._graph.inputs})
        except Exception as error:
            raise InvalidInputError(
                f"'{self.files.model}' cannot be run on '{_named(text)}': {one_line(error)}",
                hint=_ONE_EXPORT_HINT,
            ) from error
        # Lengths and sums are of double precision, and the outcome is rounded once: what is kept in a cache
        # is what was computed.
        vector = self._pooled(found, np.asarray(split.attention_mask, dtype=bool))
        length = np.sqrt(np.square(vector).sum())
        if not (np.isfinite(length) and length > 0):
            raise InvalidInputError(
                f"'{self.files.model}' gives '{_named(text)}' a vector without a direction",
                hint=DAMAGED_HINT,
            )
        return np.asarray(vector / length, dtype=np.float32)

    def probe(self) -> int:
        """How many dimensions its vectors have, once it was found to work."""
        dims, *others = (len(self.encode(text)) for text in _PROBES)
        if others != [dims]:
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._graph.output}' has another length for another text",
                hint="export the model with an output called sentence_embedding",
            )
        if dims < 2:  # noqa: PLR2004 - a single number has no direction
            raise InvalidInputError(
                f"'{self.files.model}' gives one number for a text, not a vector",
                hint="it classifies or compares texts; name a model that embeds them",
            )
        size = self._tokenizer.get_vocab_size()
        fits = self._knows(size - 1) and not (self.files.borrowed and self._knows(size))
        if not fits:
            raise InvalidInputError(
                f"'{self.files.tokenizer}' has {size:,} tokens; '{self.files.model}' knows another number",
                hint=_ONE_EXPORT_HINT,
            )
        return dims

    def _knows(self, token: int) -> bool:
        only = {"input_ids": [token], "attention_mask": [1], "token_type_ids": [0]}
        try:
            self._graph.run({name: only[name] for name in self._graph.inputs})
        except Exception:  # the runtime's errors have no base of their own
            return False
        return True

    def _pooled(self, found: npt.NDArray[Any], mask: npt.NDArray[np.bool]) -> npt.NDArray[np.float64]:
        if found.ndim == SENTENCE_RANK and len(found) == 1:
            return np.asarray(found[0], dtype=np.float64)
        if found.ndim != TOKEN_RANK or found.shape[:2] != (1, len(mask)):
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._graph.output}' has the shape {found.shape};"
                f" expected one vector, or one for each of the {len(mask)} tokens",
                hint="name a model that embeds texts",
            )
        if self.files.pooling is Pooling.CLS:
            return np.asarray(found[0, 0], dtype=np.float64)
        return np.asarray(found[0][mask].mean(axis=0, dtype=np.float64))


def load_encoder(files: ModelFiles) -> Encoder:
    """Load a model and its tokenizer."""
    tokenizers = library("tokenizers")
    library("onnxruntime")  # what is missing is told before files of any size are read
    model = read_bytes(files.model)
    digest = files.digest(model)  # and what the system refuses in its own words
    tokenizer = _load_tokenizer(tokenizers, files)
    graph = load_graph(files.model, model)
    if not graph.pooled:
        require_no_further_modules(files.home)
    tokens_by = f"tokenizers {version('tokenizers')}"
    return Encoder(files, digest, graph.runtime, tokens_by, graph, tokenizer)


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


def _or_reraised(error: BaseException, message: str) -> InvalidInputError:
    """An error of the tokenizer as one that names the file; what is none, such as Ctrl-C, is let through."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return InvalidInputError(f"{message}: {one_line(error)}", hint=DAMAGED_HINT)


def _named(text: str) -> str:
    return shortened(visible(text))
