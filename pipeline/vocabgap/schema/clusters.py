"""What the clustering gives: wordings in their groups, and the dendrogram that these were cut from."""

from typing import Final

import polars as pl

from vocabgap.schema.table import Column, Table

WORDINGS: Final = Table(
    "wordings",
    "one distinct phrase as it was written",
    (
        Column("wording", pl.String, "the phrase: missing_capability, else description, else intent"),
        Column("mentions", pl.Int64, "records with exactly this phrase"),
        Column("surface", pl.String, "its normal form"),
        Column("cluster", pl.Int64, "number of its cluster in this run, counted from 0"),
        Column(
            "similarity",
            pl.Float64,
            "cosine similarity of its surface to that of the cluster's label, 0 to 1",
        ),
    ),
)

CLUSTERS: Final = Table(
    "clusters",
    "one group of surfaces",
    (
        Column("cluster", pl.Int64, "number of the cluster in this run, counted from 0"),
        Column("label", pl.String, "the wording that stands for the group"),
        Column("label_surface", pl.String, "the surface of the label"),
        Column("surfaces", pl.Int64, "distinct surfaces in the group"),
        Column("mentions", pl.Int64, "records in the group"),
        Column(
            "cohesion",
            pl.Float64,
            "mean cosine similarity of surfaces in pairs, 0 to 1; 1 for one",
        ),
        Column("weakest_link", pl.Float64, "cosine distance of the last merge, 0 to 1; 0 for one surface"),
    ),
)

SWEEP: Final = Table(
    "sweep",
    "one cut of the dendrogram and what it gives",
    (
        Column("threshold", pl.Float64, "cosine distance at which merging stops; null: by wording"),
        Column("groups", pl.Int64, "groups in all"),
        Column("singletons", pl.Int64, "groups of one surface"),
        Column("singleton_mentions", pl.Int64, "records in these"),
        Column("largest", pl.Int64, "distinct surfaces in the largest group"),
        Column("top", pl.List(pl.Struct({"label": pl.String, "mentions": pl.Int64})), "the most mentioned"),
    ),
)

LINKAGE: Final = Table(
    "linkage",
    "one merge of the dendrogram, in order of height (the layout of SciPy's linkage matrix)",
    (
        Column("left", pl.Int64, "the merged cluster with the smaller number; below n it is a surface"),
        Column("right", pl.Int64, "the merged cluster with the larger number; merge i makes cluster n + i"),
        Column("height", pl.Float64, "mean cosine distance between the two, weighted by mentions"),
        Column("size", pl.Int64, "mentions in the merged cluster"),
    ),
)
