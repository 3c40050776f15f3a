"""One text to one vector: a tokenizer, an ONNX graph and the pooling of what it gives.

A text is run by itself, without padding and in one thread of the runtime: what int8 weights give depends on
what else is in a batch, and sums depend on how they are shared out among threads.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from vocabgap.embedding.model_files import ModelFiles
from vocabgap.embedding.model_settings import Pooling, require_no_further_modules
from vocabgap.embedding.reading import DAMAGED_HINT
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.text import shortened, visible

Vector = npt.NDArray[np.float32]

_EXTRA_HINT: Final = "pip install 'vocabgap[embed]'"
_SILENT: Final = 4  # what the runtime would log comes as an exception too
_READY: Final = "sentence_embedding"
_OF_TOKENS: Final = ("last_hidden_state", "token_embeddings")
# What the graph calls an input, and what the tokenizer calls the same.
_INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_DTYPES: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS: Final = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
_SENTENCE_RANK: Final = 2  # text, dimension
_TOKEN_RANK: Final = 3  # text, token, dimension
_PROBES: Final = ("a", "a b c d e f g")  # of different lengths


@dataclass(frozen=True, slots=True)
class Encoder:
    """What makes vectors of texts. May be used by several threads at once.

    Attributes:
        files: Where the model was read from.
        digest: SHA-256 (hex) of everything that decides its vectors, the libraries apart.
        runtime: The library that runs it, with its version.
        tokens_by: The library that splits texts, with its version.
    """

    files: ModelFiles
    digest: str
    runtime: str
    tokens_by: str
    _session: Any
    _tokenizer: Any
    _inputs: dict[str, Any]
    _output: str

    def encode(self, text: str) -> Vector:
        """The vector of a text, of unit length.

        Raises:
            InvalidInputError: The model has none for it; the error names the text.
        """
        try:
            split = self._tokenizer.encode(text)
        except BaseException as error:
            raise _or_reraised(error, f"the tokenizer cannot read '{_named(text)}'") from error
        if not split.ids:
            raise InvalidInputError(
                f"the tokenizer finds no token in '{_named(text)}'", hint="leave it out, or use another model"
            )
        fed = {name: getattr(split, _INPUTS[name]) for name in self._inputs}
        try:
            vector = self._pooled(self._run(fed), np.asarray(split.attention_mask, dtype=bool))
        except InvalidInputError:
            raise
        except Exception as error:
            raise InvalidInputError(
                f"'{self.files.model}' cannot be run on '{_named(text)}': {_line(error)}",
                hint="the tokenizer and the model may not belong together",
            ) from error
        length = np.sqrt(np.square(vector).sum())
        if not (np.isfinite(length) and length > 0):
            raise InvalidInputError(
                f"'{self.files.model}' gives '{_named(text)}' a vector without a direction",
                hint=DAMAGED_HINT,
            )
        return np.asarray(vector / length, dtype=np.float32)

    def probe(self) -> int:
        """How many dimensions its vectors have, once it was found to work.

        Raises:
            InvalidInputError: It does not, or the tokenizer belongs to another model.
        """
        dims, *others = (len(self.encode(text)) for text in _PROBES)
        if others != [dims]:
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._output}' has another length for another text",
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
                hint="put model and tokenizer of one export into a folder, and name it",
            )
        return dims

    def _knows(self, token: int) -> bool:
        try:
            self._run(
                {name: [token if name == "input_ids" else int("mask" in name)] for name in self._inputs}
            )
        except Exception:  # the runtime's errors have no base of their own
            return False
        return True

    def _run(self, fed: dict[str, list[int]]) -> npt.NDArray[Any]:
        feed = {name: np.asarray([values], dtype=self._inputs[name]) for name, values in fed.items()}
        (found,) = self._session.run([self._output], feed)
        return np.asarray(found)

    def _pooled(self, found: npt.NDArray[Any], mask: npt.NDArray[np.bool]) -> npt.NDArray[np.float64]:
        if found.ndim == _SENTENCE_RANK and len(found) == 1:
            return np.asarray(found[0], dtype=np.float64)
        if found.ndim != _TOKEN_RANK or found.shape[:2] != (1, len(mask)):
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._output}' has the shape {found.shape};"
                f" expected one vector, or one for each of the {len(mask)} tokens",
                hint="name a model that embeds texts",
            )
        if self.files.pooling is Pooling.CLS:
            return np.asarray(found[0, 0], dtype=np.float64)
        return np.asarray(found[0][mask].mean(axis=0, dtype=np.float64))


def load_encoder(files: ModelFiles) -> Encoder:
    """Load a model and its tokenizer.

    Raises:
        StateError: What runs them is not installed.
        InvalidInputError: One of them is damaged, or of a kind that is not known here.
        VocabgapError: A file cannot be read.
    """
    onnxruntime, tokenizers = _library("onnxruntime"), _library("tokenizers")
    digest = files.digest()  # first: what the system refuses is told in its own words
    tokenizer = _load_tokenizer(tokenizers, files)
    session = _load_session(onnxruntime, files)
    output, pooled = _choose_output(session, files)
    if pooled:
        require_no_further_modules(files.home)
    return Encoder(
        files,
        digest,
        runtime=f"onnxruntime {onnxruntime.__version__}",
        tokens_by=f"tokenizers {version('tokenizers')}",
        _session=session,
        _tokenizer=tokenizer,
        _inputs=_inputs_of(session, files),
        _output=output,
    )


def _library(name: str) -> Any:  # noqa: ANN401 - a module without types
    try:
        return import_module(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        problem = (
            f"needs {name}, which is not installed" if missing else f"cannot load {name}: {_line(error)}"
        )
        raise StateError(f"embedding texts {problem}", hint=_EXTRA_HINT) from error


def _load_tokenizer(tokenizers: Any, files: ModelFiles) -> Any:  # noqa: ANN401
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


def _load_session(onnxruntime: Any, files: ModelFiles) -> Any:  # noqa: ANN401
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    try:
        return onnxruntime.InferenceSession(
            str(files.model), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise InvalidInputError(
            f"'{files.model}' cannot be loaded: {_line(error)}", hint=DAMAGED_HINT
        ) from error


def _inputs_of(session: Any, files: ModelFiles) -> dict[str, Any]:  # noqa: ANN401
    found = {each.name: each for each in session.get_inputs()}
    for name, each in found.items():
        if name not in _INPUTS or each.type not in _DTYPES:
            raise InvalidInputError(
                f"'{files.model}' asks for the input '{name}' ({each.type}); known are {', '.join(_INPUTS)}",
                hint="name a model that embeds texts",
            )
        if len(each.shape) != len(("text", "token")) or each.shape[0] not in {1, *_open(each.shape[0])}:
            raise InvalidInputError(
                f"'{files.model}' input '{name}' has the shape {each.shape}; expected [batch, sequence]",
                hint="export the model with open lengths",
            )
        if isinstance(each.shape[1], int):
            raise InvalidInputError(
                f"'{files.model}' input '{name}' always takes {each.shape[1]} tokens; texts have any number",
                hint="export the model with open lengths",
            )
    if "input_ids" not in found:
        raise InvalidInputError(
            f"'{files.model}' has no input 'input_ids'", hint="name a model that embeds texts"
        )
    return {name: _DTYPES[each.type] for name, each in found.items()}


def _open(size: object) -> tuple[object, ...]:
    """A size of a shape, unless it is fixed."""
    return () if isinstance(size, int) else (size,)


def _choose_output(session: Any, files: ModelFiles) -> tuple[str, bool]:  # noqa: ANN401
    """The output that the vector is in, and whether it has yet to be pooled."""
    # Some exports give their inputs back as well, which are whole numbers.
    outputs = {each.name: len(each.shape) for each in session.get_outputs() if each.type in _FLOATS}
    for name in (_READY, *_OF_TOKENS):
        if name in outputs:
            return name, name != _READY
    if not outputs:
        raise InvalidInputError(
            f"'{files.model}' gives no vector: none of its outputs holds real numbers",
            hint="name a model that embeds texts",
        )
    first = next(iter(outputs))
    if outputs[first] == _SENTENCE_RANK:
        return first, False
    of_tokens = (name for name, rank in outputs.items() if rank == _TOKEN_RANK)
    return next(of_tokens, first), True


def _or_reraised(error: BaseException, message: str) -> InvalidInputError:
    """An error of the tokenizer as one that names the file; what is none, such as Ctrl-C, is let through."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return InvalidInputError(f"{message}: {_line(error)}", hint=DAMAGED_HINT)


def _line(error: BaseException) -> str:
    return shortened(visible(str(error))) or type(error).__name__


def _named(text: str) -> str:
    return shortened(visible(text))
