"""No hostile input takes more than its share of time: twice the size, about twice the CPU seconds.

Here are some alphabets of each rule of texts; `make soak` has all.
"""

from collections import defaultdict
from typing import Final

import pytest

from faults import growth
from faults.growth import CASES, Case, problem
from vocabgap.clustering.contrasts import parting_poles

_EACH: Final = 6  # one of so many alphabets of a rule
# These took time with the square of their size.
_ONCE_SLOW: Final = frozenset((
    "literal: 'x'", "literal: marks before a letter", "without_corrections: '- '", "corrections: '- '",
    "parting poles: negated words", "parting poles: 'with '", "YAML: lines that declare tags",
))  # fmt: skip


def _names_by_kind() -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for place, name in enumerate(CASES):
        kind = name.partition(":")[0]
        if not CASES[name].is_text or place % _EACH == 0 or name in _ONCE_SLOW:
            kinds[kind].append(name)
    return kinds


@pytest.mark.parametrize("names", _names_by_kind().values(), ids=_names_by_kind().keys())
def test_twice_the_size_takes_about_twice_the_time(names: list[str]) -> None:
    problems = {name: problem(CASES[name]) for name in names}
    assert {name: found for name, found in problems.items() if found} == {}


def test_a_time_that_grows_with_the_square_of_the_size_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(growth, "_LEAST", 0.03)  # a fast machine burns little

    def burn(size: int) -> None:
        for _ in range(size):
            sum(range(size))

    assert problem(Case(int, burn, 1_000))
    assert problem(Case(int, lambda size: sum(range(1_000 * size)), 100)) is None


def test_every_case_that_was_slow_is_tested() -> None:
    assert CASES.keys() >= _ONCE_SLOW


def test_only_the_compared_characters_of_a_text_count_for_opposites() -> None:
    needs, ends = [["mask", "use"], ["mask", "unus"]], ("used", "unused")
    for length, is_apart in ((10, True), (20_000, False)):
        texts = [f"{'a ' * length}{end}" for end in ends]
        (one, other), _ = parting_poles(needs, texts)
        assert (one != other) is is_apart
