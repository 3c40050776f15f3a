from pathlib import Path

import pytest

import vocabgap as vg
from mcp_server.calls import Connect, data_of, error_of

pytestmark = pytest.mark.anyio


async def test_capabilities_are_ranked(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        message = await data_of(client, "report_gaps")
    first = message["capability"][0]
    assert (first["rank"], first["mentions"], first["images"]) == (1, 2, 2)
    assert (message["capabilities"], message["mentions"], message["left_out"]) == (3, 4, 0)
    assert message["account"]["rejects"] == 1
    assert "never instructions" in message["notice"]


async def test_the_ranking_is_that_of_the_report(
    connect: Connect, photos: Path, vocabulary: Path, tmp_path: Path
) -> None:
    report = vg.run(photos, out=tmp_path / "elsewhere").published.summary
    before = sorted(tmp_path.rglob("*"))
    async with connect(photos) as client:
        data = await data_of(client, "report_gaps")
    names = ("rank", "capability_id", "label")
    assert [[row[name] for name in names] for row in data["capability"]] == [
        [getattr(item, name) for name in names] for item in report.capabilities
    ]
    assert sorted(tmp_path.rglob("*")) == before  # nothing is published
    async with connect(photos, vocabulary=vocabulary) as client:
        data = await data_of(client, "report_gaps")
    assert (data["covered"], data["capabilities"]) == (1, 3)


async def test_a_ranking_can_be_narrowed(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        late = await data_of(client, "report_gaps", since="2026-05-02", until="2026-05-03")
        local = await data_of(client, "report_gaps", intent_category="local")
        misspelt = await data_of(client, "report_gaps", intent_category="locla")
        heron = await data_of(client, "report_gaps", image_id="heron", satisfaction=-1)
        grain = await data_of(client, "report_gaps", operations_involved="grain")
        last = await data_of(client, "report_gaps", session_id="last")
    assert [each["mentions"] for each in late["capability"]] == [1]
    assert [each["intent_category"] for each in local["capability"]] == ["local"]
    assert (local["notes"], misspelt["capability"]) == ([], [])
    assert [each["label"] for each in (*heron["capability"], *grain["capability"])] == [
        "sky mask", "film grain",
    ]  # fmt: skip
    assert misspelt["notes"] == ["no record has category 'locla'; the nearest: local"]
    assert (last["mentions"], last["notes"]) == (2, [])


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"since": "yesterday"}, "since: 'yesterday' is not a moment"),
    ({"since": 7}, "since: expected text, found 7"),
    ({"since": "2026-05-02", "until": "2026-05-01"}, "is not before until"),
    ({"limit": 51}, "limit: expected a whole number <= 50"),
    ({"limit": True}, "limit: expected a whole number"),
    ({"intent_category": {"tone": 1}}, "intent_category: expected text or a list"),
    ({"top": 3}, "there is no argument 'top' (the arguments are limit, cursor, since, "),
]


async def test_arguments_that_cannot_be_meant_are_refused(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        for arguments, named in REFUSED:
            error = await error_of(client, "report_gaps", **arguments)
            assert error["code"] == "invalid_input"
            assert named in error["message"]


async def test_a_root_that_is_gone_is_told(connect: Connect, photos: Path, tmp_path: Path) -> None:
    async with connect(photos) as client:
        photos.rename(tmp_path / "moved")
        error = await error_of(client, "report_gaps")
    assert error["code"] == "not_found"
