"""Text of the logs never becomes an element, an attribute or a link of the page."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator

import polars as pl
import pytest
from selectolax.lexbor import LexborHTMLParser

from vocabgap.pipeline import Run
from vocabgap.reporting.page import payload, render_page, rendering
from vocabgap.reporting.reading import read_gaps
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary
from vocabgap.text import shortened, visible

Hidden = Callable[[str], set[str]]
Pair = tuple[Run, Run]
Dom = LexborHTMLParser

pytestmark = pytest.mark.slow

# What differs from page to page, and is made by us: identifiers and numbers.
MADE = re.compile(r"cap-[0-9a-f]{12}|[0-9]+(?:\.[0-9]+)?")


@pytest.fixture(scope="module", params=["report", "share"])
def pages(request: pytest.FixtureRequest, pair: Pair) -> tuple[str, str]:
    """The two pages, with every capability in the part that needs no script, and nothing cut for its size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "SHOWN", 1_000_000)
        patch.setattr(payload, "MOST_BLOCK_BYTES", 1_000_000_000)
        patch.setattr(rendering, "MOST_BYTES", 1_000_000_000)
        benign, hostile = (render_page(summary_of(run, request.param)) for run in pair)
    return benign, hostile


@pytest.fixture(scope="module")
def doms(pages: tuple[str, str]) -> tuple[Dom, Dom]:
    """The two pages as a browser's parser takes them: that of HTML5, which mends whatever it is given."""
    benign, hostile = map(LexborHTMLParser, pages)
    return benign, hostile


@pytest.fixture(scope="module")
def data(doms: tuple[Dom, Dom]) -> dict[str, object]:
    """The data of the hostile page."""
    block = doms[1].css_first("#run-data")
    assert block is not None
    found: dict[str, object] = json.loads(block.text())
    return found


def summary_of(run: Run, page: str) -> Summary:
    if page == "report":
        return run.published.summary
    gaps = read_gaps(run.published.folder)
    assert gaps is not None
    return shareable(run.published.summary, gaps.filter("counted"), 2)


def shape(dom: Dom) -> list[tuple[str | None, tuple[str, ...]]]:
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
    doms: tuple[Dom, Dom],
) -> None:
    benign, hostile = map(shape, doms)
    assert hostile == benign


def test_no_attribute_holds_a_text_of_a_log(doms: tuple[Dom, Dom]) -> None:
    benign, hostile = map(values, doms)
    assert hostile == benign


def test_nothing_in_a_page_is_run_or_fetched_but_its_own_script_and_style(doms: tuple[Dom, Dom]) -> None:
    _, hostile = doms
    names = {name for _, names in shape(hostile) for name in names}
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


def test_a_page_holds_no_unseen_character(pages: tuple[str, str], unseen: Hidden) -> None:
    assert not unseen(pages[1])


def test_the_data_of_a_page_are_texts_that_can_be_seen(data: dict[str, object], unseen: Hidden) -> None:
    assert not unseen("\n".join(texts_in(data)))


def test_a_page_says_what_the_logs_say(pages: tuple[str, str], pair: Pair, texts: list[str]) -> None:
    dom = LexborHTMLParser(pages[1])
    block = dom.css_first("#run-data")
    assert block is not None
    data = set(texts_in(json.loads(block.text())))
    shown = {node.text(strip=True) for node in dom.css("#evidence .wordings th")}
    gaps = pair[1].scan.gaps.filter("counted", pl.col("missing_capability").is_duplicated())
    said = {shortened(visible(text), 240) for text in gaps["missing_capability"]}
    assert len(said) == len(texts)
    assert said <= data
    assert said <= shown
