"""Clustering: records to phrases, phrases to surfaces, surfaces to groups of the same need."""

from vocabgap.clustering.grouping import SWEEP_CUTS, Clusters, cluster

__all__ = ["SWEEP_CUTS", "Clusters", "cluster"]
