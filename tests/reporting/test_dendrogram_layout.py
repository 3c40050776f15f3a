"""Where the lines and names of a dendrogram stand, as text and as SVG."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from vocabgap.model.tables import LINKAGE
from vocabgap.reporting.dendrogram import Leaf, svg_dendrogram, text_dendrogram

SVG = "{http://www.w3.org/2000/svg}"
PATH = re.compile(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H([\d.]+)")
LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of: up 1, down 2, left 4, right 8
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
PIXEL = 0.11  # what two numbers of one decimal may be off
CHARACTER = 7.2  # pixels of a character across, at the size of the picture

LEAVES = [Leaf("reed mask", 3), Leaf("mask of reeds", 12), Leaf("reeds, masked", 2), Leaf("reed picker", 1)]
MERGES = [(0, 1, 0.2, 15), (2, 4, 0.4, 17), (3, 5, 0.6, 18)]
Tree = tuple[list[Leaf], pl.DataFrame]


def linkage(*merges: tuple[int, int, float, int]) -> pl.DataFrame:
    return pl.DataFrame(merges, schema=LINKAGE.schema, orient="row")


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any dendrogram over some leaves that are called by their number."""
    mentions = draw(st.lists(st.integers(1, 4), min_size=1, max_size=9))
    leaves = [Leaf(f"s{number}", count) for number, count in enumerate(mentions)]
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


def picture(leaves: Sequence[Leaf], merges: pl.DataFrame, title: str = "reeds") -> ET.Element:
    return ET.fromstring(svg_dendrogram(leaves, merges, title=title))  # noqa: S314 - our own


def names_of(drawn: ET.Element) -> list[tuple[float, str]]:
    """The middle of the row that each name stands in, and the name, from top to bottom."""
    return [
        (float(text.attrib["y"]) - 4, text.text or "")
        for text in drawn.iter(f"{SVG}text")
        if text.get("text-anchor") == "end"
    ]


def joins_of(drawn: ET.Element) -> list[list[float]]:
    """Of each merge: where its upper line begins (x, y), its upright line (x), and its lower one (y, x)."""
    lines = drawn.find(f"{SVG}g")
    assert lines is not None
    found = [PATH.fullmatch(line.attrib["d"]) for line in lines]
    return [[float(number) for number in match.groups()] for match in found if match]


def members(leaves: Sequence[Leaf], merges: pl.DataFrame) -> list[set[int]]:
    """The leaves below each node."""
    below = [{number} for number in range(len(leaves))]
    for left, right in merges.select("left", "right").iter_rows():
        below.append(below[left] | below[right])
    return below


def assert_inside(drawn: ET.Element) -> None:
    """Every text and line stands within the width and the height of the picture."""
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    for text in drawn.iter(f"{SVG}text"):
        x, across = float(text.attrib["x"]), CHARACTER * cell_len(text.text or "")
        left = x - across * {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor", ""), 0.0)
        assert left >= 0.0
        assert left + across <= width
        assert 0.0 <= float(text.attrib["y"]) <= height
    for join in joins_of(drawn):
        assert max(join[0], join[2], join[4]) <= width
        assert max(join[1], join[3]) <= height


@given(trees())
def test_every_surface_is_named_once_on_a_row_of_its_own(tree: Tree) -> None:
    leaves, merges = tree

    found = names_of(picture(leaves, merges))

    assert sorted(name for _, name in found) == sorted(f"{leaf.wording} ({leaf.mentions})" for leaf in leaves)
    assert [y for y, _ in found] == [40 + 20 * row for row in range(len(leaves))]


@given(trees())
def test_the_lines_of_a_merge_begin_where_its_parts_end(tree: Tree) -> None:
    leaves, merges = tree
    drawn = picture(leaves, merges)
    margin = min((join[0] for join in joins_of(drawn)), default=0.0)
    ends = {int(name.split()[0][1:]): (margin, y) for y, name in names_of(drawn)}

    for number, (left, right) in enumerate(merges.select("left", "right").iter_rows()):
        upper_x, upper_y, x, lower_y, lower_x = joins_of(drawn)[number]
        expected = sorted((ends[left], ends[right]), key=lambda end: end[1])
        assert [(upper_x, upper_y), (lower_x, lower_y)] == [pytest.approx(end, abs=PIXEL) for end in expected]
        ends[len(leaves) + number] = (x, (upper_y + lower_y) / 2)


@given(trees())
def test_a_merge_stands_as_far_right_as_it_is_high(tree: Tree) -> None:
    leaves, merges = tree

    joins = joins_of(picture(leaves, merges))

    heights = merges["height"].to_list()
    top = max(heights, default=0.0)
    margin = min((join[0] for join in joins), default=0.0)
    for height, join in zip(heights, joins, strict=True):
        assert join[2] == pytest.approx(margin + (420 * height / top if top else 0.0), abs=PIXEL)


@pytest.mark.parametrize(
    "wording",
    ["reed", "reed " * 30, "r" * 2_000, "蘆葦遮罩" * 20, "&<>\"'" * 9],
    ids=["short", "long", "endless", "wide", "escaped"],
)
@pytest.mark.parametrize("count", [1, 4])
def test_nothing_stands_outside_the_picture(wording: str, count: int) -> None:
    leaves, merges = ([Leaf(wording, 1_234_567)], linkage())
    if count > 1:
        leaves, merges = ([leaves[0], *LEAVES[1:]], linkage(*MERGES))

    drawn = picture(leaves, merges, title=wording)

    assert_inside(drawn)


@given(trees())
def test_text_lines_have_no_loose_ends(tree: Tree) -> None:
    leaves, merges = tree
    drawn = text_dendrogram(leaves, merges).split("\n")[: len(leaves)]

    begin = max(map(len, (re.match(r"s\d +\d ?", line)[0] for line in drawn)))  # type: ignore[index]
    grid = [[LINES.index(mark) for mark in line[begin:].ljust(60)] for line in drawn]

    loose = 0
    for row, marks in enumerate(grid):
        for at, mark in enumerate(marks):
            above = grid[row - 1][at] if row else 0
            under = grid[row + 1][at] if row + 1 < len(grid) else 0
            assert bool(mark & UP) == bool(above & DOWN)
            assert bool(mark & DOWN) == bool(under & UP)
            if at:
                assert not mark & LEFT or marks[at - 1] & RIGHT
                loose += bool(marks[at - 1] & RIGHT and not mark & LEFT)
    assert loose == bool(merges.height)  # the line that goes on from the last merge
