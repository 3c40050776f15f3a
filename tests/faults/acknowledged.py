"""Writers that are killed again and again: what they have acknowledged is there once, and whole."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from faults.kills import ended, started
from faults.processes import VOCABGAP
from faults.targets import WRITERS
from faults.verbs import logged, photos

LINES: Final = 10_000  # that are acknowledged, together
_WRITERS: Final = 2  # of one file, at a time
_LATEST: Final = 0.01  # seconds from an acknowledgement to a kill
_SERVED: Final = 200  # requests to a server
_LIST: Final = Path("acknowledged")


def write_on(number: int, name: str) -> None:
    """Add lines until somebody kills this process, and note each one that was acknowledged."""
    writer = WRITERS[number]
    descriptor = os.open(_LIST, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for line in itertools.count():
        os.write(descriptor, f"{writer.add(f'{name} {line}')}\n".encode())


def killed(lines: int = LINES) -> Iterator[str | None]:
    """Kill writers until so many lines are acknowledged; yield a problem, or None, for each line."""
    for number, writer in enumerate(WRITERS):
        _clear()
        writer.prepare()
        moments = random.Random(number)  # noqa: S311 - the same each time
        kills = 0
        while (begun := len(_acknowledged())) * 100 < lines * writer.share:
            processes = [started(write_on, number, f"{kills} {each}") for each in range(_WRITERS)]
            least = begun + moments.randint(1, writer.share)
            while len(_acknowledged()) < least and all(each.is_alive() for each in processes):
                time.sleep(0.001)
            codes = {ended(each, moments.uniform(0, _LATEST)) for each in processes}
            if codes != {-signal.SIGKILL}:
                yield f"{writer.name}: a writer ends by itself: {codes}"
                break
            kills += 1
        writer.add("the last")  # drops the part of a decision that a killed writer has begun
        yield from _kept(writer.name, writer.present)
    _clear()
    photos()
    while len(_acknowledged()) * 100 < lines * (100 - sum(each.share for each in WRITERS)):
        _serve()
    WRITERS[0].add("the last")
    yield from _kept("a server", logged)


def _serve() -> None:
    """Ask a server to log many gaps, and kill it after an answer in the middle."""
    begun = len(_acknowledged())
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"},
    }  # fmt: skip
    gaps = [{"image_id": "heron", "description": f"need {begun} {n}"} for n in range(_SERVED)]
    tool = "log_vocabulary_gap"
    asked = [
        ("initialize", hello),
        *(("tools/call", {"name": tool, "arguments": given}) for given in gaps),
    ]
    requests = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        for number, (method, given) in enumerate(asked)
    ]
    requests.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    with (
        _LIST.open("a", encoding="utf-8") as acknowledged,
        subprocess.Popen(
            (*VOCABGAP, "mcp", "photos"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(each)}\n" for each in requests))
        server.stdin.flush()
        for answer in itertools.islice(server.stdout, 1, _SERVED - 20):
            print(json.loads(answer)["result"]["structuredContent"]["gap_id"], file=acknowledged)
        server.kill()


def _kept(name: str, present: Callable[[], Iterable[str]]) -> Iterator[str | None]:
    there = Counter(present())
    for line in _acknowledged():
        yield None if there[line] == 1 else f"{name}: {line} is there {there[line]} times"


def _acknowledged() -> list[str]:
    """Return the names that were noted; a note may be half there, and its line whole."""
    return _LIST.read_text(encoding="utf-8").splitlines() if _LIST.exists() else []


def _clear() -> None:
    for path in Path().iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
