"""Which needs meet, which stay apart, and what stands for a group."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders.clustering import asking, groups
from vocabgap.clustering.grouping import cluster
from vocabgap.errors import InvalidInputError
from vocabgap.files.parts import Parts
from vocabgap.model.settings import ClusterSettings, Settings
from vocabgap.model.tables import CLUSTERS, LINKAGE, WORDINGS


def test_no_records_give_empty_tables() -> None:
    found = cluster(asking())

    assert_frame_equal(found.wordings, WORDINGS.empty())
    assert_frame_equal(found.clusters, CLUSTERS.empty())
    assert_frame_equal(found.linkage, LINKAGE.empty())


def test_lines_that_do_not_count_are_left_out() -> None:
    gaps = asking("sky mask", "Sky masks", "film grain").with_columns(
        counted=pl.Series([True, False, True])
    )

    for given in (gaps, Parts.of(gaps)):
        assert cluster(given).wordings["wording"].to_list() == ["film grain", "sky mask"]


def test_needs_may_be_given_as_texts_and_all_settings_as_one() -> None:
    texts = ["sky mask", "Sky masks", "film grain", ""]
    settings = Settings(cluster=ClusterSettings(embedder="none", threshold=0.0))

    found = cluster(texts, settings)

    assert_frame_equal(
        found.wordings, cluster(asking(*texts), embedder="none", threshold=0.0).wordings
    )
    assert found.threshold == 0.0
    assert cluster(tuple(texts), embedder="none").clusters.height == 2
    assert cluster([]).clusters.is_empty()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sky mask", "expected a list of texts or a polars.DataFrame, found 'sky mask'"),
        (pl.Series(["sky mask"]), "a list of texts or a polars.DataFrame, found polars.Series"),
        ({"sky mask"}, "a list of texts or a polars.DataFrame, found set"),
        (["sky mask", 1], r"records\[1\]: expected text, found 1"),
    ],
)
def test_other_things_than_records_and_texts_are_refused(given: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match=message):
        cluster(given)


@pytest.mark.parametrize("given", [5, {"a": 1}, Settings().ingest])
def test_other_settings_are_refused(given: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match="settings: expected a Settings, found"):
        cluster(["sky mask"], given)


def test_one_record_is_a_group_of_its_own() -> None:
    found = cluster(asking("Barn door vignette"))

    assert found.wordings.rows() == [("Barn door vignette", 1, "barn door vignett", 0, 1.0)]
    assert found.clusters.rows() == [
        (0, "Barn door vignette", "barn door vignett", 1, 1, 1.0, 0.0, 1, 1, False)
    ]
    assert found.linkage.is_empty()


@pytest.mark.parametrize(
    "variant",
    [
        "Aurora Noise Cleanup",
        "aurora-noise-cleanup",
        "aurora_noise_cleanup",
        "auroraNoiseCleanup",
        "AURORA NOISE CLEANUP",
        "aurora  noise cleanups!",
        "need an aurora noise cleanup",
        "auorra noise cleanup",
        "aurora noise clean-up",
        "cleanup of aurora noise",
    ],
)
def test_variants_of_one_need_meet(variant: str) -> None:
    found = groups("aurora noise cleanup", variant, "tilt shift miniature", "barn door vignette")

    assert frozenset({"aurora noise cleanup", variant}) in found


def test_threshold_of_zero_groups_only_equal_surfaces() -> None:
    found = groups("lamp glow", "Lamp-Glow", "lamp glows halo", "the lamp glow", threshold=0.0)

    assert found == {
        frozenset({"lamp glow", "Lamp-Glow"}),
        frozenset({"lamp glows halo"}),
        frozenset({"the lamp glow"}),
    }


def test_threshold_of_one_groups_all_that_share_anything() -> None:
    found = groups("fog mask", "fog veil", "zzz", threshold=1.0)

    assert found == {frozenset({"fog mask", "fog veil"}), frozenset({"zzz"})}


def test_wordings_without_any_word_stay() -> None:
    needs = ["???", "!!!", "🌋", "barn door"]

    assert groups(*needs) == {frozenset({need}) for need in needs}


def test_similarity_falls_with_the_distance_from_the_label() -> None:
    found = cluster(
        asking(*["lamp glow halo"] * 3, "lamp glow halos", "lamp glow", "lamp"), threshold=1.0
    )

    similarity = dict(found.wordings.select("wording", "similarity").iter_rows())
    assert similarity["lamp glow halos"] == 1.0
    assert 1.0 > similarity["lamp glow"] > similarity["lamp"] > 0.0


def test_label_may_be_the_wording_of_another_surface_that_says_the_same_terms() -> None:
    needs = ["keystoneCorrectionPartial"] * 4 + ["partial keystone correction"] * 3

    found = cluster(asking(*needs))

    assert found.clusters.select("label", "label_surface").rows() == [
        ("partial keystone correction", "partial keyston correct")
    ]


def test_groups_that_share_words_are_nearer_than_others() -> None:
    found = cluster(asking("sky mask", "mask for the sea", "crop ratio"), threshold=0.0)
    place = dict(found.wordings.select("wording", "cluster").iter_rows())

    near = found.nearness([place[each] for each in ("sky mask", "mask for the sea", "crop ratio")])

    assert near.shape == (3, 3)
    assert np.diag(near) == pytest.approx(1.0)
    assert near[0, 1] == near[1, 0] > near[0, 2] >= 0.0


def test_a_table_without_the_columns_of_a_need_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="column 'description' is missing"):
        cluster(asking("sky mask").select("missing_capability"))
