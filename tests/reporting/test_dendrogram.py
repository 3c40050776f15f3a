"""Dendrograms as text and as SVG."""

import xml.etree.ElementTree as ET
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.model.tables import LINKAGE
from vocabgap.reporting.dendrogram import Leaf, svg_dendrogram, text_dendrogram

SVG = "{http://www.w3.org/2000/svg}"
LEAVES = [Leaf("reed mask", 3), Leaf("mask of reeds", 12), Leaf("reeds, masked", 2), Leaf("reed picker", 1)]
MERGES = [(0, 1, 0.2, 15), (2, 4, 0.4, 17), (3, 5, 0.6, 18)]


def linkage(*merges: tuple[int, int, float, int]) -> pl.DataFrame:
    return pl.DataFrame(merges, schema=LINKAGE.schema, orient="row")


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Leaf], pl.DataFrame]:
    """Any dendrogram over some leaves."""
    leaves = draw(st.lists(st.builds(Leaf, st.text(max_size=9), st.integers(1, 99)), min_size=1, max_size=9))
    open_nodes = list(range(len(leaves)))
    height = 0.0
    merges: list[Any] = []
    while len(open_nodes) > 1:
        one, other = sorted(draw(st.permutations(open_nodes))[:2])
        height += draw(st.sampled_from([0.0, 0.001, 0.1]))
        open_nodes = [node for node in open_nodes if node not in {one, other}]
        open_nodes.append(len(leaves) + len(merges))
        merges.append((one, other, height, 1))
    return leaves, linkage(*merges)


def test_text_shows_who_met_whom_and_how_far_apart() -> None:
    drawn = text_dendrogram(LEAVES, linkage(*MERGES)).splitlines()

    assert [line.split(" ╶")[0].split("  ")[0] for line in drawn[:4]] == [
        "mask of reeds",
        "reed mask",
        "reeds, masked",
        "reed picker",
    ]
    assert [line[-1] for line in drawn[:4]] == ["┐", "┐", "├", "┘"]
    assert drawn[-1].startswith("cosine distance")
    assert drawn[-1].endswith("0.60")


def test_text_for_terminals_that_know_ascii_only() -> None:
    leaves = [
        Leaf("größe 木", 3),
        *LEAVES[1:3],
        Leaf("reed picker for every reed that stands in the water", 1),
    ]

    *rows, _ = text_dendrogram(leaves, linkage(*MERGES), encoding="ascii").splitlines()

    assert rows[1].startswith("gr\\xf6\\xdfe \\u6728  ")
    assert rows[3].startswith("reed picker for every reed that stands in the...   1 -")
    assert all(row.isascii() for row in rows)
    assert {row.index("-", 50) for row in rows} == {53}


@given(trees())
def test_a_picture_names_every_surface_and_draws_every_merge(tree: tuple[list[Leaf], pl.DataFrame]) -> None:
    leaves, merges = tree

    picture = ET.fromstring(svg_dendrogram(leaves, merges, title="<&>"))  # noqa: S314 - our own

    texts = [text.text or "" for text in picture.iter(f"{SVG}text")]
    assert sum(text.endswith(")") for text in texts) >= len(leaves)
    lines = picture.find(f"{SVG}g")
    assert lines is not None
    assert len(lines) == merges.height


@pytest.mark.parametrize(
    "wording", ["<script>alert(1)</script>", "a & b", '"quoted"', "\x1b[31mred", "a\u202eb"]
)
def test_a_picture_holds_gap_text_as_text(wording: str) -> None:
    drawn = svg_dendrogram([Leaf(wording, 1)], linkage(), title=wording)

    picture = ET.fromstring(drawn)  # noqa: S314 - our own
    assert not list(picture.iter(f"{SVG}script"))
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert any("(1)" in (text.text or "") for text in picture.iter(f"{SVG}text"))
