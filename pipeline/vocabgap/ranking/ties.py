"""Which places of a ranking are not told apart."""

from typing import Final

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
RankArray = npt.NDArray[np.int32]

TIED: Final = 0.10
"""Share of the draws in which the order of two may fail before they are no longer told apart."""

_FIRST: Final = 1


def next_ahead(best: RankArray) -> npt.NDArray[np.float64]:
    """In which share of the draws the next capability is level with each, or ahead of it, 0 to 1.

    Args:
        best: Best place of each capability in each draw, shape (draws, capabilities), in order of rank; those
            that are level in a draw have the same one.

    Returns:
        Shape (capabilities,); NaN for the last one.
    """
    shares = np.full(best.shape[1], np.nan)
    shares[:-1] = (best[:, 1:] <= best[:, :-1]).mean(axis=0)
    return shares


def tie_groups(best: RankArray) -> IntArray:
    """Number the groups of capabilities of which it is not sure who stands first.

    A tie group is a run of neighbours in the ranking. It begins with the first capability that is in no group
    yet, and goes on as long as the next one is level with the group's first, or ahead of it, in more than
    10 % of the draws. The next one begins a new group: it is told apart from that first one, though not
    always from the last ones of its group; how sure their order is, says `next_ahead`.

    Args:
        best: As for `next_ahead`; a single row where nothing was drawn.

    Returns:
        The number of each capability's group, counted from 1.
    """
    places = np.ascontiguousarray(best.T)
    most = TIED * best.shape[0]
    numbers = np.full(len(places), _FIRST, np.int64)
    first = 0
    for place in range(1, len(places)):
        numbers[place] = numbers[place - 1]
        if np.count_nonzero(places[place] <= places[first]) <= most:
            first = place
            numbers[place] += 1
    return numbers
