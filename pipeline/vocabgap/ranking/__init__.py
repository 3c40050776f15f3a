"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import Reclassified, in_force, reclassify, with_categories
from vocabgap.ranking.screening import screen

__all__ = ["Reclassified", "in_force", "rank", "reclassify", "screen", "with_categories"]
