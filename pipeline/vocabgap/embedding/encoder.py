"""One text to one vector: the tokenizer, the graph, the pooling of what it gives, and unit length."""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from vocabgap.embedding.graph import INPUTS, SENTENCE_RANK, TOKEN_RANK, Graph, load_graph
from vocabgap.embedding.libraries import library, told
from vocabgap.embedding.model_files import ModelFiles
from vocabgap.embedding.model_settings import Pooling, require_no_further_modules
from vocabgap.embedding.reading import DAMAGED_HINT
from vocabgap.errors import InvalidInputError
from vocabgap.text import shortened, visible

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
        """The vector of a text, of unit length.

        Raises:
            InvalidInputError: The model has none for it; the error names the text.
        """
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
                f"'{self.files.model}' cannot be run on '{_named(text)}': {told(error)}",
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
        """How many dimensions its vectors have, once it was found to work.

        Raises:
            InvalidInputError: It does not, or the tokenizer belongs to another model.
        """
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
    """Load a model and its tokenizer.

    Raises:
        StateError: What runs them is not installed.
        InvalidInputError: One of them is damaged, or of a kind that is not known here.
        VocabgapError: A file cannot be read.
    """
    tokenizers = library("tokenizers")
    library("onnxruntime")  # what is missing is told before files of any size are read
    digest = files.digest()  # and what the system refuses in its own words
    tokenizer = _load_tokenizer(tokenizers, files)
    graph = load_graph(files.model)
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
    return InvalidInputError(f"{message}: {told(error)}", hint=DAMAGED_HINT)


def _named(text: str) -> str:
    return shortened(visible(text))
