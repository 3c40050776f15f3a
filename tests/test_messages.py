"""Messages that refuse the call of a tool, as agents' frameworks word them, and others that sound alike."""

import pytest

from vocabgap.messages import RefusedCall, refused_call, unknown_name

# {} is the name of the tool.
UNKNOWN = """
Tool {} not found in agent Gardener
agents.exceptions.ModelBehaviorError: Tool {} not found in agent Gardener
AI_NoSuchToolError: Model tried to call unavailable tool '{}'. Available tools: dig, sow.
Model tried to call unavailable tool '{}'. No tools are available.
java.lang.IllegalStateException: No ToolCallback found for tool name: {}
No function callback found for function name: {}
Error: {} is not a valid tool, try one of [dig, sow].
Error: Tool "{}" not found.\\n Please fix your mistakes.
The LLM is trying to execute the '{}' tool, but no such tool exists. Most likely, it is a hallucination.
Error: there is no tool called {}
Tool with name {} not found
Tool {} not found. Please select a tool that is available.
Action '{}' don't exist, these are the only available Actions: dig
Error: tool '{}' not found in any workbench
The tool '{}' is not available.
Error: Function {} not found.
Error: Requested function "{}" not found.
ToolNotFoundException: Tool '{}' not found. Available tools: ['dig']
there is not a tool named {}
Unknown tool name: '{}'. Available tools: 'dig'
Error: unknown tool {}, should be instead one of ['dig'].
{{"error": "Function {} is not found in the tools_dict."}}
tool_name=<{}>, available_tools=<['dig']> | tool not found in registry
Tool '{}' not found in the shed
unsupported call: {}
unsupported custom tool call: {}
<tool_use_error>Error: No such tool available: {}</tool_use_error>
Error executing tool {}: Tool "{}" not found in registry.
Unknown tool "{}". This tool does not exist. Please use one of the available tools.
Tool '{}' does not exist on server 'garden'. Available tools: dig
Error executing {}: Unknown tool: {}
McpError: MCP error -32602: MCP error -32602: Tool {} not found
MCP error -32601: Method not found: {}
tool '{}' not found: tool not found
There is no tool named "{}"
You attempted to use a tool: '{}'. This tool does not exist.
ToolNotFoundError: {}
no tool named {} is registered
Unknown function: {}
Error: Function {} is not found in the tools_dict.
Error: the requested tool {} is not available
Error code: 400 - call validation failed: attempted to call tool '{}' which was not in request.tools
Tool '{}' does not exist. Registered tools: dig
{} tool not found in available tools
Could not find tool: `{}`
"""
NAMELESS = """
Custom tool not found
Error: Requested function could not be found.
Could not find function to call.
MCP error -32601: Method not found
The requested tool does not exist or is not available.
unknown tool
"""
WITHHELD = """
not_enabled|Error: No such tool available: {}. {} exists but is not enabled in this context. Use another one.
not_enabled|No such tool available: {}. {} is disabled for this session, in subagents as well as here.
not_enabled|Error: No such tool available: {}. {} is not available inside subagents. Use the tools provided.
not_enabled|Tool '{}' on server 'garden' is disabled and cannot be used. Available tools: dig
not_enabled|Tool '{}' is not available yet: search for it first.
permission|Tool "{}" is not allowed in ask mode.
permission|Claude requested permissions to use {}, but you haven't granted it yet.
"""
NEAR_MISSES = """
Tool call timed out
unknown argument of tool water_bed
invalid tool arguments
Invalid arguments for tool water_bed: field 'bed' required
tool water_bed failed: file not found
Error executing tool water_bed: 404 Not Found
Tool water_bed not found any beds
Unknown tool argument: depth
Tool file not found: /opt/tools/water_bed.py
tool result not found for call_1
No tool output found for function call call_abc123.
Tool choice required, but no tool was called
unsupported operand type(s) for +: 'int' and 'str'
unsupported call stack size
Tool water_bed is busy
Record water_bed not found
Bed 'north' not found
bash: water_bed: command not found
Function call arguments must be JSON
invalid tool_call_id: call_12
Tool schema for water_bed not found
Tool water_bed does not support option 'fast'
tool 'water_bed' not authenticated
Unsupported tool type: <class 'int'>
Unsupported call to async function from sync code
unknown tool version 3
MCP server 'garden' not found
Invalid tool result: expected a list
Tool water_bed returned: item not found
Unknown tools directory /opt/tools
KeyError: 'water_bed'
the tool was called with an unknown key
"""


def lines(text: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


@pytest.mark.parametrize("message", lines(UNKNOWN))
def test_the_name_of_a_tool_that_does_not_exist_is_taken_from_the_message(message: str) -> None:
    for name in ("water_bed", "waterBed"):
        told = message.format(name, name)

        assert refused_call(told) == refused_call(f"Calling failed. {told}") == RefusedCall(name, "")
        assert refused_call(told, "tools/call bed") == RefusedCall("bed", "")
        assert unknown_name(told) == name


@pytest.mark.parametrize("message", lines(NAMELESS))
def test_a_message_without_a_name_counts_if_the_tool_is_known(message: str) -> None:
    assert (refused_call(message), refused_call(message, "dig")) == (None, RefusedCall("dig", ""))


@pytest.mark.parametrize("line", lines(WITHHELD))
def test_a_tool_that_exists_is_not_granted(line: str) -> None:
    reason, _, message = line.partition("|")

    assert refused_call(message.format("WaterBed", "WaterBed")) == RefusedCall("WaterBed", reason)


@pytest.mark.parametrize("message", lines(NEAR_MISSES))
def test_a_message_that_only_sounds_like_a_refused_call_is_none(message: str) -> None:
    assert refused_call(message) is refused_call(message, "water_bed") is None
