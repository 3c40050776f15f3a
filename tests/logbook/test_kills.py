"""Many write to one log, and some are killed while they do: what was acknowledged is there, whole, once.

Set VOCABGAP_KILLS for more kills than the few that every run makes; there are five records for each.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import vocabgap as vg
from vocabgap.model.record import LOG_NAME

KILLS = int(os.environ.get("VOCABGAP_KILLS", "4"))
WRITERS = 3
LONGEST = 120 + 2 * KILLS  # seconds
WRITER = Path(__file__).parent / "endless_writer.py"


def started(image: Path, message: Path, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(WRITER), str(image), str(message / name), name])


def acknowledged(message: Path) -> list[list[str]]:
    """What the writers said is logged: identifier, writer, number, size. A line may have been cut."""
    return [
        line.split()
        for path in sorted(message.iterdir())
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
        if line.endswith("\n")
    ]


@pytest.mark.slow
def test_killed_writers_lose_and_damage_nothing(image: Path, tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.mkdir()
    drawn = random.Random(KILLS)  # noqa: S311
    running = [started(image, message, f"w{number}-0") for number in range(WRITERS)]
    given_up = time.monotonic() + LONGEST

    for kill in range(1, KILLS + 1):
        while len(acknowledged(message)) < 5 * kill and time.monotonic() < given_up:
            time.sleep(0.01)
        time.sleep(drawn.uniform(0, 0.02))
        victim = drawn.randrange(WRITERS)
        assert running[victim].poll() is None
        running[victim].kill()
        running[victim].wait()
        running[victim] = started(image, message, f"w{victim}-{kill}")
    for process in running:
        process.kill()
        process.wait()
    vg.log_gap(image, "the last one")

    said = acknowledged(message)
    assert len(said) >= 5 * KILLS
    *written, rest = (image / LOG_NAME).read_bytes().split(b"\n")
    assert rest == b""
    whole = []
    for line in written:
        try:
            whole.append(json.loads(line))
        except ValueError:  # the torn line of one that was killed, closed by the next
            assert line.startswith(b'{"timestamp": ')
    there = Counter((each["description"], len(each["notes"])) for each in whole)
    assert set(there.values()) == {1}
    assert {(f"{name} {number}", int(size)) for _, name, number, size in said} <= there.keys()
    assert {identifier for identifier, *_ in said} <= set(vg.scan(image).records["record_id"])
    assert len(written) - len(whole) <= KILLS + WRITERS
