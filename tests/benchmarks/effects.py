"""How often the effect of an authored need is right, on simulated logs whose effects are known.

    PYTHONPATH=tests python -m benchmarks.effects                   2,000 authored needs for each effect
    PYTHONPATH=tests python -m benchmarks.effects --needs 300

Each log has 20, 60 or 150 needs with rates by one of four laws, a volume that differs from week to week, one
season that is quiet or busy, and an outage of a week. A third of the logs has bursts, and a third has records
that stand for up to ten mentions. The need with the most mentions in twelve weeks is authored, or one of the
first five. Then its rate is multiplied by the effect, for 8, 12 or 26 weeks.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from vocabgap.model.effect import FEWER, GONE, NO_CHANGE, TOO_EARLY, VERDICTS
from vocabgap.ranking.effect import Events, Weeks, around, came_back, estimated
from vocabgap.ranking.priority import MICROSECONDS_A_WEEK, FloatArray, IntArray

WEEKS: Final = 12  # before authoring
SEED: Final = 62
EFFECTS: Final = {1.0: {NO_CHANGE}, 0.5: {FEWER}, 0.1: {GONE, FEWER}}  # with the right verdicts
NAMES: Final = {1.0: "none", 0.5: "half", 0.1: "nine tenths"}
LAWS: Final[Mapping[str, Callable[[np.random.Generator, int], FloatArray]]] = {
    "lognormal": lambda rng, needs: np.exp(rng.normal(-0.5, 1, needs)),
    "gamma": lambda rng, needs: rng.gamma(0.6, 1 / 0.6, needs),
    "Zipf": lambda _, needs: (
        (1 / np.arange(1, needs + 1)) * needs / (1 / np.arange(1, needs + 1)).sum()
    ),
    "equal": lambda _, needs: np.ones(needs),
}
COUNTS: Final = {1: 0.6, 2: 0.2, 5: 0.15, 10: 0.05}  # mentions of a record, and their share


class Setting(NamedTuple):
    """The kind of a log."""

    law: str
    needs: int
    mean: float  # events of a need in a week
    burst: float  # variance of a need's weekly rate, relative to its square
    counts: bool  # whether records stand for several mentions
    places: int  # one of the first so many needs is authored


class Simulated(NamedTuple):
    """A log, the need that was authored, and its mentions before."""

    weeks: Weeks
    mentions: int


def drawn(rng: np.random.Generator, law: str, places: int) -> Setting:
    """Draws the kind of a log."""
    return Setting(
        law,
        int(rng.choice([20, 60, 150])),
        float(rng.choice([0.5, 1.0, 2.0])),
        float(rng.choice([0.0, 0.0, 0.1])),
        bool(rng.choice([0, 0, 1])),
        places,
    )


def records(
    rng: np.random.Generator, rates: FloatArray, setting: Setting
) -> tuple[FloatArray, FloatArray]:
    """Draws the mentions and the sums of their squares, for each rate."""
    shares = COUNTS if setting.counts else {1: 1.0}
    numbers = {size: rng.poisson(rates * share) for size, share in shares.items()}
    mentions = sum(number * float(size) for size, number in numbers.items())
    return np.asarray(mentions), np.asarray(
        sum(n * float(size) ** 2 for size, n in numbers.items())
    )


def simulated(rng: np.random.Generator, path: Sequence[float], setting: Setting) -> Simulated:
    """Draws a log in which one need is authored; `path` is its effect in each week after."""
    span = WEEKS + len(path)
    volume = np.exp(rng.normal(0, 0.3, span))
    volume[WEEKS:] *= rng.uniform(0.4, 1.6)
    volume[rng.integers(0, span)] = 0
    rates = setting.mean * np.outer(LAWS[setting.law](rng, setting.needs), volume)
    if setting.burst:
        rates *= rng.gamma(1 / setting.burst, setting.burst, rates.shape)
    sizes, squares = records(rng, rates, setting)
    order = np.argsort(-(sizes[:, :WEEKS].sum(axis=1) + rng.random(setting.needs) / 2))
    need = int(order[rng.integers(0, setting.places)])
    own = records(rng, rates[need, WEEKS:] * np.asarray(path), setting)
    sizes[need, WEEKS:], squares[need, WEEKS:] = own
    return Simulated(weeks_of(sizes, squares, need), int(sizes[need, :WEEKS].sum()))


def weeks_of(sizes: FloatArray, squares: FloatArray, need: int) -> Weeks:
    """Puts the mentions of each need and week in the middle of the week; authoring is at the moment 0."""
    weeks, needs = np.nonzero(sizes.T)
    moments: IntArray = (2 * (weeks - WEEKS) + 1) * (MICROSECONDS_A_WEEK // 2)
    events = Events(moments, needs, sizes.T[weeks, needs], squares.T[weeks, needs])
    ends = (-WEEKS * MICROSECONDS_A_WEEK, 0, (sizes.shape[1] - WEEKS) * MICROSECONDS_A_WEEK)
    return around(events, need, [], ends)


def logs(needs: int, effect: float, places: int, seed: int = SEED) -> Iterator[Simulated]:
    """Draws as many logs, of all laws in turn."""
    rng = np.random.default_rng([seed, places, round(10 * effect)])
    for number in range(needs):
        setting = drawn(rng, [*LAWS][number % len(LAWS)], places)
        yield simulated(rng, [effect] * int(rng.choice([8, 12, 26])), setting)


class Outcome(NamedTuple):
    """The figures of some authored needs with one effect; shares are 0 to 1."""

    covered: float  # by the intervals
    wrong: float
    shares: dict[str, float]
    before: float  # median of the mentions


def outcome(needs: int, effect: float, places: int) -> Outcome:
    """Estimates the effects of some authored needs."""
    drawn_logs = [*logs(needs, effect, places)]
    found = [estimated(log.weeks) for log in drawn_logs]
    covers = [
        row["ratio"] is None or row["ratio_low"] <= effect <= row["ratio_high"] for row in found
    ]
    verdicts = Counter(row["verdict"] for row in found)
    shares = {name: verdicts[name] / needs for name in VERDICTS}
    wrong = sum(shares[name] for name in VERDICTS if name not in {*EFFECTS[effect], TOO_EARLY})
    return Outcome(
        float(np.mean(covers)),
        wrong,
        shares,
        float(np.median([log.mentions for log in drawn_logs])),
    )


def mean_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Puts the figures of equally many needs together."""
    covered, wrong, shares, before = zip(*outcomes, strict=True)
    together = {name: float(np.mean([of[name] for of in shares])) for name in VERDICTS}
    return Outcome(float(np.mean(covered)), float(np.mean(wrong)), together, float(np.mean(before)))


def returns(needs: int, mean: float, path: Sequence[float]) -> list[int | None]:
    """Return the weeks in which some authored needs came back, one of the first five of logs of 60 needs."""
    rng = np.random.default_rng([SEED, len(path), round(10 * mean), round(100 * path[0])])
    laws = [*LAWS][:3]
    kinds = [
        Setting(laws[number % 3], 60, mean, 0.0, counts=False, places=5) for number in range(needs)
    ]
    return [came_back(simulated(rng, path, kind).weeks) for kind in kinds]


def print_effects(needs: int) -> None:
    """Prints how often intervals and verdicts are right."""
    print(f"{needs:,} authored needs for each effect; shares in %\n")
    print(f"| authored | effect | covered | wrong | {' | '.join(VERDICTS)} | mentions before |")
    print("|:--|:--|" + "--:|" * (3 + len(VERDICTS)))
    for places, authored in ((1, "the first of its log"), (5, "one of the first five")):
        outcomes = {name: outcome(needs, effect, places) for effect, name in NAMES.items()}
        for name, found in (outcomes | {"all three": mean_of([*outcomes.values()])}).items():
            shares = " | ".join(f"{100 * share:.1f}" for share in found.shares.values())
            print(
                f"| {authored} | {name} | {100 * found.covered:.1f} | {100 * found.wrong:.1f} |"
                f" {shares} | {found.before:.0f} |",
                flush=True,
            )


def print_returns(needs: int) -> None:
    """Prints how often, and after how many weeks, a need is said to have come back."""
    print(f"\n{needs:,} authored needs for each row, a look each week; shares in %\n")
    print("| events a week | the need | came back | median week |\n|--:|:--|--:|--:|")
    paths = {
        "is down to a tenth for 26 weeks": [0.1] * 26,
        "is down to a quarter for 26 weeks": [0.25] * 26,
        "is down to half for 26 weeks": [0.5] * 26,
        "is gone for 4 weeks, then as before for 12": [0.05] * 4 + [1.0] * 12,
        "is gone for 12 weeks, then as before for 12": [0.05] * 12 + [1.0] * 12,
        "never left in 12 weeks": [1.0] * 12,
    }
    for mean in (1.0, 0.4):
        for name, path in paths.items():
            weeks = [week for week in returns(needs, mean, path) if week is not None]
            median = f"{np.median(weeks):.0f}" if weeks else "–"
            print(f"| {mean} | {name} | {100 * len(weeks) / needs:.1f} | {median} |", flush=True)


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--needs", type=int, default=2_000, help="authored needs for each effect")
    needs = parser.parse_args().needs
    print_effects(needs)
    print_returns(min(needs, 300))


if __name__ == "__main__":
    main()
