"""More wordings than are embedded: what stands for what, and the one dendrogram of both kinds of merges."""

import hashlib
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage

from benchmarks.wordings import draw
from builders.clustering import asking, grouped_wordings
from vocabgap.clustering import blending, contrasts
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.model.tables import Apart, Together

DIMENSIONS = 24
MOST_EMBEDDED = 5


class Bag:
    """Embeds a text as the sum of a vector of each of its words, and counts what it was asked for."""

    name = "bag"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.stack(
            [sum(map(_direction, text.lower().split()), np.full(DIMENSIONS, 0.1)) for text in texts]
        )


def _direction(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.strip(".").encode()).digest()[:4], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS)


@pytest.fixture(params=[30, 80])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many surfaces may be embedded: fewer than there are needs, or more."""
    limit: int = request.param
    monkeypatch.setattr(blending, "EMBEDDED_AT_MOST", limit)
    return limit


def records() -> pl.DataFrame:
    corpus = draw(160, 40, seed=3)
    return asking(
        *(
            text
            for text, count in zip(corpus.texts, corpus.mentions, strict=True)
            for _ in range(count)
        )
    )


def scipy_linkage(found: Clusters) -> np.ndarray:
    """The linkage as SciPy has it, which counts points, not mentions."""
    table = found.linkage
    count = found._points.surfaces.height
    points = [1] * count
    for left, right in table.select("left", "right").iter_rows():
        points.append(points[left] + points[right])
    sizes = np.array(points[count:], float)
    return np.column_stack(
        [table.select("left", "right", "height").to_numpy().astype(float), sizes]
    )


def test_no_more_is_embedded_than_may_be_and_all_merges_are_one_dendrogram(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contrasts, "MOST_EMBEDDED", MOST_EMBEDDED)
    embedder = Bag()

    groups = cluster(records(), embedder=embedder)

    assert groups.embedded == few
    # As a wording, and with the details of its records; and pairs of words, in a frame and alone.
    assert len(embedder.asked) <= 2 * few + 4 * MOST_EMBEDDED
    table = groups.linkage
    nodes = np.sort(np.concatenate([table["left"].to_numpy(), table["right"].to_numpy()]))
    assert (np.diff(nodes) > 0).all()  # each is part of one merge at most
    assert table["height"].is_sorted()
    if table.height == groups._points.surfaces.height - 1:
        assert is_valid_linkage(scipy_linkage(groups), throw=True)
        assert is_monotonic(scipy_linkage(groups))
    shuffled = records().sample(fraction=1.0, shuffle=True, seed=5)
    again = cluster(shuffled, embedder=Bag())
    for name in ("wordings", "clusters", "linkage"):
        assert getattr(again, name).equals(getattr(groups, name))


def test_wordings_of_the_same_words_stay_together_and_contrasting_ones_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blending, "EMBEDDED_AT_MOST", 3)
    phrases = [
        "upload release asset",
        "upload a release asset now",
        "download release asset",
        "tilt shift",
    ]

    found = cluster(asking(*phrases, "tilt shift blur"), embedder=Bag())

    together = {frozenset(group) for group in grouped_wordings(found)}
    assert frozenset(phrases[:2]) in together
    assert frozenset(phrases[2:3]) in together


@pytest.mark.usefixtures("few")
def test_other_cuts_constraints_trees_and_screens_work_as_ever() -> None:
    found = cluster(records(), embedder=Bag())
    one, other, third = found.wordings["surface"].unique().sort()[:3]

    united = found.constrained([Together(one, other)])
    parted = found.constrained([Together(one, other), Apart(third, (one,), "parted")])

    label = dict(united.wordings.select("surface", "cluster").iter_rows())
    assert label[one] == label[other]
    label = dict(parted.wordings.select("surface", "cluster").iter_rows())
    assert label[one] == label[other] != label[third]
    assert found.at(0.2).clusters["mentions"].sum() == records().height
    largest = int(found.clusters["surfaces"].arg_max() or 0)
    leaves, tree = found.dendrogram(largest)
    assert tree.height == leaves.height - 1
    assert found.clusters["cohesion"].is_between(0.0, 1.0).all()
    assert found.clusters["weakest_link"].is_between(0.0, 1.0).all()
    assert found.screens()


def test_details_of_a_whole_group_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blending, "EMBEDDED_AT_MOST", 2)
    embedder = Bag()
    asked = pl.DataFrame(
        {
            "missing_capability": ["sky mask", "sky mask", "a mask of the sky", "tilt shift"],
            "description": ["", "", "for clouds", ""],
            "intent": [""] * 4,
        }
    )

    cluster(asked, embedder=embedder)

    assert sorted(embedder.asked) == [
        "sky mask",
        "sky mask. for clouds",
        "tilt shift",
        "tilt shift",
    ]
