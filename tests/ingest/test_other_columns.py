"""The keys that no field reads stay with the record, wherever a file has rows, and can be selected by."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vocabgap
from builders import gap, write_corpus
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.scanning import Scan, scan, unmatched
from vocabgap.model.other import paths_in, values_at
from vocabgap.model.selection import Selection

ORDERS: list[dict[str, Any]] = [
    {
        "wish": "gift wrapping",
        "at": "2026-05-01",
        "buyer": {"name": "ada", "tier": "gold"},
        "shop": "north",
    },
    {
        "wish": "split payment",
        "at": "2026-05-02",
        "buyer": {"name": "bo", "tier": "basic"},
        "tags": ["b2b"],
    },
    {
        "wish": "gift wrapping",
        "at": "2026-05-03",
        "buyer": {"name": "cy", "tier": "gold"},
        "shop": "",
    },
]
MAP = {"description": "wish", "timestamp": "at", "session_id": "buyer.name"}
KEPT = [
    '{"buyer":{"tier":"gold"},"shop":"north"}',
    '{"buyer":{"tier":"basic"},"tags":["b2b"]}',
    '{"buyer":{"tier":"gold"}}',
]


def as_lines(path: Path) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text("".join(json.dumps(each) + "\n" for each in ORDERS))
    return path


def as_list(path: Path) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps(ORDERS, indent=1))
    return path


def as_parquet(path: Path) -> Path:
    path = path.with_suffix(".parquet")
    pl.DataFrame([{"shop": None, "tags": None, **each} for each in ORDERS]).write_parquet(path)
    return path


@pytest.mark.parametrize("write", [as_lines, as_list, as_parquet])
def test_rows_keep_what_the_map_does_not_name(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    scanned = scan(write(tmp_path / "orders"), map=MAP)

    assert scanned.gaps["other"].to_list() == KEPT
    assert scanned.gaps["session_id"].to_list() == ["ada", "bo", "cy"]


def test_cells_of_a_table_are_kept_as_texts_by_their_headers(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("wish;plan.name;seats\ngift wrapping;pro;3\nsplit payment;;\n")

    scanned = scan(path, map={"description": "wish"})

    assert scanned.gaps["other"].to_list() == ['{"plan.name":"pro","seats":"3"}', None]
    assert scanned.select(Selection(where="plan.name=pro")).counted == 1  # type: ignore[arg-type]


def test_records_of_a_log_keep_further_keys_and_are_the_same_records(tmp_path: Path) -> None:
    plain = scan(write_corpus(tmp_path / "plain", {"one": [gap("sky mask")] * 2}))
    marked = scan(
        write_corpus(tmp_path / "marked", {"one": [gap("sky mask", agent="a-7"), gap("sky mask")]})
    )

    assert marked.gaps["other"].to_list() == ['{"agent":"a-7"}', None]
    assert marked.gaps["record_id"].to_list() == plain.gaps["record_id"].to_list()
    assert marked.summary.repairs == {}


def test_a_source_that_picks_gaps_from_events_keeps_nothing_else(tmp_path: Path) -> None:
    event = {
        "event": "$mcp_missing_capability",
        "timestamp": "2026-05-01T08:00:00Z",
        "ip": "192.0.2.7",
    }
    path = tmp_path / "posthog.jsonl"
    path.write_text(
        json.dumps(event | {"properties": {"$mcp_intent": "gift wrapping", "mail": "a@b.c"}})
    )

    assert scan(path).gaps.select("description", "other").rows() == [("gift wrapping", None)]


def test_what_fits_does_not_depend_on_the_records_around_it(tmp_path: Path) -> None:
    rows = [{"wish": "gift wrapping", "note": "n" * size} for size in (4_080, 4_090, 10)]
    (tmp_path / "few.jsonl").write_text(json.dumps(rows[0]) + "\n" + json.dumps(rows[2]) + "\n")
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    few, every = (
        scan(tmp_path / name, map={"description": "wish"}).gaps["other"].to_list()
        for name in ("few.jsonl", "all.jsonl")
    )

    assert every == [few[0], '{"(left out)":1}', few[1]]
    assert len(few[0]) > 4_080


def test_an_element_that_would_be_too_long_keeps_what_the_map_names(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps([{**ORDERS[0], "scan": "x" * 2_000_000}, ORDERS[1]]))

    assert scan(path, map=MAP).gaps["other"].to_list() == [None, KEPT[1]]


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    return scan(as_lines(tmp_path_factory.mktemp("orders") / "orders"), map=MAP)


@pytest.mark.parametrize(
    ("where", "sessions"),
    [
        (("buyer.tier=gold",), ["ada", "cy"]),
        (("/buyer/tier=gold", "shop=north"), ["ada"]),
        (("buyer.tier=gold", "buyer.tier=basic"), ["ada", "bo", "cy"]),
        (("tags=b2b",), ["bo"]),
        (("shop=south",), []),
    ],
)
def test_a_record_needs_one_value_of_each_path(
    orders: Scan, where: tuple[str, ...], sessions: list[str]
) -> None:
    chosen = orders.select(Selection(where=where))

    assert chosen.records["session_id"].to_list() == sessions
    assert chosen.summary == orders.summary


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("shop=nort", "no record has shop 'nort'; the nearest: north"),
        ("buyer.teir=gold", "no record has column 'buyer.teir'; the nearest: buyer.tier"),
        ("buyer=gold", "no record has column 'buyer'; "),
        (
            "image_id=a",
            "no record has column 'image_id'; it is a field of each record; use --image",
        ),
        ("notes=a", "no record has column 'notes'; it is a field of each record; use --match"),
        (
            "count=2",
            "no record has column 'count'; it is a field of each record; --where and --by take",
        ),
    ],
)
def test_a_value_or_path_that_no_record_has_is_named_with_the_nearest(
    orders: Scan, where: str, message: str
) -> None:
    (sentence,) = unmatched(orders.lines, Selection(where=(where,)))

    assert sentence.startswith(message)


@pytest.mark.parametrize("where", ["shop", "=north", "shop=", " = "])
def test_a_filter_without_a_path_or_a_value_is_refused(where: str) -> None:
    with pytest.raises(InvalidInputError, match="where: expected PATH=VALUE") as refused:
        Selection(where=(where,))

    assert refused.value.hint == "for example plan=pro"


def test_words_of_a_selection_join_the_values_of_a_path() -> None:
    chosen = Selection(where=("plan=pro", "shop=north", "plan=team"))

    assert chosen.in_words() == {"column": "plan=pro or plan=team and shop=north"}
    assert [*chosen.words()] == [
        "--where",
        "plan=pro",
        "--where",
        "shop=north",
        "--where",
        "plan=team",
    ]


@pytest.mark.parametrize(
    ("text", "path", "values"),
    [
        ('{"a":{"b":[{"c":1},{"c":true},{"c":1}]}}', "a.b.c", ("1", "true")),
        ('{"a":{"b":[{"c":1.5}]}}', "a.b.*.c", ("1.5",)),
        ('{"a":"{\\"b\\":\\"x\\"}"}', "a.b", ("x",)),
        ('{"a.b":"whole","a":{"b":"inner"}}', "a.b", ("whole",)),
        ('{"a":{"b":2}}', "a", ()),
        ('{"a":null}', "a", ()),
        ('{"a":' + "[" * 900 + "1" + "]" * 900 + "}", "a", ()),
    ],
)
def test_values_are_found_at_a_path(text: str, path: str, values: tuple[str, ...]) -> None:
    assert values_at(text, path) == values


def test_paths_of_a_text_lead_to_its_values() -> None:
    text = '{"a":{"b":[{"c":1},{"d":2}]},"e":"x"}'

    assert paths_in(text) == ("a.b.c", "a.b.d", "e")
    assert all(values_at(text, path) for path in paths_in(text))


def test_the_filter_works_from_python(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("sky mask", plan="pro"), gap("film grain", plan="free")]}
    )

    listed = vocabgap.list_gaps(root, where="plan=pro")

    assert listed["description"].to_list() == ["sky mask"]
