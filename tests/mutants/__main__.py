"""Changes places of the core at random, one at a time, and counts the changes that the tests notice.

make mutants                          200 places, which a new seed chooses
make mutants SEED=7 NUMBER=20         20 places, the same each time

The tests of the room run on a copy of the project: first those that run the changed line, then all others.
If no test fails, tests of other rooms that run the line follow. A mutant that never ends is killed, too.
`equivalent.toml` lists mutants that no test can notice, with reasons.
"""

import argparse
import random
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from mutants.changes import same_code
from mutants.running import (
    ELSEWHERE,
    KILLED,
    NOT_COVERED,
    SURVIVED,
    TIMED_OUT,
    Mutant,
    Room,
    every_place,
    outcomes,
    sample,
)

PROJECT: Final = Path(__file__).parents[2]
LIST: Final = Path(__file__).with_name("equivalent.toml")
LEAST: Final = 0.92
EQUIVALENT: Final = "equivalent"
BY_ROOM: Final = (KILLED, TIMED_OUT)
COLUMNS: Final = (*BY_ROOM, ELSEWHERE, SURVIVED, NOT_COVERED, EQUIVALENT)
ROOMS: Final = (
    *("clustering", "decisions", "files", "ingest", "linkage", "logbook", "model", "ranking"),
    "reporting",
)
DOORS: Final = ("cli", "listing", "corpus")  # only their tests: they run the core, too
BROWSER: Final = "--ignore=tests/reporting/page/browser"


def rooms() -> list[Room]:
    """Return the rooms of the core; `root` has the modules beside the folders."""
    package = PROJECT / "pipeline/vocabgap"

    def paths(modules: Iterable[Path]) -> tuple[str, ...]:
        return tuple(sorted(module.relative_to(PROJECT).as_posix() for module in modules))

    modules = {name: paths((package / name).rglob("*.py")) for name in ROOMS}
    names = {path.stem for path in package.glob("*.py")} | {
        *("public_api", "short_texts", "determinism", "action")
    }
    tests = paths(path for name in names if (path := PROJECT / f"tests/test_{name}.py").exists())
    return [
        Room("root", paths(package.glob("*.py")), tests),
        *(
            Room(name, modules.get(name, ()), (f"tests/{name}", BROWSER))
            for name in (*ROOMS, *DOORS)
        ),
    ]


def equivalent(file: Path = LIST) -> dict[tuple[str, str, str], str]:
    """Read the reasons why mutants are equivalent."""
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["mutant"]
    return {
        (each["module"], each["line"], change): each["reason"]
        for each in listed
        for change in each["changes"]
    }


def table(found: Sequence[tuple[Mutant, str]]) -> str:
    """Return the counts of each room as Markdown, and all of them below."""
    counts = Counter((mutant.room.name, outcome) for mutant, outcome in found)
    names = sorted({mutant.room.name for mutant, _ in found})
    rows = [("room", *COLUMNS), (":--", *("--:" for _ in COLUMNS))]
    rows += [(name, *(str(counts[name, outcome]) for outcome in COLUMNS)) for name in names]
    totals = (str(sum(counts[name, outcome] for name in names)) for outcome in COLUMNS)
    return "\n".join(f"| {' | '.join(row)} |" for row in (*rows, ("all", *totals)))


def main() -> int:
    """Draw mutants, test them, print the table and what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--number", type=int, default=200)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    reasons, all_rooms = equivalent(), rooms()
    every = every_place(PROJECT, all_rooms)
    for stale in reasons.keys() - {mutant.key for place in every for mutant in place}:
        print(f"{LIST.name}: the code has no longer {stale}")
    found, tested = [], []
    for mutant in sample(every, options.number, options.seed):
        source = (PROJECT / mutant.module).read_bytes()
        if mutant.key in reasons or same_code(source, mutant.change.applied(source)):
            found.append((mutant, EQUIVALENT))
        else:
            tested.append(mutant)
    with tempfile.TemporaryDirectory() as folder:
        records = Path(sys.prefix) / "mutants"
        for mutant, outcome in outcomes(PROJECT, tested, all_rooms, Path(folder), records):
            found.append((mutant, outcome))
            print(f"{outcome}: {mutant}", file=sys.stderr, flush=True)
    print(table(found))
    for mutant, outcome in found:
        if outcome not in BY_ROOM:
            print(f"{mutant}: {reasons.get(mutant.key, outcome)}")
    by_room = sum(outcome in BY_ROOM for _, outcome in found)
    killed = by_room + sum(outcome == ELSEWHERE for _, outcome in found)
    print(
        f"seed {options.seed}: {killed} of {len(tested)} mutants are killed,"
        f" {by_room} of them by the tests of their room"
    )
    return killed < LEAST * len(tested)


if __name__ == "__main__":
    sys.exit(main())
