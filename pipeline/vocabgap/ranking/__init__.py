"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import Reclassified, in_force, reclassify, with_categories
from vocabgap.ranking.coverage import covered, probably_covered
from vocabgap.ranking.drafting import Draft, draft
from vocabgap.ranking.lookup import find_capability
from vocabgap.ranking.screening import screen

__all__ = [
    "Draft",
    "Reclassified",
    "covered",
    "draft",
    "find_capability",
    "in_force",
    "probably_covered",
    "rank",
    "reclassify",
    "screen",
    "with_categories",
]
