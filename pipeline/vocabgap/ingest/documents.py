"""Documents of JSON whose elements are gaps: each element becomes a line of its own, told by its place.

A file that begins with a whole document on its first line has one a line, and is read line by line; any other
is read whole. What is read at once may have no more bytes than one machine surely holds.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

import msgspec

from vocabgap.ingest.decoding import DECODER, FieldMap, Rejected, refused
from vocabgap.ingest.reading import Block
from vocabgap.model.record import MAX_LINE_BYTES, RejectReason
from vocabgap.model.sources import Pointer

MOST_BYTES: Final = 64 << 20
UNKNOWN_OFFSET: Final = -(1 << 60)  # from which no line comes to 0
_ANY: Final = "*"
_SPACE: Final = " \t\r\n\ufeff"
_Tree = dict[str, "_Tree"]  # keys, and what is read below them


def elements(chunks: Iterable[bytes], fields: FieldMap) -> Iterator[Block]:
    """What the pointers of a source lead to in a file, each as a block of one line, numbered from 1.

    Of an element there is what the source reads: a span, say, holds much else that was not meant for us.
    Elements that are no gaps are only counted. A document that cannot be read is a block without lines that
    says why; where there is one a line, those after it are read on.
    """
    number = 1
    reads = _tree(fields.reads)
    for line, content in _documents(chunks):
        of_line = f" of line {line}" if line > 1 else ""
        if len(content) > MOST_BYTES:
            detail = f"expected at most {MOST_BYTES:,} bytes in the document{of_line}, for it is read whole"
            yield _refused(Rejected(RejectReason.TOO_LONG, detail))
            return
        try:
            for value, encoded in _values(content):
                passed_over = 0
                for place, element in (found for pointer in fields.each for found in _found(value, pointer)):
                    if isinstance(element, dict) and fields.of_shape(element) is None:
                        passed_over += 1
                    else:
                        text = encoded(_kept(element, reads))
                        yield _block(number, text, place + of_line)
                    number += 1
                if passed_over:
                    yield Block(number, UNKNOWN_OFFSET, [], passed_over=passed_over)
        except (ValueError, RecursionError) as fault:
            yield _refused(refused(fault, "document" + of_line))


def _block(number: int, text: bytes, place: str) -> Block:
    size = len(text) if len(text) > MAX_LINE_BYTES else 0
    return Block(number, UNKNOWN_OFFSET, [text[:MAX_LINE_BYTES]], too_long=size, place=place)


def _documents(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The documents of a file and where each begins: one a line if the first is whole, else all at once."""
    content, number, by_line = bytearray(), 1, None
    for chunk in chunks:
        content += chunk
        if by_line is None and b"\n" in chunk:
            begun = content.lstrip(_SPACE.encode())
            end = begun.find(b"\n")
            by_line = None if end < 0 else _is_whole(bytes(begun[:end]))
        if by_line:
            *lines, content = content.split(b"\n")
            yield from ((at, bytes(line)) for at, line in enumerate(lines, number) if line.strip())
            number += len(lines)
        if len(content) > MOST_BYTES:
            break
    if content.strip():
        yield number, bytes(content)


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True


def _values(content: bytes) -> Iterator[tuple[Any, Callable[[Any], bytes]]]:
    """The values of a document, one or several after each other, and what writes a part of them down."""
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass  # the slower decoder says why, and reads what a faster one refuses
    else:
        yield value, _encoded
        return
    text = content.decode("utf-8")
    at = _after_space(text, 0)
    while at < len(text):
        value, end = DECODER.raw_decode(text, at)
        yield value, _dumped
        at = _after_space(text, end)


def _encoded(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    try:
        return msgspec.json.encode(value)
    except OverflowError:  # a number of more than 64 bits
        return _dumped(value)


def _dumped(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    return json.dumps(value).encode()


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _found(value: Any, pointer: Pointer, place: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """Whatever a pointer leads to, with its place; `*` stands for each member of a list or an object."""
    if not pointer:
        yield place, value
        return
    key, rest = pointer[0], pointer[1:]
    members: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = ((str(index), member) for index, member in enumerate(value))
    for name, member in members:
        if key in (_ANY, name):
            yield from _found(member, rest, f"{place}/{name.replace('~', '~0').replace('/', '~1')}")


def _tree(pointers: Collection[Pointer]) -> _Tree:
    """Some pointers as nested keys; without any, or where one ends, all is meant that lies there."""
    if () in pointers:
        return {}
    keys = dict.fromkeys(pointer[0] for pointer in pointers)
    return {key: _tree([pointer[1:] for pointer in pointers if pointer[0] == key]) for key in keys}


def _kept(value: Any, reads: _Tree) -> Any:  # noqa: ANN401 - any JSON
    """What is read of a value, in its place."""
    if not reads or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        return {key: _kept(each, reads[key]) for key, each in value.items() if key in reads}
    if any(key.isdigit() for key in reads):
        return value  # what is counted has to stay where it is
    named = ((each.get("key"), each.get("value")) for each in value if isinstance(each, dict))
    return [
        {"key": key, "value": _kept(each, reads[key])}
        for key, each in named
        if isinstance(key, str) and key in reads
    ]


def _refused(why: Rejected) -> Block:
    return Block(1, UNKNOWN_OFFSET, [], refused=why)
