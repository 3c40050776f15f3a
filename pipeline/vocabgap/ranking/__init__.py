"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.identity import PRESENT, PREVIOUS, SETTLED, Identified, identify
from vocabgap.ranking.lineage import Lineage, relations, trace

__all__ = [
    "PRESENT",
    "PREVIOUS",
    "SETTLED",
    "Identified",
    "Lineage",
    "identify",
    "rank",
    "relations",
    "trace",
]
