"""Exact average linkage of weighted rows on cosine distance, in memory linear in their number.

`dendrogram_of` makes the merges of scikit-learn's `AgglomerativeClustering(metric="cosine",
linkage="average")`, for rows with a weight: a row of weight w counts as w equal rows. scikit-learn needs the
matrix of all distances, 80 GB for 100,000 rows. This package needs about as much memory as the rows.

    (children, distances, counts), complete_below = dendrogram_of(Rows(tfidf), weights, 0.7)

**Why the order of merges is free.** The distance of two clusters is the mean distance of their rows. With x
and y as the means of their rows, it is 1 - x'y. A merged cluster is never nearer to a third one than its
nearer part was, because a mean is not below the smallest of its values. Such a linkage is called reducible
(Müllner 2011, arXiv 1109.2378). If two clusters are each other's nearest, no other merge brings a third one
between them. They may merge now or later: the dendrogram is the same. So the linkage finds such pairs in any
order, and sorts the merges by height at the end.

There are two linkages, because their costs differ:

* `nearest_neighbour_chain`, for up to `DENSE_LIMIT` rows: it follows nearest neighbours through the matrix of
  distances until two rows are each other's nearest. It stays because Numba would take longer to load than all
  of these merges. Tests compare it with scikit-learn, which has no weights, and with SciPy.
* `reciprocal_merges`, for more rows: each round merges all pairs that are each other's nearest (reciprocal
  agglomerative clustering, Sumengen et al. 2021, arXiv 2105.11653). It stays because the matrix of distances
  would not fit into memory.

**Why a round need not search again.** Each cluster keeps a list of its nearest neighbours, and a bound on the
similarity of all others. Bounds of a merged cluster are means of the bounds of its parts. While the best of
the list is above the bound, it is the nearest. A new search starts only if it falls to the bound. A cluster
without a neighbour below the distance threshold is finished.

There are two searches, because rows differ:

* `blocks`, for sparse rows: an inverted index bounds the similarity of whole blocks of clusters, and most of
  them are never opened. `kernels` has its loops.
* `neighbours`, for rows with a dense part: such a row is a little similar to every other, so an inverted
  index would list them all. Products in float32 rule out most rows; the others are compared in float64.

Both searches are exact: a bound is never below the similarity that it stands for, with slack for rounding
errors. Similarities are rounded to steps of about 1e-12, so that rounding errors break few ties. Of equally
near clusters the one with the smallest row comes first. Threads do not change the result.
"""

from vocabgap.linkage.agglomeration import Merges, dendrogram_of, in_order_of_height
from vocabgap.linkage.rows import FloatArray, IntArray, Rows, on_grid

__all__ = ["FloatArray", "IntArray", "Merges", "Rows", "dendrogram_of", "in_order_of_height", "on_grid"]
