"""What YAML stands for, and what of it is refused: in which line, and at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.files.budget import DEEPEST
from vocabgap.files.yaml import LONGEST_NUMBER, MOST_VALUES, parse_yaml, parsed_with_lines

PIECES: list[str] = (  # noqa: SIM905 - a list takes 40 lines
    "a|b: |- |\n|\n  |\n- |: |? |[|]|{|}|,|&x |*x|<<: |=|~|'|\"|> \n|#c\n|---\n|3|1.5|true|\t| |0x|é|!|*"
    "|!!int |!!str |!!map |!!seq |!!set |!!bool |!!null|!!float |!!timestamp |!t "
).split("|")


def levels(first: str, each: str) -> str:
    """Thirty rows of which each names the one before nine times."""
    rows = [f"a{n}: &a{n} " + each.format(", ".join([f"*a{n - 1}"] * 9), n) for n in range(1, 30)]
    return "\n".join([f"a0: &a0 {first}", *rows])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        (
            "[a, 'b', \"c\", 3, -1.5, 0o17, true, ~, '3', on]",
            ["a", "b", "c", 3, -1.5, 15, True, None, "3", "on"],
        ),
        ("2026-05-01", "2026-05-01"),
        ("2026-13-45", "2026-13-45"),
        ("[!!str 3, !!int 3, !!null '', ! 3, <<, =]", ["3", 3, None, 3, "<<", "="]),
        ("[&x a, *x]", ["a", "a"]),
        ("%YAML 1.2\n---\n[no, 0b11]", ["no", 3]),
    ],
)
def test_plain_values(text: str, value: object) -> None:
    assert parse_yaml(text) == value


@pytest.mark.parametrize(
    ("merged", "value"),
    [
        ("{<<: *one, name: own}", {"name": "own", "tags": "t"}),
        ("{name: own, <<: *one}", {"name": "own", "tags": "t"}),
        ("{<<: [*two, *one]}", {"name": "two", "tags": "t"}),
        ("{<<: []}", {}),
        ("{'<<': text}", {"<<": "text"}),
    ],
)
def test_a_merge_key_gives_what_the_object_does_not_have(merged: str, value: object) -> None:
    document = parse_yaml(f"- &one {{name: one, tags: t}}\n- &two {{name: two}}\n- {merged}\n")

    assert isinstance(document, list)
    assert document[2] == value


@pytest.mark.parametrize(
    "text",
    [
        levels("[x]", "[{0}]"),
        levels("{k: v}", "{{<<: [{0}]}}"),
        levels("{k: v}", "{{<<: [{0}], k{1}: v}}"),
    ],
)
def test_a_few_lines_that_stand_for_beyond_all_measure_are_refused_at_once(text: str) -> None:
    with pytest.raises(
        InvalidInputError,
        match=r"^line 7, column \d+: more than 400,000 values, with those that aliases",
    ):
        parse_yaml(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: !!bool foo", "line 2: 'foo' is not !!bool"),
        ("a: !!int ''", "line 1: '' is not !!int"),
        (
            "a: !!python/object:os.system x",
            "line 1: found a value with the tag !!python/object:os.system",
        ),
        ("a: !tag x", "line 1: found a value with the tag !tag"),
        (f"a: !<{'x' * 100_000}> b", "line 1: found a value with the tag x+… "),
        ("a: !!binary aGk=", "line 1: found a value with the tag !!binary"),
        ("a:\n  !!set {x}", "line 2: found a value with the tag !!set"),
        ("a: &x [*x]", "line 1: more than 400,000 values"),
        ("a: *x", "line 1: found undefined alias"),
        ("a: b\n<<: c", "line 2: .*expected a mapping or list of mappings for merging"),
        ("a: b\na: c", 'line 2: .*found duplicate key "a"'),
        ("? [a]\n: b", "line 1: expected a name before the colon"),
        ("9" * 5_000, r"line 1: '9+\.\.\.9+' is not !!int"),
        ("a: 0x" + "f" * 5_000, "line 1: found a number of more than 1,024 bits"),
        (f"a: b\n? 0x{'f' * 5_000}\n: 1", "line 2: found a number of more than 1,024 bits"),
        ("%YAML 1.1\n---\n- no", "line 1: found a document of YAML 1.1"),
        ("a: b\nc: \x01", "line 2: control characters are not allowed"),
        ("a: >\n \n\n   \n b", "line 5: .*did not find expected key"),
        ("[" * 5_000, f"line 1: nested deeper than {DEEPEST} levels"),
        ("a: 1\n---\nb: 1", "line 2: .*found another document"),
    ],
)
def test_what_is_no_plain_value_is_told_with_its_line_and_what_to_do(
    text: str, message: str
) -> None:
    line, _, problem = message.partition(": ")
    with pytest.raises(InvalidInputError, match=rf"^{line}, column \d+: {problem}") as caught:
        parse_yaml(text)

    assert caught.value.hint


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_whatever_is_read_is_plain_or_refused_with_its_line(text: str) -> None:
    try:
        value = parse_yaml(text)
    except InvalidInputError as error:
        value = error
    plain = value is None or isinstance(value, str | bool | int | float | list | dict)
    assert plain or str(value).startswith("line ")


def test_the_line_of_each_value_comes_with_the_value() -> None:
    text = "# first\nterms:\n  - name: a\n    tags: [x,\n      y]\n  - b\n"
    assert parsed_with_lines(text) == ({"terms": [{"name": "a", "tags": ["x", "y"]}, "b"]}, {
        ("terms",): 2, ("terms", 0): 3, ("terms", 0, "name"): 3, ("terms", 0, "tags"): 4,
        ("terms", 0, "tags", 0): 4, ("terms", 0, "tags", 1): 5, ("terms", 1): 6,
    })  # fmt: skip
    assert parsed_with_lines("") == (None, {})


@pytest.mark.parametrize(
    "text", ["[" + "1," * MOST_VALUES + "1]", "[&a [" + "1," * 1_000 + "1], " + "*a," * 400 + "1]"]
)
def test_a_document_of_too_many_values_is_refused_before_they_are_made(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^line 1, column \d+: more than 400,000 values"):
        parse_yaml(text)


def test_many_lines_that_declare_tags_are_refused() -> None:
    text = "".join(f"%TAG !{number}! tag:x,{number}:\n" for number in range(101)) + "--- a"
    with pytest.raises(InvalidInputError, match="more than 100 lines %TAG"):
        parse_yaml(text)
    assert parse_yaml(text.partition("\n")[2]) == "a"


def test_limits_are_the_largest_that_are_read() -> None:
    largest = (1 << LONGEST_NUMBER) - 1
    assert (LONGEST_NUMBER, DEEPEST) == (1_024, 100)
    assert parse_yaml(f"{largest:#x}") == largest
    with pytest.raises(InvalidInputError, match="more than 1,024 bits"):
        parse_yaml(f"{largest + 1:#x}")
    assert parse_yaml("[" * DEEPEST + "]" * DEEPEST)
    with pytest.raises(InvalidInputError, match="nested deeper than 100 levels"):
        parse_yaml("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1))


@pytest.mark.parametrize(("text", "column"), [("\x01", 1), ("a: \x01", 4), ("a: b\nc: d\x01", 5)])
def test_a_control_character_is_told_with_its_column(text: str, column: int) -> None:
    line = text.count("\n") + 1
    with pytest.raises(InvalidInputError, match=rf"^line {line}, column {column}: control"):
        parse_yaml(text)
