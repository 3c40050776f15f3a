"""What was promised of the coverage of real needs by a real vocabulary. Nothing is fitted to the names."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from vocabgap.settings import DEFAULT_COVERED
from vocabgap.vocabulary import load_vocabulary

TESTS = Path(__file__).parents[1]
DATA = TESTS.parents[1] / "shared" / "data" / "chemigram"
NEEDS = DATA / "documented_gaps.jsonl"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_benchmark", TESTS / "benchmarks" / "covering.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.skipif(not NEEDS.is_file(), reason=f"needs {NEEDS}, which lies beside the checkout")
@pytest.mark.parametrize(("operations", "among"), [(False, 0.88), (True, 0.92)])
def test_a_right_entry_is_among_the_first_three_and_few_open_needs_are_called_covered(
    benchmark: ModuleType, operations: bool, among: float
) -> None:
    vocabulary = load_vocabulary(DATA / "vocabulary")
    shipped, unmet = benchmark.read_needs(NEEDS)

    found = benchmark.measure(
        benchmark.ours(vocabulary), shipped, unmet, operations=operations, threshold=DEFAULT_COVERED
    )

    assert (len(vocabulary.entries), len(shipped), len(unmet)) == (123, 49, 99)
    assert found.among >= among
    assert found.shipped >= 0.45
    assert found.unmet <= 0.15
