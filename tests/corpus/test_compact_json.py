import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.corpus.identity import compact_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (42.0, "42"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (-1.5e-9, "-1.5e-9"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        (2**53 + 1, "9007199254740992"),
        (123456789012345680000, "123456789012345680000"),
        (10**400, "null"),
        (float("inf"), "null"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_a_number_is_written_as_javascript_prints_it(value: object, written: str) -> None:
    assert compact_json(value) == written
    assert compact_json({"a": [value, "\ud800"]}) == f'{{"a":[{written},"\\ud800"]}}'


def test_keys_that_look_like_an_index_come_first_at_every_depth() -> None:
    inner = {"b": 1, "10": 2, "95": 3, "01": 4, "-1": 5, "4294967295": 6, "4294967294": 7, "": 8}
    written = '{"10":2,"95":3,"4294967294":7,"b":1,"01":4,"-1":5,"4294967295":6,"":8}'
    assert compact_json({"z": [inner], "a": {}}) == f'{{"z":[{written}],"a":{{}}}}'


def test_only_half_of_a_pair_is_escaped() -> None:
    assert compact_json("a\ud800b\udc00") == '"a\\ud800b\\udc00"'
    assert compact_json("\ud83d\ude00") == '"\U0001f600"'
    assert (
        compact_json({"\udfff": '\u2028\x7f\x1f\b"\\/é'})
        == '{"\\udfff":"\u2028\x7f\\u001f\\b\\"\\\\/é"}'
    )


@given(JSON)
def test_compact_json_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(compact_json(value), parse_int=float) == json.loads(
        json.dumps(value), parse_int=float
    )
