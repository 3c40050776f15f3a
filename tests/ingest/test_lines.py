import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.ingest import as_line, scan_bytes, write_log
from vocabgap.ingest.discovery import discover
from vocabgap.ingest.lines import TEXT, LogDecoder
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import CONTRACT_FIELDS
from vocabgap.model.settings import ScanSettings

TEXTS = ["session_id", "snapshot_hash", "workaround", "intent", "missing_capability", "notes"]
LISTS = ["operations_involved", "vocabulary_used"]

texts = st.text(max_size=8) | st.sampled_from(['":', '" :', '\\":"', "\x00", "caf\u00e9", "\u2028"])
needs, names = texts.map(lambda text: "need " + text), st.lists(texts, max_size=3)
before_year_1 = "0001-01-01T00:00:00+14:00"
moments = st.sampled_from(
    ["2026-03-14T08:05:00.25+02:00", "2026-03-14T06:05:00", before_year_1, None]
)
values: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(TEXTS, texts),
    **dict.fromkeys(LISTS, names),
    "timestamp": moments,
    "image_id": st.sampled_from(["heron-11", "fox-3", "", None]),
    "description": needs,
    "intent_category": st.sampled_from(["local", "tone", "anything"]),
    "satisfaction": st.sampled_from([-1, 0, 1, None]),
}
complete_records = st.fixed_dictionaries(values)
unknown_pairs = st.tuples(st.sampled_from(["gap_id", "severity"]), texts | st.integers() | names)
pairs = st.one_of(
    unknown_pairs, *(st.tuples(st.just(name), strategy) for name, strategy in values.items())
)


def test_a_corpus_keeps_a_foreign_line_only_if_its_name_tells_how_to_read_it(
    tmp_path: Path,
) -> None:
    line = as_line({"goal": "tidy", "why": "one by one", "ideal_capability": "move many notes"})
    for name in ("tool-feedback.jsonl", "other.jsonl"):
        (tmp_path / name).write_bytes(line)
    decoder = LogDecoder(with_text=True)

    for log in discover(tmp_path, ScanSettings()):
        decoder.read(log)

    other, feedback = decoder.tables().records.collect().sort("source_path")[TEXT]
    assert feedback == line.decode().strip()
    assert json.loads(other)["missing_capability"] == "move many notes"


def complete(need: str = "soft reeds", **fields: object) -> dict[str, object]:
    """Return a record with each of the 13 fields."""
    return {
        "timestamp": "2026-03-14T06:05:00Z",
        "image_id": "heron-11",
        **dict.fromkeys(TEXTS, "said"),
        "operations_involved": ["blurs"],
        "vocabulary_used": [],
        "description": need,
        "intent_category": "local",
        "satisfaction": 0,
        **fields,
    }


def written(said: list[tuple[str, Any]], colon: str = ": ") -> bytes:
    """Write a line with keys in this order, repeated or not."""
    members = (
        json.dumps(key) + colon + json.dumps(value, ensure_ascii=False) for key, value in said
    )
    return ("{" + ", ".join(members) + "}\n").encode()


# Clean lines, many at once


@given(st.lists(complete_records, min_size=1, max_size=6))
def test_a_bad_neighbour_changes_nothing_about_clean_lines(records: list[dict[str, Any]]) -> None:
    content = b"".join(json.dumps(record).encode() + b"\n" for record in records)

    clean, mixed = scan_bytes(content), scan_bytes(content + b"{\n")

    assert mixed.gaps.equals(clean.gaps)
    assert mixed.summary.repairs == clean.summary.repairs
    assert (clean.gaps.height, mixed.summary.rejects) == (len(records), 1)


# Repeated keys


@given(
    st.lists(pairs, max_size=8),
    st.none() | complete_records,
    needs,
    st.sampled_from([":", " :", "\t: "]),
)
@example([("notes", '":')], complete(), "soft reeds", ":")
@example([("notes", "said last")], complete(), "soft reeds", " :")
@example([("description", "soft reeds")] * 12, None, "soft reeds", ":")
def test_the_last_value_of_a_repeated_key_stays(
    said: list[tuple[str, Any]], fields: dict[str, Any] | None, need: str, colon: str
) -> None:
    line = written([*(fields or {}).items(), *said, ("description", need)], colon)
    keys = [key for key, _ in json.loads(line, object_pairs_hook=list)]

    scanned = scan_bytes(line)

    assert scanned.gaps["description"].to_list() == [need]
    for name in {*keys} & {*TEXTS, *LISTS} - {"workaround", "missing_capability"}:  # may be none
        assert scanned.gaps[name].to_list() == [json.loads(line)[name]]


# What parsers stumble on


@pytest.mark.parametrize(
    ("name", "half"),
    [(name, ["blurs", "\udc26"] if name in LISTS else "soft \ud83d") for name in CONTRACT_FIELDS]
    + [(name, "\ud83d") for name in LISTS],
)
def test_half_a_surrogate_pair_is_rejected_with_its_field(name: str, half: object) -> None:
    halved = json.dumps(complete("halved") | {name: half}).encode() + b"\n"

    scanned = scan_bytes(as_line(complete("before")) + halved + as_line(complete("after")))

    assert scanned.rejects.select("line", "reason").rows() == [(2, "lone_surrogate")]
    assert f"'{name}'" in scanned.rejects["detail"][0]
    assert scanned.gaps["description"].to_list() == ["before", "after"]


@pytest.mark.parametrize(
    "extra", [{"gap_id": "\ud83d"}, {"\ud83d": 1}, {"at": [{"\ud83d": 1}]}], ids=ascii
)
def test_half_a_pair_does_no_harm_in_an_unknown_field(extra: dict[str, object]) -> None:
    scanned = scan_bytes(json.dumps(complete() | extra).encode())

    assert (scanned.summary.records, scanned.summary.repairs) == (1, {})
    assert scanned.gaps["other"].to_list() == ['{"(left out)":1}']


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (b"NaN", "invalid_json"),
        (b"-Infinity", "invalid_json"),
        (b'"\x00"', "invalid_json"),
        (b"[" * 100_000 + b"]" * 100_000, "too_deep"),
        (b"1e999", "satisfaction_unknown"),
        (b"9" * 5_000, "satisfaction_unknown"),
        (b'"\\u0000"', "satisfaction_unknown"),
    ],
    ids=lambda value: ascii(value[:12]),
)
def test_odd_values_cost_their_own_line_at_most(value: bytes, outcome: str) -> None:
    odd = as_line(complete("odd")).replace(b'"satisfaction": 0', b'"satisfaction": ' + value)

    scanned = scan_bytes(as_line(complete("before")) + odd + as_line(complete("after")))

    assert scanned.summary.reasons | scanned.summary.repairs == {outcome: 1}
    assert {"before", "after"} <= set(scanned.records["description"])
    assert (scanned.summary.lines, scanned.summary.records + scanned.summary.rejects) == (3, 3)


# Lines over the limit


def test_every_line_over_the_limit_is_one_reject(workspace: Path) -> None:
    sizes = [10_000_000, (1 << 20) + 1, (1 << 20) + 2]
    lines = (
        b"x" * size + b"\n" + json.dumps(complete(f"{size}")).encode() + b"\n" for size in sizes
    )
    path = write_log(workspace, "heron-11", *lines)
    tracemalloc.start()
    try:
        scanned = scan(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert scanned.rejects.select("line", "reason").rows() == [
        (line, "too_long") for line in (1, 3, 5)
    ]
    for size, detail in zip(sizes, scanned.rejects["detail"], strict=True):
        assert f"{size:,}" in detail
    assert scanned.rejects["raw"].to_list() == ["x" * 512] * 3
    assert (scanned.summary.lines, scanned.summary.records) == (6, 3)
    assert peak < 8 << 20
