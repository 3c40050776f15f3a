"""Clustering: records to phrases, phrases to surfaces, surfaces to groups of the same need."""

from vocabgap.clustering.grouping import SWEEP_CUTS, Clusters, cluster
from vocabgap.clustering.points import NO_SYNONYMS
from vocabgap.clustering.projecting import METHOD, SEED, WordingVectors

__all__ = ["METHOD", "NO_SYNONYMS", "SEED", "SWEEP_CUTS", "Clusters", "WordingVectors", "cluster"]
