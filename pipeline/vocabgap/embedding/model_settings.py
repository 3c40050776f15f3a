"""What a published model says of itself: how token embeddings are pooled, and how many tokens it reads.

The files and their keys are those of sentence-transformers, which most sentence models are published with.
"""

from enum import StrEnum
from pathlib import Path
from typing import Final

from vocabgap.embedding.reading import read_list, read_object
from vocabgap.errors import InvalidInputError

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
    """How the model in a folder pools; the mean where it does not say.

    Raises:
        InvalidInputError: In a way that is not known here, or the file is damaged.
        AccessDeniedError: The system does not let it be read.
    """
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
    """How many tokens of a text the model in a folder reads, those that mark its ends among them.

    Raises:
        InvalidInputError: It says something that is no such number, or a file is damaged.
        AccessDeniedError: The system does not let a file be read.
    """
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
    """Refuse a model of which more belongs after the pooling, such as a dense layer: it would be left out.

    Raises:
        InvalidInputError: It has such a module, or the file that lists them is damaged.
        AccessDeniedError: The system does not let it be read.
    """
    path = home / "modules.json"
    for module in read_list(path):
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in _KNOWN_MODULES:
            raise InvalidInputError(
                f"'{path}' names the module '{kind}', which token embeddings alone do not give",
                hint="export the model with an output called sentence_embedding",
            )
