"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import Reclassified, reclassify, with_categories, with_given_categories
from vocabgap.ranking.coverage import covered, probably_covered
from vocabgap.ranking.drafting import Draft, draft
from vocabgap.ranking.evidence import recurring_combinations
from vocabgap.ranking.identity import PRESENT, PREVIOUS, REGRESSED, SETTLED, Identified, identify
from vocabgap.ranking.lineage import CONTINUED, GONE, MERGED, NEW, RELATIONS, SPLIT, Lineage, relations, trace
from vocabgap.ranking.lookup import FEWEST_DIGITS, Named, find_capability, find_named, find_wording
from vocabgap.ranking.screening import screen

__all__ = [
    "CONTINUED",
    "FEWEST_DIGITS",
    "GONE",
    "MERGED",
    "NEW",
    "PRESENT",
    "PREVIOUS",
    "REGRESSED",
    "RELATIONS",
    "SETTLED",
    "SPLIT",
    "Draft",
    "Identified",
    "Lineage",
    "Named",
    "Reclassified",
    "covered",
    "draft",
    "find_capability",
    "find_named",
    "find_wording",
    "identify",
    "probably_covered",
    "rank",
    "reclassify",
    "recurring_combinations",
    "relations",
    "screen",
    "trace",
    "with_categories",
    "with_given_categories",
]
