"""Text of the logs never becomes structure of the Markdown, nor a character that cannot be seen in it."""

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from vocabgap.pipeline import Run
from vocabgap.reporting.escaping import WORD_JOINER
from vocabgap.reporting.markdown import render_markdown
from vocabgap.text import shortened, visible

Hidden = Callable[[str], set[str]]
Pair = tuple[Run, Run]
Tokens = tuple[list[Token], list[Token]]

pytestmark = pytest.mark.slow

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="session")
def tokens(pair: Pair) -> Tokens:
    """What the two reports are made of, as GitHub reads them."""
    benign, hostile = (GITHUB.parse(text_of(run)) for run in pair)
    return benign, hostile


def text_of(run: Run) -> str:
    return (run.published.folder / "report.md").read_text(encoding="utf-8")


def shape(tokens: list[Token]) -> list[tuple[str, str, list[str]]]:
    return [(each.type, each.tag, [child.type for child in each.children or ()]) for each in tokens]


def test_a_report_of_hostile_texts_has_the_structure_of_one_of_benign_texts(
    tokens: Tokens, texts: list[str]
) -> None:
    benign, hostile = map(shape, tokens)
    assert hostile == benign
    assert [kind for kind, tag, _ in benign if (kind, tag) == ("heading_open", "h3")] == [
        "heading_open" for _ in (*texts, *texts)
    ]  # of what is open, and of what is probably covered


def test_a_narrowed_report_of_hostile_texts_has_the_structure_of_one_of_benign_texts(
    pair: Pair, texts: list[str]
) -> None:
    def narrowed(run: Run, to: list[str]) -> list[tuple[str, str, list[str]]]:
        summary = replace(run.published.summary, capabilities=(), covered=(), settled=(), combinations=())
        selection = tuple(("image", f"{text} or {text}") for text in to)
        return shape(GITHUB.parse(render_markdown(replace(summary, selection=selection))))

    benign, hostile = pair
    assert narrowed(hostile, texts) == narrowed(benign, [f"kind{number}" for number in range(len(texts))])


def test_a_report_holds_no_unseen_character(pair: Pair, unseen: Hidden) -> None:
    _, hostile = pair
    assert unseen(text_of(hostile)) <= {WORD_JOINER}  # which keeps GitHub from notifying people


def test_every_hostile_label_entry_and_reason_is_shown_as_it_was_written(pair: Pair, tokens: Tokens) -> None:
    _, hostile = tokens
    shown = {
        "".join(child.content for child in token.children or ()).replace(f"@{WORD_JOINER}", "@")
        for token in hostile
        if token.type == "inline"
    }
    summary = pair[1].published.summary
    labels = [item.label for item in (*summary.capabilities, *summary.covered, *summary.settled)]
    entries = [item.nearest.entry for item in summary.covered if item.nearest is not None]
    decisions = ["; ".join(item.decisions) for item in summary.settled]
    assert {shortened(visible(text)) for text in (*labels, *entries, *decisions)} <= shown
