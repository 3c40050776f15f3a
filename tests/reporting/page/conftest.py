"""Capabilities with whatever a test says of them, and pages read back."""

import pytest

from vocabgap.pipeline import Run
from vocabgap.reporting.summary import Summary


@pytest.fixture(scope="session")
def summary(demo_run: Run) -> Summary:
    """What the report of the demo says."""
    return demo_run.published.summary
