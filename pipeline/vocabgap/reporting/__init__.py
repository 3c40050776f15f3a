"""Reporting: ranked capabilities to the files of a run, published together or not at all."""

from vocabgap.reporting.command import Reproduction
from vocabgap.reporting.manifest import Timing
from vocabgap.reporting.report import Published, report
from vocabgap.reporting.summary import Summary, summarise

__all__ = ["Published", "Reproduction", "Summary", "Timing", "report", "summarise"]
