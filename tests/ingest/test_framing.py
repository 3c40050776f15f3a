import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocabgap.ingest.reading import Block, blocks

BOM = b"\xef\xbb\xbf"
LIMIT = 8
MIB = 1 << 20
LIMIT_NAME = "vocabgap.ingest.reading.MAX_LINE_BYTES"

# Newlines, what other readers take for one, byte order marks and parts of them, and anything at all.
pieces = st.sampled_from(
    [b"\n", b"\r\n", b"reed", b"\xe2\x80\xa8", b"\xc2\x85", b"\x0c", BOM, BOM[:2]]
)
contents = st.lists(pieces | st.binary(max_size=6), max_size=20).map(b"".join)
long_lines = st.lists(st.integers(0, 5 * LIMIT).map(lambda length: b"x" * length), max_size=8).map(
    b"\n".join
)
cuts = st.lists(st.integers(0, 160), max_size=20)


class Line(NamedTuple):
    number: int
    offset: int
    content: bytes


def pieces_of(content: bytes, places: list[int]) -> list[bytes]:
    """Return the content, cut at each place inside it."""
    bounds = [0, *sorted(min(place, len(content)) for place in places), len(content)]
    return [content[start:end] for start, end in pairwise(bounds)]


def lines_of(content: bytes) -> list[Line]:
    """Split the whole content at once: the plain way."""
    number, offset = 1, len(BOM) if content.startswith(BOM) else 0
    found = []
    for line in content[offset:].split(b"\n"):
        found.append(Line(number, offset, line))
        number, offset = number + 1, offset + len(line) + 1
    return found if found[-1].content else found[:-1]


def filled(lines: list[Line]) -> list[Line]:
    """Return the lines that hold anything."""
    return [line for line in lines if line.content.strip()]


def framed(found: Iterable[Block]) -> list[Line]:
    lines = []
    for block in found:
        offset = block.offset
        for number, line in enumerate(block.lines, start=block.number):
            lines.append(Line(number, offset, line))
            offset += len(line) + 1
    return filled(lines)


@given(contents, cuts)
@example(BOM + b"reed\n", [1])
@example(b"reed\nbeak", [4])
@example(b"reed\nbeak", [5])
def test_lines_do_not_depend_on_where_chunks_end_and_only_the_last_may_lack_its_newline(
    content: bytes, places: list[int]
) -> None:
    found = list(blocks(pieces_of(content, places)))

    assert framed(found) == filled(lines_of(content))
    ended = [block.ended for block in found]
    assert all(ended[:-1])
    if ended and content.removeprefix(BOM):
        assert ended[-1] == content.endswith(b"\n")


# Lines over the limit


def length_of(block: Block) -> int:
    """Return the length that the reject of a block tells; 0 without a reject."""
    return int(block.rejected.detail.rpartition(" ")[2].replace(",", "")) if block.rejected else 0


@given(long_lines, cuts)
@example(b"x" * LIMIT + b"\n" + b"x" * (LIMIT + 1), [])
@example(b"x" * (3 * LIMIT) + b"\nreed", [LIMIT, 2 * LIMIT])
@example(b"reed\n" + b"x" * (LIMIT + 1) + b"\nbeak\n", [LIMIT])
@example(b"reed\n" + b"x" * (3 * LIMIT) + b"\nreed\n", [LIMIT])
def test_lines_over_the_limit_stand_alone_and_keep_their_place_and_length(
    content: bytes, places: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LIMIT_NAME, LIMIT)
        found = list(blocks(pieces_of(content, places)))

    places_of_lines = [
        (number, length_of(block) or len(line))
        for block in found
        for number, line in enumerate(block.lines, start=block.number)
    ]
    assert places_of_lines == [(line.number, len(line.content)) for line in lines_of(content)]
    offsets = {line.number: line.offset for line in lines_of(content)}
    assert [block.offset for block in found] == [offsets[block.number] for block in found]
    for block in found:
        if block.rejected:
            assert len(block.lines) == 1
            assert length_of(block) > LIMIT
        else:
            assert max(map(len, block.lines), default=0) <= LIMIT


# Memory


@pytest.mark.parametrize("end", [b"", b"\nreed\n"], ids=["cut off", "ended"])
def test_a_line_without_end_is_not_held(end: bytes) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(64):
            yield b"x" * MIB
        yield end

    tracemalloc.start()
    try:
        lengths = [length_of(block) for block in blocks(chunks())]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert lengths[0] == 64 * MIB
    assert peak < 8 * MIB


few_words = st.sampled_from([b"", b" ", b"\t\r", b"\r", b"\x0b\x0c ", b"{}", b" x", b"x" * 40])


@given(st.lists(few_words, max_size=60).map(b"\n".join), cuts)
def test_blank_lines_are_counted_and_all_others_keep_their_place(
    content: bytes, places: list[int]
) -> None:
    newlines = 0
    for block in blocks(pieces_of(content, places)):
        assert block.number == newlines + 1
        newlines += len(block.lines) * block.ended

    assert newlines == content.count(b"\n")
    assert framed(blocks(pieces_of(content, places))) == filled(lines_of(content))
