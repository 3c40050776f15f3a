"""Runs the benchmarks, one table of what all costs, and after it those of how good the results are.

make bench                                                         small: about five minutes
make bench SIZE=large                                              an hour or more
make bench SIZE=huge                                               ten million records, and Spark: two hours
PYTHONPATH=tests python -m benchmarks ranking page --size large    some of them
PYTHONPATH=tests python -m benchmarks --repeat 3 --json NEW.json   for `compare.py`, with the noise
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks import peers
from benchmarks.measuring import Row, print_heading, print_row
from slices import parts

PARTS: Final = parts("benchmarks")
# The benchmarks of the core and of each slice, each with the module that measures it.
COSTS: Final = {
    name: f"{place}.{name}"
    for place, names in (
        ("benchmarks", ("ingest", "clustering", "reviewing", "ranking", "page", "gaplog")),
        ("benchmarks", ("engines", "traces")),
        *((part.__name__, part.COSTS) for part in PARTS),
    )
    for name in names
}  # fmt: skip
QUALITY: Final = (
    *("benchmarks.quality", "benchmarks.traces", "benchmarks.effects"),
    *(f"{part.__name__}.{name}" for part in PARTS for name in part.QUALITY),
)
SIZES: Final = {"small": [*COSTS], "large": [*COSTS], "huge": ["clustering", "engines"]}
PACKAGES: Final = (
    "numpy", "scipy", "scikit-learn", "polars", "numba", "msgspec", "onnxruntime", "pysail", "playwright",
    "fastcluster", *peers.PACKAGES, "sparse_dot_topn",
)  # fmt: skip


def machine() -> dict[str, Any]:
    """Where it is measured; a package that is not installed has no version."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory MiB": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "CPU": cpu_model(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version_of(name) for name in PACKAGES},
    }


def cpu_model() -> str:
    """As Linux calls it, where it does."""
    outcome = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return outcome.partition("model name")[2].partition("\n")[0].strip("\t :") or platform.machine()


def version_of(package: str) -> str | None:
    """None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def commit() -> str:
    """What is measured; `-dirty` where files were changed since."""
    words = ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    outcome = subprocess.run(
        words, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return outcome.stdout.strip() or "not known"


def spread(runs: list[Row]) -> dict[str, dict[str, float]]:
    """Least, median and most of each figure over some runs of one measurement."""
    figures = [row.figures() for row in runs]
    columns = {name: [each[name] for each in figures if name in each] for name in figures[0]}
    return {
        name: {"min": min(values), "median": median(values), "max": max(values)}
        for name, values in columns.items()
    }


def measure(names: list[str], size: str, repeat: int) -> list[dict[str, Any]]:
    """Measures all, and all again; prints each row as soon as its last run is done, by its medians."""
    print_heading()
    measured: dict[tuple[str, str, str], list[Row]] = {}
    for turn in range(1, repeat + 1):
        for row in chain.from_iterable(import_module(COSTS[name]).rows(size) for name in names):
            runs = measured.setdefault((row.what, row.size, row.peer), [])
            runs.append(row)
            if turn == repeat:
                print_row(row, {name: values["median"] for name, values in spread(runs).items()})
    return [
        {"what": what, "size": of, "peer": peer, "note": runs[-1].note, "figures": spread(runs)}
        for (what, of, peer), runs in measured.items()
    ]


def main() -> None:
    """Print the tables, and write the file that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COSTS))
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument(
        "--repeat", type=int, default=1, help="runs of each measurement; medians are printed"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results there, for compare.py"
    )
    asked = parser.parse_args()
    names = asked.names or SIZES[asked.size]
    if unknown := {*names} - {*SIZES[asked.size]}:
        parser.error(f"no {asked.size} benchmark of costs: {', '.join(sorted(unknown))}")
    found = {"size": asked.size, "repeat": asked.repeat, "commit": commit(), "machine": machine()}
    where = found["machine"]
    print(
        f"{where['cores']} × {where['CPU']}, {where['memory MiB']:,} MiB, {where['platform']},",
        end=" ",
    )
    print(f"Python {where['python']}, commit {found['commit']}")
    absent = [name for name, installed in where["packages"].items() if installed is None]
    print(f"Not installed, and left out: {', '.join(absent)}.\n" if absent else "", flush=True)
    found["rows"] = measure(names, asked.size, asked.repeat)
    if asked.json:
        asked.json.write_text(
            json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    for name in () if asked.names or asked.size == "huge" else QUALITY:
        print(f"\n## {name.rpartition('.')[2].capitalize()}\n", flush=True)
        subprocess.run([sys.executable, "-m", name], check=True)


if __name__ == "__main__":
    main()
