"""What logging a gap costs: in a process that is there, and as a command of its own.

Run by `make bench`. The peer is what the first project's own writer does: open the file, write one line of
JSON, close it; it neither locks nor looks at the line before. Times in a process are those of the clock, the
median of many; a command's are CPU seconds of the process with all it loads, the least of several.
"""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from vocabgap.gaplog.entry import category
from vocabgap.gaplog.log import log_gap

GAPS: Final = 2_000
COMMANDS: Final = 7
LONG: Final = 65_536  # characters
MOST: Final = {"without fsync": 2.0, "category": 20.0}  # ms
MOST_CPU: Final = 0.35  # seconds of a command
NEED: Final = "lift only the brightest parts of the water"


def plain(path: Path) -> None:
    """What a writer does that trusts to be alone."""
    record = {"timestamp": datetime.now(UTC).isoformat(), "description": NEED, "workaround": ""}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def median(write: Callable[[], object], times: int) -> float:
    """Milliseconds of the clock that one writing takes."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        write()
        found.append(1_000 * (time.perf_counter() - start))
    return statistics.median(found)


def command(image: Path, *arguments: str) -> float:
    """CPU seconds of a command line, the least of several."""
    found = []
    for _ in range(COMMANDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "vocabgap", *arguments], check=True, capture_output=True, cwd=image
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder)
        os.environ.pop("VOCABGAP_SESSION", None)
        print("Logging a gap, ms (median)")
        print(f"  a writer alone, no lock          {median(lambda: plain(image / 'plain.jsonl'), GAPS):8.3f}")
        for name, durable in (("without fsync", False), ("with fsync", True)):
            taken = median(partial(log_gap, image, NEED, fsync=durable), GAPS)
            limit = f"   limit {MOST[name]:g}" if name in MOST else ""
            print(f"  log_gap {name:<24} {taken:8.3f}{limit}")
        drawn = random.Random(0)
        long = " ".join("".join(drawn.choices("aeilnorstu", k=7)) for _ in range(LONG // 8))
        for name, text in (("", NEED), (" of 64 KB", long)):
            judged = median(lambda text=text: category((text, text, text), ()), GAPS)  # type: ignore[misc]
            print(f"  judging the category{name:<12} {judged:8.3f}   limit {MOST['category']:g}")
        print("Commands, CPU seconds (least)")
        print(f"  vocabgap --version               {command(image, '--version'):8.3f}")
        spent = command(image, "log", ".", "-d", NEED)
        print(f"  vocabgap log                     {spent:8.3f}   limit {MOST_CPU}")


if __name__ == "__main__":
    main()
