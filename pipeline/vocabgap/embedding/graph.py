"""An ONNX graph of a sentence model: which inputs it takes, and which of its outputs holds the vector.

A text is run by itself, without padding and in one thread of the runtime: what int8 weights give depends on
what else is in a batch, and sums may depend on how they are shared out among threads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from vocabgap.embedding.libraries import library, told
from vocabgap.embedding.reading import DAMAGED_HINT
from vocabgap.errors import InvalidInputError

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

        Raises:
            Exception: Whatever the runtime raises, whose errors have no base of their own.
        """
        feed = {name: np.asarray([values], dtype=self.inputs[name]) for name, values in fed.items()}
        (found,) = self._session.run([self.output], feed)
        return np.asarray(found)


def load_graph(path: Path) -> Graph:
    """Load the graph of a model.

    Raises:
        StateError: What runs it is not installed.
        InvalidInputError: It is damaged, or takes or gives something else than a sentence model does.
    """
    onnxruntime = library("onnxruntime")
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    try:
        session = onnxruntime.InferenceSession(
            str(path),
            sess_options=options,
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # it would print on standard output, and try the same again
        )
        inputs, outputs = map(_ports, (session.get_inputs(), session.get_outputs()))
    except Exception as error:
        raise InvalidInputError(f"'{path}' cannot be loaded: {told(error)}", hint=DAMAGED_HINT) from error
    output, pooled = _choose_output(path, outputs)
    for each in inputs:
        _require_known(path, each)
    types = {each.name: _INTEGERS[each.type] for each in inputs}
    if "input_ids" not in types:
        raise InvalidInputError(f"'{path}' has no input 'input_ids'", hint=_OTHER_MODEL_HINT)
    return Graph(f"onnxruntime {onnxruntime.__version__}", types, output, pooled, session)


def _ports(found: Sequence[Any]) -> list[_Port]:
    return [_Port(each.name, each.type, tuple(each.shape)) for each in found]


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
