"""Clustering: records to phrases, phrases to surfaces, surfaces to groups of the same need."""

from vocabgap.clustering.grouping import Clusters, cluster

__all__ = ["Clusters", "cluster"]
