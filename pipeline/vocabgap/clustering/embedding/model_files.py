"""The files of a model: in a folder as it was published, or in an installed package, and the digest of them.

Of a package nothing is imported. Packages hold models in many ways: with the tokenizer beside, in another
folder, or left to a second package. A model is a MiniLM if its path, or the name of its package, says so.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import Distribution, distributions
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
from vocabgap.settings.model import MINILM
from vocabgap.text import printable_name

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
    content = _read_json(path)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InvalidInputError(f"'{path}' holds no JSON object", hint=DAMAGED_HINT)
    return content


def read_list(path: Path) -> list[Any]:
    """The JSON array in a file; an empty one where there is no such file."""
    content = _read_json(path)
    if content is None:
        return []
    if not isinstance(content, list):
        raise InvalidInputError(f"'{path}' holds no JSON array", hint=DAMAGED_HINT)
    return content


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
    shown = " and ".join(sorted(str(each) for each in modes))
    raise InvalidInputError(
        f"'{path}' asks for pooling by {shown}; known are mean and cls",
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
# Models of the same family that compare two texts, and give a score instead of a vector.
_COMPARING: Final = ("ms-marco", "msmarco", "cross-encoder", "cross_encoder", "rerank")
# The vocabulary of BERT (uncased), which MiniLM was made with: how many tokens it has, and where some stand.
_BERT_TOKENS: Final = 30_522
_BERT_IDS: Final = {
    "[PAD]": 0,
    "[UNK]": 100,
    "[CLS]": 101,
    "[SEP]": 102,
    "[MASK]": 103,
    ".": 1012,
    "a": 1037,
    "the": 1996,
    "of": 1997,
    "##s": 2015,
    "##ing": 2075,
    "##!": 29_612,
}
_MINILM_HINT: Final = (
    "install a package that carries one, or name a folder that holds tokenizer.json and model.onnx"
)


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

    def digest(self, model: bytes) -> str:
        """SHA-256 (hex) of everything that decides which vector a text gets, the runtime apart.

        Args:
            model: The content of the graph's file.
        """
        parts = [
            ("rules", _RULES.encode()),
            ("model", hashlib.sha256(model).digest()),
            ("tokenizer", hashlib.sha256(read_bytes(self.tokenizer)).digest()),
            ("pooling", self.pooling.encode()),
            ("max_tokens", str(self.max_tokens).encode()),
        ]
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


def _kind(place: Path) -> FileKind:
    try:
        return file_kind(place)
    except OSError as error:
        raise unreadable(place, error) from error


def _called(folder: Path) -> str:
    return printable_name(folder.absolute().name) or "model"


@dataclass(frozen=True, slots=True)
class _Carried:
    """A file of an installed package."""

    package: str
    version: str
    path: Path
    inside: str  # its path within the package

    @property
    def is_minilm(self) -> bool:
        told = f"{self.package}/{self.inside}".lower()
        return MINILM in told and not any(word in told for word in _COMPARING)

    @property
    def named(self) -> str:
        return f"{self.package} {self.version}"


def find_minilm() -> ModelFiles:
    """The MiniLM of the installed packages.

    Of several, one with a tokenizer in its own package comes first, then the package whose name sorts
    first, then the folder, then the order in which names are looked for in a folder.
    """
    carried = list(_carried())
    models = [each for each in carried if each.path.suffix == SUFFIX and each.is_minilm]
    tokenizers = [each for each in carried if each.path.name == TOKENIZER_NAME]
    if not models:
        raise NotFoundError(f"no installed package carries an ONNX file of {MINILM}", hint=_MINILM_HINT)
    owned = {each.package for each in tokenizers}
    model = min(models, key=lambda each: (each.package not in owned, each.package, *_preference(each)))
    tokenizer = _own_tokenizer(model, tokenizers) or _borrowed_tokenizer(tokenizers)
    if tokenizer is None:
        raise NotFoundError(
            f"{model.named} carries a {MINILM} without {TOKENIZER_NAME}, and no other package one that fits",
            hint=_MINILM_HINT,
        )
    home = home_of(model.path)
    borrowed = tokenizer.package != model.package
    other = f", tokenizer of {tokenizer.named}" if borrowed else ""
    return ModelFiles(
        f"{MINILM} ({model.named}{other})",
        model.path,
        tokenizer.path,
        home,
        read_pooling(home),
        read_max_tokens(home),
        borrowed,
    )


def _carried() -> Iterator[_Carried]:
    """The ONNX files and the tokenizers of all packages; of one installed twice, those of the first."""
    seen = set()
    for package in distributions():
        name = str(package.metadata["Name"] or "").lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        yield from _of_package(package, name)


def _of_package(package: Distribution, name: str) -> Iterator[_Carried]:
    for file in package.files or ():
        if file.suffix == SUFFIX or file.name == TOKENIZER_NAME:
            path = Path(str(package.locate_file(file)))
            if path.is_file():
                yield _Carried(name, package.version, path, file.as_posix())


def _preference(model: _Carried) -> tuple[str, int, str]:
    place = MODEL_NAMES.index(model.path.name) if model.path.name in MODEL_NAMES else len(MODEL_NAMES)
    return home_of(model.path).as_posix(), place, model.inside


def _own_tokenizer(model: _Carried, tokenizers: list[_Carried]) -> _Carried | None:
    """The tokenizer in the folder of the model, in the one above `onnx/`, or else the only one around."""
    own = [each for each in tokenizers if each.package == model.package]
    near = (home_of(model.path), model.path.parent)
    for each in own:
        if each.path.parent in near:
            return each
    if len(own) > 1:
        shown = ", ".join(sorted(printable_name(each.inside) for each in own))
        raise InvalidInputError(
            f"{model.named} carries '{printable_name(model.inside)}' and, apart from it, several tokenizers:"
            f" {shown}",
            hint=f"copy the model and its {TOKENIZER_NAME} into a folder, and name that",
        )
    return own[0] if own else None


def _borrowed_tokenizer(tokenizers: list[_Carried]) -> _Carried | None:
    ordered = sorted(tokenizers, key=lambda each: (not each.is_minilm, each.package, each.inside))
    return next((each for each in ordered if _is_of_bert(each.path)), None)


def _is_of_bert(path: Path) -> bool:
    try:
        model = read_object(path).get("model")
    except VocabgapError:
        return False
    if not isinstance(model, dict) or model.get("type") != "WordPiece":
        return False
    words = model.get("vocab")
    if not isinstance(words, dict) or len(words) != _BERT_TOKENS:
        return False
    return all(words.get(word) == place for word, place in _BERT_IDS.items())
