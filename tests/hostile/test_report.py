"""Text of the logs never becomes structure of the page or of the Markdown, nor an unseen character of either.

All that looks at the two runs that take the longest to make is here, so that they are made once.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import polars as pl
import pytest
from markdown_it.token import Token
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from builders.hostile import told, unseen
from builders.links import addresses
from builders.reporting import GITHUB
from vocabgap.pipeline import Run
from vocabgap.reporting import markdown
from vocabgap.reporting import page as rendering
from vocabgap.reporting.listed import Doubt
from vocabgap.reporting.markdown import render_markdown, render_shortlist
from vocabgap.reporting.page import render_page
from vocabgap.reporting.published_run import read_gaps
from vocabgap.reporting.sections import render_evidence
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary
from vocabgap.text import shortened, visible

Pair = tuple[Run, Run]
Dom = LexborHTMLParser
Shape = list[tuple[str | None, tuple[str, ...]]]
Structure = list[tuple[str, str, list[str]]]

pytestmark = pytest.mark.slow

# What differs from page to page, and is made by us: identifiers and numbers.
MADE = re.compile(r"cap-[0-9a-f]{12}|[0-9]+(?:[.–][0-9]+)?")


class Parsed(NamedTuple):
    """The kinds of everything in a Markdown file, and the texts that its lines show."""

    structure: Structure
    shown: set[str]


@pytest.fixture(scope="module")
def parsed(pair: Pair) -> tuple[Parsed, Parsed]:
    """Parse both reports as GitHub does."""
    benign, hostile = (parsed_by_github(text_of(run)) for run in pair)
    return benign, hostile


@pytest.fixture(scope="module", params=["report", "share"])
def pages(request: pytest.FixtureRequest, pair: Pair) -> tuple[str, str]:
    """Render both pages, with every capability in the part that needs no script, and nothing cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(rendering._SHOWN, "list", 1_000_000)
        patch.setattr(rendering, "MOST_BLOCK_BYTES", 1_000_000_000)
        patch.setattr(rendering, "MOST_BYTES", 1_000_000_000)
        benign, hostile = (render_page(summary_of(run, request.param)) for run in pair)
    return benign, hostile


@pytest.fixture(scope="module")
def doms(pages: tuple[str, str]) -> tuple[Dom, Dom]:
    """Parse both pages as a browser does."""
    benign, hostile = map(LexborHTMLParser, pages)
    return benign, hostile


@pytest.fixture(scope="module")
def shapes(doms: tuple[Dom, Dom]) -> tuple[Shape, Shape]:
    """Their elements, each with the names of its attributes."""
    benign, hostile = map(shape, doms)
    return benign, hostile


@pytest.fixture(scope="module")
def data(doms: tuple[Dom, Dom]) -> dict[str, object]:
    """Return the data of the hostile page."""
    block = doms[1].css_first("#run-data")
    assert block is not None
    found: dict[str, object] = json.loads(block.text())
    return found


def text_of(run: Run) -> str:
    """Render the report and the evidence, with nothing left out for its size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "MOST_BYTES", 1_000_000_000)
        summary = doubting(run.published.summary)
        return f"{render_markdown(summary)}\n{render_evidence(summary)}"


def doubting(summary: Summary) -> Summary:
    """Add doubts about the same groups: how near groups are depends on their texts."""
    one, *others = summary.capabilities
    doubts = [
        Doubt(one.capability_id, each.capability_id, one.label, each.label, 2, 1) for each in others
    ]
    return replace(summary, doubts=tuple(doubts))


def parsed_by_github(text: str) -> Parsed:
    """Return the parts of a text and the content of its lines."""
    tokens = GITHUB.parse(text)
    shown = {
        "".join(child.content for child in token.children or ())
        for token in tokens
        if token.type == "inline"
    }
    return Parsed(structure(tokens), shown)


def structure(tokens: list[Token]) -> Structure:
    """Return the kinds of all parts; an address within a text is code, a part of the text."""
    return [
        (each.type, each.tag, [kind for kind, _ in groupby(map(kind_of, each.children or ()))])
        for each in tokens
    ]


def kind_of(token: Token) -> str:
    return "text" if token.type == "code_inline" else token.type


def summary_of(run: Run, page: str) -> Summary:
    if page == "report":
        return doubting(run.published.summary)
    gaps = read_gaps(run.published.folder)
    assert gaps is not None
    return shareable(run.published.summary, gaps, 2)


def shape(dom: Dom) -> Shape:
    assert dom.root is not None
    return [(node.tag, tuple(node.attributes)) for node in dom.root.traverse(include_text=False)]


def values(dom: Dom) -> Counter[tuple[str | None, str, str | None]]:
    """Every attribute with its value, in which what we make stands for itself."""
    assert dom.root is not None
    return Counter(
        (node.tag, name, None if value is None else MADE.sub("…", value))
        for node in dom.root.traverse(include_text=False)
        for name, value in node.attributes.items()
    )


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        for each in value.items():
            yield from texts_in(list(each))


def test_a_page_of_hostile_texts_has_the_elements_and_attributes_of_one_of_benign_texts(
    doms: tuple[Dom, Dom], shapes: tuple[Shape, Shape]
) -> None:
    # Labels without clutter may be in another order, so the last need with all its evidence may be another.
    benign, hostile = map(Counter, shapes)
    assert hostile.keys() == benign.keys()
    assert (hostile - benign).total() + (benign - hostile).total() < 20
    benign_values, hostile_values = map(values, doms)
    assert hostile_values == benign_values


def test_nothing_in_a_page_is_run_or_fetched_but_its_own_script_and_style(
    doms: tuple[Dom, Dom], shapes: tuple[Shape, Shape]
) -> None:
    _, hostile = doms
    names = {name for _, names in shapes[1] for name in names}
    assert [script.attributes for script in hostile.css("script")] == [
        {"type": "application/json", "id": "run-data"},
        {},
    ]
    assert len(hostile.css("style")) == 1
    assert not [name for name in names if name.startswith("on")]
    assert names.isdisjoint(
        {"src", "srcdoc", "srcset", "style", "action", "formaction", "xlink:href", "data"}
    )
    assert {str(link.attributes["href"])[0] for link in hostile.css("[href]")} == {"#"}


def test_the_first_thing_after_the_encoding_is_the_policy(pages: tuple[str, str]) -> None:
    head = pages[1].partition("<head>")[2].split("\n")[1:3]
    assert head[0] == '<meta charset="utf-8">'
    assert head[1].startswith(
        '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; '
    )


def test_a_page_and_its_data_hold_no_unseen_character(
    pages: tuple[str, str], data: dict[str, object]
) -> None:
    assert not unseen(pages[1])
    assert not unseen("\n".join(texts_in(data)))


def test_a_page_has_the_wordings_of_the_logs_and_shows_each_label(
    doms: tuple[Dom, Dom], data: dict[str, object], pair: Pair, fields: list[str]
) -> None:
    shown = {node.text(strip=True) for node in doms[1].css("#plain bdi, #plain tbody th")}
    gaps = pair[1].scan.gaps.filter("counted", pl.col("missing_capability").is_duplicated())
    said = {shortened(visible(text), 240) for text in gaps["missing_capability"]}
    assert len(said) == len(fields)
    assert said <= set(texts_in(data))
    columns, rows = data["columns"], data["rows"]
    assert isinstance(columns, list)
    assert isinstance(rows, list)
    label, group = columns.index("label"), columns.index("group")
    assert {row[label] for row in rows if row[group] == "open"} <= shown


def test_a_report_of_hostile_texts_has_the_structure_of_one_of_benign_texts(
    parsed: tuple[Parsed, Parsed], fields: list[str]
) -> None:
    benign, hostile = parsed
    assert hostile.structure == benign.structure
    needs = [each for each in benign.structure if each[:2] == ("heading_open", "h2")]
    assert len(needs) > 2 * len(fields)  # of what is open, and of what probably exists


def test_a_narrowed_report_of_hostile_texts_has_the_structure_of_one_of_benign_texts(
    pair: Pair, texts: list[str]
) -> None:
    def narrowed(run: Run, to: list[str]) -> Structure:
        nothing = {"capabilities": (), "settled": (), "doubts": None}
        summary = replace(run.published.summary, **nothing)
        selection = tuple(("image", f"{text} or {text}") for text in to)
        return structure(GITHUB.parse(render_markdown(replace(summary, selection=selection))))

    benign, hostile = pair
    assert narrowed(hostile, texts) == narrowed(
        benign, [f"kind{number}" for number in range(len(texts))]
    )


def test_a_report_holds_no_unseen_character_and_nothing_that_a_renderer_links(pair: Pair) -> None:
    text = text_of(pair[1])
    assert not unseen(text)
    assert not addresses(text)


def test_a_message_of_hostile_texts_is_a_list_of_words_and_code(pair: Pair) -> None:
    text = render_shortlist(pair[1].published.summary)
    kinds = {child.type for token in GITHUB.parse(text) for child in token.children or ()}
    assert kinds <= {
        "text",
        "softbreak",
        "code_inline",
        "strong_open",
        "strong_close",
        "text_special",
    }
    assert len(text) <= 2_000
    assert not unseen(text)
    assert not addresses(text)


def test_every_hostile_label_entry_and_reason_is_shown_as_it_was_written(
    pair: Pair, parsed: tuple[Parsed, Parsed]
) -> None:
    summary = pair[1].published.summary
    labels = [item.label for item in (*summary.capabilities, *summary.settled)]
    entries = [each.covered_by[0].entry for each in summary.capabilities if each.exists]
    decisions = ["; ".join(item.decisions) for item in summary.settled]
    shown = "\n".join(parsed[1].shown)
    assert [
        text for text in (*labels, *entries, *decisions) if shortened(visible(text)) not in shown
    ] == []


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_diff(pair: Pair, form: list[str]) -> None:
    benign, hostile = (run.published.folder for run in pair)
    assert "covered0" in told(*form, "diff", benign, hostile, "--top", "0")
