"""What became of capabilities between two runs, from their identifiers and their surfaces."""

import polars as pl
import pytest

from vocabgap.ranking.identity import relations

Surface = tuple[str, str, int]
SCHEMA = {
    "capability_id": pl.String, "group_id": pl.String, "label": pl.String, "rank": pl.Int64,
    "surface": pl.String, "mentions": pl.Int64,
}  # fmt: skip


def told(before: list[Surface], after: list[Surface]) -> set[tuple[str, str | None, str | None]]:
    """Relation, later and earlier identifier, of capabilities that have these surfaces and mentions."""
    earlier, later = (
        pl.DataFrame(
            [(name, name, name, None, surface, mentions) for name, surface, mentions in run],
            SCHEMA,
            orient="row",
        )
        for run in (before, after)
    )
    return set(
        relations(earlier, later).select("relation", "capability_id", "previous_id").iter_rows()
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([("old", "sky mask", 3)], [("new", "sky mask", 3)], {("continued", "new", "old")}),
        (
            [("sky", "sky mask", 2), ("lamp", "old lamp", 1)],
            [("sky", "sky mask", 1), ("film", "film grain", 1)],
            {("continued", "sky", "sky"), ("new", "film", None), ("gone", None, "lamp")},
        ),
        (
            [("sky", "sky mask", 9), ("sky", "cloud mask", 1)],
            [("other", "sky mask", 9), ("sky", "cloud mask", 1)],
            {("continued", "sky", "sky"), ("split", "other", "sky")},
        ),
        (
            [("sky", "sky mask", 1), ("gone", "cloud mask", 9)],
            [("sky", "sky mask", 1), ("sky", "cloud mask", 9)],
            {("continued", "sky", "sky"), ("merged", "sky", "gone")},
        ),
        (
            [("sky", "sky mask", 2), ("sky", "cloud mask", 1), ("sea", "sea mask", 2)],
            [("sky", "sky mask", 2), ("sea", "sea mask", 2), ("sea", "cloud mask", 1)],
            {("continued", "sky", "sky"), ("continued", "sea", "sea")},
        ),
    ],
    ids=[
        "strangers",
        "new and gone",
        "no stranger beside itself",
        "no stranger instead",
        "a surface that moved",
    ],
)
def test_what_goes_on_is_matched_by_its_identifier_and_strangers_by_surfaces(
    before: list[Surface], after: list[Surface], expected: set[tuple[str, str | None, str | None]]
) -> None:
    assert told(before, after) == expected
