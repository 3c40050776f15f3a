"""Lanes: what takes time runs in threads, so that the server answers meanwhile and no kind of work waits."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, TypeVar

from anyio import CapacityLimiter, from_thread, to_thread

# Each waits for one log alone; whoever holds one must leave threads for the other logs.
_MOST_WRITERS: Final = 64
Result = TypeVar("Result")


class Lane(StrEnum):
    """A kind of work. Rankings use all cores as it is; what is written never waits for one."""

    WRITE = "write"
    COMPUTE = "compute"
    LOOK = "look"
    COMPARE = "compare"


class Lanes:
    """The threads of a server."""

    def __init__(self) -> None:
        self._limits = {
            Lane.WRITE: CapacityLimiter(_MOST_WRITERS),
            Lane.COMPUTE: CapacityLimiter(1),
            Lane.LOOK: CapacityLimiter(4),
            Lane.COMPARE: CapacityLimiter(1),
        }

    async def run(self, lane: Lane, work: Callable[[], Result]) -> Result:
        """Do some work in a thread of a lane.

        Cancelled, it does not begin; once begun it ends where it calls `checkpoint`, or is done.
        """
        return await to_thread.run_sync(work, limiter=self._limits[lane])


def checkpoint() -> None:
    """End the work of this thread if nobody waits for it any more."""
    from_thread.check_cancelled()
