"""Messages that refuse the call of a tool, as agents' frameworks word them, and others that sound alike."""

import json
from pathlib import Path

import pytest

from vocabgap.messages import ENVIRONMENT, RefusedCall, refused_call, unknown_name

MESSAGES = json.loads(
    Path(__file__).with_name("data").joinpath("messages.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("message", MESSAGES["unknown"])
def test_the_name_of_a_tool_that_does_not_exist_is_taken_from_the_message(message: str) -> None:
    # {} is the name of the tool.
    for name in ("water_bed", "waterBed"):
        output = message.format(name, name)

        assert (
            refused_call(output)
            == refused_call(f"Calling failed. {output}")
            == RefusedCall(name, "")
        )
        assert refused_call(output, f"tools/call {name}") == RefusedCall(name, "")
        assert refused_call(output, f"mcp__garden__{name}") == RefusedCall(
            f"mcp__garden__{name}", ""
        )
        assert refused_call(output, "bed") is None
        assert unknown_name(output) == name


@pytest.mark.parametrize("message", MESSAGES["nameless"])
def test_a_message_without_a_name_counts_if_the_tool_is_known(message: str) -> None:
    assert (refused_call(message), refused_call(message, "dig")) == (None, RefusedCall("dig", ""))


@pytest.mark.parametrize("line", MESSAGES["withheld"])
def test_a_tool_that_exists_is_not_granted(line: str) -> None:
    reason, _, message = line.partition("|")

    assert refused_call(message.format("WaterBed", "WaterBed")) == RefusedCall("WaterBed", reason)


@pytest.mark.parametrize("message", MESSAGES["programs"])
@pytest.mark.parametrize("tool", ["", "Bash", "jq"])
def test_a_program_that_a_shell_does_not_find_is_a_gap_of_the_environment(
    message: str, tool: str
) -> None:
    assert refused_call(message.format("jq", "jq"), tool) == RefusedCall("jq", ENVIRONMENT)


def test_nearly_all_unknown_tools_are_found_and_hardly_anything_else_is_taken_for_one() -> None:
    # The verdict, empty for a near miss; the called tool; the message.
    table = Path(__file__).with_name("data").joinpath("tool_messages.tsv")
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]

    found = [
        (
            verdict == "unknown",
            refused_call(message.replace("\\n", "\n"), tool) == RefusedCall(tool, ""),
        )
        for verdict, tool, message in rows
    ]

    right = found.count((True, True))
    assert (len(rows), found.count((True, False)) + right) == (60, 30)
    assert right / (right + found.count((False, True))) >= 0.97
    assert right / (right + found.count((True, False))) >= 0.90


@pytest.mark.parametrize(("number", "refused"), [(12, RefusedCall("Rake", "")), (13, None)])
def test_a_message_is_read_from_each_of_its_first_sentences(
    number: int, refused: RefusedCall | None
) -> None:
    assert refused_call("Digging. " * number + "Unknown tool: Rake") == refused


@pytest.mark.parametrize("message", MESSAGES["near_misses"])
def test_a_message_that_only_sounds_like_a_refused_call_is_none(message: str) -> None:
    assert refused_call(message) is refused_call(message, "water_bed") is None


@pytest.mark.parametrize("tool", ["undefined", "null", "none"])
def test_a_call_of_no_tool_at_all_is_no_gap(tool: str) -> None:
    assert refused_call(f"Unknown tool: {tool}", tool) is None
