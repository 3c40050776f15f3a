import msgspec
import pytest

from vocabgap.doors.mcp.tool import fitting, shown


class Row(msgspec.Struct):
    text: str


def test_what_cannot_be_seen_is_shown_and_the_rest_is_as_it_was() -> None:
    value = {"a": ["x\u202ey", {"b": "line\nbreak"}], "c": 1, "d": None, "e": 0.5, "f": True}
    assert shown(value) == {
        "a": ["x\\u202ey", {"b": "line break"}],
        "c": 1,
        "d": None,
        "e": 0.5,
        "f": True,
    }


def test_a_long_text_is_cut_with_a_mark() -> None:
    cut = shown("x" * 501)
    assert cut == "x" * 500 + "… (501 characters)"


def test_rows_fit_as_they_are_told() -> None:
    rows = [Row("x" * 10_000) for _ in range(10)]  # 530 bytes each, once they are cut
    assert len(fitting(rows, 1100)) == 2


@pytest.mark.parametrize("number", [0, 1, 5])
def test_rows_that_fit_are_all_kept_in_their_order(number: int) -> None:
    rows = [Row(str(place)) for place in range(number)]
    assert fitting(rows) == rows


def test_the_first_row_is_kept_whatever_its_size_with_shorter_texts() -> None:
    assert fitting([Row("x" * 400), Row("y")], 10) == [Row("x" * 16 + "… (400 characters)")]
