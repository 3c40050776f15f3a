"""Settings as a notebook changes them: by keywords, checked as a file is."""

import numpy as np
import pytest

from vocabgap.errors import InvalidInputError
from vocabgap.model.settings import ClusterSettings, RankBy, RankSettings, overridden


def test_what_is_not_given_stays() -> None:
    settings = ClusterSettings(threshold=0.4, stop_words=("photo",))

    assert overridden(settings, threshold=None, stop_words=None) == settings


def test_what_is_given_counts() -> None:
    assert overridden(ClusterSettings(threshold=0.4), threshold="by wording") == ClusterSettings()
    assert overridden(RankSettings(), by="images").by is RankBy.IMAGES


def test_numbers_of_numpy_and_texts_in_any_form_are_taken() -> None:
    assert overridden(ClusterSettings(), threshold=np.float32(0.5)).threshold == 0.5
    assert overridden(RankSettings(), min_images=np.int64(3)).min_images == 3
    assert overridden(ClusterSettings(), stop_words={"photo"}).stop_words == ("photo",)
    assert overridden(ClusterSettings(), stop_words="photo").stop_words == ("photo",)


def test_settings_made_by_hand_are_checked_too() -> None:
    with pytest.raises(InvalidInputError, match=r"^threshold: "):
        overridden(ClusterSettings(threshold=7.0))
