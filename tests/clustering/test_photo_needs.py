"""Groups of a real photo-editing workspace, by meaning: what a reader of it would not sign as one need."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import vocabgap
from builders import outside
from vocabgap.clustering.encoder import ModelFiles

GROUPS = [
    ("Reaction-diffusion sharpen / denoise / restore detail", "Modern darktable sharpening family"),
    (
        "Reaction-diffusion sharpen / denoise / restore detail",
        "Sharpening (Radius / Detail / Masking)",
    ),
    (
        "Shadow recovery as an explicit single-named primitive",
        "HDR-style highlight + shadow combined recovery as a single named move",
    ),
    ("ai subject mask", "Subject-mask sharpening + inverse blur"),
    ("Gentle highlight pull-back", "Aggressive highlight pull-back"),
    ("Color-range mask", "Luminance-range mask", "Depth range mask"),
    pytest.param(
        ("Noise reduction", "AI noise reduction integration (Topaz / DxO / LR AI)"),
        marks=pytest.mark.xfail(reason="as near as two wordings of one need", strict=True),
    ),
]


@pytest.fixture
def grouped(pytestconfig: pytest.Config, minilm: ModelFiles) -> Mapping[str, int]:
    """The group of each wording, with the model that is found by itself."""
    assert minilm.name
    return clusters_of(outside(pytestconfig, "chemigram/workspace"))


@cache
def clusters_of(workspace: Path) -> Mapping[str, int]:
    found = vocabgap.cluster(vocabgap.scan(workspace).records)
    return dict(found.wordings.select("wording", "cluster").iter_rows())


@pytest.mark.parametrize("wordings", GROUPS)
def test_needs_that_share_words_are_different_groups(
    grouped: Mapping[str, int], wordings: tuple[str, ...]
) -> None:
    assert len({grouped[wording] for wording in wordings}) == len(wordings)


@pytest.mark.parametrize(
    "wordings",
    [
        ("AI subject mask.", "Subject mask."),
        ("Lens correction", "Lens correction (vignetting, distortion, CA)"),
        ("Perspective / keystone correction", "Rotation / perspective correction"),
        ("Chromatic-aberration correction", "chromatic aberration removal"),
    ],
)
def test_wordings_of_one_need_are_one_group(
    grouped: Mapping[str, int], wordings: tuple[str, ...]
) -> None:
    assert len({grouped[wording] for wording in wordings}) == 1
