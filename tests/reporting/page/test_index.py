"""What rows refer to by position."""

from vocabgap.reporting.rows import Names


def test_a_name_has_one_position() -> None:
    names = Names()
    assert [names.place(name) for name in ("b", "a", "b")] == [0, 1, 0]
    assert names.shown(10) == ("b", "a")


def test_names_are_shown_not_obeyed_and_cut() -> None:
    names = Names()
    names.place("a\x1b[31mb")
    names.place("long name")
    assert names.shown(4) == ("a\\u0… (12 characters)", "long… (9 characters)")
