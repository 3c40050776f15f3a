"""The face of a report to look at: one HTML page, which needs no network and no script to be read."""

from vocabgap.reporting.page.rendering import render_page

__all__ = ["render_page"]
