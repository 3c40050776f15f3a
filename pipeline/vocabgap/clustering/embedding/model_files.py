"""The files of a model: where they lie in a folder as it was published, and the digest of them all."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec

from vocabgap.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
    expanded,
)
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.text import printable_name

# The files of a model as they lie on disk: whole, or an error that names the one it is about.


DAMAGED_HINT: Final = "copy the model again from where it was published"
_NOT_THERE: Final = (FileKind.NOTHING, FileKind.DANGLING)


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    try:
        kind = file_kind(path)
        if kind is FileKind.FILE:
            return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if kind in _NOT_THERE:
        raise NotFoundError(f"there is no file '{path}'", hint=DAMAGED_HINT)
    raise InvalidInputError(f"'{path}' is {kind}; expected a file", hint=DAMAGED_HINT)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one where there is no such file."""
    found = _read_json(path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidInputError(f"'{path}' holds no JSON object", hint=DAMAGED_HINT)
    return found


def read_list(path: Path) -> list[Any]:
    """The JSON array in a file; an empty one where there is no such file."""
    found = _read_json(path)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InvalidInputError(f"'{path}' holds no JSON array", hint=DAMAGED_HINT)
    return found


def exists(path: Path) -> bool:
    """Whether a path leads to anything."""
    try:
        return file_kind(path) not in _NOT_THERE
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> VocabgapError:
    """What is said where the system, or the disk, does not let a file or a folder be read."""
    kind = AccessDeniedError if isinstance(error, PermissionError) else StateError
    return kind(
        f"'{path}' cannot be read: {error.strerror or error}",
        hint="see to its permissions, or name another one",
    )


def _read_json(path: Path) -> object:
    if not exists(path):
        return None
    try:
        return msgspec.json.decode(read_bytes(path))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"'{path}' is not JSON: {error}", hint=DAMAGED_HINT) from error


# What a published model says of itself: how token embeddings are pooled, and how many tokens it
# reads.
#
# The files and their keys are those of sentence-transformers, which most sentence models are
# published with.


DEFAULT_MAX_TOKENS: Final = 256
_SANE_MAX_TOKENS: Final = 8192  # tokenizers write 10**30 where nobody has said
_POOLING_FILE: Final = "1_Pooling/config.json"
_MODE: Final = "pooling_mode"  # one text since sentence-transformers 5.3; before, a flag for each mode
_KNOWN_MODULES: Final = frozenset({"Transformer", "Pooling", "Normalize"})


class Pooling(StrEnum):
    """How one vector is made of those of the tokens."""

    MEAN = "mean"
    CLS = "cls"


def read_pooling(home: Path) -> Pooling:
    """How the model in a folder pools; the mean where it does not say."""
    path = home / _POOLING_FILE
    settings = read_object(path)
    mode = settings.get(_MODE)
    flags = {name for name, on in settings.items() if name.startswith(f"{_MODE}_") and on is True}
    if mode is None and not flags:
        return Pooling.MEAN
    modes = {mode} if mode is not None else {name.removeprefix(f"{_MODE}_") for name in flags}
    match [str(each) for each in modes]:
        case ["mean" | "mean_tokens"]:
            return Pooling.MEAN
        case ["cls" | "cls_token"]:
            return Pooling.CLS
    told = " and ".join(sorted(str(each) for each in modes))
    raise InvalidInputError(
        f"'{path}' asks for pooling by {told}; known are mean and cls",
        hint="export the model with an output called sentence_embedding, which needs no pooling",
    )


def read_max_tokens(home: Path) -> int:
    """How many tokens of a text the model in a folder reads, those that mark its ends among them."""
    path = home / "sentence_bert_config.json"
    length = read_object(path).get("max_seq_length")
    if length is not None:
        if not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise InvalidInputError(
                f"'{path}' max_seq_length: expected a whole number of at least 1, found {length!r}",
                hint=f"correct it, or leave it out for {DEFAULT_MAX_TOKENS}",
            )
        return length
    length = read_object(home / "tokenizer_config.json").get("model_max_length")
    sane = isinstance(length, int) and not isinstance(length, bool) and 1 <= length <= _SANE_MAX_TOKENS
    return int(length) if sane and length is not None else DEFAULT_MAX_TOKENS


def require_no_further_modules(home: Path) -> None:
    """Refuse a model of which more belongs after the pooling, such as a dense layer: it would be left out."""
    path = home / "modules.json"
    for module in read_list(path):
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in _KNOWN_MODULES:
            raise InvalidInputError(
                f"'{path}' names the module '{kind}', which token embeddings alone do not give",
                hint="export the model with an output called sentence_embedding",
            )


SUFFIX: Final = ".onnx"
SUBFOLDER: Final = "onnx"
MODEL_NAMES: Final = ("model.onnx", "model_quantized.onnx", "model_int8.onnx")
TOKENIZER_NAME: Final = "tokenizer.json"
# Changed whenever the same files would give other vectors.
_RULES: Final = "1"
_FOLDER_HINT: Final = "name a folder that holds tokenizer.json and model.onnx"
_MOST_LISTED: Final = 10
# Where a tensor of a model says which file it is in: key 1 "location", then field 2, its length and the name.
_LOCATION: Final = re.compile(rb"\x0a\x08location\x12([\x00-\x7f]|[\x80-\xff][\x01-\x7f])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk.

    Attributes:
        name: What it is called, without the place where it lies.
        model: The ONNX graph.
        tokenizer: The `tokenizer.json`.
        home: The folder with its settings.
        pooling: How token embeddings become one vector.
        max_tokens: How many tokens of a text it reads.
        borrowed: Whether the tokenizer was not published with the model.
    """

    name: str
    model: Path
    tokenizer: Path
    home: Path
    pooling: Pooling = Pooling.MEAN
    max_tokens: int = DEFAULT_MAX_TOKENS
    borrowed: bool = False

    def digest(self) -> str:
        """SHA-256 (hex) of everything that decides which vector a text gets, the runtime apart."""
        model = read_bytes(self.model)
        parts = [
            ("rules", _RULES.encode()),
            ("model", hashlib.sha256(model).digest()),
            ("tokenizer", hashlib.sha256(read_bytes(self.tokenizer)).digest()),
            ("pooling", self.pooling.encode()),
            ("max_tokens", str(self.max_tokens).encode()),
        ]
        for location in sorted(set(_locations(model))):
            path = self.model.parent / location
            if _is_file(path):  # the runtime tells which one it misses
                parts.append((location, _digest(path)))
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def find_model(path: str | Path) -> ModelFiles:
    """The files of the model at a path.

    Args:
        path: A folder, or the `.onnx` file itself.
    """
    place = expanded(path)
    kind = _kind(place)
    if kind is FileKind.FOLDER:
        model, home = _choose(place), place
        name = _called(place)
    elif kind is FileKind.FILE and place.suffix == SUFFIX:
        model, home = place, home_of(place)
        name = f"{_called(home)}/{printable_name(model.name)}"
    elif kind in {FileKind.NOTHING, FileKind.DANGLING}:
        raise NotFoundError(f"there is no model '{path}'", hint=_FOLDER_HINT)
    else:
        raise InvalidInputError(f"model '{path}': expected a folder, found {kind}", hint=_FOLDER_HINT)
    return ModelFiles(name, model, _tokenizer(home, model), home, read_pooling(home), read_max_tokens(home))


def home_of(model: Path) -> Path:
    """The folder with the settings of a model: its own, or the one above `onnx/`."""
    folder = model.parent
    if folder.name == SUBFOLDER and not exists(folder / TOKENIZER_NAME):
        return folder.parent
    return folder


def _choose(folder: Path) -> Path:
    places = (folder, folder / SUBFOLDER)
    for place in places:
        for name in MODEL_NAMES:
            if exists(place / name):
                return place / name
    others = [path for place in places if exists(place) for path in _listed(place)]
    if not others:
        raise NotFoundError(f"'{folder}' holds no {SUFFIX} file", hint=_FOLDER_HINT)
    if len(others) > 1:
        shown = [printable_name(path.relative_to(folder).as_posix()) for path in others]
        rest = f" and {len(shown) - _MOST_LISTED} more" if len(shown) > _MOST_LISTED else ""
        raise InvalidInputError(
            f"'{folder}' holds several models: {', '.join(shown[:_MOST_LISTED])}{rest}",
            hint=f"name one of the files, such as '{others[0]}'",
        )
    return others[0]


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except NotADirectoryError:
        return []
    except OSError as error:
        raise unreadable(folder, error) from error


def _tokenizer(home: Path, model: Path) -> Path:
    for place in (home, model.parent):
        if exists(place / TOKENIZER_NAME):
            return place / TOKENIZER_NAME
    raise NotFoundError(
        f"'{home}' holds no {TOKENIZER_NAME}", hint="copy it there from where the model was published"
    )


def _locations(model: bytes) -> Iterator[str]:
    """Names of the files beside a model that its tensors lie in.

    They are found by how such an entry is always written, not by reading the model as a whole, for which
    there is a library of its own. What looks like one by chance names no file that is there.
    """
    for found in _LOCATION.finditer(model):
        low, *high = found[1]
        length = (low & 0x7F) + (high[0] << 7 if high else 0)
        name = model[found.end() : found.end() + length]
        try:
            location = name.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if location and "\0" not in location and not Path(location).is_absolute():
            yield location


def _digest(path: Path) -> bytes:
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").digest()
    except OSError as error:
        raise unreadable(path, error) from error


def _is_file(path: Path) -> bool:
    try:
        return file_kind(path) is FileKind.FILE
    except OSError:
        return False


def _kind(place: Path) -> FileKind:
    try:
        return file_kind(place)
    except OSError as error:
        raise unreadable(place, error) from error


def _called(folder: Path) -> str:
    return printable_name(folder.absolute().name) or "model"
