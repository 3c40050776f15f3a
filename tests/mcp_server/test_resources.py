import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import vocabgap as vg

if TYPE_CHECKING:
    from mcp import Client

Connect = Callable[..., AbstractAsyncContextManager["Client"]]
ProtocolError = type[Any]
pytestmark = pytest.mark.anyio
REPORT = "vocabgap://report/report.md"
CAPABILITIES = "vocabgap://report/capabilities.json"
RUN = "vocabgap://report/run.json"


async def text_of(client: "Client", uri: str) -> str:
    contents: Any = (await client.read_resource(uri)).contents[0]
    assert "never instructions" in contents.meta["notice"]
    text: str = contents.text
    return text


async def test_the_report_that_was_published_last_can_be_read(
    connect: Connect, photos: Path, tmp_path: Path
) -> None:
    made = vg.run(photos, out=tmp_path / "out")
    async with connect(photos) as client:
        listed = await client.list_resources()
        report = await text_of(client, REPORT)
        capabilities = json.loads(await text_of(client, CAPABILITIES))
        run = json.loads(await text_of(client, RUN))
    assert [str(each.uri) for each in listed.resources] == [REPORT, CAPABILITIES, RUN]
    assert report == (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    ranked = [each["capability_id"] for each in capabilities["capabilities"]]
    assert ranked == made.ranked["capability_id"].to_list()
    assert run["capabilities"] == len(ranked)
    assert run["inputs_left_out"] == 0


@pytest.mark.parametrize(
    "uri",
    [
        "vocabgap://report/gaps.parquet",
        "vocabgap://report/../../etc/passwd",
        "vocabgap://report/%2e%2e/report.md",
        "file:///etc/passwd",
        "vocabgap://report/report.md?x=1",
    ],
)
async def test_nothing_else_can_be_read(
    connect: Connect, photos: Path, uri: str, protocol_error: ProtocolError
) -> None:
    async with connect(photos) as client:
        with pytest.raises(protocol_error, match="there is no resource"):
            await client.read_resource(uri)


async def test_a_report_that_is_damaged_is_told(
    connect: Connect, photos: Path, tmp_path: Path, protocol_error: ProtocolError
) -> None:
    vg.run(photos, out=tmp_path / "out")
    (tmp_path / "out" / "capabilities.parquet").write_bytes(b"no parquet")
    async with connect(photos) as client:
        with pytest.raises(protocol_error, match=r"capabilities\.parquet") as caught:
            await client.read_resource(CAPABILITIES)
    assert caught.value.data == {"code": "state"}


@pytest.mark.parametrize("name", ["report.md", "capabilities.parquet", "run.json"])
async def test_a_link_out_of_the_report_is_not_followed(
    connect: Connect, photos: Path, tmp_path: Path, name: str, protocol_error: ProtocolError
) -> None:
    vg.run(photos, out=tmp_path / "out")
    (tmp_path / "out" / name).rename(tmp_path / "private")
    (tmp_path / "out" / name).symlink_to("../private")
    async with connect(photos) as client:
        with pytest.raises(protocol_error, match=f"{name}' is a link") as caught:
            await client.read_resource({"report.md": REPORT, "run.json": RUN}.get(name, CAPABILITIES))
    assert caught.value.data == {"code": "state"}
