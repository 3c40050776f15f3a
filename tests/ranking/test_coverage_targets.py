"""How well entries are found for needs: what was promised for a real vocabulary, and a small set of our own.

Nothing is fitted to the names.
"""

from pathlib import Path

import pytest

from benchmarks import covering
from builders import outside
from vocabgap.model.settings import DEFAULT_COVERED
from vocabgap.ranking.vocabulary import load_vocabulary

TESTS = Path(__file__).parents[1]
MAP_DESK = TESTS / "data" / "map_desk"


@pytest.mark.parametrize(("operations", "among"), [(False, 0.88), (True, 0.92)])
def test_a_right_entry_is_among_the_first_three_and_few_open_needs_are_called_covered(
    pytestconfig: pytest.Config, operations: bool, among: float
) -> None:
    vocabulary = load_vocabulary(outside(pytestconfig, "chemigram/vocabulary"))
    shipped, unmet = covering.read_needs(outside(pytestconfig, "chemigram/documented_gaps.jsonl"))

    found = covering.measure(
        covering.ours(vocabulary), shipped, unmet, operations=operations, threshold=DEFAULT_COVERED
    )

    assert (len(vocabulary.entries), len(shipped), len(unmet)) == (123, 49, 99)
    assert found.among >= among
    assert found.shipped >= 0.45
    assert found.unmet <= 0.15


@pytest.mark.parametrize("operations", [False, True])
def test_of_a_map_desk_entries_are_found_and_no_open_need_is_called_covered(
    operations: bool,
) -> None:
    vocabulary = load_vocabulary(MAP_DESK)
    shipped, unmet = covering.read_needs(MAP_DESK / "needs.jsonl")

    found = covering.measure(
        covering.ours(vocabulary), shipped, unmet, operations=operations, threshold=DEFAULT_COVERED
    )

    assert (len(vocabulary.entries), len(shipped), len(unmet)) == (40, 15, 10)
    assert found.first >= 0.9
    assert found.among >= (1.0 if operations else 0.9)
    assert found.shipped >= 0.25
    assert found.unmet == 0.0
    assert found.fitted >= 0.9  # the shares tell the two kinds apart
