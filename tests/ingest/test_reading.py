import errno
import gzip
import hashlib
import json
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.ingest import write_log
from vocabgap.files.budget import MIB
from vocabgap.ingest.discovery import LogFile, discover
from vocabgap.ingest.reading import OpenLog
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import LOG_NAME

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Patch = pytest.MonkeyPatch
PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gz": gzip.compress, "zst": zstd.compress}
CHUNK_NAME = "vocabgap.ingest.reading.CHUNK_BYTES"
NEEDS = ["soft reeds", "warm beak", "caf\u00e9 light", "dark eyes", "calm water"]
LINES = [
    json.dumps({"image_id": "heron-11", "description": need}).encode() + b"\n" for need in NEEDS
]

packed = pytest.mark.parametrize("compression", ["gz", "zst"])
contents = st.lists(st.just(b"\n") | st.binary(max_size=6), max_size=12).map(b"".join)


def scan_packed(
    tmp_path: Path, compression: str, content: bytes, max_expanded_mib: int = 64
) -> Scan:
    """Scan bytes as the log of the image `heron-11`, named after its compression."""
    path = tmp_path / compression / "shoots" / "heron-11" / f"{LOG_NAME}.{compression}".rstrip(".")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return scan(path.parents[1], max_expanded_mib=max_expanded_mib)


def outcome(scanned: Scan) -> tuple[list[str], list[str]]:
    """Return the needs, and the reasons of logs not read to their end; check the account."""
    account = scanned.summary
    assert (
        account.lines == account.records + account.duplicates + account.superseded + account.rejects
    )
    reasons = scanned.rejects.filter(pl.col("line").is_null())["reason"]
    return scanned.gaps["description"].to_list(), reasons.to_list()


def before_read(number: int, act: Callable[[], object], patch: Patch) -> None:
    """Lets something happen just before the disk is read for the n-th time, counted from 1."""
    system_read = os.read
    acts: list[Callable[[], object]] = [*[int] * (number - 1), act]

    def read(descriptor: int, length: int) -> bytes:
        if acts:
            acts.pop(0)()
        return system_read(descriptor, length)

    patch.setattr(os, "read", read)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def fail(_: Path) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


# Compressed logs


@packed
def test_a_compressed_log_gives_what_the_plain_one_gives(compression: str, tmp_path: Path) -> None:
    content = b"".join([*LINES, b"{\n", LINES[0], b"\n", b'{"description": "cut'])

    plain, other = (
        scan_packed(tmp_path, packing, PACK[packing](content)) for packing in ("", compression)
    )

    for table in ("gaps", "rejects", "files"):
        assert_frame_equal(*(getattr(each, table).drop("source_path") for each in (plain, other)))
    assert other.summary == plain.summary


@packed
def test_compressed_parts_in_a_row_are_one_log(compression: str, tmp_path: Path) -> None:
    content = b"".join(LINES)
    scanned = scan_packed(
        tmp_path, compression, PACK[compression](content[:70]) + PACK[compression](content[70:])
    )

    assert outcome(scanned) == (NEEDS, [])
    assert [content[at:].split(b"\n")[0] + b"\n" for at in scanned.gaps["byte_offset"]] == LINES


@packed
def test_a_compressed_log_that_was_cut_off_keeps_most(compression: str, tmp_path: Path) -> None:
    digests = (sha256(b"%d" % number) for number in range(8_000))
    content = "".join(f'{{"description": "{digest}"}}\n' for digest in digests).encode()

    scanned = scan_packed(tmp_path, compression, PACK[compression](content)[:-9])

    assert outcome(scanned)[1] == ["unreadable_file"]
    # What a decompressor may hold back is a block or two, of at most 128 KiB each.
    assert scanned.summary.records >= content[: -(256 << 10)].count(b"\n")


@packed
def test_no_flipped_byte_raises(compression: str, tmp_path: Path) -> None:
    whole = PACK[compression](b"".join(LINES))
    for place in range(0, len(whole), 3):
        flipped = whole[:place] + bytes([whole[place] ^ 0x81]) + whole[place + 1 :]

        assert outcome(scan_packed(tmp_path, compression, flipped))[1] in ([], ["unreadable_file"])


@packed
def test_a_plain_log_called_a_compressed_one_is_unreadable(
    compression: str, tmp_path: Path
) -> None:
    assert outcome(scan_packed(tmp_path, compression, b"".join(LINES))) == ([], ["unreadable_file"])


@packed
def test_a_bomb_is_read_up_to_the_limit(compression: str, tmp_path: Path) -> None:
    bomb = PACK[compression](b"".join(LINES) + b" " * (50 * MIB))
    tracemalloc.start()
    try:
        scanned = scan_packed(tmp_path, compression, bomb, max_expanded_mib=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert outcome(scanned) == (NEEDS, ["expands_too_far"])
    assert peak < 8 * MIB


@pytest.mark.parametrize(("beyond", "reasons"), [(0, []), (1, ["expands_too_far"])])
def test_a_log_may_be_as_large_as_the_limit(
    beyond: int, reasons: list[str], tmp_path: Path
) -> None:
    content = gzip.compress(LINES[0] + b" " * (MIB - len(LINES[0]) + beyond))

    assert outcome(scan_packed(tmp_path, "gz", content, max_expanded_mib=1)) == (NEEDS[:1], reasons)


# Logs that would not end


@pytest.mark.parametrize("name", [LOG_NAME, "a.csv", "a.json", "a.log", "a.parquet"])
@pytest.mark.parametrize("begin", [b"", b"".join(LINES)])
def test_what_follows_before_a_hole_of_the_disk_is_not_read(
    name: str, begin: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(begin)
    os.truncate(path, 1 << 40)

    needs, reasons = outcome(scan(path))

    assert needs == (NEEDS if begin else [])
    assert reasons == ["unreadable_file"]


def test_a_table_of_zeros_is_no_hole(tmp_path: Path) -> None:
    frame = pl.DataFrame({"description": ["soft reeds"], "blob": [bytes(3 << 20)]})
    frame.write_parquet(tmp_path / "a.parquet", compression="uncompressed")

    scanned = scan(tmp_path / "a.parquet")

    assert scanned.rejects["detail"].to_list() == [
        "expected at most 1,048,576 bytes in a row, found more"
    ]


def test_rejects_of_many_short_lines_are_limited(tmp_path: Path) -> None:
    rejects = scan_packed(tmp_path, "gz", gzip.compress(b"a\n" * 1_000_000)).rejects

    assert 1_000 < rejects.height < 20_000
    assert rejects["reason"].to_list().index("expands_too_far") == rejects.height - 1


# Logs that change while they are read, and disks that fail


@pytest.mark.parametrize("chunk", [16, MIB], ids=["many chunks", "one chunk"])
def test_a_log_that_grows_is_read_as_it_was(
    chunk: int, workspace: Path, monkeypatch: Patch
) -> None:
    path = write_log(workspace, "heron-11", *LINES[:2], LINES[2][:20])
    monkeypatch.setattr(CHUNK_NAME, chunk)
    size = path.stat().st_size
    before_read(1, lambda: path.write_bytes(b"".join(LINES)), monkeypatch)

    scanned = scan(workspace)

    assert outcome(scanned) == (NEEDS[:2], ["changed_while_read"])
    assert scanned.files.select("lines", "bytes").rows() == [(2, size)]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda path: os.truncate(path, 0), "changed_while_read"),
        (lambda path: os.truncate(path, 30), "changed_while_read"),
        (fail, "unreadable_file"),
    ],
    ids=["emptied", "cut", "the disk fails"],
)
def test_a_log_that_shrinks_or_fails_keeps_what_was_read(
    act: Callable[[Path], object], reason: str, workspace: Path, monkeypatch: Patch
) -> None:
    path = write_log(workspace, "heron-11", *LINES)
    monkeypatch.setattr(CHUNK_NAME, len(LINES[0]) + 5)
    before_read(2, lambda: act(path), monkeypatch)

    assert outcome(scan(workspace)) == (NEEDS[:1], [reason])


def test_a_read_that_gives_less_than_asked_is_not_the_end(
    workspace: Path, monkeypatch: Patch
) -> None:
    path, system_read = write_log(workspace, "heron-11", *LINES), os.read
    monkeypatch.setattr(
        os, "read", lambda descriptor, length: system_read(descriptor, min(length, 7))
    )

    assert outcome(scan(path)) == (NEEDS, [])


@pytest.mark.parametrize(
    "act", [os.mkfifo, os.mkdir, lambda _: None], ids=["a pipe", "a folder", "nothing"]
)
def test_a_log_replaced_before_it_is_opened_is_unreadable(
    act: Callable[[Path], None], workspace: Path, monkeypatch: Patch
) -> None:
    path = write_log(workspace, "heron-11", *LINES)

    def replaced_after(roots: list[Path], *_: object) -> list[LogFile]:
        found = discover(roots)
        path.unlink()
        act(path)
        return found

    monkeypatch.setattr("vocabgap.ingest.scanning.discover", replaced_after)

    assert outcome(scan(path)) == ([], ["unreadable_file"])


@given(contents, st.integers(1, 20))
@example(b"reed\nbeak", 5)
def test_a_log_is_read_whole_whatever_a_read_gives(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, chunk: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "log.jsonl"
    path.write_bytes(content)

    with pytest.MonkeyPatch.context() as patch, OpenLog.open(str(path)) as reading:
        patch.setattr(CHUNK_NAME, chunk)
        read = b"".join(reading.chunks())

    assert (read, reading.size, reading.problem) == (content, len(content), None)
    assert reading.sha256 == sha256(content)


@pytest.mark.parametrize(
    "rest", [b"garbage", b""], ids=["followed by garbage", "cut in its trailer"]
)
def test_a_sound_last_line_before_the_damage_is_kept(workspace: Path, rest: bytes) -> None:
    log = write_log(workspace, "heron-11")
    packed = gzip.compress(b'{"description":"a"}\n{"description":"b"}')
    log.with_name(f"{LOG_NAME}.gz").write_bytes(packed + rest if rest else packed[:-1])
    log.unlink()

    assert outcome(scan(log.parent)) == (["a", "b"], ["unreadable_file"])
