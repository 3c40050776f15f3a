"""What a Parquet file expands to, by its footer and the headers of its pages, before anything is decoded.

Polars decodes what the headers of the pages say, and refuses a page that expands further; the footer may lie.
"""

from io import SEEK_CUR, SEEK_END, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import polars as pl
from polars._typing import PolarsDataType

from vocabgap.errors import StateError
from vocabgap.files.budget import CELL, DEEPEST, MIB, USUAL_MIB, Budget, OverBudgetError, fair

_PAGE: Final = 4_096  # bytes that a page costs at least
_VALUE: Final = 128  # bytes that a value of a footer or of a header costs at most
_DELTAS: Final = 7  # DELTA_BYTE_ARRAY, whose values may repeat the bytes of the value before
_PAGES: Final = {5: 2, 8: 4, 7: 2}  # the field of a page's header, and the field of the encoding in it
_STRUCT, _LISTS, _TEXT, _FLOAT, _FLAG, _LONG = 12, {9, 10}, 8, 7, 2, 15  # in the compact protocol of Thrift


def spend_parquet(file: BinaryIO, budget: Budget) -> None:
    """Spend what a Parquet file expands to.

    Raises:
        OverBudgetError: It expands too far.
        ValueError: It is damaged, or nested so deeply that Polars would crash.
    """
    try:
        end = file.seek(-8, SEEK_END)
        file.seek(end - int.from_bytes(file.read(4), "little"))
        footer = _value(file, budget)  # 2: the schema; 4: the groups of rows
        _require_depth(footer[2])
        widest = max(CELL, *(element.get(2, 0) for element in footer[2]))  # of values of fixed length
        for chunk in (column[3] for group in footer[4] for column in group[1]):
            end = file.seek(chunk.get(11) or chunk[9]) + chunk[7]  # the first page, and the size of all
            while file.tell() < end:
                header = _value(file, budget)
                page = next(field for field in _PAGES if field in header)
                size, packed, values = header[2], header[3], header[page][1]
                if min(size, packed, values) < 0:
                    raise ValueError
                if header[page][_PAGES[page]] == _DELTAS and budget.most <= USUAL_MIB * MIB:
                    size *= values  # only decoding would tell how far it expands
                budget.spend(_PAGE + size + widest * values)
                file.seek(packed, SEEK_CUR)
    except (LookupError, TypeError, AttributeError, OverflowError, StopIteration, RecursionError) as error:
        raise ValueError("its footer or the header of a page is damaged") from error


def require_fair(file: BinaryIO, path: Path) -> None:
    """Raise StateError if a table expands further than those that vocabgap writes."""
    try:
        spend_parquet(file, Budget(fair(file.seek(0, SEEK_END)), "it"))
    except (OverBudgetError, ValueError) as error:
        raise StateError(f"'{path}' is damaged: {error}", hint="use another copy of its folder") from error
    file.seek(0)


def hide_arrow(content: BytesIO) -> None:
    """Hide Arrow's own schema: it may fill a null up to an array of any length."""
    view = content.getbuffer()
    begin = len(view) - 8 - int.from_bytes(view[-8:-4], "little")
    view[begin:] = bytes(view[begin:]).replace(b"ARROW:schema", b"ARROW-schema")
    content.seek(0)


def bytes_of(column: pl.Expr, dtype: PolarsDataType) -> pl.Expr:
    """Return the bytes of each value of a column; a text that many rows share counts in each of them."""
    if isinstance(dtype, pl.Struct):
        parts = (bytes_of(column.struct.field(each.name), each.dtype) for each in dtype.fields)
        return pl.sum_horizontal(CELL, *parts)
    if isinstance(dtype, pl.List):
        size = column.list.eval(bytes_of(pl.element(), dtype.inner)).list.sum()
    else:
        is_text = dtype in {pl.String, pl.Binary}
        size = column.cast(pl.Binary).bin.size() if is_text else pl.lit(0)
    return size.cast(pl.Int64).fill_null(0) + CELL


def _require_depth(elements: list[dict[int, Any]]) -> None:
    left = list[int]()  # the children of each open element that are still to come
    for element in elements:
        while left and not left[-1]:
            left.pop()
        left[-1:] = [each - 1 for each in left[-1:]]
        left.append(element.get(5, 0))
        if len(left) > DEEPEST:
            raise ValueError(f"it is nested deeper than {DEEPEST} levels")


def _value(file: BinaryIO, budget: Budget, kind: int = _STRUCT) -> Any:  # noqa: ANN401 - of any kind
    if kind == _STRUCT:
        fields, number = dict[int, Any](), 0
        while head := file.read(1)[0]:
            budget.spend(_VALUE)
            number = number + (head >> 4) if head >> 4 else _integer(file)
            fields[number] = None if head & 15 <= _FLAG else _value(file, budget, head & 15)
        return fields
    if kind in _LISTS:
        head = file.read(1)[0]
        length = head >> 4 if head >> 4 < _LONG else _unsigned(file)
        budget.spend(_VALUE * length)
        return [_value(file, budget, head & 15) for _ in range(length)]
    if kind in {_TEXT, _FLOAT}:
        return file.seek(_unsigned(file) if kind == _TEXT else 8, SEEK_CUR)
    return _integer(file) if kind > _FLAG + 1 else file.read(1)[0]


def _unsigned(file: BinaryIO) -> int:
    number = 0
    for shift in range(0, 70, 7):
        part = file.read(1)[0]
        number |= (part & 127) << shift
        if not part >> 7:
            return number
    raise ValueError("a number is longer than 64 bits")


def _integer(file: BinaryIO) -> int:
    number = _unsigned(file)
    return number >> 1 ^ -(number & 1)
