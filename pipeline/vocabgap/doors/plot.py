"""Altair charts of what the stages return, for notebooks. They need the extra `notebooks`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import polars as pl

from vocabgap.clustering.grouping import Clusters
from vocabgap.errors import NotFoundError, StateError, installing
from vocabgap.pipeline import Run
from vocabgap.reporting.map import FEWEST_PLACES

if TYPE_CHECKING:
    import altair as alt

_WIDTH: Final = 420  # pixels
_LINE: Final = 18  # pixels of a line of text
_LETTERS: Final = 60  # of a label
_NAMED: Final = 16  # needs of the map that are named
# Fonts of drawn images have no control characters and no emoji.
_UNDRAWN: Final = r"[\p{C}\x{10000}-\x{10FFFF}]"


def ranking(ranked: pl.DataFrame, top: int = 15) -> "alt.LayerChart":
    """Draw the first capabilities: a bar for the mentions, a line for the likely range of mentions.

    Args:
        ranked: Table `capabilities`, as `rank` and `run` return it.
        top: Number of capabilities.
    """
    with _extra():
        import altair as alt
    columns = ("rank", "label", "mentions", "mentions_low", "mentions_high", "images", "unsatisfied")
    rows = _drawn(ranked.head(top).select(columns)).with_columns(label=pl.format("{}. {}", "rank", "label"))
    chart = alt.Chart(rows, width=_WIDTH).encode(
        y=alt.Y("label:N", sort=alt.SortField("rank"), title=None, axis=alt.Axis(labelLimit=_WIDTH)),
        tooltip=[*columns],
    )
    bars = chart.mark_bar(opacity=0.5).encode(x=alt.X("mentions:Q", title="mentions, and the likely range"))
    layers: alt.LayerChart = bars + chart.mark_rule(strokeWidth=2).encode(
        x="mentions_low:Q", x2="mentions_high:Q"
    )
    return layers


def trend(history: pl.DataFrame, top: int = 8) -> "alt.Chart":
    """Draw the rank of capabilities over the runs of a folder, each under its last label.

    Args:
        history: Table `history`, as `history` returns it.
        top: Number of capabilities: the first ones of the last run.
    """
    with _extra():
        import altair as alt
    last = history.filter(pl.col("moment") == pl.col("moment").max()).sort("rank").head(top)
    named = _drawn(last.select("capability_id", name="label"))
    rows = history.join(named, on="capability_id").select("moment", "rank", "mentions", "name")
    chart: alt.Chart = (
        alt.Chart(rows, width=_WIDTH)
        .mark_line(point=True)
        .encode(
            x=alt.X("moment:T", title=None),
            y=alt.Y("rank:Q", scale=alt.Scale(reverse=True, zero=False), axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "name:N", sort=named["name"].to_list(), title=None, legend=alt.Legend(labelLimit=_WIDTH)
            ),
            tooltip=["name", "moment", "rank", "mentions"],
        )
    )
    return chart


def map(run: Run) -> "alt.LayerChart":  # noqa: A001 - as people write it: vg.plot.map
    """Draw the map of a run: needs with similar wording or the same category are close together.

    Raises:
        NotFoundError: The run has too few needs.
    """
    with _extra():
        import altair as alt
    places = [(each.capability_id, each.x, each.y) for each in run.published.summary.places]
    if not places:
        raise NotFoundError(
            f"fewer than {FEWEST_PLACES} needs make no map", hint="scan more logs, or narrow the run less"
        )
    points = pl.DataFrame(places, schema=["capability_id", "x", "y"], orient="row")
    columns = ("x", "y", "label", "mentions", "intent_category")
    rows = run.ranked.join(points, on="capability_id").sort("rank").select(columns).with_row_index("order")
    plane = [
        axis(f"{name}:Q", axis=None, scale=alt.Scale(domain=[-1.2, 1.2]))
        for axis, name in ((alt.X, "x"), (alt.Y, "y"))
    ]
    chart = alt.Chart(_drawn(rows), width=1.5 * _WIDTH, height=1.2 * _WIDTH).encode(*plane)
    circles = chart.mark_circle().encode(
        size=alt.Size("mentions:Q"),
        color=alt.Color("intent_category:N", title=None),
        tooltip=["label", "mentions", "intent_category"],
    )
    first = chart.transform_filter(alt.datum.order < _NAMED)
    layers: alt.LayerChart = circles + first.mark_text(dy=-12, fontSize=10).encode(text="label:N")
    return layers


def dendrogram(clusters: Clusters, cluster: int) -> "alt.HConcatChart":
    """Draw at which cosine distance the wordings of a group joined.

    Args:
        clusters: What `cluster` returns.
        cluster: Number of the group, from its column `cluster`.

    Raises:
        NotFoundError: There is no such group.
    """
    with _extra():
        import altair as alt
    leaves, linkage = clusters.dendrogram(cluster)
    merges = linkage.select("left", "right", "height").rows()
    # The leaves below each node; below the last one are all, in the order of the drawing.
    below = [[leaf] for leaf in range(leaves.height)]
    for left, right, _ in merges:
        below.append(below[left] + below[right])
    # Each node by its distance and place; each merge is a line through four points.
    nodes = {leaf: (0.0, float(place)) for place, leaf in enumerate(below[-1])}
    strokes = []
    for node, (left, right, height) in enumerate(merges, leaves.height):
        (near, upper), (other, lower) = nodes[left], nodes[right]
        nodes[node] = height, (upper + lower) / 2
        strokes += [(node, near, upper), (node, height, upper), (node, height, lower), (node, other, lower)]
    lines = pl.DataFrame(strokes, schema=["merge", "distance", "place"], orient="row").with_row_index("step")
    wordings = leaves[below[-1]].select("wording").with_row_index("place")

    tall = _LINE * leaves.height
    place = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[leaves.height - 0.5, -0.5]))
    distance = alt.X("distance:Q", title="cosine distance", scale=alt.Scale(reverse=True))
    tree = alt.Chart(lines, width=0.6 * _WIDTH, height=tall).mark_line(strokeWidth=1)
    names = alt.Chart(_drawn(wordings), width=_WIDTH, height=tall).mark_text(align="left", x=0, limit=_WIDTH)
    tree = tree.encode(x=distance, y=place, detail="merge:N", order="step:Q")
    (label,) = _drawn(clusters.clusters.filter(cluster=cluster).select("label"))["label"]
    both: alt.HConcatChart = alt.hconcat(
        tree, names.encode(y=place, text="wording:N"), title=label
    ).configure_view(stroke=None)
    return both


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise StateError(f"charts need the package altair: {error}", hint=installing("notebooks")) from error


def _drawn(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose texts can be drawn as an image."""
    texts = pl.selectors.string() | pl.selectors.categorical()
    shown = texts.cast(pl.String).str.replace_all(_UNDRAWN, " ")
    return rows.with_columns(
        pl.when(shown.str.len_chars() > _LETTERS).then(shown.str.head(_LETTERS) + "…").otherwise(shown)
    )
