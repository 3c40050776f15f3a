"""The other columns: the keys of an object that no field of a record reads.

A record keeps them as one JSON text. Filters and breakdowns read the values at a path of such texts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from vocabgap.model.sources import ANY_MEMBER, Tree, parsed, pointer_of

if TYPE_CHECKING:
    import polars as pl

OTHER: Final = "other"
"""The column with these texts."""
MOST_BYTES: Final = 4_096  # of a text
_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_DECODE: Final = msgspec.json.decode


Rest = dict[str, Any]
"""The other keys of an object with their values."""


class Others(NamedTuple):
    """The other columns of some records as JSON, and the names of those that do not fit, by place."""

    texts: list[str | None]
    left_out: dict[int, list[str]]


def not_taken(value: Mapping[str, Any], taken: Tree) -> Rest:
    """Return the keys of an object with a value that no field takes; inside objects, too, taken in part."""
    rest: Rest = {}
    for key, item in value.items():
        below = taken.get(key)
        if below is None:
            rest[key] = item
        elif below and isinstance(item, dict):
            rest[key] = not_taken(item, below)
    return given(rest.items())


def given(items: Iterable[tuple[str, Any]]) -> Rest:
    """Return the keys that have a value."""
    return {key: item for key, item in items if item or item == 0}


def encoded_others(rests: Sequence[Rest]) -> Others:
    """Return the other keys of records as JSON with sorted keys, each at most `MOST_BYTES`.

    If they are too large together, the largest ones are left out, so that no value is cut.
    """
    with suppress(UnicodeEncodeError, OverflowError, RecursionError):  # such as half of a surrogate pair
        lines = _ENCODER.encode_lines(rests).split(b"\n")[:-1]
        if max(map(len, lines), default=0) <= MOST_BYTES:
            return Others([None if line == b"{}" else line.decode() for line in lines], {})
    if len(rests) > 1:
        each = [encoded_others([rest]) for rest in rests]
        left_out = {place: one.left_out[0] for place, one in enumerate(each) if one.left_out}
        return Others([one.texts[0] for one in each], left_out)
    (rest,) = rests
    sizes = sorted((_size(key, item), key) for key, item in rest.items())
    ends = accumulate(size for size, _ in sizes)
    kept = {key for end, (_, key) in zip(ends, sizes, strict=True) if end < MOST_BYTES}
    return Others(encoded_others([{key: rest[key] for key in kept}]).texts, {0: sorted(rest.keys() - kept)})


def _size(key: str, item: object) -> int:
    """Return the size of a key and its value among others; it is too large if it is no valid JSON."""
    with suppress(UnicodeEncodeError, OverflowError, RecursionError):
        return len(_ENCODER.encode({key: item})) - 1
    return MOST_BYTES


@lru_cache(maxsize=1 << 16)
def values_at(text: str, path: str) -> tuple[str, ...]:
    """Return the distinct values at a path of a text, sorted; a list gives those of all its members.

    A path is a key, keys joined by dots, or a JSON pointer.
    """
    with suppress(RecursionError):  # it is nested too deeply
        value = _DECODE(text)
        return tuple(sorted({*_texts(value, (path,) if path in value else pointer_of(path))}))
    return ()


def _texts(value: Any, keys: tuple[str, ...]) -> Iterator[str]:  # noqa: ANN401 - any JSON
    value = parsed(value) if keys else value
    if isinstance(value, list):
        for member in value:
            if not isinstance(member, list):
                yield from _texts(member, keys[1:] if keys[:1] == (ANY_MEMBER,) else keys)
    elif keys and isinstance(value, dict):
        yield from _texts(value.get(keys[0]), keys[1:])
    elif (value or value == 0) and not keys and not isinstance(value, dict):
        yield value if isinstance(value, str) else _ENCODER.encode(value).decode()


def keys_in(text: str) -> tuple[str, ...]:
    """Return the keys of a text."""
    return tuple(_DECODE(text))


@lru_cache(maxsize=1 << 16)
def paths_in(text: str) -> tuple[str, ...]:
    """Return the paths of the values of a text, sorted."""
    with suppress(RecursionError):
        return tuple(sorted({*_paths(_DECODE(text))}))
    return ()


def _paths(value: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for member in value:
            if not isinstance(member, list):
                yield from _paths(member, path)
    else:
        yield path


def listed(read: Callable[[str], tuple[str, ...]]) -> "pl.Expr":
    """Return what a function reads in the other columns of each record, as a list of texts."""
    import polars as pl  # noqa: PLC0415 - commands declare their options without it

    def lists(column: pl.Series) -> pl.Series:
        rows = [() if text is None else read(text) for text in column]
        return pl.Series(column.name, rows, dtype=pl.List(pl.String))

    return pl.col(OTHER).map_batches(lists, pl.List(pl.String), is_elementwise=True)


def values(path: str) -> "pl.Expr":
    """Return the values at a path of the other columns of each record, as a list of texts."""
    return listed(partial(values_at, path=path))
