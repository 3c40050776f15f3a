"""Open plain and compressed logs, and cut them into lines or into the elements of JSON documents.

A log may be written while it is read. A scan reads the content that was there when it opened the log. It
reports a change of the size since then, and leaves an unfinished last line for the next scan.
"""

import gzip
import hashlib
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain, groupby, islice
from operator import add
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.files import descriptor_of
from vocabgap.files.budget import MIB, MOST_WHOLE, Budget, OverBudgetError, require_decodable
from vocabgap.ingest.decoding import BYTE_ORDER_MARK, DECODER, FieldMap, Rejected, no_json
from vocabgap.model.record import MAX_LINE_BYTES, RejectReason
from vocabgap.model.sources import ANY_MEMBER, Pointer, Tree, json_pointer, pointer_of, tree_of, value_at
from vocabgap.text import count

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK_BYTES: Final = MIB
COMPRESSIONS: Final = ("gz", "zst")
UNKNOWN_OFFSET: Final = -(1 << 60)  # so low that no line within an element reaches 0
_SPACE: Final = " \t\r\n\ufeff"
_COUNT: Final = ("count",)
_MOST_ELEMENTS: Final = 1_000  # of a block
_MOST_LINES: Final = 16_384  # of a block
_HOLE: Final = bytes(65_536)  # no log has so many null bytes, but the values of a Parquet file may
_Around = tuple[dict[str, Any], ...]  # the innermost object is the last
_Element = tuple[str, Any, _Around]  # with its place
Adapter = Callable[[Iterable[Any]], Iterable[dict[str, Any]]]
"""A function that makes plain objects of the values of a file."""


@dataclass(slots=True)
class OpenLog:
    """One log, open for reading."""

    descriptor: int
    compression: str
    budget: Budget
    expected: int  # the size of the file when it was opened
    size: int = 0  # bytes read so far, expanded if the log is compressed
    problem: Rejected | None = None  # why the log could not be read to its end
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    @classmethod
    @contextmanager
    def open(cls, path: str, compression: str = "", max_expanded: int = sys.maxsize) -> Iterator["OpenLog"]:
        """Open a log for a while; raise an `OSError` if it cannot be read, or is no regular file."""
        descriptor = descriptor_of(path)
        try:
            size = os.fstat(descriptor).st_size
            yield cls(descriptor, compression, Budget.of_log(size, max_expanded), size)
        finally:
            os.close(descriptor)

    @property
    def sha256(self) -> str:
        """The digest of the content read so far."""
        return self._digest.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """Yield the content; `problem` tells why it ends early, if it does.

        Ask for one byte more than is due, to see whether a log grew, or expands too far.
        """
        if self.compression and not self.expected:
            return
        first = b""
        with self._reading() as read:
            while self.problem is None:
                left = max(0, self.budget.left) if self.compression else self.expected - self.size
                wanted = min(left + 1, CHUNK_BYTES)
                content = self._next_chunk(read, wanted)
                first = first or content[:4]
                if content.startswith(_HOLE) and first != b"PAR1":
                    detail = f"only null bytes follow byte {self.size:,}; the rest was not read"
                    self.problem = Rejected(RejectReason.UNREADABLE_FILE, detail)
                    break
                if len(content) > left and self.compression:
                    self.problem = Rejected(RejectReason.EXPANDS_TOO_FAR, str(self.budget.error))
                elif len(content) > left:
                    self.problem = _changed(f"it grew; the next scan reads on from byte {self.expected:,}")
                if chunk := content[:left]:
                    self._digest.update(chunk)
                    self.size += len(chunk)
                    if self.compression:
                        with suppress(OverBudgetError):  # the next chunk tells whether more is due
                            self.budget.spend(len(chunk), chunk.count(b"\n"))
                    yield chunk
                if len(content) < wanted:
                    break
        if self.size < self.expected and self.problem is None and not self.compression:
            self.problem = _changed(f"it shrank by {count(self.expected - self.size, 'byte')}")

    @contextmanager
    def _reading(self) -> Iterator[Callable[[int], bytes]]:
        """Open a function that reads at most some bytes of the content, expanded."""
        if not self.compression:
            yield lambda most: os.read(self.descriptor, most)
            return
        kind = gzip.open if self.compression == "gz" else zstd.open
        with os.fdopen(os.dup(self.descriptor), "rb") as packed, kind(packed, "rb") as content:
            yield content.read1

    def _next_chunk(self, read: Callable[[int], bytes], most: int) -> bytes:
        """Read up to `most` bytes, and keep the content before a damaged part."""
        pieces: list[bytes] = []
        gathered = 0
        try:
            # Some file systems give short reads, so a short one is not the end.
            while gathered < most and (piece := read(most - gathered)):
                pieces.append(piece)
                gathered += len(piece)
        except (EOFError, zlib.error, zstd.ZstdError, gzip.BadGzipFile) as error:
            detail = f"the compressed log is damaged: {error}".rstrip(": ")
            self.problem = Rejected(RejectReason.UNREADABLE_FILE, detail)
        except OSError as error:
            detail = f"reading failed after byte {self.size + gathered:,}: {error.strerror or error}"
            self.problem = Rejected(RejectReason.UNREADABLE_FILE, detail)
        return b"".join(pieces)


def _changed(how: str) -> Rejected:
    return Rejected(RejectReason.CHANGED_WHILE_READ, f"the log was changed while it was read: {how}")


class Block(msgspec.Struct, frozen=True):
    """Some lines of a log without their newlines, the number of the first, and the offset of its first byte.

    A line that is known to be no record is a block of its own, and `rejected` has the reason. A line over the
    limit is also cut. Elements of a document have their `places` there. An unreadable document has no lines.
    """

    number: int
    offset: int
    lines: list[bytes]
    ended: bool = True  # a newline follows the last line
    places: Sequence[str] = ()
    passed_over: int = 0  # elements before it that are no gaps
    calls: Sequence[dict[str, Any]] = ()  # those of them that an adapter made
    rejected: Rejected | None = None

    def offsets(self) -> Iterator[int]:
        """Yield the offset of each line's first byte."""
        before = accumulate(map(len, self.lines), initial=self.offset)
        return map(add, before, range(len(self.lines)))


class Element(NamedTuple):
    """An element of a document: its place, its value, and whether it may be a gap."""

    place: str
    value: Any
    is_gap: bool


def blocks(chunks: Iterable[bytes]) -> Iterator[Block]:
    """Cut the content of a log into lines, and leave out a byte order mark.

    Lines end at a newline and nowhere else: `splitlines` breaks records that hold U+2028 or U+0085.
    """
    rest, skipped, number = b"", 0, 1
    chunks, offset = _without_mark(iter(chunks))
    for chunk in chunks:
        if chunk.endswith(b"\n") and not (rest or skipped or chunk.strip()):
            number, offset = number + chunk.count(b"\n"), offset + len(chunk)
            continue
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            rest, skipped = _truncated(rest + chunk, skipped)
            continue
        longest = len(rest) + len(chunk)
        lines[0] = rest + lines[0]
        if skipped:
            length = skipped + len(lines[0])
            yield Block(number, offset, [lines.pop(0)], rejected=too_long(length))
            number, offset, skipped = number + 1, offset + length + 1, 0
        rest = lines.pop()
        is_long = longest > MAX_LINE_BYTES and max(map(len, lines), default=0) > MAX_LINE_BYTES
        step = 1 if is_long else _MOST_LINES
        for some in (lines[at : at + step] for at in range(0, len(lines), step)):
            yield Block(number, offset, some, rejected=too_long(len(some[0])))
            number, offset = number + len(some), offset + sum(map(len, some)) + len(some)
        rest, skipped = _truncated(rest, skipped)
    if skipped:
        yield Block(number, offset, [rest], ended=False, rejected=too_long(skipped + len(rest)))
    elif rest:
        yield Block(number, offset, [rest], ended=False)


def _without_mark(chunks: Iterator[bytes]) -> tuple[Iterator[bytes], int]:
    """Return the content without a byte order mark at its beginning, and the length of the mark."""
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= len(BYTE_ORDER_MARK):
            break
    length = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
    return chain([first[length:]] if len(first) > length else [], chunks), length


def _truncated(rest: bytes, skipped: int) -> tuple[bytes, int]:
    """Return the kept beginning of an unfinished line, and the number of its bytes that are not kept."""
    if len(rest) <= MAX_LINE_BYTES:
        return rest, skipped
    return rest[:MAX_LINE_BYTES], skipped + len(rest) - MAX_LINE_BYTES


def too_long(length: int) -> Rejected | None:
    """Return the reject of a line with so many bytes; None if they are not too many."""
    detail = f"expected at most {MAX_LINE_BYTES:,} bytes, found {length:,}"
    return Rejected(RejectReason.TOO_LONG, detail) if length > MAX_LINE_BYTES else None


def elements(
    values: Iterable["tuple[str, Any] | Block"], fields: FieldMap, adapt: Adapter | None = None
) -> Iterator[Block]:
    """Yield the elements of values as blocks of one line each, numbered from 1.

    They are the objects that an adapter makes, or those that the pointers of a source lead to. An element
    loses the keys that no field reads if it is too long, or if the source does not keep them (`taken` is
    None): a span may hold private data. If a pointer finds a value only around the element, the value is
    added to it.
    Elements that are no gaps, and values without elements, are passed over. A value that cannot be read is a
    block without lines; later ones are read.
    """
    found = _adapted(values, fields, adapt) if adapt else _pointed_at(values, fields)
    trees = [*[Tree()] * (fields.taken is not None), tree_of(fields.reads)]
    number = 1
    for is_gap, some in groupby(found, lambda each: each.is_gap if isinstance(each, Element) else None):
        if is_gap is None:
            yield from some  # type: ignore[misc]
        elif is_gap:
            for block in _blocks_of(number, some, trees):  # type: ignore[arg-type]
                number += len(block.lines)
                yield block
        else:
            while others := list(islice(some, _MOST_ELEMENTS)):
                number += len(others)
                calls = [each.value for each in others if each.value]  # type: ignore[union-attr]
                yield Block(number, UNKNOWN_OFFSET, [], passed_over=len(others), calls=calls)


def _pointed_at(values: Iterable["tuple[str, Any] | Block"], fields: FieldMap) -> Iterator[Element | Block]:
    for each in values:
        if isinstance(each, Block):
            yield each
        else:
            found = judged(each[1], fields)
            first = next(found, Element("", None, is_gap=False))
            yield from (one._replace(place=one.place + each[0]) for one in chain([first], found))


def _adapted(
    values: Iterable["tuple[str, Any] | Block"], fields: FieldMap, adapt: Adapter
) -> Iterator[Element | Block]:
    rejected, objects, calls = list[Block](), 0, 0

    def readable() -> Iterator[Any]:
        nonlocal objects
        for each in values:
            if isinstance(each, Block):
                rejected.append(each)
            else:
                objects += len(each[1]) if isinstance(each[1], list) else 1
                yield each[1]

    for calls, call in enumerate(adapt(readable()), 1):
        yield Element(f"call {calls:,}", call, fields.of_shape(call) is not None)
    yield from rejected
    yield from (Element("", None, is_gap=False) for _ in range(objects - calls))


def values_in(chunks: Iterable[bytes]) -> Iterator["tuple[str, Any] | Block"]:
    """Yield each value with words for its line, and a Block without lines for each unreadable one."""
    for line, content in documents(chunks):
        of_line = f" of line {line}" if line > 1 else ""
        if len(content) > MOST_WHOLE:
            detail = f"expected at most {MOST_WHOLE:,} bytes in the document{of_line}, which is read whole"
            yield Block(1, UNKNOWN_OFFSET, [], rejected=Rejected(RejectReason.TOO_LONG, detail))
            return
        try:
            require_decodable(content)
            yield from ((of_line, value) for value in values_of(content))
        except OverBudgetError as error:
            why = Rejected(RejectReason.EXPANDS_TOO_FAR, str(error))
            yield Block(1, UNKNOWN_OFFSET, [], rejected=why)
        except (ValueError, RecursionError) as fault:
            yield Block(1, UNKNOWN_OFFSET, [], rejected=no_json(fault, "document" + of_line))


def _blocks_of(number: int, some: Iterable[Element], trees: list[Tree]) -> Iterator[Block]:
    """Yield consecutive elements in blocks of at most the size of a line; cut a longer one."""
    lines, places, size = list[bytes](), list[str](), 0
    for element in some:
        for reads in trees:
            line = encoded(_kept(element.value, reads))
            if len(line) <= MAX_LINE_BYTES:
                break
        size += len(line)
        if lines and (size > MAX_LINE_BYTES or len(lines) == _MOST_ELEMENTS):
            yield Block(number, UNKNOWN_OFFSET, lines, places=places)
            number, lines, places, size = number + len(lines), [], [], len(line)
        lines.append(line[:MAX_LINE_BYTES])
        places.append(element.place)
        if why := too_long(len(line)):
            yield Block(number, UNKNOWN_OFFSET, lines, places=places, rejected=why)
            number, lines, places, size = number + 1, [], [], 0
    if lines:
        yield Block(number, UNKNOWN_OFFSET, lines, places=places)


def judged(document: Any, fields: FieldMap) -> Iterator[Element]:  # noqa: ANN401 - any JSON
    """Yield the elements of a document, each completed by the objects around it; without what is no gap."""
    ways = {*fields.judged_by}
    beside: _Around = ()
    outward, first = list[Pointer](), list[Pointer]()
    for place, bare, around in _elements(document, fields):
        if around is not beside:  # the elements of a list have the same objects around them
            beside, keys = around, {*chain(*around)}
            outward = [pointer for pointer in fields.outward if pointer[0] in keys]
            first = [pointer for pointer in outward if pointer in ways]
        value = _completed(bare, around, first)
        is_gap = not isinstance(value, dict) or fields.of_shape(value) is not None
        yield Element(place, _completed(value, around, outward) if is_gap else None, is_gap)


def documents(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a file and their line: one per line if the first is whole, else all at once."""
    content, number, by_line = bytearray(), 1, None
    for chunk in chunks:
        content += chunk
        if by_line is None and b"\n" in chunk:
            begun = content.lstrip(_SPACE.encode())
            end = begun.find(b"\n")
            by_line = None if end < 0 else decoded(bytes(begun[:end])) is not None
        if by_line:
            *lines, content = content.split(b"\n")
            yield from ((at, bytes(line)) for at, line in enumerate(lines, number) if line.strip())
            number += len(lines)
        if len(content) > MOST_WHOLE:
            break
    if content.strip():
        yield number, bytes(content)


def decoded(content: bytes) -> tuple[Any] | None:
    """Decode a document; None if it is incomplete, or the fast decoder refuses it."""
    try:
        return (msgspec.json.decode(content),)
    except (ValueError, RecursionError):
        return None


def values_of(content: bytes) -> Iterator[Any]:
    """Yield the value or values of a document."""
    if found := decoded(content):
        yield found[0]
        return
    text = content.decode("utf-8")  # the slower decoder gives reasons, and reads more
    at = _after_space(text, 0)
    while at < len(text):
        value, end = DECODER.raw_decode(text, at)
        yield value
        at = _after_space(text, end)


def encoded(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    """Return a value as JSON."""
    try:
        return msgspec.json.encode(value)
    except (OverflowError, UnicodeEncodeError):  # a number of more than 64 bits, or a lone surrogate
        return json.dumps(value).encode()


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _elements(document: Any, fields: FieldMap) -> Iterator[_Element]:  # noqa: ANN401 - any JSON
    """Yield the elements of a document; a list that the source splits gives one for each of its members."""
    for place, element, around in chain.from_iterable(_members(document, each) for each in fields.each):
        members = value_at(element, fields.split) if fields.split else None
        if not isinstance(members, list) or not members:
            yield place, _with(element, fields.split, None) if members == [] else element, around
            continue
        total = value_at(element, _COUNT)
        counted = isinstance(total, int) and total > 0
        for index, member in enumerate(members[:total] if counted else members):
            part = _with(element, fields.split, member)
            if counted:
                part = _with(part, _COUNT, total // len(members) + (index < total % len(members)))
            yield place, part, around


def _completed(element: Any, around: _Around, pointers: Iterable[Pointer]) -> Any:  # noqa: ANN401 - any JSON
    """Add to an object the values that pointers find only in the objects around it, the innermost first."""
    for pointer in pointers if isinstance(element, dict) else ():
        if value_at(element, pointer) is None:
            found = (_related(outer, pointer, element) for outer in reversed(around))
            value = next((value for value in found if value is not None), None)
            element = element if value is None else _with(element, pointer, value)
    return element


def _related(value: Any, pointer: Pointer, element: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """Return the value that a pointer finds; `key=path` selects a member by a value of the element."""
    for step in pointer:
        key, is_relation, path = step.partition("=")
        if is_relation and isinstance(value, list):
            wanted = value_at(element, pointer_of(path))
            value = next((one for one in value if isinstance(one, dict) and one.get(key) == wanted), None)
        else:
            value = value_at(value, (step,))
    return value


def _with(value: Any, pointer: Pointer, new: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy of an object, or of a list of keys and values, with a value at a pointer."""
    key, rest = pointer[0], pointer[1:]
    below = value_at(value, (key,))
    inner = _with(below if isinstance(below, dict | list) else {}, rest, new) if rest else new
    return [*value, {"key": key, "value": inner}] if isinstance(value, list) else {**value, key: inner}


def _members(
    value: Any,  # noqa: ANN401 - any JSON
    pointer: Pointer,
    place: str = "",
    around: _Around = (),
) -> Iterator[_Element]:
    """Yield each value that a pointer leads to, with its place and the objects around; `*` is any member."""
    if not pointer:
        yield place, value, around
        return
    key, rest = pointer[0], pointer[1:]
    members: Iterable[tuple[str, Any]] = ()
    outer = around
    if isinstance(value, dict):
        members, outer = value.items(), (*around, value)
    elif isinstance(value, list):
        members = ((str(index), member) for index, member in enumerate(value))
    for name, member in members:
        if key in (ANY_MEMBER, name):
            yield from _members(member, rest, place + json_pointer([name]), outer)


def _kept(value: Any, reads: Tree) -> Any:  # noqa: ANN401 - any JSON
    """Return the parts of a value that a source reads, each in its place."""
    if not reads or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        return {key: _kept(member, reads[key]) for key, member in value.items() if key in reads}
    if any(key == ANY_MEMBER or key.isdigit() for key in reads):  # the members keep their places
        wanted = (reads.get(str(index), reads.get(ANY_MEMBER)) for index in range(len(value)))
        return [None if tree is None else _kept(one, tree) for one, tree in zip(value, wanted, strict=True)]
    named = ((one.get("key"), one.get("value")) for one in value if isinstance(one, dict))
    return [
        {"key": key, "value": _kept(member, reads[key])}
        for key, member in named
        if isinstance(key, str) and key in reads
    ]
