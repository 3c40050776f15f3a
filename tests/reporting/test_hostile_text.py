"""Text of the logs never becomes structure of the report, nor a control character in it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vocabgap.pipeline import Run
from vocabgap.settings import ClusterSettings, Settings
from vocabgap.text import visible

Gap = Callable[..., dict[str, object]]
Corpus = Callable[..., Path]
Publish = Callable[..., Run]
TextOf = Callable[[Run], str]
Tables = Callable[[str], Iterator[list[list[str]]]]

HOSTILE = [
    "# not a heading",
    "- 1. + * not a list",
    "1) first",
    "===",
    "--- | --- | ---",
    "a | b | c",
    "\\",
    "` `` ``` ~~~",
    "```sh\nrm -rf /\n```",
    "<script>alert(1)</script><!--",
    "<https://tracker.invalid> https://tracker.invalid www.tracker.invalid",
    "![x](https://tracker.invalid/x.png) [y](javascript:z) [^1] [1]: z",
    "**bold** __strong__ *it* _it_ ~~gone~~ $x$",
    "&lt;&#35;&nbsp;",
    "> quoted\n\n# heading\n\n| a |\n|--|\n",
    "\x1b[31mred\x1b]0;title\x07\u202eesrever\u2066\u200b",
    "{{ run.now }} {% raw %} {# comment #}",
    "@someone #12 :tada:",
    "[/bold] [red]",
    "\u0085\u2028\u2029 next",
    "\x00",
]


def shape(tokens: list[Token]) -> list[tuple[str, str, list[str]]]:
    return [(token.type, token.tag, [child.type for child in token.children or ()]) for token in tokens]


@pytest.fixture
def dressed(gap: Gap, write_corpus: Corpus) -> Callable[..., Path]:
    """A workspace in which every text of every record, and a folder's name, holds the given text."""

    def make(text: str, name: str) -> Path:
        def put(word: str) -> str:
            return f"{text}{word}{text}"

        def line(need: str, number: int) -> dict[str, object]:
            return gap(
                put(need),
                image_id=put(f"image {number}"),
                session_id=put(f"session {number}"),
                snapshot_hash=put("5e5e"),
                workaround=put("drew it by hand"),
                intent=put(f"please {need}"),
                intent_category=put("lighting"),
                operations_involved=[put("exposure"), put("crop"), put("sharpen"), put("grain")],
                vocabulary_used=[put("warm"), put("cold")],
                satisfaction=-1,
                notes=put("later"),
            )

        needs = ["sky mask"] * 3 + ["film grain"] * 2 + ["window frame"]
        folder = f"{visible(text).replace('/', '')} images"
        return write_corpus(
            {folder: [line(need, number) for number, need in enumerate(needs)] + ["no json"]}, name
        )

    return make


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_leaves_the_structure_of_the_report_alone(
    *,
    dressed: Callable[..., Path],
    publish: Publish,
    tmp_path: Path,
    text: str,
    text_of: TextOf,
    github: MarkdownIt,
) -> None:
    exact = Settings(cluster=ClusterSettings(threshold=0.0))
    benign = text_of(publish(dressed("kind ", "benign"), settings=exact, out=tmp_path / "benign-out"))
    hostile = text_of(publish(dressed(text, "hostile"), settings=exact, out=tmp_path / "hostile-out"))
    assert shape(github.parse(hostile)) == shape(github.parse(benign))


@pytest.mark.parametrize("text", HOSTILE)
def test_report_holds_no_control_or_direction_character(
    dressed: Callable[..., Path], publish: Publish, text: str, text_of: TextOf
) -> None:
    report_text = text_of(publish(dressed(text, "hostile")))
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]", report_text
    )


def test_hostile_label_reads_as_it_was_written(
    gap: Gap, write_corpus: Corpus, publish: Publish, text_of: TextOf, tables: Tables
) -> None:
    label = "# <b>sky</b> | *mask* \\ [x](y)"
    table = next(tables(text_of(publish(write_corpus({"one": [gap(label)]})))))
    assert table[1][1] == label
