"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""

from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.coverage import covered, probably_covered
from vocabgap.ranking.drafting import Draft, draft
from vocabgap.ranking.lookup import find_capability

__all__ = ["Draft", "covered", "draft", "find_capability", "probably_covered", "rank"]
