import json
import logging
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import vocabgap as vg
from mcp_server.calls import Connect, error_of
from vocabgap.doors.mcp.tools import TOOLS

ProtocolError = type[Any]
pytestmark = pytest.mark.anyio
READING = {"report_gaps", "list_gaps", "show_capability"}
WRITING = {"log_vocabulary_gap"}
# The tools that no slice adds.
OWN = {tool.name for tool in TOOLS.values() if tool.work.__module__.startswith("vocabgap.doors")}


@pytest.mark.parametrize(("mode", "is_read_only"), [("legacy", False), ("auto", True)])
async def test_the_tools_are_listed(
    connect: Connect, photos: Path, mode: str, *, is_read_only: bool
) -> None:
    async with connect(photos, mode=mode, read_only=is_read_only) as client:
        tools = (await client.list_tools()).tools
        texts = f"{client.instructions} {[each.model_dump_json() for each in tools]}"
    assert {tool.name for tool in tools} & OWN == (READING if is_read_only else READING | WRITING)
    assert "report_gaps" in texts
    assert ("log_vocabulary_gap" in texts) is not is_read_only


async def test_tools_say_truly_what_they_do_and_can_be_asked(
    connect: Connect, photos: Path
) -> None:
    valid = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    shared = {"image_id", "session_id", "intent_category", "operations_involved", "satisfaction"}
    async with connect(photos) as client:
        tools, instructions = (await client.list_tools()).tools, client.instructions
    assert instructions is not None
    assert "data" in instructions
    assert sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools) <= 12_000
    for tool in tools:
        is_of_one = tool.name == "show_capability" or tool.name not in OWN
        assert shared <= tool.input_schema["properties"].keys() or is_of_one
        hints = tool.annotations
        assert hints is not None
        assert hints.read_only_hint is hints.idempotent_hint is (tool.name in READING)
        assert (hints.destructive_hint, hints.open_world_hint) == (False, False)
        assert tool.description is not None
        valid.validate(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), f"{tool.name}: {name}"
            assert name != "limit" or argument.get("anyOf", [argument])[0]["maximum"] <= 200


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("", "no capability is called 'owl' (there are 3, such as "),
        ("groups.parquet", "(restore it from a copy)"),
        ("entries", "(check the paths of [vocabulary] in the settings)"),
    ],
)
async def test_a_hint_for_agents_names_no_option(
    connect: Connect, photos: Path, tmp_path: Path, broken: str, message: str
) -> None:
    vg.run(photos, out=tmp_path / "out")
    if "." in broken:
        (tmp_path / "out" / broken).write_text("{}")
    absent = tmp_path / "nothing" if broken == "entries" else None
    async with connect(photos, vocabulary=absent) as client:
        output = await error_of(client, "show_capability", capability="owl")
    assert message in output["message"]
    assert "--" not in output["message"]


async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(
    connect: Connect, photos: Path, protocol_error: ProtocolError
) -> None:
    async with connect(photos) as client:
        with pytest.raises(protocol_error, match="there is no tool 'rank'") as caught:
            await client.call_tool("rank", {})
    assert caught.value.code == -32602


async def test_a_bug_is_told_and_traced_only_where_that_is_asked_for(
    connect: Connect,
    photos: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("wordings")

    monkeypatch.setattr("vocabgap.pipeline.analyse", broken)
    async with connect(photos) as client:
        logging.getLogger("mcp.server").error("a message that cannot be read")
        result: Any = await client.call_tool("report_gaps", {})
    assert json.loads(result.content[0].text) == result.structured_content
    assert result.structured_content["error"]["code"] == "bug"
    assert "KeyError: 'wordings'" in result.structured_content["error"]["message"]
    assert "Traceback" not in result.content[0].text
    assert capfd.readouterr() == ("", "")

    monkeypatch.setenv("VOCABGAP_DEBUG", "1")
    async with connect(photos) as client:
        await client.call_tool("report_gaps", {})
    out, err = capfd.readouterr()
    assert out == ""
    assert "Traceback" in err
