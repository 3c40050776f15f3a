"""Neighbours as work for workers: shards of the clusters, each searched for blocks of queries.

What the shards find is compared once more here, by the search that runs where there is no engine: so the
neighbours are the same ones, whoever searched, in whatever order. Rows are pieces of work, as in
`log_batches`, with arrays as NumPy's files.
"""

import io
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from vocabgap.clustering.blending import Nearest
from vocabgap.clustering.kernels import Trigrams, Vectors
from vocabgap.clustering.neighbours import Asked, Shard, SparseNeighbours, search_shard
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows

# Columns of what comes of a piece of work, as Spark calls them.
FOUND: Final = "block long, content binary"
SHARD: Final = 50_000  # clusters of a shard, some 20 MB: Spark takes no more than 128 MB for one task
QUERIES: Final = 150_000  # searched for at once by all workers, some 50 MB
FEW_PAIRS: Final = 10**9  # of a query and a cluster: searched for here before they could be sent
_FOUND: Final = pa.schema([("block", pa.int64()), ("content", pa.binary())])
Array = npt.NDArray[Any]


class Sharding(NamedTuple):
    """Where shards are searched.

    Attributes:
        blocks: Into how many blocks `QUERIES` are parted.
        search: Searches packed shards for packed blocks, each in each; gives rows of `FOUND`, in any order.
    """

    blocks: int
    search: Callable[[list[bytes], list[bytes]], pa.Table]


class ShardedNeighbours(SparseNeighbours):
    """Clusters whose neighbours are searched for elsewhere, by blocks of queries and shards of clusters."""

    def __init__(
        self, sharding: Sharding, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float
    ) -> None:
        """See `SparseNeighbours`."""
        super().__init__(rows, chosen, weights, floor)
        self._sharding = sharding

    def search(self, queries: IntArray, known: npt.NDArray[np.int32], bounds: FloatArray) -> Nearest:
        """See `Neighbours`."""
        if len(queries) * len(self.weights) > FEW_PAIRS:
            blocks = self._sharding.blocks * -(-len(queries) // QUERIES)
            parts = np.array_split(np.arange(len(queries)), min(len(queries), blocks))
            asked = [pack_asked(self.asked(queries[part], known[part], bounds[part])) for part in parts]
            shards = list(map(pack_shard, self.shards(SHARD)))
            found, bounds = unpack_found(self._sharding.search(asked, shards), len(parts))
            known = np.concatenate([known, found], axis=1)
        return super().search(queries, known, bounds)


def pack_shard(shard: Shard) -> bytes:
    """Some clusters, as a worker gets them."""
    return _arrays(np.array([shard.first, shard.floor]), shard.order, *shard.vectors, *shard.trigrams)


def pack_asked(asked: Asked) -> bytes:
    """Some queries, as a worker gets them."""
    return _arrays(asked.places, asked.known, asked.bounds, *asked.vectors)


def search_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Search the shard of each row, column `shard`, for its queries, `asked`: rows of `FOUND`."""
    for batch in batches:
        for block, shard, asked in zip(*(batch[name] for name in ("block", "shard", "asked")), strict=True):
            (first, floor), order, *arrays = _unpacked(shard.as_py())
            within = Shard(int(first), float(floor), order, Vectors(*arrays[:3]), Trigrams(*arrays[3:]))
            places, known, bounds, *vectors = _unpacked(asked.as_py())
            found = search_shard(within, Asked(places, Vectors(*vectors), known, bounds))
            row = {"block": [block.as_py()], "content": [_arrays(found.listed, found.bound)]}
            yield pa.RecordBatch.from_pydict(row, schema=_FOUND)


def unpack_found(rows: pa.Table, blocks: int) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """The clusters that shards list for each query, and the bound on all others, from rows of `FOUND`."""
    of_block: list[list[list[Array]]] = [[] for _ in range(blocks)]
    for row in rows.to_pylist():
        of_block[row["block"]].append(_unpacked(row["content"]))
    known = np.concatenate([np.concatenate([each[0] for each in parts], axis=1) for parts in of_block])
    bounds = np.concatenate([np.max([each[1] for each in parts], axis=0) for parts in of_block])
    return known, bounds


def _arrays(*arrays: Array) -> bytes:
    file = io.BytesIO()
    np.savez(file, *arrays, allow_pickle=False)
    return file.getvalue()


def _unpacked(content: bytes) -> list[Array]:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return [arrays[name] for name in arrays.files]
