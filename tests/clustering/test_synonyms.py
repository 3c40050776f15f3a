"""Words that the settings say mean the same."""

import pytest

from builders.clustering import asking
from vocabgap.clustering.grouping import cluster
from vocabgap.clustering.wordings import folding
from vocabgap.text import ignored_stems

IGNORED = ignored_stems()


@pytest.mark.parametrize(
    ("words", "folded"),
    [
        ("fog", "haze"), ("remov fog", "haze"), ("remov fog fast", "haze fast"), ("fog remov", "haze remov"),
        ("remov", "remov"), ("haze", "haze"), ("", ""), ("purpl fring", "purpl chromat aberr"),
    ],
)  # fmt: skip
def test_the_longest_wording_is_replaced(words: str, folded: str) -> None:
    synonyms = {"haze": ["fog", "removal of the fog"], "chromatic aberration": ["fringing"]}

    assert folding(synonyms, IGNORED)(words.split()) == folded.split()


def test_synonyms_that_share_no_letter_meet() -> None:
    found = cluster(
        asking("haze removal", "mist cleanup"), synonyms={"haze removal": ["mist cleanup"]}
    )

    assert found.clusters["surfaces"].to_list() == [2]
    assert found.clusters["weakest_link"].to_list() == [0.0]
    assert found.wordings["wording"].to_list() == ["haze removal", "mist cleanup"]
