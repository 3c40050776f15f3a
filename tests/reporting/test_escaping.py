import json
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from builders.links import addresses
from builders.reporting import GITHUB
from vocabgap.reporting.wording import code, escape
from vocabgap.text import escape_unseen, visible

PLAIN = MarkdownIt("commonmark")
HOSTILE = json.loads(
    Path(__file__).parents[1].joinpath("data", "escaped.json").read_text(encoding="utf-8")
)
FRAGMENTS = [*HOSTILE, *"\\`*_{}[]()<>#+-.!|~&$^=@:/\"' \t\n1a", "\u200d", "\ud800", "\u2028"]

anything = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
)

PLACES: dict[str, Callable[[str], str]] = {
    "paragraph": lambda text: f"{text}\n",
    "heading": lambda text: f"### {text}\n",
    "numbered heading": lambda text: f"### 3. {text}\n",
    "list item": lambda text: f"- {text} (2)\n",
    "second line": lambda text: f"before\\\n{text} after\n",
    "bold": lambda text: f"**{text}** is what is missing\n",
    "table cell": lambda text: f"| a | b |\n|:--|:--|\n| x{text} | {text} |\n",
}


def inlines(tokens: list[Token]) -> list[Token]:
    return [token for token in tokens if token.type == "inline"]


def shape(tokens: list[Token]) -> list[tuple[str, str, list[str]]]:
    """The kinds of all parts; what is shown as code within a text is a part of the text."""
    return [
        (token.type, token.tag, [kind for kind, _ in groupby(map(kind_of, token.children or ()))])
        for token in tokens
    ]


def kind_of(token: Token) -> str:
    return "text" if token.type == "code_inline" else token.type


def shown(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


@pytest.mark.parametrize("parser", [PLAIN, GITHUB], ids=["commonmark", "with tables"])
@pytest.mark.parametrize("place", ["paragraph", "heading"])
@given(text=anything)
def test_escaped_text_alone_renders_as_one_text_that_reads_as_it_was_written(
    parser: MarkdownIt, place: str, text: str
) -> None:
    tokens = parser.parse(PLACES[place](escape(text)))
    if not visible(text):
        assert not any(map(shown, inlines(tokens)))
        return
    assert shape(tokens) == shape(parser.parse(PLACES[place]("benign")))
    assert shown(inlines(tokens)[0]) == visible(text)


@given(text=anything)
def test_escaped_text_in_a_table_cell_stays_in_its_cell(text: str) -> None:
    tokens = inlines(GITHUB.parse(f"| a | b |\n|:--|:--|\n| {escape(text)} | next |\n"))
    assert [shown(token) for token in tokens] == ["a", "b", visible(text), "next"]
    assert {child.type for token in tokens for child in token.children or ()} <= {
        "text",
        "code_inline",
    }


@pytest.mark.parametrize("place", [name for name in PLACES if name != "heading"])
def test_hostile_text_has_the_structure_of_benign_text_wherever_the_report_puts_it(
    place: str,
) -> None:
    benign = shape(GITHUB.parse(PLACES[place]("benign")))

    for text in filter(str.strip, HOSTILE):
        assert shape(GITHUB.parse(PLACES[place](escape(text)))) == benign, text


@given(text=anything)
def test_no_address_and_no_mention_is_left_for_a_renderer_to_link(text: str) -> None:
    assert not addresses(
        f"| a | b |\n|:--|:--|\n| “{escape(text)}”: {escape(text)} | ({escape(text)}) |\n"
    )


@pytest.mark.parametrize("place", PLACES)
def test_an_address_is_shown_as_it_was_written_wherever_the_report_puts_it(place: str) -> None:
    for text in filter(str.strip, HOSTILE):
        made = PLACES[place](escape(text))
        assert not addresses(made)
        assert any(visible(text) in shown(token) for token in inlines(GITHUB.parse(made)))


@pytest.mark.parametrize("character", ["$", "~", "^", "|", "<", "&", "!"])
def test_what_only_some_renderers_obey_is_escaped_too(character: str) -> None:
    assert escape(f"a{character}b") == f"a\\{character}b"


@pytest.mark.parametrize("make", [escape, code])
@given(text=anything)
def test_result_is_one_line_without_control_or_direction_characters(
    make: Callable[[object], str], text: str
) -> None:
    made = make(text)
    assert len(made.splitlines()) <= 1
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", made)
    made.encode("utf-8")


@pytest.mark.parametrize("parser", [PLAIN, GITHUB], ids=["commonmark", "with tables"])
@pytest.mark.parametrize("place", ["paragraph", "heading", "list item"])
@given(text=anything)
def test_code_renders_as_one_code_span_with_exactly_the_text(
    parser: MarkdownIt, place: str, text: str
) -> None:
    tokens = parser.parse(PLACES[place](code(text)))
    assert shape(tokens) == shape(parser.parse(PLACES[place]("`benign`")))
    spans = [child for child in inlines(tokens)[0].children or () if child.type == "code_inline"]
    assert [span.content for span in spans] == [escape_unseen(text) or " "]
