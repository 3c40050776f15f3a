"""The search for neighbours as work for a cluster: each worker searches shards for blocks of queries.

This machine then compares the listed candidates. So the neighbours do not depend on the workers or on their
order. Each row is a piece of work, as in `spark`.
"""

import pickle
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from vocabgap.clustering.blending import DEPTH, Nearest
from vocabgap.clustering.neighbours import SparseNeighbours, search_shard
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
from vocabgap.engines.parts import portions, row_of

SHARD: Final = 150_000  # clusters of a shard, some 50 MB: Spark takes no more than 128 MB for one task
QUERIES: Final = 150_000  # searched for at once by all workers, some 50 MB
REQUEST: Final = 60 * 2**20  # bytes of each side of a search: a server takes 128 MiB at once
FEW_PAIRS: Final = 10**9  # of a query and a cluster: up to here, searching here is faster


class Sharding(NamedTuple):
    """A search for packed blocks of queries, with packed floors, in packed shards elsewhere.

    It returns a frame for each block and shard, in order of the blocks.
    """

    blocks: int  # for `QUERIES` queries
    search: Callable[[list[bytes], list[bytes], list[bytes]], list[pl.DataFrame]]


class ShardedNeighbours(SparseNeighbours):
    """Clusters whose neighbours are searched elsewhere, by blocks of queries and shards of clusters."""

    def __init__(
        self, sharding: Sharding, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float
    ) -> None:
        super().__init__(rows, chosen, weights, floor)
        self._sharding = sharding

    def search(
        self,
        queries: IntArray,
        nearby: npt.NDArray[np.int32],
        bounds: FloatArray,
        limits: npt.NDArray[np.float32] | None = None,
    ) -> Nearest:
        """Search as the base class does; search elsewhere if nearby candidates are not enough."""
        if len(queries) * len(self.weights) <= FEW_PAIRS:
            return super().search(queries, nearby, bounds, limits)
        # With bounds of 0 the search compares the known candidates and ends.
        overwritten = None if limits is None else limits.copy()
        nearest = super().search(queries, nearby, np.zeros(len(queries)), overwritten)
        unsure = np.flatnonzero(nearest.similarity <= bounds)
        if len(unsure):
            best = nearest.similarity[unsure]
            candidates, unlisted = self._search_shards(queries[unsure], nearby[unsure], bounds[unsure], best)
            bounds, first = bounds.copy(), nearby.shape[1]
            bounds[unsure] = unlisted
            more = (0, 0), (0, candidates.shape[1])
            nearby = np.pad(nearby, more, constant_values=-1)
            nearby[unsure, first:] = candidates
            limits = None if limits is None else np.pad(limits, more, constant_values=np.inf)
        return super().search(queries, nearby, bounds, limits)

    def _search_shards(
        self, queries: IntArray, nearby: npt.NDArray[np.int32], bounds: FloatArray, best: FloatArray
    ) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Return the candidates from all shards, and a bound on the similarity of all other clusters.

        `best` is the similarity of the nearest cluster known so far. A near cluster in an early shard saves
        work in later ones.
        """
        blocks = self._sharding.blocks * -(-len(queries) // QUERIES)
        parts = np.array_split(np.arange(len(queries)), min(len(queries), blocks))
        asked = [pickle.dumps(self.asked(queries[part], nearby[part], bounds[part])) for part in parts]
        listed, unlisted = np.full((len(queries), 0), -1, np.int32), np.zeros(len(queries))
        shards = list(map(pickle.dumps, self.shards(SHARD)))
        for some in portions(list(map(len, shards)), REQUEST):
            floors = [pickle.dumps(DEPTH * best[part]) for part in parts]
            nearest = _united(self._sharding.search(asked, floors, shards[some]), len(parts))
            best, unlisted = np.maximum(best, nearest.similarity), np.maximum(unlisted, nearest.bound)
            listed = _packed_to_the_left(np.concatenate([listed, nearest.listed], axis=1))
        return listed, unlisted


def search_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Search the shard of each row for its queries (`asked`) with their `floors`; yield rows of `ROWS`."""
    for batch in batches:
        for row in batch.to_pylist():
            # The driver packed these.
            shard, asked, floors = (pickle.loads(row[name]) for name in ("shard", "asked", "floors"))  # noqa: S301
            nearest = search_shard(shard, asked._replace(floors=floors))
            columns = ("listed", "similarity", "bound")
            frame = pl.DataFrame({name: getattr(nearest, name) for name in columns})
            yield row_of(row["block"], 0, "", frame)


def _united(frames: list[pl.DataFrame], blocks: int) -> Nearest:
    """Return the candidates of each query, the best similarity and the bound, from frames of all shards."""
    shards = len(frames) // blocks
    of_block = [frames[start : start + shards] for start in range(0, len(frames), shards)]
    listed = np.concatenate([np.hstack([frame["listed"] for frame in own]) for own in of_block])
    best, bound = (
        np.concatenate([np.max([frame[name] for frame in own], axis=0) for own in of_block])
        for name in ("similarity", "bound")
    )
    return Nearest(listed, best, bound, np.full(listed.shape, np.inf, np.float32))


def _packed_to_the_left(places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Move the places of each row to the left, and remove columns that are empty then."""
    most = int((places >= 0).sum(axis=1).max(initial=0))
    return -np.sort(-places, axis=1)[:, :most]
