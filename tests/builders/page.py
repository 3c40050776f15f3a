"""Capabilities with whatever a test says of them, and pages read back."""

import json
import re
from html.parser import HTMLParser
from typing import Any, NamedTuple

from msgspec.structs import replace

from vocabgap.reporting.listed import TO_AUTHOR, Listed
from vocabgap.reporting.summary import Summary

_VOID = frozenset({"meta", "input", "br"})
# What ends without an end tag: where its parent does, and before any of these.
_BLOCKS = {
    *["p", "h1", "h2", "h3", "h4", "ul", "li", "dl", "div", "nav", "section", "table", "details"]
}
_ENDED_BY = {
    "td": {"td", "th", "tr", "tbody"},
    "th": {"td", "th", "tr", "tbody"},
    "tr": {"tr", "tbody"},
    "thead": {"tbody"},
    "tbody": set(),
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "p": _BLOCKS,
}

_DATA = re.compile(r'<script type="application/json" id="run-data">(.*?)</script>', re.DOTALL)


class Element(NamedTuple):
    """A start tag as a browser reads it, and those that it stands in."""

    tag: str
    attributes: dict[str, str | None]
    within: tuple[str, ...]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.open and tag in _ENDED_BY.get(self.open[-1], ()):
            self.open.pop()
        self.elements.append(Element(tag, dict(attrs), tuple(self.open)))
        self.part(tag)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] != tag and self.open[-1] in _ENDED_BY:
            self.open.pop()
        assert self.open[-1] == tag, f"</{tag}> ends <{self.open[-1]}>"
        self.open.pop()
        self.part(tag)

    def part(self, tag: str) -> None:
        """A tag parts what it stands between, but for one within a sentence."""
        if tag not in {"bdi", "time"}:
            self.texts.append((tuple(self.open), " "))

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))


class Read(NamedTuple):
    """A page: its elements, its text, and the block of data."""

    elements: list[Element]
    text: str
    data: dict[str, Any]

    def all(self, tag: str) -> list[Element]:
        """The elements of a kind."""
        return [element for element in self.elements if element.tag == tag]

    def identifiers(self) -> list[str]:
        """All identifiers."""
        return [str(each.attributes["id"]) for each in self.elements if "id" in each.attributes]


def read(page: str) -> Read:
    """Reads a page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    shown = (text for within, text in reader.texts if not {"style", "script"} & {*within})
    block = _DATA.search(page)
    assert block is not None
    return Read(reader.elements, " ".join("".join(shown).split()), json.loads(block[1]))


def listed(summary: Summary, **changed: Any) -> Listed:  # noqa: ANN401 - whatever fields there are
    """The first capability of the demo with whatever a test says of it, and of where it is listed."""
    first = summary.everything[0]
    own = {name: changed.pop(name) for name in tuple(changed) if name in Listed.__struct_fields__}
    given = {"group": TO_AUTHOR, "on_images": (), "on_days": (), "lineage": (), **own}
    return Listed(replace(first.capability, **changed), **given)
