"""Where needs lie on the map."""

from math import dist
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pytest

from builders import gap, write_corpus
from builders.ranking import records
from builders.reporting import publish
from vocabgap.clustering.grouping import cluster
from vocabgap.pipeline import Run
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting.manifest import read_manifest
from vocabgap.reporting.map import places_of, scaled


def test_points_lie_as_far_apart_as_is_said() -> None:
    corners = np.array([(-1.0, -0.5), (1.0, -0.5), (1.0, 0.5), (-1.0, 0.5), (0.0, 0.2)])
    apart = np.sqrt(((corners[:, None] - corners[None]) ** 2).sum(axis=2))
    found = scaled(apart)
    again = np.sqrt(((found[:, None] - found[None]) ** 2).sum(axis=2))
    assert again / again.max() == pytest.approx(apart / apart.max(), abs=0.01)


def test_points_at_one_place_are_no_error() -> None:
    assert np.isfinite(scaled(np.zeros((5, 5)))).all()


def test_needs_that_are_put_alike_are_neighbours(demo_run: Run) -> None:
    places = {each.capability_id: each for each in demo_run.published.manifest.places}
    label = {
        each.capability.capability_id: each.capability.label
        for each in demo_run.published.summary.everything
    }
    by_label = {label[name]: each for name, each in places.items()}
    mask, part = by_label["sky selection mask"], by_label["mask-intersection"]
    assert part.capability_id in mask.near
    apart = dist((mask.x, mask.y), (part.x, part.y))
    others = [
        dist((mask.x, mask.y), (each.x, each.y)) for each in places.values() if each is not mask
    ]
    assert apart <= sorted(others)[3]


def test_map_has_the_first_and_is_kept_with_the_run(tmp_path: Path) -> None:
    letters = np.random.default_rng(7).choice(list(ascii_lowercase), (65, 2, 8))
    needs = [" ".join("".join(word) for word in need) for need in letters.tolist()]
    root = write_corpus(
        tmp_path, {f"image-{place}": [gap(need)] for place, need in enumerate(needs)}
    )
    made = publish(tmp_path, root)
    assert made.ranked.height > 60

    kept = read_manifest(made.published.folder)

    assert kept is not None
    assert [each.capability_id for each in kept.places] == made.ranked["capability_id"].to_list()[
        :60
    ]


@pytest.mark.parametrize(("number", "places"), [(2, 0), (3, 3)])
def test_fewer_than_three_needs_are_no_map(tmp_path: Path, number: int, places: int) -> None:
    needs = [gap("sky mask"), gap("crop ratio"), gap("film grain")]
    root = write_corpus(tmp_path, {"heron": needs[:number]})
    assert len(publish(tmp_path, root).published.manifest.places) == places


def test_a_common_category_counts_as_a_similarity_of_a_sixth() -> None:
    category = {"lamp glow": "tone", "tilt shift": "tone", "ice ring": "detail", "crop": "detail"}
    frame = records(
        [{"missing_capability": need, "intent_category": name} for need, name in category.items()]
    )
    found = cluster(frame, embedder="none")
    ranked = rank(frame, found)
    named = ranked["intent_category"].to_list()
    apart = np.array([[1.0 - (one == other) * 0.2 / 1.2 for other in named] for one in named])

    places = places_of(found, ranked)

    np.fill_diagonal(apart, 0.0)
    assert [(each.x, each.y) for each in places] == [*map(tuple, scaled(apart**2).tolist())]
    assert {each.near for each in places} == {()}


def test_what_may_leave_the_machine_has_no_map(demo: Path, tmp_path: Path) -> None:
    made = publish(tmp_path, demo, share=2)
    page = (made.published.folder / "share.html").read_text(encoding="utf-8")
    assert 'id="map"' not in page
    assert "<circle" not in page
