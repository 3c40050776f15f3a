"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank

__all__ = ["rank"]
