"""Reviewing: what was logged, newest first, and all that is known of one image, session, need or record."""

from vocabgap.reviewing.asking import LAST, Question
from vocabgap.reviewing.listing import Review, list_gaps, review
from vocabgap.reviewing.naming import Kind
from vocabgap.reviewing.showing import Place, Shown, show
from vocabgap.reviewing.summing import Belonging, Totals

__all__ = [
    "LAST",
    "Belonging",
    "Kind",
    "Place",
    "Question",
    "Review",
    "Shown",
    "Totals",
    "list_gaps",
    "review",
    "show",
]
