"""All attacks, as many as `make soak` has time for, and what came of them as a table.

What was found wrong follows on stderr; the exit code is 1 then. Each part has its own process and folder.
"""

import argparse
import os
import resource
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Final, NamedTuple

import pytest

from faults import (
    acknowledged,
    checks,
    explosive,
    families,
    flips,
    full,
    growth,
    joins,
    kills,
    many,
    mutants,
    peers,
    processes,
    shell,
    special,
    system_calls,
)
from faults.targets import VERBS, digested, readers

_LINES: Final = 200_000
_FILES: Final = 25_000  # of each kind
_BITS: Final = 12_000
_SLOWEST: Final = 3.0  # CPU seconds of a file with a mistake
_SHARDS: Final = 4
_SHOWN: Final = 50  # problems
HEADINGS: Final = ("attack", "cases", "broken")


class Part(NamedTuple):
    """One row's share of an attack."""

    attack: str
    cases: int
    problems: list[str]


def calls(verb: int) -> list[Part]:
    """Refuse and delay a verb at every call that Python makes."""
    found = checks.Undisturbed.of(VERBS[verb])
    counts: dict[str, list[str | None]] = defaultdict(list)
    for case, check in checks.refusals(found, every=True):
        attack = case.removeprefix(f"{found.verb.name}, ").split(" at ")[0]
        counts[attack].append(_problem(check))
    counts["lock held"].append(_problem(lambda: checks.require_given_up(found)))
    return [
        Part(_NAMES.get(attack, attack), len(results), [each for each in results if each])
        for attack, results in counts.items()
    ]


_NAMES: Final = {
    "fill": "no room on the disk",
    "deny": "access denied at every call",
    "break": "EIO at calls",
    "wear": "EIO at calls",
}


def rows(attack: str, cases: Iterable[str | None]) -> list[Part]:
    """Return the row of cases, each of which is a problem, or None."""
    results = [*cases]
    return [Part(attack, len(results), [each for each in results if each])]


def dying(verb: int) -> list[Part]:
    """Kill processes of a verb at their calls, and at random moments."""
    return rows("killed at calls, and at random", kills.killed(verb))


def disks(verb: int) -> list[Part]:
    """Run a verb on small disks, and with a limit of the length of files."""
    left_out = [] if full.can_mount() or verb else ["a full disk: no disk can be mounted here"]
    print(*(f"left out: {each}" for each in left_out), file=sys.stderr)
    parts = rows("no room on the disk", full.refused(verb))
    wanted = left_out if os.environ.get("SOAK_ALL") else []
    return [each._replace(problems=[*each.problems, *wanted]) for each in parts]


def bombs(shard: int) -> list[Part]:
    """Read bombs of each kind of file."""
    return rows("bombs in each kind of file", explosive.exploded(shard, _SHARDS))


def joined(shard: int) -> list[Part]:
    """Join decisions of two branches."""
    each = joins.SEQUENCES // _SHARDS
    return rows("decisions of joined branches", joins.joined(each, each * shard))


def system(verb: int) -> list[Part]:
    """Kill a verb, take its room away, and let its disk fail, at its system calls."""
    if system_calls.STRACE is None:
        return []
    found = checks.Undisturbed.of(VERBS[verb])
    results = [*system_calls.attacked(found), *system_calls.worn(found)]
    attacks = {
        "signal=KILL": "killed at system calls",
        "error=ENOSPC": "no room on the disk",
        "error=EIO": "EIO at calls",
    }
    return [
        Part(name, len(those), [each for each in those if each])
        for attack, name in attacks.items()
        for those in [[problem for case, problem in results if f", {attack} at " in case]]
    ]


def bits(shard: int) -> list[Part]:
    """One bit flipped."""
    damaged = digested()
    cases, problems = flips.flipped(damaged, _BITS // _SHARDS, seed=shard)
    return [Part("one bit flipped", cases, problems)]


def lines(shard: int) -> list[Part]:
    """Lines of logs with mistakes."""
    count = _LINES // _SHARDS
    problems = _quick(*mutants.attack_lines(count, shard))
    return [Part(f"mistakes in {mutants.LINES}", count, problems)]


def files(seed: int) -> list[Part]:
    """Files of other kinds with mistakes."""
    return [
        Part("mistakes in other files", _FILES, _quick(*mutants.attack(reader, _FILES, seed)))
        for reader in readers()
    ]


def _quick(problems: list[str], longest: float) -> list[str]:
    return problems + [f"one case takes {longest:.1f} CPU s"] * (longest > _SLOWEST)


# The attack of a row, and the cases, which yield what went wrong, or None.
FAMILIES: Final[dict[str, tuple[str, Callable[[], Iterable[str | None]]]]] = {
    "special": ("pipes or devices in place of files", special.attacked),
    "memory": ("limit of memory", processes.short_of_memory),
    "hooks": ("hooks: log held, signals", processes.hooks),
    "shared": ("`share.html`: private texts, copies", families.shared_pages),
    "jobs": ("commands of CI in texts", families.jobs),
    "interrupted": ("interrupted once and twice", families.interrupted),
    "links": ("links to a file outside", families.links),
    "odd": ("deleted current folder", families.odd_places),
    "costs": ("costly wordings", families.costs),
    "acknowledged": ("killed after acknowledged lines", acknowledged.killed),
    "many": ("100,000 files, loops, sparse files", many.crowded),
    "shell": ("printed commands in a shell", shell.printed),
    "growth": ("inputs of twice the length", growth.problems),
    "peers": ("ties, against SciPy and scikit-learn", peers.compared),
}


def family(name: str) -> Callable[[int], list[Part]]:
    """Return what runs one of the families."""

    def run_it(_: int) -> list[Part]:
        attack, cases = FAMILIES[name]
        return rows(attack, cases())

    return run_it


_PARTS: Final = {
    "calls": calls, "system": system, "bits": bits, "lines": lines, "files": files,
    "kills": dying, "full": disks, "explosive": bombs, "joins": joined,
    **{name: family(name) for name in FAMILIES},
}  # fmt: skip


def _problem(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Exception as error:
        return str(error) or repr(error)
    return None


def run(part: str, number: int) -> list[Part]:
    """One part, in a folder of its own, without waiting for the disk."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as cache,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setenv("VOCABGAP_EMBEDDER", "none")
        patch.setenv("VOCABGAP_ACTOR", "ana")
        if part not in {"system", "kills", "acknowledged"}:
            patch.setattr(os, "fsync", lambda _: None)
        try:
            found = _PARTS[part](number)
        except Exception:  # of the attack itself: the other parts are shown nevertheless
            found = [Part(part, 1, [traceback.format_exc()])]
        used = [
            resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ]
        seconds = sum(each.ru_utime + each.ru_stime for each in used)
        print(f"{part} {number}: {seconds:.0f} CPU s", file=sys.stderr, flush=True)
        return found


def table(parts: Iterable[Part]) -> str:
    """Return the rows as Markdown; parts of one row are added up."""
    by_attack: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        by_attack[part.attack].append(part)
    cells = [HEADINGS, (":--", "--:", "--:")]
    for attack, those in sorted(by_attack.items()):
        cases, broken = sum(each.cases for each in those), sum(len(each.problems) for each in those)
        cells.append((attack, f"{cases:,}", f"{broken:,}"))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def main() -> int:
    """Run what was asked for; all of it by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*_PARTS, []], default=[])
    wanted = set(parser.parse_args().parts)
    if system_calls.STRACE is None:
        print(
            "strace is not installed: system calls of compiled code are left out", file=sys.stderr
        )
    verbs = range(len(VERBS))
    todo = [(part, 0) for part in ("files", *FAMILIES)]
    todo += [(part, verb) for part in ("system", "kills", "calls", "full") for verb in verbs]
    todo += [
        (part, shard)
        for part in ("explosive", "joins", "bits", "lines")
        for shard in range(_SHARDS)
    ]
    parts: list[Part] = []
    spawn = get_context("spawn")
    workers = 1 + (os.cpu_count() or 1)  # kills and locks also wait
    with ProcessPoolExecutor(workers, spawn, max_tasks_per_child=1) as pool:
        tasks = [pool.submit(run, *each) for each in todo if not wanted or each[0] in wanted]
        for done in as_completed(tasks):
            parts += done.result()
    print(table(parts))
    problems = [problem for part in parts for problem in part.problems]
    for problem in problems[:_SHOWN]:
        print(problem, file=sys.stderr)
    print(f"{len(problems):,} problems; at most {_SHOWN} are shown", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
