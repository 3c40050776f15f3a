"""The one way in which settings say where a value lies."""

from typing import Any

import pytest

from vocabgap.model.sources import pointer_of, value_at

VALUE: dict[str, Any] = {"a": {"b": [{"c": "deep"}]}, "x.y": {"/": "odd"}, "": "empty", "none": None}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b.0.c", "deep"),
        ("/a/b/0/c", "deep"),
        ("/x.y/~1", "odd"),
        ("/", "empty"),
        ("x.y", None),
        ("a.b.1", None),
        ("a.b.00", None),
        ("a.b.c", None),
        ("none.more", None),
    ],
)
def test_a_path_leads_to_a_value_or_nowhere(path: str, found: object) -> None:
    assert value_at(VALUE, pointer_of(path)) == found
