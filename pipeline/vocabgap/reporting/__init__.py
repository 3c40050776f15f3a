"""Reporting: ranked capabilities to the files of a run, published together or not at all."""

from vocabgap.reporting.command import Reproduction
from vocabgap.reporting.manifest import Model, Timing
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.reporting.target import check_target, resolve_target
from vocabgap.reporting.writing import Published, report

__all__ = [
    "Model",
    "Published",
    "Reproduction",
    "Summary",
    "Timing",
    "check_target",
    "report",
    "resolve_target",
    "summarise",
]
