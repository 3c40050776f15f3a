"""Text of the logs never becomes an element, an attribute or a link of the page."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from selectolax.lexbor import LexborHTMLParser

from vocabgap.pipeline import Run
from vocabgap.text import shortened, visible

Hidden = Callable[[str], set[str]]
Pair = tuple[Run, Run]
Dom = LexborHTMLParser

pytestmark = pytest.mark.slow

# What differs from page to page, and is made by us: identifiers and numbers.
MADE = re.compile(r"cap-[0-9a-f]{12}|[0-9]+(?:\.[0-9]+)?")


@pytest.fixture(scope="session")
def doms(pair: Pair) -> tuple[Dom, Dom]:
    """The two pages as a browser's parser takes them: that of HTML5, which mends whatever it is given."""
    benign, hostile = (LexborHTMLParser(page_of(run)) for run in pair)
    return benign, hostile


@pytest.fixture(scope="session")
def data(doms: tuple[Dom, Dom]) -> dict[str, object]:
    """The data of the hostile page."""
    block = doms[1].css_first("#run-data")
    assert block is not None
    found: dict[str, object] = json.loads(block.text())
    return found


def page_of(run: Run) -> str:
    return (run.published.folder / "report.html").read_text(encoding="utf-8")


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


def test_the_first_thing_after_the_encoding_is_the_policy(pair: Pair) -> None:
    head = page_of(pair[1]).partition("<head>")[2].split("\n")[1:3]
    assert head[0] == '<meta charset="utf-8">'
    assert head[1].startswith(
        '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; '
    )


def test_a_page_holds_no_unseen_character(pair: Pair, unseen: Hidden) -> None:
    assert not unseen(page_of(pair[1]))


def test_the_data_of_a_page_are_texts_that_can_be_seen(data: dict[str, object], unseen: Hidden) -> None:
    assert not unseen("\n".join(texts_in(data)))


def test_the_data_of_a_page_say_what_the_logs_say(
    data: dict[str, object], pair: Pair, texts: list[str]
) -> None:
    found = set(texts_in(data))
    gaps = pair[1].scan.gaps
    said = {
        text for name in ("missing_capability", "workaround", "notes", "session_id") for text in gaps[name]
    }
    listed = {text for name in ("operations_involved", "vocabulary_used") for text in gaps[name].explode()}
    assert len(said) > len(texts)
    assert {shortened(visible(text), 240) for text in said | listed} <= found
