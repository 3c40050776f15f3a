"""Keys of a record that no field reads: what is kept of them, and their paths."""

import json

import pytest

from vocabgap.model.other import encoded, paths_in, values_at


def filled(key: str, size: int) -> dict[str, str]:
    """Return an object whose JSON has this size."""
    return {key: "x" * (size - len(json.dumps({key: ""}, separators=(",", ":"))))}


@pytest.mark.parametrize(("size", "left_out"), [(4_096, 0), (4_097, 1)])
def test_keys_of_at_most_4096_bytes_are_kept(size: int, left_out: int) -> None:
    rest = filled("lens", size)
    (text,) = encoded([rest])

    assert json.loads(text or "") == ({"(left out)": 1} if left_out else rest)


@pytest.mark.parametrize(("size", "left_out"), [(4_072, 1), (4_073, 2)])
def test_the_first_keys_that_fit_are_kept_if_all_are_too_large(size: int, left_out: int) -> None:
    small = filled("a", size)
    (text,) = encoded([{**small, **filled("b", 5_000)}])

    assert json.loads(text or "") == ({} if left_out == 2 else small) | {"(left out)": left_out}


def test_a_key_that_cannot_be_encoded_is_left_out_alone() -> None:
    texts = encoded([{}, {"lens": "\ud800", "iso": 100, "(left out)": 7}])

    assert texts == [None, '{"(left out)":2,"iso":100}']


def test_a_path_has_at_most_ten_keys() -> None:
    keys = "abcdefghijk"
    nested = "".join(f'{{"{key}":' for key in keys) + '"x"' + "}" * len(keys)

    assert paths_in(nested) == (".".join(keys[:10]),)
    assert values_at(nested, ".".join(keys)) == ("x",)
