"""What logging a gap costs: in a process that is there, and as a command of its own.

The peer is what the first project's own writer does: open the file, write one line of JSON, close it; it
neither locks nor looks at the line before.
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measuring import Row, Work, cost_of, cost_of_command
from vocabgap.logbook.log import log_gap
from vocabgap.model.categories import likely_category as category

GAPS: Final = {"small": 500, "large": 2_000}
COMMANDS: Final = {"small": 3, "large": 7}
LONG: Final = 65_536  # characters
NEED: Final = "lift only the brightest parts of the water"
# CPU seconds
MOST_LOGGING: Final = 0.002
MOST_JUDGING: Final = 0.020
MOST_COMMAND: Final = 0.35


def plain(path: Path) -> None:
    """What a writer does that trusts to be alone."""
    record = {"timestamp": datetime.now(UTC).isoformat(), "description": NEED, "workaround": ""}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def logging(image: Path) -> Work:
    """Logs a gap."""
    os.environ.pop("VOCABGAP_SESSION", None)
    return lambda: log_gap(image, NEED)


def judging(text: str) -> Work:
    """Judges the category of a gap by its words."""
    category((NEED, NEED, NEED), ())
    return lambda: category((text, text, text), ())


def rows(size: str) -> Iterator[Row]:
    """One gap, one judgement, one command."""
    times, commands = GAPS[size], COMMANDS[size]
    drawn = random.Random(0)
    long = " ".join("".join(drawn.choices("aeilnorstu", k=7)) for _ in range(LONG // 8))
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder)
        alone = cost_of(partial, plain, image / "plain.jsonl", times=times)
        cost = cost_of(logging, image, times=times)
        yield Row("log a gap", "one line", cost, "a writer alone", alone, limit=MOST_LOGGING)
        for what, text in (("a line", NEED), ("64 KB", long)):
            cost = cost_of(judging, text, times=times)
            yield Row("judge a category by words", what, cost, limit=MOST_JUDGING)
        python = (sys.executable, "-m", "vocabgap")
        version = cost_of_command(*python, "--version", folder=image, times=commands)
        bare = (
            "python -c pass",
            cost_of_command(sys.executable, "-c", "pass", folder=image, times=commands),
        )
        yield Row("vocabgap --version", "one command", version, *bare)
        cost = cost_of_command(*python, "log", ".", "-d", NEED, folder=image, times=commands)
        yield Row("vocabgap log", "one command", cost, *bare, limit=MOST_COMMAND)
