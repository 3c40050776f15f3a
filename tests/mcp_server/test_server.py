import json
import logging
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mcp_server.calls import Connect

ProtocolError = type[Any]
pytestmark = pytest.mark.anyio
READING = {"report_gaps", "list_gaps", "show_capability"}
WRITING = {"log_vocabulary_gap"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_tools_are_listed(connect: Connect, photos: Path, mode: str) -> None:
    async with connect(photos, mode=mode) as client:
        listed = await client.list_tools()
    assert {tool.name for tool in listed.tools} == READING | WRITING


async def test_a_server_that_is_read_only_offers_no_tool_that_writes(connect: Connect, photos: Path) -> None:
    async with connect(photos, read_only=True) as client:
        listed = await client.list_tools()
    assert {tool.name for tool in listed.tools} == READING


async def test_tools_say_truly_whether_they_change_anything(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        for tool in (await client.list_tools()).tools:
            hints = tool.annotations
            assert hints is not None
            assert hints.read_only_hint is (tool.name in READING)
            assert hints.idempotent_hint is (tool.name in READING)
            assert (hints.destructive_hint, hints.open_world_hint) == (False, False)


async def test_the_schemas_of_tools_are_valid_and_have_an_object_at_their_root(
    connect: Connect, photos: Path
) -> None:
    valid = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    async with connect(photos) as client:
        for tool in (await client.list_tools()).tools:
            for schema in (tool.input_schema, tool.output_schema):
                assert schema is not None
                valid.validate(schema)
                assert schema["type"] == "object"
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema is not None
            assert {"success", "data", "error"} == set(tool.output_schema["required"])


async def test_every_argument_says_what_it_is_for(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        for tool in (await client.list_tools()).tools:
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description"), f"{tool.name}: {name}"


async def test_every_list_that_can_be_asked_for_has_a_limit(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        for tool in (await client.list_tools()).tools:
            for name in ("limit", "records"):
                schema = tool.input_schema["properties"].get(name)
                assert schema is None or schema["maximum"] <= 200


async def test_descriptions_say_that_texts_are_data(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        described = [tool.description for tool in (await client.list_tools()).tools]
        assert client.instructions is not None
        for text in (*described, client.instructions):
            assert text is not None
            assert "data" in text


async def test_the_text_of_an_answer_is_its_envelope(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        result: Any = await client.call_tool("report_gaps", {})
    assert json.loads(result.content[0].text) == result.structured_content


async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(
    connect: Connect, photos: Path, protocol_error: ProtocolError
) -> None:
    async with connect(photos) as client:
        with pytest.raises(protocol_error, match="there is no tool 'rank'") as caught:
            await client.call_tool("rank", {})
    assert caught.value.code == -32602


async def test_a_bug_is_told_without_a_traceback(
    connect: Connect, photos: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("wordings")

    monkeypatch.setattr("vocabgap.doors.mcp.workspace.analyse", broken)
    async with connect(photos) as client:
        result: Any = await client.call_tool("report_gaps", {})
    assert result.structured_content["error"]["code"] == "bug"
    assert "KeyError: 'wordings'" in result.structured_content["error"]["message"]
    assert "Traceback" not in result.content[0].text
    assert capfd.readouterr() == ("", "")


async def test_a_bug_is_traced_where_that_is_asked_for(
    connect: Connect, photos: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("wordings")

    monkeypatch.setenv("VOCABGAP_DEBUG", "1")
    monkeypatch.setattr("vocabgap.doors.mcp.workspace.analyse", broken)
    async with connect(photos) as client:
        await client.call_tool("report_gaps", {})
    out, err = capfd.readouterr()
    assert out == ""
    assert "Traceback" in err


async def test_what_the_sdk_logs_is_for_those_who_look_for_a_bug(
    connect: Connect, photos: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with connect(photos):
        logging.getLogger("mcp.server").error("a message that cannot be read")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("is_read_only", [False, True])
async def test_instructions_name_only_the_tools_of_the_server(
    connect: Connect, photos: Path, *, is_read_only: bool
) -> None:
    async with connect(photos, read_only=is_read_only) as client:
        tools = (await client.list_tools()).tools
        said = f"{client.instructions} {[each.model_dump_json() for each in tools]}"
    assert "report_gaps" in said
    assert ("log_vocabulary_gap" in said) is not is_read_only
