"""How much work a call is, as the number of instructions of Python."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(call: Callable[[], object]) -> int:
    """Return the number of instructions that a call runs in Python."""
    number = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - as `settrace` wants
        nonlocal number
        frame.f_trace_opcodes = True
        number += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return number
