"""Small files that would become large ones are refused before they do."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import vocabgap as vg
from vocabgap.files.budget import MIB, ROW, Budget, OverBudgetError, fair, weight_of
from vocabgap.files.parquet import hide_arrow, spend_parquet
from vocabgap.ingest.scanning import scan

GOOD = '{"image_id": "heron-11", "description": "soft reeds"}\n'
MEASURED = """
import re, sys, time
from pathlib import Path
from vocabgap.doors.cli.app import run
code = run(sys.argv[1:])
memory = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(code, memory >> 10, time.process_time(), file=sys.stderr)
"""


def repeated(text: str | bytes, rows: int, kind: pa.DataType | None = None) -> pa.Table:
    places = pa.array([0] * rows, pa.int32())
    return pa.table(
        {"description": pa.DictionaryArray.from_arrays(places, pa.array([text], kind)).cast(kind)}
        if kind
        else {"description": pa.DictionaryArray.from_arrays(places, pa.array([text]))}
    )


def packed(table: pa.Table, **options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(
        table, file, compression="zstd", store_schema=False, write_statistics=False, **options
    )
    return file.getvalue()


def nested(levels: int) -> bytes:
    kind = pa.string()
    for _ in range(levels):
        kind = pa.struct([("a", kind)])
    return packed(pa.table({"description": pa.nulls(1, kind)}))


def ended(footer: bytes) -> bytes:
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


PARQUET: dict[str, Callable[[], bytes]] = {
    "a text in many rows": lambda: packed(
        repeated("x" * (900 << 10), 1_000), dictionary_pagesize_limit=MIB * 8
    ),
    "many rows": lambda: packed(repeated("need", 5_000_000)),
    "a list of many names": lambda: packed(
        pa.table({"description": ["mask"], "operations_involved": [["crop"] * 5_000_000]})
    ),
    "texts that begin alike": lambda: packed(
        pa.table({"description": ["x" * 50_000] * 2_000}),
        use_dictionary=False,
        column_encoding={"description": "DELTA_BYTE_ARRAY"},
    ),
    "a large page": lambda: packed(
        pa.table({"description": ["y" * MIB] * 80}), use_dictionary=False
    ),
    "long values of one length": lambda: packed(
        repeated(b"x" * 100_000, 1_000, pa.binary(100_000)), dictionary_pagesize_limit=MIB
    ),
    "a footer of empty structs": lambda: ended(b"\x19\xfc\x80\x80\x80\x08" + bytes(16 * MIB)),
    "a footer of empty fields": lambda: ended(b"\x11" * (16 * MIB)),
}
JSON = {
    "lists": b"[" + b"[]," * (8 * MIB) + b"[]]",
    "objects": b"[" + b"{}," * (8 * MIB) + b"{}]",
    "lines of lists": (b"[" + b"[]," * 349_000 + b"[]]\n") * 10,
    "rows of too few cells": b"description,workaround\n" + b"a\n" * (8 * MIB),
    "objects that are no gaps": b'[{"event": "MCP Reported Problem"}%b]' % (b",{}" * 1_800_000),
}


@pytest.mark.parametrize("bomb", [*PARQUET, *JSON])
def test_a_bomb_is_one_line_and_the_log_beside_it_is_read(tmp_path: Path, bomb: str) -> None:
    path = tmp_path / ("a.parquet" if bomb in PARQUET else "a.json")
    path.write_bytes(PARQUET[bomb]() if bomb in PARQUET else JSON[bomb])
    good = tmp_path / "good.jsonl"
    good.write_text(GOOD)

    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "check", str(path), str(good)],
        capture_output=True, cwd=tmp_path, text=True, check=True,
    )  # fmt: skip
    *said, measured = done.stderr.splitlines()
    code, memory, seconds = map(float, measured.split())

    assert (code, said) == (2, [])
    assert (memory < 1_024, seconds < 20) == (True, True)
    assert done.stdout.count("expands_too_far") == 1
    assert " = 1 record + " in done.stdout


def test_a_log_whose_texts_repeat_each_other_is_read_once_a_person_trusts_it(
    tmp_path: Path,
) -> None:
    needs = pa.table(
        {"description": [f"mask layer {number} of the sky" for number in range(20_000)]}
    )
    encoding = {"description": "DELTA_BYTE_ARRAY"}
    path = tmp_path / "a.parquet"
    path.write_bytes(packed(needs, use_dictionary=False, column_encoding=encoding))

    refused = scan(path)
    read = scan(path, max_expanded_mib=1_025)

    assert refused.rejects["reason"].to_list() == ["expands_too_far"]
    assert "set max_expanded_mib to more than 1024" in refused.rejects["detail"][0]
    assert read.records.height == 20_000


def test_what_is_nested_deeper_than_polars_reads_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(nested(5_000))

    scanned = scan(tmp_path / "a.parquet")

    assert scanned.rejects["reason"].to_list() == ["unreadable_file"]
    assert "nested deeper than 100 levels" in scanned.rejects["detail"][0]


@pytest.mark.parametrize("keep", [0, 12, 40, 400])
def test_a_torn_footer_is_damaged(keep: int) -> None:
    content = packed(pa.table({"description": ["a mask"] * 9}))
    torn = content[:4] + content[-8 - keep : -8] + content[-8:]

    with pytest.raises((ValueError, OSError)):
        spend_parquet(io.BytesIO(torn if keep < 400 else b"PAR1" + b"\x80" * 90), Budget(MIB))


def test_a_number_of_16_bits_takes_as_many_bytes_as_it_needs() -> None:
    number, schema, no_groups = b"\x14\xc8\x01", b"\x19\x1c\x00", b"\x29\x0c"

    budget = Budget(MIB)

    spend_parquet(io.BytesIO(ended(number + schema + no_groups + b"\x00")), budget)

    assert MIB - budget.left == 4 * 128  # three fields, and one element of the schema


def test_a_null_is_not_filled_up_to_an_array() -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"description": pa.nulls(3, pa.list_(pa.string(), 4))}), file)
    size = len(file.getvalue())

    hide_arrow(file)

    assert b"ARROW:schema" not in file.getvalue()
    assert len(file.getvalue()) == size
    assert pq.read_table(file).schema.field("description").type == pa.list_(pa.string())


def test_only_the_footer_is_changed() -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"description": ["ARROW:schema"]}), file, compression="none")

    hide_arrow(file)

    assert pq.read_table(file)["description"].to_pylist() == ["ARROW:schema"]


def test_rows_and_bytes_share_one_budget() -> None:
    budget = Budget(2 * ROW, "the log", "split it")

    budget.spend(ROW, rows=1)  # a row costs its bytes
    budget.spend(rows=1)
    with pytest.raises(OverBudgetError, match=r"the log may expand to more than 0 MiB.*split it"):
        budget.spend(1)


def test_a_small_file_may_not_become_a_large_one_unless_a_person_says_so() -> None:
    assert Budget.of_log(1_000, 1_024 * MIB).most == fair(1_000) < 65 * MIB
    assert Budget.of_log(1 << 30, 1_024 * MIB).most == 1_024 * MIB
    assert Budget.of_log(1_000, 1_025 * MIB).most == 1_025 * MIB
    assert weight_of(b'[{"a":1},{}]') == 12 + 32 + 64 + 2 * 256


@pytest.mark.parametrize("content", [b'{"a":[' + b"[]," * (9 * MIB) + b"[]]}", None])
@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("out/run.json", ("render", "out")),
        ("out/capabilities.parquet", ("show", "1", "--run", "out")),
        ("known.json", ("issues", "known.json", "--run", "out")),
    ],
)
def test_a_damaged_file_of_a_run_takes_little_memory(
    tmp_path: Path, place: str, command: tuple[str, ...], content: bytes | None
) -> None:
    (tmp_path / "photos" / "heron-11").mkdir(parents=True)
    (tmp_path / "photos" / "heron-11" / "vocabulary_gaps.jsonl").write_text(GOOD)
    vg.run(tmp_path / "photos", out=tmp_path / "out")
    (tmp_path / place).write_bytes(content or b"")
    if content is None:
        os.truncate(tmp_path / place, 1 << 31)  # a sparse file

    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command],
        capture_output=True, cwd=tmp_path, text=True, check=True,
    )  # fmt: skip
    *said, measured = done.stderr.splitlines()
    code, memory, seconds = map(float, measured.split())

    assert (code in {2, 4}, len(said)) == (True, 2)
    assert (memory < 1_024, seconds < 20) == (True, True)
