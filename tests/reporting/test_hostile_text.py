"""Text of the logs never becomes structure of the report, nor a control character in it."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vocabgap.deciding import Decisions
from vocabgap.pipeline import Run
from vocabgap.settings import ClusterSettings, DecisionSettings, Settings, VocabularySettings
from vocabgap.text import visible

NOW = datetime(2026, 7, 1, tzinfo=UTC)
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

NEEDS = ("sky mask",) * 3 + ("film grain",) * 2 + ("window frame",)
MASKS = ("sky mask", "sky mask", "film mask", "film mask", "fog mask", "fog mask", "lens mask", "leaf mask")


def shape(tokens: list[Token]) -> list[tuple[str, str, list[str]]]:
    return [(token.type, token.tag, [child.type for child in token.children or ()]) for token in tokens]


@pytest.fixture
def dressed(gap: Gap, write_corpus: Corpus) -> Callable[..., Path]:
    """A workspace in which every text of every record, and a folder's name, holds the given text."""

    def make(text: str, name: str, needs: tuple[str, ...] = NEEDS) -> Path:
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


@pytest.fixture
def decided(dressed: Callable[..., Path], publish: Publish, tmp_path: Path) -> Callable[..., Run]:
    """A run with a vocabulary and decisions whose every text holds the given one.

    The one entry shares a word with every need and so covers each; what was decided shows the others.
    """

    def make(text: str, name: str) -> Run:
        def put(word: str) -> str:
            return f"{text}{word}{text}"

        entry = {"name": put("sky mask"), "description": put("mask"), "operations": [put("crop")]}
        listed = tmp_path / f"{name}.json"
        listed.write_text(json.dumps({"entries": [entry]}), encoding="utf-8")
        settings = Settings(
            cluster=ClusterSettings(threshold=0.0),
            vocabulary=VocabularySettings(paths=(str(listed),), threshold=0.0),
            decisions=DecisionSettings(file=str(tmp_path / f"{name}.jsonl")),
        )
        root, out = dressed(text, name, MASKS), tmp_path / f"{name}-out"
        before = publish(root, settings=settings, out=out).ranked
        named = {
            need: next(row["capability_id"] for row in before.to_dicts() if need in row["label"])
            for need in MASKS
        }
        decide = Decisions(out, settings.decisions.file, actor=put("ana"), now=NOW)
        decide.pin(named["film mask"], put("first"))
        decide.rename(named["film mask"], put("grain mask"), put("clearer"))
        decide.dismiss(named["fog mask"], put("no"))
        decide.author(named["lens mask"], put("flare"), put("done"))
        return publish(root, settings=settings, out=out)

    return make


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_entries_and_decisions_leave_the_structure_of_the_report_alone(
    decided: Callable[..., Run], text: str, text_of: TextOf, github: MarkdownIt
) -> None:
    benign, hostile = text_of(decided("kind ", "benign")), text_of(decided(text, "hostile"))
    sections = ("## Probably covered", "## Decided\n", "Entries that come nearest: ", "Done instead: ")
    assert all(section in benign for section in (*sections, "Most often together: "))
    assert shape(github.parse(hostile)) == shape(github.parse(benign))


def test_a_hostile_entry_reads_in_its_table_as_it_was_written(
    decided: Callable[..., Run], text_of: TextOf, tables: Tables
) -> None:
    _, covered, *_ = tables(text_of(decided("a | `b` ", "hostile")))
    assert covered[1][covered[0].index("Entry")] == "a | `b` sky maska | `b`"


@pytest.mark.parametrize("text", HOSTILE)
def test_report_holds_no_control_or_direction_character(
    decided: Callable[..., Run], text: str, text_of: TextOf
) -> None:
    report_text = text_of(decided(text, "hostile"))
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]", report_text
    )


def test_hostile_label_reads_as_it_was_written(
    gap: Gap, write_corpus: Corpus, publish: Publish, text_of: TextOf, tables: Tables
) -> None:
    label = "# <b>sky</b> | *mask* \\ [x](y)"
    heading, row = next(tables(text_of(publish(write_corpus({"one": [gap(label)]})))))
    assert row[heading.index("Capability")] == label
