"""Signals that ask a process to end: they are raised, or wait until a block ends."""

import signal
from collections.abc import Iterator
from threading import Thread

import pytest

from vocabgap.files.signals import (
    STOPPING,
    StoppedError,
    deferred_signals,
    hold,
    ignore,
    raise_stops,
    release,
)


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    """Leave all signals to the system, as a shell does; put back what was there."""
    before = {number: signal.getsignal(number) for number in STOPPING}
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_ends_the_run_with_its_exit_code_and_only_once(number: int) -> None:
    raise_stops()

    with pytest.raises(StoppedError) as stopped:
        signal.raise_signal(number)

    assert stopped.value.code == 128 + number
    for each in STOPPING:  # a closing shell may send several
        signal.raise_signal(each)


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    raise_stops()

    signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_a_signal_waits_for_the_end_of_a_block() -> None:
    raise_stops()
    done: list[str] = []

    def work() -> None:
        with deferred_signals():
            signal.raise_signal(signal.SIGTERM)
            done.append("all")

    with pytest.raises(StoppedError):
        work()

    assert done == ["all"]


def test_handlers_are_the_same_after_a_block_and_a_thread_changes_none() -> None:
    raise_stops()
    before = [signal.getsignal(number) for number in STOPPING]
    within: list[object] = []

    def work() -> None:
        with deferred_signals():
            within.extend(signal.getsignal(number) for number in STOPPING)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    with deferred_signals():
        assert signal.getsignal(signal.SIGTERM) not in before

    assert [signal.getsignal(number) for number in STOPPING] == before == within


def test_a_held_signal_is_raised_when_it_is_released() -> None:
    raise_stops()
    hold()
    signal.raise_signal(signal.SIGTERM)

    with pytest.raises(StoppedError):
        release()


def test_a_run_that_is_over_ignores_signals() -> None:
    ignore()

    for number in STOPPING:
        signal.raise_signal(number)
