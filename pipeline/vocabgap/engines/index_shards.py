"""The search for neighbours as work for a cluster: each worker searches shards for batches of queries.

This machine then compares the listed candidates. So the neighbours do not depend on the workers or on their
order. Each row is a piece of work, as in `spark`.
"""

import pickle
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from vocabgap.clustering.blending import DEPTH, Nearest
from vocabgap.clustering.neighbours import IndexedShard, SparseNeighbours, search_shard
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
from vocabgap.engines.parts import SharedFrame, row_of
from vocabgap.files.parts import Shared

SHARD: Final = 150_000  # clusters of a shard, some 50 MB
QUERIES: Final = 150_000  # searched for at once by all workers, some 50 MB
_FOUND: Final = ("listed", "similarity", "bound")  # of `Nearest`
FEW_PAIRS: Final = 10**10  # of a query and a cluster: up to here, searching here is faster


class Sharding(NamedTuple):
    """A search elsewhere."""

    batches: int  # for `QUERIES` queries
    share: Callable[[pl.DataFrame], Shared]  # sends a frame to the workers
    search: Callable[[list[bytes]], list[pl.DataFrame]]  # `search_batches` for packed pieces of work


class ShardedNeighbours(SparseNeighbours):
    """Clusters whose neighbours are searched elsewhere, by batches of queries and shards of clusters."""

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
        if len(unsure) * len(self.weights) > FEW_PAIRS:
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
        count = self._sharding.batches * -(-len(queries) // QUERIES)
        batches = np.array_split(np.arange(len(queries)), min(len(queries), count))
        asked = [self._shared(self.asked(queries[part], nearby[part], bounds[part])) for part in batches]
        listed, unlisted = np.full((len(queries), 0), -1, np.int32), np.zeros(len(queries))
        for shard in self.shards(SHARD):
            shared = self._shared(shard)
            work = [
                pickle.dumps((shared, own, DEPTH * best[part]))
                for own, part in zip(asked, batches, strict=True)
            ]
            frame = pl.concat(self._sharding.search(work))
            near, similarity, bound = (frame[name].to_numpy() for name in _FOUND)
            best, unlisted = np.maximum(best, similarity), np.maximum(unlisted, bound)
            listed = _none_last(np.concatenate([listed, near], axis=1))
        return listed, unlisted

    def _shared(self, thing: object) -> Shared:
        return self._sharding.share(pl.DataFrame({"content": [pickle.dumps(thing)]}))


def search_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Search a shard for the queries of each packed piece of work; yield rows of `ROWS`."""
    for batch in batches:
        for row in batch.to_pylist():
            shard, asked, floors = pickle.loads(row["content"])  # noqa: S301 - the driver packed it
            nearest = search_shard(_indexed(shard), _unshared(asked)._replace(floors=floors))
            frame = pl.DataFrame({name: getattr(nearest, name) for name in _FOUND})
            yield row_of(row["batch"], 0, "", frame)


@lru_cache(1)
def _indexed(shard: SharedFrame) -> IndexedShard:
    return IndexedShard.of(_unshared(shard))


def _unshared(frame: SharedFrame) -> Any:  # noqa: ANN401 - a shard or queries
    return pickle.loads(frame.lazy().collect()["content"][0])  # noqa: S301 - the driver packed it


def _none_last(places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Sort the places of each row, "none" last, and remove columns that are empty then."""
    # In place, as they are large: as unsigned numbers, "none" comes last.
    places.view(np.uint32).sort(axis=1)
    return places[:, : int((places >= 0).sum(axis=1).max(initial=0))]
