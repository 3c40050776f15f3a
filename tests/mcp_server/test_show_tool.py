import json
from pathlib import Path

import pytest

from builders import gap, write_corpus
from mcp_server.calls import Connect, data_of, error_of

pytestmark = pytest.mark.anyio


async def test_a_capability_is_found_by_its_wordings_and_its_identifier(
    connect: Connect, photos: Path, vocabulary: Path
) -> None:
    async with connect(photos, vocabulary=vocabulary) as client:
        for name in ("sky mask", "Mask the SKY", "mask the sky"):
            data = await data_of(client, "show_capability", capability=name)
            assert data["capability"]["mentions"] == 2
            assert [row["image_id"] for row in data["gap"]] == ["fjord", "heron"]
        assert data["capability"]["covered_by"][0]["entry"] == "sky_mask"
        identifier = data["capability"]["capability_id"]
        data = await data_of(client, "show_capability", capability=identifier, limit=1)
    assert data["name"] == identifier
    assert (len(data["gap"]), data["listed"], data["totals"]["records"]) == (1, 1, 2)


async def test_what_cannot_be_shown_is_refused(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        error = await error_of(client, "show_capability", capability="sky masks everywhere")
        assert error["code"] == "not_found"
        assert "did you mean" in error["message"]
        wrong: list[dict[str, object]] = [
            {},
            {"capability": ""},
            {"capability": "sky", "limit": 51},
        ]
        for arguments in wrong:
            error = await error_of(client, "show_capability", **arguments)
            assert (arguments, error["code"]) == (arguments, "invalid_input")


async def test_an_answer_stays_small_whatever_is_in_the_log(
    connect: Connect, tmp_path: Path
) -> None:
    long = dict.fromkeys(("workaround", "notes", "intent"), "long " * 1000)
    lines = [
        gap("sky mask", timestamp=f"2026-05-01T00:00:{second:02}Z", **long) for second in range(60)
    ]
    for line in lines:
        line["operations_involved"] = ["operation " * 50] * 50
    async with connect(write_corpus(tmp_path, {"one": lines})) as client:
        message = await data_of(client, "show_capability", capability="sky mask", limit=50)
    assert len(json.dumps(message)) < 100_000
    assert message["totals"]["records"] == 60
    assert 0 < len(message["gap"]) == message["listed"] < 50
