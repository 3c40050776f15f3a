"""Documents of JSON whose elements are gaps: each element becomes a line of its own, told by its place.

A document is read whole, so it may have no more bytes than one machine surely holds; that of several in one
file each is looked through.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from vocabgap.ingest.decoding import DECODER, Rejected, refused
from vocabgap.ingest.reading import Block
from vocabgap.records.record import RejectReason
from vocabgap.settings.sources import Pointer

MOST_BYTES: Final = 64 << 20
UNKNOWN_OFFSET: Final = -(1 << 60)  # from which no line comes to 0
_ANY: Final = "*"
_SPACE: Final = " \t\r\n\ufeff"


def elements(chunks: Iterable[bytes], each: tuple[Pointer, ...]) -> Iterator[Block]:
    """What some pointers lead to in the values of a file, each as a block of one line, numbered from 1.

    What cannot be read of the file is a block without lines that says why.
    """
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > MOST_BYTES:
            detail = f"expected a document of at most {MOST_BYTES:,} bytes, for it is read whole"
            yield _refused(Rejected(RejectReason.TOO_LONG, detail))
            return
    number = 1
    try:
        for value in _values(content.decode("utf-8")):
            for place, element in (found for pointer in each for found in _found(value, pointer)):
                yield Block(number, UNKNOWN_OFFSET, [json.dumps(element).encode()], place=place)
                number += 1
    except (ValueError, RecursionError) as fault:
        yield _refused(refused(fault, "document"))


def _values(text: str) -> Iterator[Any]:
    """The values of a file: one, or several after each other."""
    at = _after_space(text, 0)
    while at < len(text):
        value, end = DECODER.raw_decode(text, at)
        yield value
        at = _after_space(text, end)


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


def _refused(why: Rejected) -> Block:
    return Block(1, UNKNOWN_OFFSET, [], refused=why)
