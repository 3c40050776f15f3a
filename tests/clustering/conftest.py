from collections.abc import Callable, Hashable, Sequence

import pytest

from builders.clustering import _partition


@pytest.fixture(scope="session")
def partition() -> Callable[[Sequence[Hashable], Sequence[int]], set[frozenset[Hashable]]]:
    """The sets of items that carry the same label."""
    return _partition
