"""Measures work in processes of their own, and prints what it costs: one row a measurement.

Seconds differ from machine to machine and from hour to hour; ratios to a peer, taken in
one run, can be compared.
"""

import json
import multiprocessing
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import floor, isnan, log10, nan
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

Work = Callable[[], object]

HEADINGS: Final = (
    "what", "size", "wall s", "CPU s", "peak MiB", "beside", "wall ratio", "CPU ratio", "peak ratio", "note",
)  # fmt: skip
LEFT: Final = ("what", "size", "beside", "note")
# A process of little memory starts the command: what it holds itself would count as the peak of the command.
LAUNCHER: Final = """
import json, os, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(code != 0)
"""


PAUSE: Final = 0.5  # seconds between two looks at the memory of a server


class Cost(NamedTuple):
    """What some work takes; NaN is what was not measured.

    Attributes:
        wall: Seconds of the clock.
        cpu: Seconds of all cores.
        peak: Largest resident memory of the process, in MiB, with what was loaded and prepared before.
        outcome: What the work itself gave.
    """

    wall: float
    cpu: float = nan
    peak: float = nan
    outcome: Any = None


class Row(NamedTuple):
    """One measurement; `what`, `size` and `peer` tell it from all others.

    Attributes:
        cost: What it takes.
        peer: What it is measured beside in the same run.
        beside: What the peer takes.
        note: What else there is to say of it.
        limit: CPU seconds that it is to stay within.
    """

    what: str
    size: str
    cost: Cost
    peer: str = ""
    beside: Cost | None = None
    note: str = ""
    limit: float | None = None

    def figures(self) -> dict[str, float]:
        """What was measured, by its heading; a ratio is how many times as much as the peer takes."""
        found = _by_heading(self.cost)
        if self.beside is not None:
            theirs = _by_heading(self.beside)
            found |= {
                f"{name.split()[0]} ratio": found[name] / theirs[name]
                for name in found
                if theirs.get(name)
            }
            found |= {f"peer {name}": value for name, value in theirs.items()}
        return found


def _by_heading(cost: Cost) -> dict[str, float]:
    named = {"wall s": cost.wall, "CPU s": cost.cpu, "peak MiB": cost.peak}
    return {name: value for name, value in named.items() if not isnan(value)}


def cost_of(prepare: Callable[..., Work], *given: object, times: int = 1) -> Cost:
    """What some work costs in a new process; of several times the median.

    Args:
        prepare: Gives the work and is not measured itself; `functools.partial`, where nothing is prepared.
        given: Its arguments.
        times: How often the work is done.

    Raises:
        ChildProcessError: The process ended before the work did, as for want of memory.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(sender, prepare, given, times))
    process.start()
    sender.close()  # so that the end of the process is the end of the pipe
    try:
        cost: Cost = receiver.recv()
    except EOFError:
        raise ChildProcessError(f"{prepare} ended without a result") from None
    finally:
        process.join()
    return cost


def _measure(
    sender: Connection, prepare: Callable[..., Work], given: tuple[object, ...], times: int
) -> None:
    work = prepare(*given)
    walls, seconds = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        outcome = work()
        seconds.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
    sender.send(Cost(median(walls), median(seconds), _peak(), outcome))


def _peak() -> float:
    """MiB, since this program began; `getrusage` also counts the process that it was forked from."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def cost_of_command(*words: str, folder: Path, times: int = 1, server: int | None = None) -> Cost:
    """What a command costs, with all processes that it waits for; of several times the median.

    With the number of a server's process, it tells the most memory that this one and those below it held.

    Raises:
        CalledProcessError: It failed.
    """
    launched = [sys.executable, "-S", "-c", LAUNCHER, *words]
    if server is not None:
        with subprocess.Popen(launched, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            held = [resident(server)]
            while process.poll() is None:
                time.sleep(PAUSE)
                held.append(resident(server))
            assert process.stdout is not None
            cost = json.loads(process.stdout.read())
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, words)
        return Cost(cost[0], cost[1], cost[2], max(held))
    runs = [
        json.loads(
            subprocess.run(launched, cwd=folder, check=True, capture_output=True, text=True).stdout
        )
        for _ in range(times)
    ]
    return Cost(*(median(figures) for figures in zip(*runs, strict=True)))


def resident(root: int) -> float:
    """Memory of a process and of all below it, in MiB; what they share counts for each."""
    parents, pages = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end meanwhile
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
            pages[int(folder.name)] = int((folder / "statm").read_text().split()[1])
    below = {root}
    while more := {one for one, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(pages.get(one, 0) for one in below) * resource.getpagesize() / 2**20


def print_heading() -> None:
    """The heading of the table."""
    print(f"| {' | '.join(HEADINGS)} |")
    print(f"|{'|'.join(':--' if heading in LEFT else '--:' for heading in HEADINGS)}|", flush=True)


def print_rows(rows: Iterable[Row]) -> None:
    """The table of one run."""
    print_heading()
    for row in rows:
        print_row(row, row.figures())


def print_row(row: Row, figures: dict[str, float]) -> None:
    """A line of the table."""
    cells = {"what": row.what, "size": row.size, "beside": row.peer, "note": row.note}
    cells |= {name: readable(value) for name, value in figures.items()}
    if row.limit is not None:
        kept = "within" if figures["CPU s"] <= row.limit else "BEYOND"
        cells["note"] = f"{row.note}; {kept} its {row.limit:g} CPU s".removeprefix("; ")
    print(f"| {' | '.join(cells.get(heading, '') for heading in HEADINGS)} |", flush=True)


def readable(value: float) -> str:
    """Three digits that say something, or all that stand before the point."""
    if value <= 0:
        return "0"
    return f"{value:,.{max(0, 2 - floor(log10(value)))}f}"
