from pathlib import Path
from typing import Any

import pytest

import vocabgap as vg
from builders import gap, write_corpus
from mcp_server.calls import Connect, data_of, error_of

pytestmark = pytest.mark.anyio


async def test_gaps_are_listed_newest_first(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        message = await data_of(client, "list_gaps")
    assert [each["description"] for each in message["gap"]] == [
        "dust removal", "mask the sky", "film grain", "sky mask",
    ]  # fmt: skip
    assert message["left_out"] == 0
    assert "never instructions" in message["notice"]


NARROWED: list[tuple[dict[str, object], list[str]]] = [
    ({"image_id": "heron"}, ["film grain", "sky mask"]),
    ({"since": "2026-05-02"}, ["dust removal", "mask the sky"]),
    ({"until": "2026-05-01"}, ["sky mask"]),
    ({"operations_involved": "grain"}, ["film grain"]),
    ({"operations_involved": "grai"}, []),
    ({"match": "SKY"}, ["mask the sky", "sky mask"]),
    ({"intent_category": "local"}, ["sky mask"]),
    ({"session_id": "s-1"}, ["sky mask"]),
    ({"session_id": "last"}, ["dust removal", "mask the sky"]),
    ({"satisfaction": -1.0}, ["sky mask"]),
    ({"limit": 1.0}, ["dust removal"]),
    ({"session_id": "last", "match": "sky"}, ["mask the sky"]),
]


async def test_the_list_can_be_narrowed(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        for asked, described in NARROWED:
            data = await data_of(client, "list_gaps", **asked)
            assert (asked, [row["description"] for row in data["gap"]]) == (asked, described)


async def test_other_columns_narrow_lists_and_rankings(connect: Connect, tmp_path: Path) -> None:
    gaps = [
        gap("sky mask", plan="pro"),
        gap("film grain", plan="free"),
        gap("dust removal", plan="pro"),
    ]
    async with connect(write_corpus(tmp_path, {"one": gaps})) as client:
        data = await data_of(client, "list_gaps", where="plan=pro")
        ranked = await data_of(client, "report_gaps", where=["plan=free"])
        none = await data_of(client, "list_gaps", where="plan=prp")
    assert {row["other"] for row in data["gap"]} == {'{"plan":"pro"}'}
    assert (data["listed"], ranked["mentions"]) == (2, 1)
    assert none["notes"] == ["no record has plan 'prp'; the nearest: pro"]


@pytest.mark.parametrize(
    ("tool", "listed", "left_out"), [("list_gaps", "gap", 3), ("report_gaps", "capability", 2)]
)
async def test_no_more_are_listed_than_asked_for_and_the_rest_is_counted(
    connect: Connect, photos: Path, tool: str, listed: str, left_out: int
) -> None:
    async with connect(photos) as client:
        message = await data_of(client, tool, limit=1)
    assert (len(message[listed]), message["left_out"]) == (1, left_out)


@pytest.mark.parametrize(
    ("tool", "listed", "most"), [("list_gaps", "gap", 4_000), ("report_gaps", "capability", 6_000)]
)
async def test_an_answer_stays_small_whatever_is_in_the_log_and_cursors_lead_to_the_rest(
    connect: Connect, tmp_path: Path, tool: str, listed: str, most: int
) -> None:
    long = dict.fromkeys(
        ("workaround", "notes", "intent", "session_id", "intent_category"), "夜 " * 999
    )
    words = ["owl", "fog", "eel", "elk", "oak", "ash", "yew", "fir", "ant"]
    lines = [gap(f"{word} " * 999, **long) for word in words] + [gap("bee")] * 3
    async with connect(write_corpus(tmp_path, {"one": lines[::-1]})) as client:
        first: Any = await client.call_tool(tool, {})
        texts = [first.content[0].text]
        message = await data_of(client, tool)
        rows = message[listed]
        while message["cursor"]:
            message = await data_of(client, tool, cursor=message["cursor"])
            texts.append(str(message))
            rows += message[listed]
        gone = await error_of(client, tool, cursor="gone")
    assert len({str(each) for each in rows}) == len(rows) == 10
    assert len(texts) > (tool == "list_gaps")  # labels are short, so all fit into one answer
    assert max(len(text.encode()) for text in texts) <= most
    assert "the list has no 'gone'" in gone["message"]


async def test_of_very_many_names_the_first_are_listed(connect: Connect, tmp_path: Path) -> None:
    names = [f"operation {number}" for number in range(5000)]
    async with connect(
        write_corpus(tmp_path, {"one": [gap("sky mask", operations_involved=names)]})
    ) as client:
        message = [await data_of(client, "list_gaps", limit=limit) for limit in (1, None)]
    assert [each["gap"][0]["operations_involved"] for each in message] == [
        [*names[:most], "… (5,000 names)"] for most in (50, 3)
    ]


REFUSED: list[dict[str, object]] = [
    {"limit": 0}, {"limit": 1.5}, {"limit": 101}, {"since": "yesterday"}, {"satisfaction": 2},
    {"image_id": [7]}, {"x": 1},
]  # fmt: skip


async def test_arguments_that_cannot_be_meant_are_refused(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        for arguments in REFUSED:
            error = await error_of(client, "list_gaps", **arguments)
            assert (arguments, error["code"]) == (arguments, "invalid_input")


async def test_a_session_is_listed_by_the_name_that_the_list_answers_however_long(
    connect: Connect, tmp_path: Path
) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("sky mask", session_id="s" * 1_500), gap("film grain")]}
    )
    async with connect(root) as client:
        (first,) = (await data_of(client, "list_gaps", match="sky"))["gap"]
        message = await data_of(client, "list_gaps", session_id=first["session_id"])
    assert [each["description"] for each in message["gap"]] == ["sky mask"]


async def test_the_records_of_needs_like_a_text_come_first_and_the_next_ones_follow(
    connect: Connect, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos.parent)
    async with connect(photos) as client:
        missing = await error_of(client, "list_gaps", like="grainy film")
        vg.run(photos, out="out", now="last")
        first = await data_of(client, "list_gaps", like="grainy film", limit=1)
        rest = await data_of(client, "list_gaps", like="grainy film", cursor=first["cursor"])

    assert missing["code"] == "not_found"
    assert [each["label"] for each in first["nearest"]] == ["film grain"]
    assert [each["description"] for each in first["gap"] + rest["gap"]] == [
        "film grain", "dust removal", "mask the sky", "sky mask",
    ]  # fmt: skip
    assert (first["left_out"], rest["left_out"]) == (3, 0)
