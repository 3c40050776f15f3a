"""What a thread of the compiled search works with."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.arrays import FloatArray, IntArray
from vocabgap.clustering.compiling import compiled


class Memory(NamedTuple):
    """What one thread works with. Between two queries all that is summed up is zero.

    Attributes:
        gains: Shape (terms,): G x of the query, what each term adds for a unit of load.
        gaining: Shape (terms,): terms where that is not zero.
        reading: Shape (terms,): those whose postings are read, from the rarest on.
        stops: Shape (terms,): up to where they were read.
        spectrum: Shape (grams,): trigrams of the query.
        heard: Shape (grams,): trigrams where that is not zero.
        scores: Shape (m,): accumulators, the similarity to each cluster as far as it was read.
        rests: Shape (m,): norm of what a cluster has beyond the last posting that was read, in levels.
        candidates: Shape (m,): clusters whose score is not zero.
        compared: Shape (m,): the last query that the exact similarity was worked out for.
        near: Shape (LISTED,): similarities to the nearest clusters, falling.
        places: Shape (LISTED,): these clusters.
    """

    gains: FloatArray
    gaining: npt.NDArray[np.int32]
    reading: npt.NDArray[np.int32]
    stops: IntArray
    spectrum: FloatArray
    heard: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    rests: npt.NDArray[np.uint8]
    candidates: npt.NDArray[np.int32]
    compared: npt.NDArray[np.int32]
    near: FloatArray
    places: npt.NDArray[np.int32]

    @classmethod
    def of(cls, threads: int, terms: int, grams: int, clusters: int, listed: int) -> "Memory":
        """Memory of several threads: each array has a first axis for them."""
        return cls(
            np.zeros((threads, terms)),
            np.empty((threads, terms), np.int32),
            np.empty((threads, terms), np.int32),
            np.empty((threads, terms), np.int64),
            np.zeros((threads, grams)),
            np.empty((threads, grams), np.int32),
            np.zeros((threads, clusters), np.float32),
            np.empty((threads, clusters), np.uint8),
            np.empty((threads, clusters), np.int32),
            np.full((threads, clusters), -1, np.int32),
            np.empty((threads, listed)),
            np.empty((threads, listed), np.int32),
        )


@compiled
def memory_of(memories, thread):
    """That of one thread."""
    return Memory(
        memories.gains[thread],
        memories.gaining[thread],
        memories.reading[thread],
        memories.stops[thread],
        memories.spectrum[thread],
        memories.heard[thread],
        memories.scores[thread],
        memories.rests[thread],
        memories.candidates[thread],
        memories.compared[thread],
        memories.near[thread],
        memories.places[thread],
    )
