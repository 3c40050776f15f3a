"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.coverage import covered, probably_covered

__all__ = ["covered", "probably_covered", "rank"]
