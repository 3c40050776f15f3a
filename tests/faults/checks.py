"""What has to hold whatever a verb meets: whole before or whole after, told, and mended by the next run."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from builders.command import CommandResult
from faults.calls import Call, failing, heard, recorded
from faults.folders import Tree, names, put_back, taken
from faults.verbs import Verb
from vocabgap.errors import ExitCode
from vocabgap.files import locking

# What a verb may say where the system refuses something; neither a bug nor a wrong argument.
REFUSED: Final = frozenset({ExitCode.STATE, ExitCode.PERMISSION})
_BUG: Final = ("Traceback", "this is a bug")
# What is told of a folder or a file by what comes of it.
_TOLD: Final = ("cannot be listed", "cannot be read", "may not be read", "could not be removed")
_UNLOGGED: Final = "not logged: "
ATTACKS: Final = {"fill": errno.ENOSPC, "deny": errno.EACCES, "break": errno.EIO, "wear": errno.EIO}


@dataclass(frozen=True)
class Undisturbed:
    """A verb that nothing disturbs: before it, once it has run, and once it has run again."""

    verb: Verb
    before: Tree
    states: list[object]
    codes: list[int]
    names: list[set[str]]
    calls: list[Call]

    @classmethod
    def of(cls, verb: Verb) -> "Undisturbed":
        """Run the verb twice in the current folder, which is empty."""
        verb.prepare()
        before, states, found = taken(), [verb.state()], [names()]
        result: list[CommandResult] = []
        calls = recorded(lambda: result.append(verb.run()))
        for again in range(2):
            if again:
                result.append(verb.run())
            states.append(verb.state())
            found.append(names())
        assert result[0].code == 0, result[0].err
        assert states[0] != states[1] or not verb.changes
        put_back(before)
        return cls(verb, before, states, [each.code for each in result], found, calls)

    def require_whole(self, case: str) -> int:
        """How often the verb has run, by what stands there: never a mixture."""
        state = self.verb.state()
        assert state in self.states[:2], f"{case}: it is neither as before nor as after"
        return self.states.index(state)

    def require_done(self, case: str, result: CommandResult) -> None:
        """Require that the verb is done, as it says; a check may say that it is not logged."""
        if _UNLOGGED in result.err:
            return
        assert self.verb.state() == self.states[1], f"{case}: it is not done, though it says so"

    def require_mended(self, case: str) -> None:
        """Require that readers see the old state or the new one, and that the next run mends it."""
        disturbed = taken()
        ran = self.require_whole(case)
        put_back(disturbed)  # a reader may have mended it: the next run has to do without
        result = self.verb.run()
        # Where two states are one, the first run may have been without effect, or not.
        assert result.code in self.codes[ran:], (
            f"{case}: the next run ends with {result.code}: {result.err}"
        )
        assert self.verb.state() == self.states[ran + 1], (
            f"{case}: the next run gives something else"
        )
        assert names() in (self.names[1], self.names[ran + 1]), (
            f"{case}: left there {names() ^ self.names[ran + 1]}"
        )

    def require_told(self, case: str, result: CommandResult, reason: str) -> None:
        """Require an error with the system's reason, or all done without an error."""
        assert not any(word in result.err for word in _BUG), f"{case}: {result.err}"
        if result.code == ExitCode.DONE:
            self.require_done(case, result)
        else:
            assert result.code in REFUSED, f"{case}: ends with {result.code}: {result.err}"
            _require_reason(case, result, reason)

    def require_passed_over(self, case: str, result: CommandResult, reason: str) -> None:
        """Require a note about an unreadable log, and its records after the next run.

        A log that was read after all, at a second try, needs no note.
        """
        if (result.code, self.verb.state()) == (self.codes[0], self.states[1]):
            return
        _require_reason(case, result, reason)
        assert self.verb.run().code == 0, case
        # What adds to what is there has run twice.
        assert self.verb.state() in self.states[1:], f"{case}: the next run gives something else"


def _require_reason(case: str, result: CommandResult, reason: str) -> None:
    assert any(word in result.out + result.err for word in (reason, *_TOLD)), (
        f"{case}: no word of why: {result}"
    )


def killed(found: Undisturbed, *, every: bool) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield a case for each different state of the disk in which the verb may be killed.

    A process that is killed leaves what its calls have done until then, and nothing else.
    """
    put_back(found.before)
    crashes: list[tuple[Call, Tree]] = []

    def keep(call: Call) -> None:
        if call.changes:
            tree = taken()
            if not crashes or crashes[-1][1] != tree:
                crashes.append((call, tree))

    with heard(keep):
        found.verb.run()
    for number in chosen([call for call, _ in crashes], every=every):
        call, tree = crashes[number]
        case = f"{found.verb.name}, killed at {number}: {call.name} {call.path}"

        def check(tree: Tree = tree, case: str = case) -> None:
            put_back(tree)
            found.require_mended(case)

        yield case, check


def refused(
    found: Undisturbed, attack: str, numbers: list[int]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield a case for each call that the system refuses."""
    code = ATTACKS[attack]
    for number in numbers:
        call = found.calls[number]
        case = f"{found.verb.name}, {attack} at {number}: {call.name} {call.path}"

        def check(number: int = number, call: Call = call, case: str = case) -> None:
            put_back(found.before)
            with heard(failing(number, code, lasting=attack == "fill")):
                message = found.verb.run()
            if call.path.startswith(str(Path(found.verb.logs).absolute())):
                found.require_passed_over(case, message, os.strerror(code))
                return
            found.require_told(case, message, os.strerror(code))
            found.require_mended(case)

        yield case, check


def chosen(calls: Sequence[Call], *, every: bool) -> Sequence[int]:
    """Return the numbers of all calls, or of the last call of each row of similar ones."""
    return (
        range(len(calls))
        if every
        else sorted({call.row: n for n, call in enumerate(calls)}.values())
    )


def open_to(attack: str, call: Call) -> bool:
    """Whether a call may meet what an attack is about."""
    return {
        "fill": call.grows,
        "deny": bool(call.path),
        "break": call.name == "fsync",
        "wear": bool(call.path),
    }[attack]


def cases(found: Undisturbed, *, every: bool) -> Iterator[tuple[str, Callable[[], None]]]:
    """All cases of a verb, each with its name."""
    yield from killed(found, every=every)
    yield from refusals(found, every=every)


def refusals(found: Undisturbed, *, every: bool) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the cases in which the system refuses something."""
    last = {call.name: number for number, call in enumerate(found.calls)}
    numbers = range(len(found.calls)) if every else sorted(last.values())
    for attack in ATTACKS:
        yield from refused(
            found, attack, [each for each in numbers if open_to(attack, found.calls[each])]
        )


def require_given_up(found: Undisturbed) -> None:
    """Require that a verb waits for its lock, if it has one, and names its holder when it gives up."""
    if not found.verb.lock:
        return
    put_back(found.before)
    before = found.verb.state()
    place = Path(found.verb.lock)
    is_new = not place.exists()
    descriptor = os.open(place, os.O_RDONLY | (os.O_CREAT if is_new else 0))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(locking, "LONGEST_WAIT", 0.2)
            result = found.verb.run()
    finally:
        os.close(descriptor)
    assert result.code == ExitCode.STATE, f"{found.verb.name}: {result}"
    assert f"held by process {os.getpid()}" in result.err
    assert found.verb.state() == before
