"""What became of capabilities between two runs, from their identifiers and their surfaces."""

import polars as pl

from vocabgap.ranking.identity import relations

Surface = tuple[str, str, int]
SCHEMA = {
    "capability_id": pl.String, "label": pl.String, "rank": pl.Int64, "surface": pl.String,
    "mentions": pl.Int64,
}  # fmt: skip


def told(before: list[Surface], after: list[Surface]) -> set[tuple[str, str | None, str | None]]:
    """Relation, later and earlier identifier, of capabilities that have these surfaces and mentions."""
    earlier, later = (
        pl.DataFrame(
            [(name, name, None, surface, mentions) for name, surface, mentions in run], SCHEMA, orient="row"
        )
        for run in (before, after)
    )
    return set(relations(earlier, later).select("relation", "capability_id", "previous_id").iter_rows())


def test_strangers_that_share_surfaces_are_the_same() -> None:
    assert told([("old", "sky mask", 3)], [("new", "sky mask", 3)]) == {("continued", "new", "old")}


def test_one_that_goes_on_under_its_identifier_is_matched_with_no_stranger() -> None:
    before = [("sky", "sky mask", 9), ("sky", "cloud mask", 1)]
    after = [("other", "sky mask", 9), ("sky", "cloud mask", 1)]

    assert told(before, after) == {("continued", "sky", "sky"), ("split", "other", "sky")}


def test_no_stranger_takes_the_place_of_one_that_goes_on() -> None:
    before = [("sky", "sky mask", 1), ("gone", "cloud mask", 9)]
    after = [("sky", "sky mask", 1), ("sky", "cloud mask", 9)]

    assert told(before, after) == {("continued", "sky", "sky"), ("merged", "sky", "gone")}


def test_a_surface_that_moved_between_two_that_go_on_is_no_relation() -> None:
    before = [("sky", "sky mask", 2), ("sky", "cloud mask", 1), ("sea", "sea mask", 2)]
    after = [("sky", "sky mask", 2), ("sea", "sea mask", 2), ("sea", "cloud mask", 1)]

    assert told(before, after) == {("continued", "sky", "sky"), ("continued", "sea", "sea")}
