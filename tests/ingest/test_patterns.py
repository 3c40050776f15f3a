"""No pattern that reads logs is quadratic: a long line costs as much a byte as a short one."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import vocabgap.ingest

MODULES = [
    *(
        f"vocabgap.ingest.{module.name}"
        for module in pkgutil.iter_modules(vocabgap.ingest.__path__)
    ),
    "vocabgap.model.moments",
]
PATTERNS = {
    f"{module.removeprefix('vocabgap.')}.{name}": value
    for module in MODULES
    for name, value in vars(importlib.import_module(module)).items()
    if isinstance(value, re.Pattern)
}
# These see short texts only: a prefix of at most 256 signs, or the first 500 signs of a value.
SHORT = {"ingest.formats._SERVER", "ingest.proposing._NO_TEXT"}


def repeats(parts: Any, depth: int = 0, *, is_followed: bool = False) -> Iterator[tuple[int, bool]]:  # noqa: ANN401
    """Yield each repeat without bound: how many are around it, and whether it begins a longer pattern."""
    for place, (kind, value) in enumerate(parts):
        begins = place == 0 and (is_followed or len(parts) > 1)
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            is_endless = value[1] == _constants.MAXREPEAT
            yield from [(depth, begins)] * is_endless
            yield from ((deep, False) for deep, _ in repeats(value[2], depth + is_endless))
        elif kind in (_constants.SUBPATTERN, _constants.BRANCH):
            for branch in [value[3]] if kind is _constants.SUBPATTERN else value[1]:
                inner = repeats(branch, depth, is_followed=is_followed or len(parts) > 1)
                yield from ((deep, first and place == 0) for deep, first in inner)


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() - SHORT))
def test_no_pattern_repeats_a_repeat_or_begins_with_one(name: str) -> None:
    pattern = PATTERNS[name]
    is_searched = not pattern.pattern.startswith(
        r"\A" if isinstance(pattern.pattern, str) else rb"\A"
    )

    for depth, begins in repeats(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)):
        assert depth == 0
        assert not (begins and is_searched)


def test_the_check_finds_what_is_quadratic() -> None:
    assert [*repeats(_parser.parse(r"(?:a+)+b"))] == [(0, True), (1, False)]
    assert [*repeats(_parser.parse(r"(?:\s*):"))] == [(0, True)]
    assert [*repeats(_parser.parse(r"a+|:b+"))] == [(0, False), (0, False)]
