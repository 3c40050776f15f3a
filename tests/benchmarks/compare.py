"""Says what became slower between two runs of the benchmarks.

    python tests/benchmarks/compare.py OLD.json NEW.json

Measurements are compared by how many times the CPU time of their peer they take, those without a peer by
their CPU seconds. Slower is what grew by more than either file's runs scatter; what was measured once may
scatter by half. Exits with 1 if something is slower, with 2 if the files cannot be compared.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

FIGURES: Final = ("CPU ratio", "CPU s", "wall s")  # the first one measured both times is compared
LEAST_NOISE: Final = 0.15  # even where the repeated runs agree
UNKNOWN_NOISE: Final = 0.5  # of what was measured once
Key = tuple[str, str, str]


class Change(NamedTuple):
    """One measurement in both files: medians, and the share by which it may grow."""

    key: Key
    figure: str
    old: float
    new: float
    noise: float

    @property
    def is_slower(self) -> bool:
        """Whether it grew by more than the noise."""
        return self.new > self.old * (1 + self.noise)

    @property
    def is_faster(self) -> bool:
        """Whether it shrank by as much."""
        return self.old > self.new * (1 + self.noise)

    def __str__(self) -> str:
        what, size, peer = self.key
        beside = f", beside {peer}" if peer else ""
        return (
            f"{what} ({size}{beside}): {self.figure} {self.old:.3g} -> {self.new:.3g}, "
            f"{self.new / self.old:.2f} times, noise {self.noise:.0%}"
        )


def by_key(results: Mapping[str, Any]) -> dict[Key, Mapping[str, Mapping[str, float]]]:
    """The figures of each measurement."""
    return {(row["what"], row["size"], row["peer"]): row["figures"] for row in results["rows"]}


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """What was measured both times."""
    before, after = by_key(old), by_key(new)
    least = UNKNOWN_NOISE if min(old["repeat"], new["repeat"]) == 1 else LEAST_NOISE
    for key in before.keys() & after.keys():
        figure = next(name for name in FIGURES if name in before[key] and name in after[key])
        pair = before[key][figure], after[key][figure]
        noise = max(least, *(each["max"] / each["min"] - 1 for each in pair))
        yield Change(key, figure, pair[0]["median"], pair[1]["median"], noise)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What of the machine, its programs included, is not as it was."""
    one, other = ({**each["machine"], **each["machine"]["packages"]} for each in (old, new))
    names = [name for name in one | other if name != "packages"]
    changed = [name for name in names if one.get(name) != other.get(name)]
    return [f"{name} {one.get(name)} -> {other.get(name)}" for name in changed]


def main() -> None:
    """Print what changed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    asked = parser.parse_args()
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (asked.old, asked.new))
    if old["size"] != new["size"]:
        parser.error(f"cannot compare the size {old['size']} with {new['size']}")
    if found := differences(old, new):
        print(f"The machines differ, and seconds without a peer with them: {'; '.join(found)}.")
    if min(old["repeat"], new["repeat"]) == 1:
        print(f"Noise is not known, {UNKNOWN_NOISE:.0%} is taken for it: measure with --repeat 3.")
    for outcome, one, other in (("gone", old, new), ("new", new, old)):
        for what, size, peer in sorted(by_key(one).keys() - by_key(other).keys()):
            print(f"{outcome:7} {what} ({size}{', beside ' if peer else ''}{peer})")
    compared = sorted(changes(old, new), key=lambda each: each.old / each.new)
    for each in compared:
        if each.is_slower or each.is_faster:
            print("slower " if each.is_slower else "faster ", each)
    slower = sum(each.is_slower for each in compared)
    print(
        f"{len(compared)} compared: {slower} slower, {sum(each.is_faster for each in compared)} faster."
    )
    sys.exit(slower > 0)


if __name__ == "__main__":
    main()
