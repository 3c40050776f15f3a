"""The files of a model: where they lie in a folder as it was published, and the digest of them all."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vocabgap.embedding.model_settings import DEFAULT_MAX_TOKENS, Pooling, read_max_tokens, read_pooling
from vocabgap.embedding.reading import exists, read_bytes, unreadable
from vocabgap.errors import InvalidInputError, NotFoundError, expanded
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.text import printable_name

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
        """SHA-256 (hex) of everything that decides which vector a text gets, the runtime apart.

        Raises:
            VocabgapError: A file cannot be read; the error names it.
        """
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

    Raises:
        NotFoundError: A file that is needed is not there.
        InvalidInputError: It is not clear which model is meant, or a file is damaged.
        AccessDeniedError: The system does not let something be read.
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
