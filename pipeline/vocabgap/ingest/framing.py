"""From bytes as they come off a disk to whole lines, in memory that does not grow with the log."""

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from vocabgap.ingest.decoding import BYTE_ORDER_MARK, MAX_LINE_BYTES


class Block(msgspec.Struct, frozen=True):
    """Some lines of a log.

    Attributes:
        number: Number of the first line, counted from 1.
        offset: Offset of its first byte.
        lines: The lines without their newlines.
        ended: Whether a newline follows the last one.
        too_long: For a line over the limit, which stands alone and is cut, how many bytes it has.
    """

    number: int
    offset: int
    lines: list[bytes]
    ended: bool = True
    too_long: int = 0


def blocks(chunks: Iterable[bytes], number: int = 1, offset: int = 0) -> Iterator[Block]:
    """Cut the content of a log into lines.

    A byte order mark at the very beginning is left out.

    Lines end at a newline and nowhere else: `splitlines` breaks records that hold U+2028 or U+0085.

    Args:
        chunks: The content in pieces of any size; of a resumed log, from the start of a line on.
        number: The line that the content begins with.
        offset: Its first byte.
    """
    rest, skipped = b"", 0
    if offset == 0:
        chunks, offset = _without_mark(iter(chunks))
    for chunk in chunks:
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            rest, skipped = _held(rest + chunk, skipped)
            continue
        longest = len(rest) + len(chunk)
        lines[0] = rest + lines[0]
        if skipped:
            length = skipped + len(lines[0])
            yield Block(number, offset, [lines.pop(0)], too_long=length)
            number, offset, skipped = number + 1, offset + length + 1, 0
        rest = lines.pop()
        if longest > MAX_LINE_BYTES and max(map(len, lines), default=0) > MAX_LINE_BYTES:
            yield from _apart(number, offset, lines)
        elif lines:
            yield Block(number, offset, lines)
        number += len(lines)
        offset += sum(map(len, lines)) + len(lines)
        rest, skipped = _held(rest, skipped)
    if skipped:
        yield Block(number, offset, [rest], ended=False, too_long=skipped + len(rest))
    elif rest:
        yield Block(number, offset, [rest], ended=False)


def _without_mark(chunks: Iterator[bytes]) -> tuple[Iterator[bytes], int]:
    """The content without a byte order mark at its beginning, and the length of that."""
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= len(BYTE_ORDER_MARK):
            break
    length = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
    return chain([first[length:]] if len(first) > length else [], chunks), length


def _held(rest: bytes, skipped: int) -> tuple[bytes, int]:
    """What is kept of a line that has not ended yet, and how many of its bytes are not."""
    if len(rest) <= MAX_LINE_BYTES:
        return rest, skipped
    return rest[:MAX_LINE_BYTES], skipped + len(rest) - MAX_LINE_BYTES


def _apart(number: int, offset: int, lines: list[bytes]) -> Iterator[Block]:
    """The same lines, those over the limit each in a block of their own."""
    for line in lines:
        yield Block(number, offset, [line], too_long=len(line) if len(line) > MAX_LINE_BYTES else 0)
        number, offset = number + 1, offset + len(line) + 1
