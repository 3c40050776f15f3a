"""Corpora in memory, image repositories, and what is in either."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vocabgap.exchange.pushing import Prepared
from vocabgap.exchange.folders import Signals
from vocabgap.settings import Settings

sys.path.insert(0, str(Path(__file__).parents[1] / "conforming"))
from memory_store import MemoryStore  # noqa: E402


@pytest.fixture
def store() -> MemoryStore:
    """A corpus in memory."""
    return MemoryStore()


@pytest.fixture
def push_folder() -> Callable[..., Any]:
    """Pushes a folder into a corpus."""

    def push(store, root, tenant="north", repo="photos", confirmed=False, git=None, **signals):  # type: ignore
        prepared = Prepared.of_folder(root, tenant, repo, Settings().scan_options, Signals(**signals))
        return prepared.into(store, tenant=tenant, repo=repo, settings=Settings(), confirmed=confirmed, git=git)

    return push
