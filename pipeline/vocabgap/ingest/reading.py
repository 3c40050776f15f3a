"""Opening a log and reading it in chunks, plain or compressed.

A log may be written while it is read. What is read is what was there when it was opened; that its size has
changed since is said, and its last line, if unfinished, is left for the next scan.
"""

import gzip
import hashlib
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain
from operator import add
from typing import BinaryIO, Final

import msgspec

from vocabgap.ingest.decoding import BYTE_ORDER_MARK, Rejected
from vocabgap.model.record import MAX_LINE_BYTES, RejectReason
from vocabgap.text import count

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK_BYTES: Final = 1 << 20
MIB: Final = 1 << 20
_SHORTEST_RECORD: Final = 16  # bytes that a line with a description has at least, its newline among them
_BLANK_LINES: Final = re.compile(rb"(?<=\n)(?:[ \t\r\v\f]*+\n)++")
COMPRESSIONS: Final = ("gz", "zst")
# A FIFO that has taken a log's place must not be waited for, nor a terminal become ours.
_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


_Unpacked = gzip.GzipFile | zstd.ZstdFile


@dataclass(slots=True)
class OpenLog:
    """One log, open for reading.

    Attributes:
        expected: The size of the file when it was opened.
        size: Bytes read so far, expanded if the log is compressed.
        problem: Why the log could not be read to its end, if it could not.
    """

    descriptor: int
    compression: str
    max_expanded: int
    expected: int
    size: int = 0
    problem: Rejected | None = None
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    @classmethod
    def open(cls, path: str, compression: str = "", max_expanded: int = sys.maxsize) -> "OpenLog":
        """Open a log; an `OSError` says why it cannot be read, or that it is no regular file."""
        descriptor = os.open(path, _FLAGS)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("not a regular file")  # noqa: TRY301 - closed and told as what the system refuses
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor, compression, max_expanded, status.st_size)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.descriptor)

    @property
    def sha256(self) -> str:
        """The digest of what was read so far."""
        return self._digest.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """The rest of the content; what ends it early is in `problem`."""
        return self._expanded_content() if self.compression else self._plain_content()

    def _take(self, chunk: bytes) -> None:
        self._digest.update(chunk)
        self.size += len(chunk)

    def _plain_content(self) -> Iterator[bytes]:
        """The content up to the size at opening; one byte more is asked for, to see whether it grew."""
        left = self.expected - self.size
        while True:
            wanted = min(left + 1, CHUNK_BYTES)
            try:
                chunk = os.read(self.descriptor, wanted)
            except OSError as error:
                self.problem = _failed(self.size, error)
                return
            length = len(chunk)
            if length > left:
                self.problem = _changed(f"it grew; byte {self.expected:,} and after are for the next scan")
                chunk = chunk[:left]
            if chunk:
                self._take(chunk)
                yield chunk
            left -= length
            # Less than was asked for is not the end where more is due: some file systems give short reads.
            if not length or left < 0 or (left == 0 and length < wanted):
                break
        if left > 0:
            self.problem = _changed(f"it shrank by {count(left, 'byte')}")

    def _expanded_content(self) -> Iterator[bytes]:
        if self.expected == 0:
            return
        try:
            with (
                os.fdopen(os.dup(self.descriptor), "rb") as packed,
                _unpacked(packed, self.compression) as content,
            ):
                yield from self._limited(content)
        except OSError as error:
            self.problem = _failed(self.size, error)

    def _limited(self, content: _Unpacked) -> Iterator[bytes]:
        left = self.max_expanded
        ended = False
        while not ended:
            chunk, ended = self._next_chunk(content, left + 1)
            if len(chunk) > left:
                limit = f"{self.max_expanded / MIB:,.0f} MiB"
                self.problem = Rejected(
                    RejectReason.EXPANDS_TOO_FAR,
                    f"the content is beyond {limit} (setting max_expanded_mib); the rest was not read",
                )
                chunk, ended = chunk[:left], True
            left -= len(chunk)
            if chunk:
                self._take(chunk)
                yield chunk

    def _next_chunk(self, content: _Unpacked, most: int) -> tuple[bytes, bool]:
        """The next chunk, and whether it is the last. What comes before damage is sound, and is not lost."""
        pieces: list[bytes] = []
        gathered = 0
        most = min(most, CHUNK_BYTES)
        while gathered < most:
            try:
                piece = content.read1(most - gathered)
            except (EOFError, zlib.error, zstd.ZstdError, gzip.BadGzipFile) as error:
                self.problem = Rejected(
                    RejectReason.UNREADABLE_FILE, f"the compressed log is damaged: {error}".rstrip(": ")
                )
                return b"".join(pieces), True
            except OSError as error:
                self.problem = _failed(self.size + gathered, error)
                return b"".join(pieces), True
            if not piece:
                return b"".join(pieces), True
            pieces.append(piece)
            gathered += len(piece)
        return b"".join(pieces), False


def _failed(size: int, error: OSError) -> Rejected:
    detail = f"reading failed after byte {size:,}: {error.strerror or error}"
    return Rejected(RejectReason.UNREADABLE_FILE, detail)


def _changed(how: str) -> Rejected:
    return Rejected(RejectReason.CHANGED_WHILE_READ, f"the log was changed while it was read: {how}")


def _unpacked(packed: BinaryIO, compression: str) -> _Unpacked:
    if compression == "gz":
        return gzip.GzipFile(fileobj=packed)
    return zstd.ZstdFile(packed)


class Block(msgspec.Struct, frozen=True):
    """Some lines of a log without their newlines, the number of the first, and the offset of its first byte.

    A line over the limit stands alone and is cut; `too_long` says how many bytes it has. An element of a
    document has its `place` there; a document that cannot be read has no lines, and is `refused`.
    """

    number: int
    offset: int
    lines: list[bytes]
    ended: bool = True  # a newline follows the last line
    too_long: int = 0
    blank: int = 0  # so many lines follow that hold nothing
    place: str = ""
    passed_over: int = 0  # elements before it that are no gaps
    refused: Rejected | None = None

    def offsets(self) -> Iterator[int]:
        """The offset of each line's first byte; a newline follows each line before it."""
        before = accumulate(map(len, self.lines), initial=self.offset)
        return map(add, before, range(len(self.lines)))


def blocks(chunks: Iterable[bytes]) -> Iterator[Block]:
    """Cut the content of a log into lines, and leave out a byte order mark.

    Lines end at a newline and nowhere else: `splitlines` breaks records that hold U+2028 or U+0085.
    """
    rest, skipped, number = b"", 0, 1
    chunks, offset = _without_mark(iter(chunks))
    for chunk, blank, size in chain.from_iterable(map(_without_blank, chunks)):
        if blank:
            yield Block(number, offset, [], blank=blank)
            number, offset = number + blank, offset + size
            continue
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            rest, skipped = _truncated(rest + chunk, skipped)
            continue
        longest = len(rest) + len(chunk)
        lines[0] = rest + lines[0]
        if skipped:
            length = skipped + len(lines[0])
            yield Block(number, offset, [lines.pop(0)], too_long=length)
            number, offset, skipped = number + 1, offset + length + 1, 0
        rest = lines.pop()
        if longest > MAX_LINE_BYTES and max(map(len, lines), default=0) > MAX_LINE_BYTES:
            yield from _split_too_long(number, offset, lines)
        elif lines:
            yield Block(number, offset, lines)
        number += len(lines)
        offset += sum(map(len, lines)) + len(lines)
        rest, skipped = _truncated(rest, skipped)
    if skipped:
        yield Block(number, offset, [rest], ended=False, too_long=skipped + len(rest))
    elif rest:
        yield Block(number, offset, [rest], ended=False)


def _without_blank(chunk: bytes) -> Iterator[tuple[bytes, int, int]]:
    """A chunk, and instead of each run of blank lines in it how many they are, and their bytes.

    They are looked for where lines are shorter than any record: a file of nothing else is no work then.
    """
    start = 0
    if chunk.count(b"\n") * _SHORTEST_RECORD > len(chunk):
        for run in _BLANK_LINES.finditer(chunk):
            yield chunk[start : run.start()], 0, 0
            yield b"", run[0].count(b"\n"), len(run[0])
            start = run.end()
    yield chunk[start:], 0, 0


def _without_mark(chunks: Iterator[bytes]) -> tuple[Iterator[bytes], int]:
    """The content without a byte order mark at its beginning, and the length of that."""
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= len(BYTE_ORDER_MARK):
            break
    length = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
    return chain([first[length:]] if len(first) > length else [], chunks), length


def _truncated(rest: bytes, skipped: int) -> tuple[bytes, int]:
    """What is kept of a line that has not ended yet, and how many of its bytes are not."""
    if len(rest) <= MAX_LINE_BYTES:
        return rest, skipped
    return rest[:MAX_LINE_BYTES], skipped + len(rest) - MAX_LINE_BYTES


def _split_too_long(number: int, offset: int, lines: list[bytes]) -> Iterator[Block]:
    """The same lines, those over the limit each in a block of their own."""
    for line in lines:
        yield Block(number, offset, [line], too_long=len(line) if len(line) > MAX_LINE_BYTES else 0)
        number, offset = number + 1, offset + len(line) + 1
