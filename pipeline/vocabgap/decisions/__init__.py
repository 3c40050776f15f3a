"""Decisions: what people said about capabilities, kept as lines of a file and replayed at every run."""

from vocabgap.decisions.log import append_decision, read_decisions
from vocabgap.decisions.record import ID_PREFIX, KEPT_WORDINGS, Action, Decision, Subject, decide, subject
from vocabgap.decisions.replay import (
    Ruling,
    in_force,
    replay,
    require_change,
    require_followed,
    require_own_label,
    surfaces_of,
    undoings,
)

__all__ = [
    "ID_PREFIX",
    "KEPT_WORDINGS",
    "Action",
    "Decision",
    "Ruling",
    "Subject",
    "append_decision",
    "decide",
    "in_force",
    "read_decisions",
    "replay",
    "require_change",
    "require_followed",
    "require_own_label",
    "subject",
    "surfaces_of",
    "undoings",
]
