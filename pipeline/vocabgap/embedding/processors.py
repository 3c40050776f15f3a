"""What kind of CPU this is: the runtime takes other loops on another, and they round in other places."""

import hashlib
import platform
from pathlib import Path
from typing import Final

_CPU_LIST: Final = Path("/proc/cpuinfo")  # of Linux
# Its lines that tell one kind from another, on x86 and on Arm; the rest is of one CPU, or of this moment.
_TELLING: Final = frozenset(
    {
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "flags",
        "CPU implementer",
        "CPU architecture",
        "CPU variant",
        "CPU part",
        "Features",
    }
)
_DIGITS: Final = 8  # of the digest, in hex


def cpu_kind() -> str:
    """The architecture, and some digits for the model and the instructions that it knows.

    Where several CPUs are of different kinds, these count together, in no order.
    """
    machine = platform.machine()
    told = _told_by_linux() or [platform.processor()]
    digest = hashlib.sha256("\n".join([machine, *told]).encode()).hexdigest()
    return f"{machine} {digest[:_DIGITS]}"


def _told_by_linux() -> list[str]:
    try:
        lines = _CPU_LIST.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    pairs = (line.partition(":") for line in lines)
    # Instructions are sorted, too: the system may list them in any order.
    return sorted(
        {
            f"{name.strip()}: {' '.join(sorted(value.split()))}"
            for name, _, value in pairs
            if name.strip() in _TELLING
        }
    )
