"""Builders of single logs, byte by byte where a test asks for it."""

from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Create an empty root, named `shoots`."""
    root = tmp_path / "shoots"
    root.mkdir()
    return root
