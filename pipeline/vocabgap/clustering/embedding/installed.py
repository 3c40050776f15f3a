"""The MiniLM that some installed package carries: found by its files; nothing of the package is imported.

Packages hold such models in many ways: with the tokenizer beside, in another folder, or left to a second
package. A model counts if its path, or the name of its package, has `minilm` in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from vocabgap.clustering.embedding.model_files import (
    MODEL_NAMES,
    SUFFIX,
    TOKENIZER_NAME,
    ModelFiles,
    home_of,
    read_max_tokens,
    read_object,
    read_pooling,
)
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError
from vocabgap.settings.model import MINILM
from vocabgap.text import printable_name

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
_HINT: Final = "install a package that carries one, or name a folder that holds tokenizer.json and model.onnx"


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
        raise NotFoundError(f"no installed package carries an ONNX file of {MINILM}", hint=_HINT)
    owned = {each.package for each in tokenizers}
    model = min(models, key=lambda each: (each.package not in owned, each.package, *_preference(each)))
    tokenizer = _own_tokenizer(model, tokenizers) or _borrowed_tokenizer(tokenizers)
    if tokenizer is None:
        raise NotFoundError(
            f"{model.named} carries a {MINILM} without {TOKENIZER_NAME}, and no other package one that fits",
            hint=_HINT,
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
