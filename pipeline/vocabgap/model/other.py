"""The other columns: the keys of an object that no field of a record reads.

A record keeps them as one JSON text. Filters and breakdowns read the values at a path of such texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from vocabgap.model.sources import ANY_MEMBER, Tree, parsed, pointer_of

if TYPE_CHECKING:
    import polars as pl

OTHER: Final = "other"
"""The column with these texts."""
MOST_BYTES: Final = 4_096  # of a text
_MOST_KEYS: Final = 10  # of a path
_LEFT_OUT: Final = "(left out)"  # the key whose value counts the omitted values
_NOTE_BYTES: Final = 24
_DECODER: Final = msgspec.json.Decoder(dict[str, Any])
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def not_taken(value: Mapping[str, Any], taken: Tree) -> dict[str, Any]:
    """Return an object without the keys that fields read, at any depth, and without empty values."""
    rest = {key: item for key, item in value.items() if key not in taken and (item or item == 0)}
    for key, below in taken.items() if any(taken.values()) else ():
        if below and isinstance(item := value.get(key), dict) and (inner := not_taken(item, below)):
            rest[key] = inner
    return rest


def encoded(rests: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Return the other keys of each record as JSON with sorted keys, at most `MOST_BYTES`; null for none.

    If they are too large together, the first keys that fit are kept, and `(left out)` counts the others.
    """
    with suppress(UnicodeEncodeError, OverflowError, RecursionError):  # such as half of a surrogate pair
        lines = _ENCODER.encode_lines(rests).split(b"\n")[:-1]
        if all(len(line) <= MOST_BYTES for line in lines):
            return [None if line == b"{}" else line.decode() for line in lines]
    return [text for rest in rests for text in encoded([rest])] if len(rests) > 1 else [*map(_fitting, rests)]


def _fitting(rest: Mapping[str, Any]) -> str:
    kept, size = dict[str, Any](), _NOTE_BYTES
    for key in sorted(rest.keys() - {_LEFT_OUT}):
        with suppress(UnicodeEncodeError, OverflowError, RecursionError):
            if size + (added := len(_ENCODER.encode({key: rest[key]}))) <= MOST_BYTES:
                kept[key], size = rest[key], size + added
    return _ENCODER.encode({**kept, _LEFT_OUT: len(rest) - len(kept)}).decode()


def texts_at(path: str | None = None) -> "pl.Expr":
    """Return the values at a path of the other columns of each record, as a list; without one, all paths.

    A path is a key, keys joined by dots, or a JSON pointer. A list gives the values of all its members.
    """
    import polars as pl  # noqa: PLC0415 - commands declare their options without it

    read = paths_in if path is None else partial(values_at, path=path)

    def lists(column: pl.Series) -> pl.Series:
        rows = [() if text is None else read(text) for text in column]
        return pl.Series(column.name, rows, dtype=pl.List(pl.String))

    return pl.col(OTHER).map_batches(lists, pl.List(pl.String), is_elementwise=True)


@lru_cache(maxsize=1 << 16)
def values_at(text: str, path: str) -> tuple[str, ...]:
    """Return the distinct values at a path of a text, sorted."""
    value = _object(text)
    keys = (path,) if path in value else pointer_of(path)
    return tuple(sorted({*_texts(value, keys)}))


def _texts(value: Any, keys: tuple[str, ...]) -> Iterator[str]:  # noqa: ANN401 - any JSON
    value = parsed(value) if keys else value
    if isinstance(value, list):
        for member in (each for each in value if not isinstance(each, list)):
            yield from _texts(member, keys[1:] if keys[:1] == (ANY_MEMBER,) else keys)
    elif keys and isinstance(value, dict):
        yield from _texts(value.get(keys[0]), keys[1:])
    elif (value or value == 0) and not keys and not isinstance(value, dict):
        yield value if isinstance(value, str) else _ENCODER.encode(value).decode()


@lru_cache(maxsize=1 << 16)
def paths_in(text: str) -> tuple[str, ...]:
    """Return the paths of the values of a text, sorted."""
    return tuple(sorted({".".join(path) for path in _paths(_object(text))}))


def _paths(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401 - any JSON
    for member in value if isinstance(value, list) else [value]:
        if isinstance(member, dict) and len(path) < _MOST_KEYS:
            for key, item in member.items():
                yield from _paths(item, (*path, key))
        else:
            yield path


def _object(text: str) -> dict[str, Any]:
    with suppress(RecursionError):  # it is nested too deeply
        return _DECODER.decode(text)
    return {}
