"""What is decided about a united capability stays, once that is undone, with the one that was named."""

from collections.abc import Callable
from typing import Any

import pytest

from builders.decisions import Studio


@pytest.fixture
def united(studio: Studio) -> Studio:
    """The sky mask, three times asked for, merged into the lens flare, asked for once."""
    studio.decide.merge("lens flare", "sky mask")
    assert studio.rows()["lens flare"]["label"] == "sky mask"
    return studio


def after_the_undo(united: Studio) -> dict[str, dict[str, Any]]:
    merge, *_ = united.decide.all()
    united.decide.undo(merge.decision_id)
    return united.rows()


@pytest.mark.parametrize(
    ("name", "kept", "free"),
    [("lens flare", "lens flare", "sky mask"), ("Mask-the-Sky", "sky mask", "lens flare")],
)
def test_a_dismissal_stays_with_the_one_that_was_named(
    united: Studio, name: str, kept: str, free: str
) -> None:
    united.decide.dismiss(name, "not ours")

    found = after_the_undo(united)

    assert (found[kept]["status"], found[free]["status"]) == ("dismissed", "open")
    assert f"ana dismissed '{kept}'" in found[kept]["decisions"][0]
    assert found[free]["decisions"] == []


def test_a_label_stays_with_the_one_that_was_named(united: Studio) -> None:
    united.decide.rename("lens flare", "flare and sky")

    found = after_the_undo(united)

    labels = [found[name]["label"] for name in ("lens flare", "sky mask")]
    assert labels == ["flare and sky", "sky mask"]


def test_what_is_named_by_its_identifier_is_the_one_that_has_it_afterwards(united: Studio) -> None:
    identifier = united.rows()["sky mask"]["capability_id"]
    united.decide.pin(identifier)

    found = after_the_undo(united)

    assert found["lens flare"]["capability_id"] == identifier
    assert [found[name]["pinned"] for name in ("lens flare", "sky mask")] == [True, False]


def test_a_merge_of_one_that_was_united_stays_with_the_named_part_too(
    studio_of: Callable[..., Studio],
) -> None:
    studio = studio_of("sky mask", "film grain", "lens flare")
    studio.report()
    first = studio.decide.merge("sky mask", "film grain")
    studio.report()
    studio.decide.merge("lens flare", "film grain")
    studio.decide.undo(first.decision_id)

    found = studio.rows()

    assert found["lens flare"]["capability_id"] == found["film grain"]["capability_id"]
    assert found["sky mask"]["mentions"] == 1
