"""The geometry of the charts."""

import pytest

from vocabgap.reporting.page import bars, percentage
from vocabgap.reporting.rows import Span, rank_span


@pytest.mark.parametrize(
    ("number", "most", "length"), [(0, 9, 0.0), (3, 9, 33.3), (9, 9, 100.0), (0, 0, 0.0)]
)
def test_share_is_a_percentage(number: int, most: int, length: float) -> None:
    assert percentage(number, most) == length


def test_a_bar_that_is_not_zero_is_seen() -> None:
    assert bars((1000, 1)).endswith("V15.0h22.5V16")


@pytest.mark.parametrize(
    ("low", "high", "last", "span"),
    [
        (1, 100, 100, Span(0.0, 100.0)), (10, 100, 100, Span(50.0, 50.0)), (10, 10, 100, Span(50.0, 5.0)),
        (100, 100, 100, Span(95.0, 5.0)), (1, 1, 1, Span(0.0, 5.0)),
    ],
)  # fmt: skip
def test_span_of_a_rank_is_logarithmic_and_never_too_thin(
    low: int, high: int, last: int, span: Span
) -> None:
    assert rank_span(low, high, last) == span
