"""Dendrograms as text."""

import re
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.doors.clusters import text_dendrogram
from vocabgap.model.tables import LINKAGE

LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of: up 1, down 2, left 4, right 8
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8


def surfaces(*rows: tuple[str, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["wording", "mentions"], orient="row")


def linkage(*merges: tuple[int, int, float, int]) -> pl.DataFrame:
    return pl.DataFrame(merges, schema=LINKAGE.schema, orient="row")


REEDS = (("reed mask", 3), ("mask of reeds", 12), ("reeds, masked", 2), ("reed picker", 1))
MERGES = linkage((0, 1, 0.2, 15), (2, 4, 0.4, 17), (3, 5, 0.6, 18))


@st.composite
def trees(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw any dendrogram over some surfaces that are called by their number."""
    mentions = draw(st.lists(st.integers(1, 4), min_size=1, max_size=9))
    open_nodes = list(range(len(mentions)))
    height = 0.0
    merges: list[Any] = []
    while len(open_nodes) > 1:
        one, other = sorted(draw(st.permutations(open_nodes))[:2])
        height += draw(st.sampled_from([0.0, 0.001, 0.1]))
        open_nodes = [node for node in open_nodes if node not in {one, other}]
        open_nodes.append(len(mentions) + len(merges))
        merges.append((one, other, height, 1))
    return surfaces(*((f"s{number}", count) for number, count in enumerate(mentions))), linkage(*merges)


def test_text_shows_which_wordings_met_and_how_far_apart() -> None:
    drawn = text_dendrogram(surfaces(*REEDS), MERGES).splitlines()

    assert [line.split("  ")[0] for line in drawn[:4]] == [
        "mask of reeds",
        "reed mask",
        "reeds, masked",
        "reed picker",
    ]
    assert [line[-1] for line in drawn[:4]] == ["┐", "┐", "├", "┘"]
    assert drawn[-1].startswith("cosine distance")
    assert drawn[-1].endswith("0.60")


def test_text_for_terminals_that_know_ascii_only() -> None:
    long = ("reed picker for every reed that stands in the water", 1)

    *rows, _ = text_dendrogram(
        surfaces(("größe 木", 3), *REEDS[1:3], long), MERGES, encoding="ascii"
    ).splitlines()

    assert rows[1].startswith("gr\\xf6\\xdfe \\u6728  ")
    assert rows[3].startswith("reed picker for every reed that stands in the...   1 -")
    assert all(row.isascii() for row in rows)
    assert {row.index("-", 50) for row in rows} == {53}


@given(trees())
def test_text_names_each_surface_once_and_its_lines_have_no_loose_ends(
    tree: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    leaves, merges = tree
    drawn = text_dendrogram(leaves, merges).split("\n")[: leaves.height]

    assert sorted(line.split()[0] for line in drawn) == leaves["wording"].to_list()
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
