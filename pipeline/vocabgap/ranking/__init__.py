"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import Reclassified, in_force, reclassify, with_categories
from vocabgap.ranking.coverage import covered, probably_covered
from vocabgap.ranking.drafting import Draft, draft
from vocabgap.ranking.identity import PRESENT, PREVIOUS, REGRESSED, SETTLED, Identified, identify
from vocabgap.ranking.lineage import RELATIONS, Lineage, relations, trace
from vocabgap.ranking.lookup import find_capability
from vocabgap.ranking.screening import screen

__all__ = [
    "PRESENT",
    "PREVIOUS",
    "REGRESSED",
    "RELATIONS",
    "SETTLED",
    "Draft",
    "Identified",
    "Lineage",
    "Reclassified",
    "covered",
    "draft",
    "find_capability",
    "identify",
    "in_force",
    "probably_covered",
    "rank",
    "reclassify",
    "relations",
    "screen",
    "trace",
    "with_categories",
]
