"""Runs the tests of a room on copies of the project, each with one change."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from mutants.changes import Change, places

KILLED, TIMED_OUT, ELSEWHERE = "killed", "timed out", "killed elsewhere"
SURVIVED, NOT_COVERED = "survived", "not covered"
_PYTEST: Final = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider")
_NOT_FOUND: Final = 4  # exit code of pytest: a mutant may change the name of a test
_FEW: Final = 30  # tests at first, because most mutants fail in them
_MOST_OTHERS: Final = 150  # tests of other rooms, the fastest ones that run the line
_LEFT_OUT: Final = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache", "out", "dist")
_PROCESSES: Final = 2
_RECORDING: Final = 1_800.0  # seconds for all tests of a room
_MOST_KIB: Final = 6 << 20  # of memory; a mutant may allocate without end


@dataclass(frozen=True)
class Room:
    """A part of a project: its modules, and what pytest is told to run its tests."""

    name: str
    modules: tuple[str, ...]  # paths from the project's folder
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    room: Room
    module: str
    change: Change

    @property
    def key(self) -> tuple[str, str, str]:
        """The module, the text of the line and the change: the same when lines move."""
        return self.module, self.change.text, self.change.shown

    def __str__(self) -> str:
        return f"{self.module}:{self.change.lines[0]}: {self.change.shown}"


class Copy:
    """A copy of a project, where tests run beside those of other copies."""

    _stamps = count(
        1
    )  # no two contents of a module have the same time, or Python may run the older

    def __init__(self, project: Path, folder: Path) -> None:
        self.folder = folder / "project"
        shutil.copytree(project, self.folder, symlinks=True, ignore=_LEFT_OUT)
        paths = (self.folder / "pipeline", self.folder / "tests", Path(__file__).parents[1])
        self._environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "COVERAGE_CORE": "ctrace", "TMPDIR": str(folder / "tmp"),
        }  # fmt: skip

    def write(self, module: str, content: bytes) -> None:
        """Replace a module."""
        path, stamp = self.folder / module, next(self._stamps)
        path.write_bytes(content)
        os.utime(path, (stamp, stamp))

    def run(self, *words: str, seconds: float) -> int | None:
        """Run `python -m` with these words; return the exit code, or nothing after so many seconds."""
        temporary = Path(self._environment["TMPDIR"])
        temporary.mkdir()
        command = ("sh", "-c", f'ulimit -d {_MOST_KIB}; exec "$0" -m "$@"', sys.executable, *words)
        process = subprocess.Popen(
            command, cwd=self.folder, env=self._environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            shutil.rmtree(temporary, ignore_errors=True)


class Record:
    """Which tests of a room run which lines, and how many seconds each takes."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.seconds: dict[str, float] = content["seconds"]
        self._names = [*self.seconds, ""]  # the last one, number -1, is the import
        self._lines: dict[str, dict[str, list[int]]] = content["lines"]

    def tests(self, mutant: Mutant) -> set[str]:
        """Return the tests that run the changed lines, or else the first line of the statement."""
        lines = self._lines.get(mutant.module, {})
        *changed, statement = mutant.change.lines
        numbers = {number for line in changed for number in lines.get(str(line), ())}
        return {self._names[number] for number in numbers or {*lines.get(str(statement), ())}}


def every_place(project: Path, rooms: Sequence[Room]) -> list[list[Mutant]]:
    """Return the possible mutants of each place of the rooms' modules."""
    return [
        [Mutant(room, module, change) for change in changes]
        for room in rooms
        for module in room.modules
        for changes in places((project / module).read_bytes())
    ]


def sample(every: Sequence[Sequence[Mutant]], number: int, seed: int) -> list[Mutant]:
    """Draw some places, and one mutant of each."""
    chance = random.Random(seed)  # noqa: S311 - the same each time
    return [chance.choice(place) for place in chance.sample(every, min(number, len(every)))]


def outcomes(
    project: Path, mutants: Sequence[Mutant], rooms: Sequence[Room], folder: Path, records: Path
) -> Iterator[tuple[Mutant, str]]:
    """Test each mutant in a copy below a folder, two at a time; yield what became of it."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for number in range(_PROCESSES):
        free.put(Copy(project, folder / str(number)))

    def recorded(room: Room) -> Record:
        copy = free.get()
        try:
            return _record(copy, room, records)
        finally:
            free.put(copy)

    def tried(mutant: Mutant) -> str:
        copy = free.get()
        original = (copy.folder / mutant.module).read_bytes()
        try:
            copy.write(mutant.module, mutant.change.applied(original))
            return _outcome(copy, mutant, known)
        finally:
            copy.write(mutant.module, original)
            free.put(copy)

    with ThreadPoolExecutor(_PROCESSES) as pool:
        names = [room.name for room in rooms]
        known = dict(zip(names, pool.map(recorded, rooms), strict=True))
        yield from zip(mutants, pool.map(tried, mutants), strict=True)


def _record(copy: Copy, room: Room, records: Path) -> Record:
    """Return what the tests of a room run; a record stays valid until the package or a test changes."""
    digest = hashlib.sha256()
    tests = [copy.folder / word for word in room.tests if not word.startswith("-")]
    for top in (copy.folder / "pipeline", copy.folder / "tests/builders", *tests):
        for path in sorted(top.rglob("*")) if top.is_dir() else (top,):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(
                    b"%b\0%b\0" % (bytes(path.relative_to(copy.folder)), path.read_bytes())
                )
    file = records / f"{room.name}-{digest.hexdigest()[:16]}.json"
    if not file.exists():
        records.mkdir(parents=True, exist_ok=True)
        for earlier in records.glob(f"{room.name}-*.json"):
            earlier.unlink()
        code = copy.run("mutants.recording", str(file), *_PYTEST, *room.tests, seconds=_RECORDING)
        if code != 0:
            raise SystemExit(
                f"the tests of {room.name} fail without a mutant: {' '.join(room.tests)}"
            )
    return Record(json.loads(file.read_text(encoding="utf-8")))


def _outcome(copy: Copy, mutant: Mutant, records: Mapping[str, Record]) -> str:
    """Run the tests of the room that run the line, or all; then those of other rooms that run it."""
    own = records[mutant.room.name]
    tests = own.tests(mutant)
    code = _run(copy, {test: own.seconds[test] for test in tests if test})
    if not tests - {""} or code == _NOT_FOUND:
        limit = 60 + 3 * sum(own.seconds.values())
        code = copy.run("pytest", *_PYTEST, *mutant.room.tests, seconds=limit)
    if code != 0:
        return TIMED_OUT if code is None else KILLED
    others = {
        test: each.seconds[test]
        for each in records.values() if each is not own
        for test in each.tests(mutant) if test
    }  # fmt: skip
    fastest = sorted(others, key=others.__getitem__)[:_MOST_OTHERS]
    if _run(copy, {test: others[test] for test in fastest}) not in {0, _NOT_FOUND}:
        return ELSEWHERE
    return SURVIVED if tests or others else NOT_COVERED


def _run(copy: Copy, tests: Mapping[str, float]) -> int | None:
    """Run tests of some seconds, the fastest ones first; return the first exit code that is not 0."""
    fastest = sorted(tests, key=tests.__getitem__)
    for some in (fastest[:_FEW], fastest[_FEW:]):
        limit = 60 + 5 * sum(tests[test] for test in some)
        code = copy.run("pytest", *_PYTEST, *some, seconds=limit) if some else 0
        if code != 0:
            return code
    return 0
