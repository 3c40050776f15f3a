"""Reporting: ranked capabilities to the files of a run, published together or not at all."""

from vocabgap.reporting.command import Reproduction
from vocabgap.reporting.manifest import Decided, Model, Timing
from vocabgap.reporting.naming import named
from vocabgap.reporting.reading import NO_PREVIOUS, read_basis, read_run
from vocabgap.reporting.rendering import render
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.reporting.target import check_target, resolve_target
from vocabgap.reporting.writing import Published, report

__all__ = [
    "NO_PREVIOUS",
    "Decided",
    "Model",
    "Published",
    "Reproduction",
    "Summary",
    "Timing",
    "check_target",
    "named",
    "read_basis",
    "read_run",
    "render",
    "report",
    "resolve_target",
    "summarise",
]
