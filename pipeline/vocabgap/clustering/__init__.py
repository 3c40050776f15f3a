"""Clustering: records to phrases, phrases to surfaces, surfaces to groups of the same need."""

from vocabgap.clustering.grouping import SWEEP_CUTS, Clusters, cluster
from vocabgap.clustering.projecting import METHOD, SEED, WordingVectors
from vocabgap.clustering.wordings import NO_SYNONYMS

__all__ = ["METHOD", "NO_SYNONYMS", "SEED", "SWEEP_CUTS", "Clusters", "WordingVectors", "cluster"]
