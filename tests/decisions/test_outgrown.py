"""A status holds for a group while the wordings it was given to carry at least half of its mentions."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from builders import steady, weekly, write_corpus
from builders.decisions import Studio
from vocabgap.model.settings import ClusterSettings

OUTGROWN = "no longer holds: the group has outgrown it"


@pytest.fixture
def grown(studio_of: Callable[..., Studio]) -> Studio:
    """Two needs that a wider cut makes one: a look asked for twice, and the grain, as often or more."""
    made = studio_of("film grain look", "film grain look", "film grain", "film grain", "film grain")
    made.cluster = ClusterSettings(threshold=0.0)
    assert made.rows()["film grain look"]["mentions"] == 2
    return made


def widened(studio: Studio) -> dict[str, Any]:
    studio.cluster = ClusterSettings(threshold=0.99)
    return studio.rows()["film grain"]


def test_a_dismissal_does_not_swallow_a_larger_group(grown: Studio) -> None:
    dismissal = grown.decide.dismiss("film grain look", "a matter of taste")
    assert grown.rows()["film grain look"]["status"] == "dismissed"

    row = widened(grown)

    assert grown.decide.outgrown() == {dismissal.decision_id}
    assert (row["mentions"], row["status"]) == (5, "open")
    assert row["decisions"] == [
        f"{dismissal.summary} – {OUTGROWN}, with 2 of 5 mentions in the same words"
    ]


def test_a_dismissal_of_the_larger_part_goes_on(grown: Studio) -> None:
    grown.decide.dismiss("film grain", f"a matter of taste – {OUTGROWN}")

    row = widened(grown)

    assert (row["status"], grown.decide.outgrown()) == ("dismissed", frozenset())


def test_a_dismissal_is_about_all_wordings_however_many(studio_of: Callable[..., Studio]) -> None:
    studio = studio_of(*(f"grain {number:02}" for number in range(60)))
    studio.cluster = ClusterSettings(threshold=1.0)
    (row,) = {row["capability_id"]: row for row in studio.rows().values()}.values()
    studio.decide.dismiss(row["label"], "a matter of taste")

    assert studio.rows()["grain 00"]["status"] == "dismissed"


@pytest.mark.parametrize(("mentions", "status"), [((1,), "open"), ((9, 9), "regressed")])
def test_what_was_authored_comes_back_in_whatever_words_it_is_asked_for(
    studio_of: Callable[..., Studio], mentions: tuple[int, ...], status: str
) -> None:
    studio, begin = studio_of("film grain look", "film grain look"), "2026-05-06"
    needs = [*weekly("film grain", *[4] * 8, 0, 0, *mentions, begin=begin), *steady(12, begin)]
    write_corpus(studio.folder, {"two": needs}, within=studio.root)
    studio.cluster = ClusterSettings(threshold=0.0)
    studio.report()
    studio.decide.author("film grain look", "grain_look")
    studio.decide.merge("film grain look", "film grain")

    row = studio.rows(now=datetime(2026, 7, 29, tzinfo=UTC))["film grain"]

    assert row["status"] == status
    assert (OUTGROWN in row["decisions"][0]) == (status == "open")
