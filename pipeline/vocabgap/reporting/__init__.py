"""Reporting: ranked capabilities to the files of a run, published together or not at all."""

from vocabgap.reporting.command import Reproduction
from vocabgap.reporting.manifest import Decided, Model, Timing
from vocabgap.reporting.published_run import NO_PREVIOUS, read_basis, read_groups, read_run
from vocabgap.reporting.publishing import check_target, resolve_target
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.reporting.writing import Published, render, report

__all__ = [
    "NO_PREVIOUS",
    "Decided",
    "Model",
    "Published",
    "Reproduction",
    "Summary",
    "Timing",
    "check_target",
    "read_basis",
    "read_groups",
    "read_run",
    "render",
    "report",
    "resolve_target",
    "summarise",
]
