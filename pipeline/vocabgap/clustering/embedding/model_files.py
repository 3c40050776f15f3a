"""The files of a model: in a folder as it was published, or in an installed package, and the digest of them.

Of a package nothing is imported. Packages hold models in many ways: with the tokenizer beside, in another
folder, or left to a second package. A model is a MiniLM if its path, or the name of its package, says so.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec

from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError, converted, expanded
from vocabgap.files.refusals import FileKind, content_of, file_kind, refusing
from vocabgap.settings.model import MINILM
from vocabgap.text import printable_name

DAMAGED_HINT: Final = "copy the model again from where it was published"
_FOLDER_HINT: Final = "name a folder that holds tokenizer.json and model.onnx"
_MINILM_HINT: Final = f"install a package that carries one, or {_FOLDER_HINT}"
_UNREADABLE_HINT: Final = "see to its permissions, or name another one"
_POOLED_HINT: Final = "export the model with an output called sentence_embedding, which needs no pooling"

_SUFFIX: Final = ".onnx"
_SUBFOLDER: Final = "onnx"
_MODEL_NAMES: Final = ("model.onnx", "model_quantized.onnx", "model_int8.onnx")
_TOKENIZER_NAME: Final = "tokenizer.json"
_RULES: Final = "1"  # changed whenever the same files would give other vectors
_DEFAULT_MAX_TOKENS: Final = 256
_SANE_MAX_TOKENS: Final = 8192  # tokenizers write 10**30 where nobody has said
_MODE: Final = "pooling_mode"  # one text since sentence-transformers 5.3; before,
_FLAG: Final = "pooling_mode_"  # a flag for each mode
_KNOWN_MODULES: Final = frozenset({"Transformer", "Pooling", "Normalize"})
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
    borrowed: bool = False  # whether the tokenizer was not published with the model

    def digest(self, model: bytes) -> str:
        """SHA-256 (hex) of what decides which vector a text gets, the runtime apart; `model` is the graph."""
        parts = [
            ("rules", _RULES.encode()),
            ("model", hashlib.sha256(model).digest()),
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


def find_minilm() -> ModelFiles:
    """The MiniLM of the installed packages.

    Of several, one with a tokenizer in its own package comes first, then the package whose name sorts
    first, then the folder, then the order in which names are looked for in a folder.
    """
    carried = list(_carried())
    models = [each for each in carried if each.path.suffix == _SUFFIX and each.is_minilm]
    tokenizers = [each for each in carried if each.path.name == _TOKENIZER_NAME]
    if not models:
        raise NotFoundError(f"no installed package carries an ONNX file of {MINILM}", hint=_MINILM_HINT)
    owned = {each.package for each in tokenizers}
    model = min(models, key=lambda each: (each.package not in owned, each.package, *_preference(each)))
    tokenizer = _own_tokenizer(model, tokenizers) or _borrowed_tokenizer(tokenizers)
    if tokenizer is None:
        raise NotFoundError(
            f"{model.title} carries a {MINILM} without {_TOKENIZER_NAME}, and no other package one that fits",
            hint=_MINILM_HINT,
        )
    home = _home_of(model.path)
    borrowed = tokenizer.package != model.package
    name = f"{MINILM} ({model.title}{f', tokenizer of {tokenizer.title}' if borrowed else ''})"
    pooling, max_tokens = _read_pooling(home), _read_max_tokens(home)
    return ModelFiles(name, model.path, tokenizer.path, home, pooling, max_tokens, borrowed)


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


@dataclass(frozen=True, slots=True)
class _Carried:
    """A file of an installed package."""

    package: str
    version: str
    path: Path
    inside: str  # its path within the package

    @property
    def is_minilm(self) -> bool:
        name = f"{self.package}/{self.inside}".lower()
        return MINILM in name and not any(word in name for word in _COMPARING)

    @property
    def title(self) -> str:
        return f"{self.package} {self.version}"


def _carried() -> Iterator[_Carried]:
    """The ONNX files and the tokenizers of all packages; of one installed twice, those of the first."""
    seen = set()
    for package in distributions():
        name = str(package.metadata["Name"] or "").lower().replace("_", "-")
        files = () if name in seen else package.files or ()
        seen.add(name)
        for file in files:
            path = Path(str(package.locate_file(file)))
            if (file.suffix == _SUFFIX or file.name == _TOKENIZER_NAME) and path.is_file():
                yield _Carried(name, package.version, path, file.as_posix())


def _preference(model: _Carried) -> tuple[str, int, str]:
    name = model.path.name
    place = _MODEL_NAMES.index(name) if name in _MODEL_NAMES else len(_MODEL_NAMES)
    return _home_of(model.path).as_posix(), place, model.inside


def _own_tokenizer(model: _Carried, tokenizers: list[_Carried]) -> _Carried | None:
    """The tokenizer in the folder of the model, in the one above `onnx/`, or else the only one around."""
    own = [each for each in tokenizers if each.package == model.package]
    near = [each for each in own if each.path.parent in {_home_of(model.path), model.path.parent}]
    if len(own) > 1 and not near:
        shown = ", ".join(sorted(printable_name(each.inside) for each in own))
        raise InvalidInputError(
            f"{model.title} carries '{printable_name(model.inside)}' and, apart from it, several tokenizers:"
            f" {shown}",
            hint=f"copy the model and its {_TOKENIZER_NAME} into a folder, and name that",
        )
    return next(iter(near or own), None)


def _borrowed_tokenizer(tokenizers: list[_Carried]) -> _Carried | None:
    ordered = sorted(tokenizers, key=lambda each: (not each.is_minilm, each.package, each.inside))
    return next((each for each in ordered if _is_of_bert(each.path)), None)


def _is_of_bert(path: Path) -> bool:
    try:
        model = _read_json(path, dict).get("model")
    except VocabgapError:
        return False
    words = model.get("vocab") if isinstance(model, dict) and model.get("type") == "WordPiece" else None
    if not isinstance(words, dict) or len(words) != _BERT_TOKENS:
        return False
    return all(words.get(word) == place for word, place in _BERT_IDS.items())
